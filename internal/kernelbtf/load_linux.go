// Package kernelbtf asks the running kernel for its verdict on BTF: the oracle
// for package verify. It serves tests and the torture program.
package kernelbtf

import (
	"encoding/binary"
	"reflect"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

const bpfBTFLoad = 18 // BPF_BTF_LOAD

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

func load(data, log []byte) error {
	address := func(b []byte) uint64 {
		if len(b) == 0 {
			return 0
		}
		return uint64(reflect.ValueOf(b).Pointer()) // on the heap, does not move
	}
	attr := make([]byte, 32) // btf, btf_log_buf, btf_size, btf_log_size, btf_log_level, ...
	order := binary.NativeEndian
	order.PutUint64(attr, address(data))
	order.PutUint64(attr[8:], address(log))
	order.PutUint32(attr[16:], uint32(len(data)))
	order.PutUint32(attr[20:], uint32(len(log)))
	if len(log) > 0 {
		order.PutUint32(attr[24:], 1)
	}
	fd, _, errno := unix.Syscall(unix.SYS_BPF, bpfBTFLoad, uintptr(address(attr)), uintptr(len(attr)))
	runtime.KeepAlive(data)
	runtime.KeepAlive(log)
	runtime.KeepAlive(attr)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}
