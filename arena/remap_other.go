//go:build !linux

package arena

import "errors"

// remap does nothing: the system has no mremap, so grow copies.
func remap([]byte, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// duplicate does nothing: the caller copies.
func duplicate(to, from []byte) error { return errors.ErrUnsupported }

func populate([]byte) {}

func avoidHuge([]byte) {}

func preferHuge([]byte) {}
