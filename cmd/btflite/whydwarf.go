package main

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	locations "github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/mmapelf"
)

// whyDWARF looks up what the DWARF of a file says of the code at an address.
type whyDWARF struct {
	data    *dwarf.Data
	lists   []byte // of locations; nil if it is not known which of two sections counts
	format  locations.ExprFormat
	machine elf.Machine
	object  bool // relocatable: each section begins at address 0
	close   func()
}

// definition is a subprogram with code.
type definition struct {
	unit   string
	file   string
	line   int64
	params []whyParam
}

// whyParam is a parameter and where it is when the function is entered.
type whyParam struct{ name, place string }

// openWhyDWARF opens the DWARF of an ELF file. That of a linked file is not copied;
// that of an object has to be relocated first.
func openWhyDWARF(path string) (*whyDWARF, error) {
	e, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	w := &whyDWARF{machine: e.Machine, close: func() {}}
	w.findLists(e)
	if e.Type == elf.ET_REL {
		defer e.Close()
		w.object = true
		w.data, err = e.DWARF()
		return w, err
	}
	e.Close()
	f, err := mmapelf.Open(path)
	if err != nil {
		return nil, err
	}
	get := func(name string) []byte {
		s := f.Section(".debug_" + name)
		if s == nil || err != nil {
			return nil
		}
		var b []byte
		b, err = f.Data(s)
		return b
	}
	d, made := dwarf.New(get("abbrev"), nil, nil, get("info"), get("line"), nil, get("ranges"), get("str"))
	if err == nil {
		err = made
	}
	for _, name := range []string{"addr", "line_str", "rnglists", "str_offsets"} {
		if b := get(name); b != nil && err == nil {
			err = d.AddSection(".debug_"+name, b)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	w.data, w.close = d, func() { f.Close() }
	return w, nil
}

// findLists reads the lists of locations. DWARF 5 has them in another section and
// another form than older versions, and a file that has both is left alone.
func (w *whyDWARF) findLists(e *elf.File) {
	old, now := e.Section(".debug_loc"), e.Section(".debug_loclists")
	w.format = locations.ExprFormat{Version: 4, AddrSize: 8, BigEndian: e.ByteOrder == binary.BigEndian}
	if e.Class == elf.ELFCLASS32 {
		w.format.AddrSize = 4
	}
	if now != nil && old == nil {
		old, w.format.Version = now, 5
	} else if now != nil {
		return
	}
	if old != nil {
		w.lists, _ = old.Data()
	}
}

// maxEntries bounds the work for one unit.
const maxEntries = 10_000_000

// at finds the subprogram of the name whose code begins at the address, nil for none.
func (w *whyDWARF) at(name string, address uint64) *definition {
	r := w.data.Reader()
	var cu *dwarf.Entry
	if !w.object {
		var err error
		if cu, err = r.SeekPC(address); err != nil || cu == nil {
			return nil
		}
	}
	for range maxEntries {
		e, err := r.Next()
		if err != nil || e == nil {
			return nil
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
			if !w.object {
				return nil // the next one
			}
			cu = e
		case dwarf.TagSubprogram:
			low, ok := e.Val(dwarf.AttrLowpc).(uint64)
			if ok && low == address && cu != nil && w.name(e, 0) == name {
				unit, _ := cu.Val(dwarf.AttrName).(string)
				d := &definition{unit: unit, params: w.params(r, e)}
				w.place(d, cu, e, 0)
				return d
			}
			r.SkipChildren()
		}
	}
	return nil
}

// maxOrigins bounds a chain of origins and specifications.
const maxOrigins = 16

// place finds the file and line of a subprogram, which its origin may have.
func (w *whyDWARF) place(d *definition, cu, e *dwarf.Entry, depth int) {
	line, ok := e.Val(dwarf.AttrDeclLine).(int64)
	if !ok {
		if o := w.origin(e); o != nil && depth < maxOrigins {
			w.place(d, cu, o, depth+1)
		}
		return
	}
	d.line = line
	lines, err := w.data.LineReader(cu)
	if i, ok := e.Val(dwarf.AttrDeclFile).(int64); ok && err == nil && lines != nil {
		if files := lines.Files(); i >= 0 && i < int64(len(files)) && files[i] != nil {
			d.file = files[i].Name
		}
	}
}

func (w *whyDWARF) origin(e *dwarf.Entry) *dwarf.Entry {
	for _, a := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		if off, ok := e.Val(a).(dwarf.Offset); ok {
			r := w.data.Reader()
			r.Seek(off)
			if o, err := r.Next(); err == nil {
				return o
			}
		}
	}
	return nil
}

// params are the parameters of e, which r has just read.
func (w *whyDWARF) params(r *dwarf.Reader, e *dwarf.Entry) (list []whyParam) {
	if !e.Children {
		return nil
	}
	for range maxEntries {
		p, err := r.Next()
		if err != nil || p == nil || p.Tag == 0 {
			return list
		}
		if p.Tag == dwarf.TagFormalParameter {
			list = append(list, whyParam{w.name(p, 0), w.placeOf(p)})
		}
		r.SkipChildren()
	}
	return list
}

func (w *whyDWARF) name(e *dwarf.Entry, depth int) string {
	if name, ok := e.Val(dwarf.AttrName).(string); ok {
		return name
	}
	if o := w.origin(e); o != nil && depth < maxOrigins {
		return w.name(o, depth+1)
	}
	return "(no name)"
}

// amd64Registers are the registers of x86-64 by their numbers in DWARF.
var amd64Registers = strings.Fields("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15")

// amd64Vectors is the number of the first of 16 vector registers.
const amd64Vectors = 17

// register is the name of a register, or its number in DWARF.
func (w *whyDWARF) register(n uint64) string {
	switch {
	case w.machine == elf.EM_X86_64 && n < uint64(len(amd64Registers)):
		return amd64Registers[n]
	case w.machine == elf.EM_X86_64 && n >= amd64Vectors && n < amd64Vectors+16:
		return fmt.Sprintf("xmm%d", n-amd64Vectors)
	case w.machine == elf.EM_AARCH64 && n < 31:
		return fmt.Sprintf("x%d", n)
	case w.machine == elf.EM_S390 && n < 16, w.machine == elf.EM_ARM && n < 16:
		return fmt.Sprintf("r%d", n)
	}
	return strconv.FormatUint(n, 10)
}

// Operations of DWARF expressions.
const (
	opAddr       = 0x03
	opReg0       = 0x50
	opReg31      = 0x6f
	opBreg0      = 0x70
	opRegX       = 0x90
	opFbreg      = 0x91
	opBregX      = 0x92
	opStackValue = 0x9f
)

// placeOf says where a parameter is, of several places where it is first: compilers
// write that of the entry before others.
func (w *whyDWARF) placeOf(p *dwarf.Entry) string {
	f := p.AttrField(dwarf.AttrLocation)
	if f == nil {
		if p.AttrField(dwarf.AttrConstValue) != nil {
			return "nowhere: always the same value"
		}
		return "nowhere: optimized away"
	}
	if expr, ok := f.Val.([]byte); ok {
		return w.placeIn(expr)
	}
	if off, ok := f.Val.(int64); ok && w.lists != nil && off >= 0 && f.Class == dwarf.ClassLocListPtr {
		list := locations.NewLocList(w.lists, uint64(off), w.format)
		if expr, ok := list.Next(); ok {
			return "at first " + w.placeIn(expr)
		}
	}
	return "in several places"
}

// placeIn is the place that an expression gives.
func (w *whyDWARF) placeIn(expr []byte) string {
	if len(expr) == 0 {
		return "nowhere: optimized away"
	}
	switch op := expr[0]; {
	case op >= opReg0 && op <= opReg31:
		return "in register " + w.register(uint64(op-opReg0))
	case op == opRegX:
		n, _ := binary.Uvarint(expr[1:])
		return "in register " + w.register(n)
	case op == opFbreg, op >= opBreg0 && op < opRegX, op == opBregX:
		return "on the stack"
	case op == opAddr && expr[len(expr)-1] == opStackValue:
		return "nowhere: always the same value"
	case op == opAddr:
		return "at a fixed address"
	}
	return "computed"
}
