package kernelbtf

import (
	"encoding/binary"
	"errors"
	"reflect"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Commands and constants of bpf(2).
const (
	bpfMapCreate         = 0
	bpfMapLookup         = 1
	bpfProgLoad          = 5
	bpfInfoByFD          = 15
	bpfRawTracepointOpen = 17
	bpfBTFLoad           = 18
	bpfBTFByID           = 19
	bpfBTFNextID         = 23

	mapArray    = 2  // BPF_MAP_TYPE_ARRAY
	progTracing = 26 // BPF_PROG_TYPE_TRACING
	traceEntry  = 24 // BPF_TRACE_FENTRY
	traceExit   = 25 // BPF_TRACE_FEXIT
)

// attr builds the argument of a command: a struct whose fields have fixed places.
type attr struct {
	data []byte
	kept [][]byte // what its pointers refer to
}

func newAttr(size int) *attr { return &attr{data: make([]byte, size)} }

func (a *attr) u32(at int, v uint32) { binary.NativeEndian.PutUint32(a.data[at:], v) }

func (a *attr) pointer(at int, b []byte) {
	a.kept = append(a.kept, b)
	binary.NativeEndian.PutUint64(a.data[at:], uint64(reflect.ValueOf(b).Pointer()))
}

// call makes the system call.
func (a *attr) call(command uintptr) (int, error) {
	n, _, errno := unix.Syscall(unix.SYS_BPF, command, reflect.ValueOf(a.data).Pointer(), uintptr(len(a.data)))
	runtime.KeepAlive(a)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}

// Refusal is the kernel's error when a program cannot be attached.
type Refusal struct {
	Errno error
	Log   string // the first line of the verifier's log, "" if it has said nothing
}

func (r *Refusal) Error() string {
	if r.Log == "" {
		return r.Errno.Error()
	}
	return r.Errno.Error() + ": " + r.Log
}

func (r *Refusal) Unwrap() error { return r.Errno }

// TryTrace attaches a program to the entry of a function (fentry) or, with exit, to its
// exit (fexit), and detaches it again. id is the function's id in the BTF of the running
// kernel or, with module, of that module. The error is a *Refusal.
func TryTrace(id uint32, module string, exit bool) error {
	code := []byte{
		0xb7, 0, 0, 0, 0, 0, 0, 0, // r0 = 0
		0x95, 0, 0, 0, 0, 0, 0, 0, // exit
	}
	how := uint32(traceEntry)
	if exit {
		how = traceExit
	}
	program, err := loadTrace(code, id, module, how)
	if err != nil {
		return err
	}
	defer unix.Close(program)
	link, err := attachTrace(program)
	if err != nil {
		return err
	}
	return unix.Close(link)
}

// loadTrace loads the instructions of a program that is for a function. The error is a *Refusal.
func loadTrace(code []byte, id uint32, module string, how uint32) (program int, err error) {
	object := 0
	if module != "" {
		if object, err = moduleBTF(module); err != nil {
			return -1, &Refusal{Errno: err}
		}
		defer unix.Close(object)
	}
	log := make([]byte, 64<<10)
	load := newAttr(152)
	load.u32(0, progTracing)
	load.u32(4, uint32(len(code)/8))
	load.pointer(8, code)
	load.pointer(16, []byte("GPL\x00"))
	load.u32(24, 1)
	load.u32(28, uint32(len(log)))
	load.pointer(32, log)
	load.u32(68, how)
	load.u32(108, id)
	load.u32(112, uint32(object))
	program, err = load.call(bpfProgLoad)
	for tries := 0; errors.Is(err, unix.EAGAIN) && tries < 5; tries++ { // a signal was pending
		program, err = load.call(bpfProgLoad)
	}
	if err != nil {
		return -1, &Refusal{err, firstLine(log)}
	}
	return program, nil
}

// attachTrace attaches a program to its function. The error is a *Refusal.
func attachTrace(program int) (link int, err error) {
	open := newAttr(24)
	open.u32(8, uint32(program))
	if link, err = open.call(bpfRawTracepointOpen); err != nil {
		return -1, &Refusal{Errno: err}
	}
	return link, nil
}

// firstLine is the first line of a verifier's log.
func firstLine(log []byte) string {
	line, _, _ := strings.Cut(unix.ByteSliceToString(log), "\n")
	return line
}

// moduleBTF opens the BTF of a module.
func moduleBTF(module string) (fd int, err error) {
	for id := uint32(0); ; {
		next := newAttr(16)
		next.u32(0, id)
		if _, err := next.call(bpfBTFNextID); err != nil {
			return -1, err // ENOENT: there is none
		}
		id = binary.NativeEndian.Uint32(next.data[4:])
		open := newAttr(16)
		open.u32(0, id)
		if fd, err = open.call(bpfBTFByID); err != nil {
			continue // it has gone
		}
		name := make([]byte, 64)
		about := newAttr(40)
		about.pointer(16, name)
		about.u32(24, uint32(len(name)))
		info := newAttr(16)
		info.u32(0, uint32(fd))
		info.u32(4, uint32(len(about.data)))
		info.pointer(8, about.data)
		if _, err := info.call(bpfInfoByFD); err == nil && unix.ByteSliceToString(name) == module {
			return fd, nil
		}
		unix.Close(fd)
	}
}
