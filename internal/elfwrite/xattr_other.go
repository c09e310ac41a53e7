//go:build !linux

package elfwrite

import "os"

// copyXattrs does nothing: attributes are copied on Linux only.
func copyXattrs(dst, src *os.File) {}
