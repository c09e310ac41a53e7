//go:build !linux

package arena

import "errors"

// remap does nothing: the system has no mremap, so grow copies.
func remap([]byte, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func populate([]byte) {}

func avoidHuge([]byte) {}

func preferHuge([]byte) {}
