// Package kernelbtf asks the running kernel for its verdict on BTF: the oracle
// for package verify. It also attaches programs to functions: the oracle for package attach.
// Only tests and the torture program use it.
package kernelbtf

import (
	"strings"

	"golang.org/x/sys/unix"
)

// Load loads data into the kernel, which forgets it again. A non-nil error is
// a unix.Errno: EPERM where that is not permitted.
func Load(data []byte) error { return load(data, nil) }

// Log loads data and returns the last line that the kernel's verifier logs.
func Log(data []byte) string {
	log := make([]byte, 1<<20)
	_ = load(data, log) // only the log matters
	lines := strings.Split(strings.TrimSpace(unix.ByteSliceToString(log)), "\n")
	return lines[len(lines)-1]
}

// load loads data, and has the kernel write to log if it is not empty.
func load(data, log []byte) error {
	load := newAttr(32)
	load.pointer(0, data)
	load.pointer(8, log)
	load.u32(16, uint32(len(data)))
	load.u32(20, uint32(len(log)))
	if len(log) > 0 {
		load.u32(24, 1) // its level
	}
	fd, err := load.call(bpfBTFLoad)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}
