//go:build !linux

package arena

import "errors"

// remap is not to be had: grow copies.
func remap([]byte, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func populate([]byte) {}
