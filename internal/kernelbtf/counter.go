package kernelbtf

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// Counter is a BPF program on the entry of a function of the running kernel. It counts the
// calls, and sums a number of 32 bits that the first argument leads to.
type Counter struct {
	counts, program, link int // file descriptors
}

// NewCounter attaches a counter. id and module are as for TryTrace. offsets lead from the first
// argument, which is a pointer, to the number. They are in bytes. At the last one is the number, at each
// other one a pointer. The error is a *Refusal.
func NewCounter(id uint32, module string, offsets []uint32) (c *Counter, err error) {
	c = &Counter{-1, -1, -1}
	defer func() {
		if err != nil {
			c.Close()
			c = nil
		}
	}()
	create := newAttr(16)
	create.u32(0, mapArray)
	create.u32(4, 4)  // bytes of a key
	create.u32(8, 16) // bytes of the value: calls and sum
	create.u32(12, 1) // one entry
	if c.counts, err = create.call(bpfMapCreate); err != nil {
		return c, &Refusal{Errno: err}
	}
	if c.program, err = loadTrace(countingCode(c.counts, offsets), id, module, traceEntry); err != nil {
		return c, err
	}
	c.link, err = attachTrace(c.program)
	return c, err
}

// countingCode is the code of the program of a Counter.
func countingCode(counts int, offsets []uint32) []byte {
	const (
		loadWord, load, storeWord, immediate = 0x61, 0x79, 0x62, 0x18
		move, add, addAtomic, equal          = 0xbf, 0x07, 0xdb, 0x15
		set, call, exit                      = 0xb7, 0x85, 0x95
		lookup                               = 1 // the helper bpf_map_lookup_elem
		mapOfFD                              = 1 // in the place of a source: the immediate is a file descriptor
	)
	code := instruction(load, 7, 1, 0, 0) // the first argument
	for i, off := range offsets {
		op := byte(load)
		if i == len(offsets)-1 {
			op = loadWord
		}
		code = append(code, instruction(op, 7, 7, int16(off), 0)...)
	}
	return slices.Concat(code,
		instruction(storeWord, 10, 0, -4, 0), // the key
		instruction(move, 2, 10, 0, 0),
		instruction(add, 2, 0, 0, -4),
		instruction(immediate, 1, mapOfFD, 0, int32(counts)),
		instruction(0, 0, 0, 0, 0), // its upper half
		instruction(call, 0, 0, 0, lookup),
		instruction(equal, 0, 0, 3, 0), // past the next three, if there is no entry
		instruction(addAtomic, 0, 7, 8, 0),
		instruction(set, 1, 0, 0, 1),
		instruction(addAtomic, 0, 1, 0, 0),
		instruction(set, 0, 0, 0, 0),
		instruction(exit, 0, 0, 0, 0))
}

// instruction is an instruction in the byte order of this machine. That order also decides which half of
// the second byte has the destination.
func instruction(op, to, from byte, off int16, imm int32) []byte {
	registers := from<<4 | to
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		registers = to<<4 | from
	}
	b := binary.NativeEndian.AppendUint16([]byte{op, registers}, uint16(off))
	return binary.NativeEndian.AppendUint32(b, uint32(imm))
}

// Read gives the number of calls until now, and the sum.
func (c *Counter) Read() (calls, sum uint64, err error) {
	value := make([]byte, 16)
	look := newAttr(32)
	look.u32(0, uint32(c.counts))
	look.pointer(8, make([]byte, 4))
	look.pointer(16, value)
	_, err = look.call(bpfMapLookup)
	return binary.NativeEndian.Uint64(value), binary.NativeEndian.Uint64(value[8:]), err
}

// Close detaches the program.
func (c *Counter) Close() {
	for _, fd := range []int{c.link, c.program, c.counts} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}
