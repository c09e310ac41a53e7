package encode

import (
	"math/bits"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// Where a parameter is: calling conventions (encode-behaviour 4.5.1) and the
// reading of DW_AT_location (4.5.2).

// e_machine values (ELF gABI).
const (
	emSPARC   = 2
	emMIPS    = 8
	emPPC     = 20
	emPPC64   = 21
	emS390    = 22
	emARM     = 40
	emSPARCV9 = 43
	emARC     = 45
	emX8664   = 62
	emAARCH64 = 183
	emRISCV   = 243
)

// argRegs are the registers in which a machine passes arguments, as the
// reference encoder has them (ARM has four in truth).
type argRegs struct {
	n     int     // how many
	known bool    // regs is valid
	one   bool    // nothing takes two registers
	regs  [8]int8 // DWARF register numbers by slot
}

// argRegsOf returns the registers of an e_machine; of an unknown one, none.
func argRegsOf(machine uint16) argRegs {
	switch machine {
	case emX8664:
		return argRegs{n: 6, known: true, regs: [8]int8{5, 4, 1, 2, 8, 9}}
	case emAARCH64, emARM:
		return argRegs{n: 8, known: true, regs: [8]int8{0, 1, 2, 3, 4, 5, 6, 7}}
	case emS390:
		return argRegs{n: 5, known: true, one: true, regs: [8]int8{2, 3, 4, 5, 6}}
	case emSPARC, emSPARCV9:
		return argRegs{n: 6}
	case emARC, emMIPS, emPPC, emPPC64, emRISCV:
		return argRegs{n: 8}
	}
	return argRegs{}
}

// at returns the register of a slot below n.
func (a *argRegs) at(slot int) int8 { return a.regs[slot&7] }

// among reports whether reg belongs to one of count slots from slot on.
func (a *argRegs) among(reg int8, slot, count int) bool {
	for s := slot; a.known && s < slot+count && s < a.n; s++ {
		if a.regs[s&7] == reg {
			return true
		}
	}
	return false
}

// slots is the number of registers that p takes if it is not in memory.
func (e *paramEnv) slots(p *paramRec, args *argRegs) int {
	if args.one || int(p.Size) <= e.addrSize || e.addrSize == 0 {
		return 1
	}
	return (int(p.Size) + e.addrSize - 1) / e.addrSize
}

// maxTypeHops bounds every walk along a chain of types; real chains have a
// handful, cycles exist in broken files only.
const maxTypeHops = 64

// node returns the node that r refers to, or nil for void and for what is not
// of this unit.
func (e *paramEnv) node(r dedup.Ref) *dedup.Node {
	if r == 0 || uint64(r) > uint64(len(e.nodes)) {
		return nil
	}
	return &e.nodes[r-1]
}

// typeSize is the size of a parameter of type r: that of a pointer, or the
// first size other than 0 on the way along the types; an array thus has the
// size of its element.
func (e *paramEnv) typeSize(r dedup.Ref) uint16 {
	for range maxTypeHops {
		n := e.node(r)
		if n == nil {
			return 0
		}
		switch btf.InfoKind(n.Info) {
		case btf.KindPtr:
			return uint16(e.addrSize)
		case btf.KindInt, btf.KindFloat, btf.KindEnum, btf.KindEnum64, btf.KindStruct, btf.KindUnion:
			return uint16(dwarfSize(n))
		case btf.KindFwd:
			return 0
		}
		r = n.Third
	}
	return 0
}

// stripped returns the node behind const and typedef, or nil for void.
func (e *paramEnv) stripped(r dedup.Ref) *dedup.Node {
	for range maxTypeHops {
		n := e.node(r)
		if n == nil {
			return nil
		}
		switch btf.InfoKind(n.Info) {
		case btf.KindConst, btf.KindTypedef:
			r = n.Third
		default:
			return n
		}
	}
	return nil
}

// structOf returns the struct that r is, directly or behind const and typedef,
// or nil.
func (e *paramEnv) structOf(r dedup.Ref) *dedup.Node {
	if n := e.stripped(r); n != nil && btf.InfoKind(n.Info) == btf.KindStruct {
		return n
	}
	return nil
}

func (e *paramEnv) isStruct(r dedup.Ref) bool {
	n := e.stripped(r)
	if n == nil {
		return false
	}
	k := btf.InfoKind(n.Info)
	return k == btf.KindStruct || k == btf.KindFwd && !btf.InfoKflag(n.Info)
}

// locate sets size and location of p, whose source type is t.
func (e *paramEnv) locate(p *paramRec, t dedup.Ref, args *argRegs) {
	p.Size = e.typeSize(t)
	limit := 2 * e.addrSize
	if args.one {
		limit = e.addrSize
	}
	if int(p.Size) > limit {
		p.Flags |= pmInMemory
	}
	if p.LocKind == locNone {
		return
	}
	d := locDecoder{p: p, addrSize: uint64(e.addrSize)}
	d.two = int(p.Size) > e.addrSize && !args.one
	d.full = e.trueSignature && e.clang
	d.format = dwarf.ExprFormat{Version: e.version, AddrSize: uint8(e.addrSize), Dwarf64: e.dwarf64, BigEndian: e.bigEndian, Split: e.split}
	switch p.LocKind {
	case locExpr:
		off, n := uint64(p.LocOff), uint64(p.LocLen)
		if off+n <= uint64(len(e.info)) {
			d.expr(e.info[off:][:n], 0)
		}
	case locList:
		if e.relocLoc != nil && e.version < 5 {
			e.relocatedList(&d, uint64(p.LocOff))
			break
		}
		// Relocated or not: in lists of DWARF 5 addresses are stepped over,
		// and no relocation changes the length of anything.
		before := *p
		for !d.list(e.lists, uint64(p.LocOff)) && e.more() {
			*p = before
		}
	}
}

// more makes lists longer, where not all of the section is there yet.
func (e *paramEnv) more() bool {
	if e.moreLists == nil {
		return false
	}
	m, err := e.moreLists(len(e.lists))
	if err != nil || len(m) == len(e.lists) {
		e.listErr = err
		return false
	}
	e.lists = m
	return true
}

// list takes the location list at offset off of a section. It reports whether
// the section went on as far as the list was read.
func (d *locDecoder) list(section []byte, off uint64) bool {
	l := dwarf.NewLocList(section, off, d.format)
	for n := 0; ; n++ {
		// A broken list counts as far as it could be read.
		x, ok := l.Next()
		if !ok || !d.expr(x, n) || d.done() {
			return l.Err() == nil
		}
	}
}

// relocatedList is list for a .debug_loc with relocations, which decide where
// a list ends. As much of it as the list may take is copied and relocated:
// little at first, as mostly one entry is read, and more if that was cut off.
func (e *paramEnv) relocatedList(d *locDecoder, off uint64) {
	before := *d.p
	for size := uint64(128); ; size *= 4 {
		for off+size > uint64(len(e.lists)) && e.more() {
		}
		if off >= uint64(len(e.lists)) {
			return
		}
		e.buf = append(e.buf[:0], e.lists[off:min(off+size, uint64(len(e.lists)))]...)
		first := e.relocLoc.Search(0, off)
		end := off + uint64(len(e.buf))
		if err := e.relocLoc.Apply(e.buf, off, first, e.relocLoc.Search(first, end)); err != nil {
			e.listErr = err
			return
		}
		if d.list(e.buf, 0) || end == uint64(len(e.lists)) {
			return
		}
		*d.p = before
	}
}

// locDecoder takes the expressions of one parameter's location in order.
type locDecoder struct {
	p        *paramRec
	format   dwarf.ExprFormat
	addrSize uint64
	two      bool // the value takes two registers
	full     bool // pieces matter, not only the register
}

// done reports whether no later entry can change the outcome.
func (d *locDecoder) done() bool { return d.p.Reg >= 0 && !(d.two && d.full) }

func isConst(op uint8) bool {
	return op >= dwarf.OpLit0 && op <= dwarf.OpLit31 || op == dwarf.OpConstu || op == dwarf.OpConsts
}

// setReg sets the register unless an earlier expression did; op is that of the
// first of 32 operations.
func (d *locDecoder) setReg(op, first uint8) {
	if d.p.Reg < 0 {
		d.p.Reg = int8(op - first)
	}
}

// expr takes expression number n. It reports whether the expression could be
// decoded; if not, nothing after it counts.
func (d *locDecoder) expr(b []byte, n int) bool {
	var op [2]dwarf.ExprOp // the first two operations
	var rest dwarf.ExprOp
	count, stackValue := 0, false
	x := dwarf.NewExpr(b, d.format)
	for {
		o := &rest
		if count < 2 {
			o = &op[count]
		}
		if !x.Next(o) {
			break
		}
		if count > 0 && o.Code == dwarf.OpStackValue {
			stackValue = true
		}
		count++
	}
	if x.Bad() {
		return false
	}
	switch {
	case count == 0:
	case count == 1:
		d.single(&op[0], n, false)
	case count == 2 && stackValue:
		d.single(&op[0], n, true)
	case isConst(op[0].Code):
		if n == 0 {
			d.p.Flags |= pmConstant
		}
	case d.two:
		d.pieces(b)
	case n == 0 && op[0].Code >= dwarf.OpReg0 && op[0].Code <= dwarf.OpReg31:
		d.setReg(op[0].Code, dwarf.OpReg0)
	case n == 0 && op[0].Code >= dwarf.OpBreg0 && op[0].Code <= dwarf.OpBreg31 && stackValue:
		d.setReg(op[0].Code, dwarf.OpBreg0)
	}
	return true
}

// single takes an expression of one operation, with or without a
// DW_OP_stack_value after it.
func (d *locDecoder) single(op *dwarf.ExprOp, n int, stackValue bool) {
	switch c := op.Code; {
	case c == dwarf.OpEntryValue || c == dwarf.OpGNUEntryValue:
		if len(op.Block) == 1 && op.Block[0] >= dwarf.OpReg0 && op.Block[0] <= dwarf.OpReg31 {
			d.setReg(op.Block[0], dwarf.OpReg0)
		}
	case n != 0:
	case c >= dwarf.OpReg0 && c <= dwarf.OpReg31:
		d.setReg(c, dwarf.OpReg0)
	case c >= dwarf.OpBreg0 && c <= dwarf.OpBreg31:
		if stackValue {
			d.setReg(c, dwarf.OpBreg0)
		}
	case c == dwarf.OpFbreg:
		d.p.Flags |= pmOnStack
	case isConst(c):
		d.p.Flags |= pmConstant
	}
}

// pieces takes an expression that describes the value in pieces.
func (d *locDecoder) pieces(b []byte) {
	var op dwarf.ExprOp
	x := dwarf.NewExpr(b, d.format)
	for off, i := uint64(0), 0; x.Next(&op); i++ {
		switch {
		case op.Code == dwarf.OpPiece && i == 0:
			off = op.A
		case op.Code == dwarf.OpPiece:
			if off < d.addrSize {
				d.p.PieceFirst |= 1 << off
			} else if off < 2*d.addrSize {
				d.p.PieceSecond |= 1 << (off - d.addrSize)
			}
			off += op.A
		case op.Code >= dwarf.OpReg0 && op.Code <= dwarf.OpReg31:
			d.setReg(op.Code, dwarf.OpReg0)
		}
	}
}

// onlyBit returns the number of the only bit set in v, or -1.
func onlyBit(v uint16) int {
	if bits.OnesCount16(v) != 1 {
		return -1
	}
	return bits.TrailingZeros16(v)
}
