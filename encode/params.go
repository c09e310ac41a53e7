package encode

import (
	"cmp"
	"slices"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/elfreloc"
)

// What a unit's functions inherit from each other, and whether their
// parameters arrive where the calling convention of their source types says
// (encode-behaviour 2.13, 4.4, 4.5). A BPF program attaches by that
// convention, so a function whose compiled form differs from it must not be
// described by its source prototype.
//
//	link      names and types of concrete functions, from their abstract origins
//	analyze   where each parameter is (paramloc.go), then per function whether
//	          that is where it was expected
//	uncertain packed structs on the stack (packed.go)

// paramEnv is what parameter analysis needs of the file and the unit.
type paramEnv struct {
	machine       uint16 // e_machine of the file
	addrSize      int
	version       uint16 // DWARF version of the unit
	bigEndian     bool
	dwarf64       bool
	clang         bool // the producer is clang
	trueSignature bool
	split         bool // the unit is in a .dwo

	info     []byte          // the unit, in which LocOff of an expression is an offset
	lists    []byte          // .debug_loclists from DWARF 5 on, else .debug_loc
	relocLoc *elfreloc.Table // of lists before DWARF 5, or nil
	listErr  error           // of reading or relocating lists
	buf      []byte          // for lists that are relocated, kept from unit to unit
	// moreLists gives more of lists than its first have bytes, if there are
	// more; nil if they are all there.
	moreLists func(have int) ([]byte, error)

	nodes   []dedup.Node
	members []dedup.Member
	// funcs are sorted by Off; params[f.First:][:f.N] are those of f, in
	// reading order.
	funcs  []funcRec
	params []paramRec
	copies int      // of funcs at its end, that nothing refers to
	order  []uint32 // indexes of funcs in functions-table order

	formats   []formatRun // of funcs, if not all have the same
	bothLists [2][]byte   // and .debug_loc, .debug_loclists

	// only says whether function i matters; nil means that all do. Others get
	// no flags, but what they pass on to their origins is passed on.
	only func(i uint32) bool
}

// link lets functions and parameters take names and types from the abstract
// origin or specification, one hop each, in functions-table order. Return
// types follow when all of that is done.
func (e *paramEnv) link() {
	for _, i := range e.order {
		f := &e.funcs[i]
		if f.Name == 0 {
			from := f.Origin
			if from == 0 {
				from = f.Spec
			}
			if o := e.funcAt(from); o != nil {
				f.Name = o.Name
			}
		}
		ps := e.paramsOf(f)
		for j := range ps {
			p := &ps[j]
			if p.Origin == 0 || p.HasType {
				continue
			}
			if o, _ := e.originOf(f, p, j); o != nil {
				p.Type, p.Name = o.Type, o.Name
			}
		}
	}
	for _, i := range e.order {
		f := &e.funcs[i]
		if f.Flags&fnHasType == 0 && f.Origin != 0 {
			if o := e.funcAt(f.Origin); o != nil {
				f.Type = o.Type
			}
		}
	}
}

// own are the functions that references lead to.
func (e *paramEnv) own() []funcRec {
	if e.copies > 0 {
		return e.funcs[:len(e.funcs)-e.copies]
	}
	return e.funcs
}

// paramsOf returns the parameters of f.
func (e *paramEnv) paramsOf(f *funcRec) []paramRec {
	if uint64(f.First)+uint64(f.N) > uint64(len(e.params)) {
		return nil
	}
	return e.params[f.First:][:f.N]
}

// funcAt returns the function whose DIE is at off, or nil.
func (e *paramEnv) funcAt(off uint32) *funcRec {
	if off == 0 {
		return nil
	}
	i, ok := slices.BinarySearchFunc(e.own(), off, func(f funcRec, off uint32) int { return cmp.Compare(f.Off, off) })
	if !ok {
		return nil
	}
	return &e.funcs[i]
}

// originOf returns the abstract origin of p, which is parameter j of f, and
// its position among the parameters of its own function, or nil.
func (e *paramEnv) originOf(f *funcRec, p *paramRec, j int) (*paramRec, int) {
	// The rule: the same position in the function's own origin.
	if o := e.funcAt(f.Origin); o != nil {
		ps := e.paramsOf(o)
		if j < len(ps) && ps[j].Off == p.Origin {
			return &ps[j], j
		}
		if k := paramAt(ps, p.Origin); k >= 0 {
			return &ps[k], k
		}
	}
	// Else the last function that starts before the parameter.
	i, _ := slices.BinarySearchFunc(e.own(), p.Origin, func(f funcRec, off uint32) int { return cmp.Compare(f.Off, off) })
	if i > 0 {
		ps := e.paramsOf(&e.funcs[i-1])
		if k := paramAt(ps, p.Origin); k >= 0 {
			return &ps[k], k
		}
	}
	return nil, 0
}

// paramAt returns the index of the parameter whose DIE is at off, or -1.
func paramAt(ps []paramRec, off uint32) int {
	for k := range ps {
		if ps[k].Off == off {
			return k
		}
	}
	return -1
}

// analyze sets fnReordered, fnUnexpectedReg, fnOptimizedParms and fnChanged of
// the functions and everything of the parameters that says where they are. It
// comes after link, once: it expects records as the walk made them.
func (e *paramEnv) analyze() {
	args := argRegsOf(e.machine)
	for _, i := range e.order {
		f := &e.funcs[i]
		if !e.wanted(i) && (f.Origin == 0 || f.Flags&fnDeclaration != 0) {
			continue
		}
		if e.formats != nil {
			e.useFormat(i)
		}
		ps := e.paramsOf(f)
		for j := range ps {
			p := &ps[j]
			t := p.Type // link took it from the origin, unless p has its own
			if p.HasType && p.Origin != 0 {
				if o, _ := e.originOf(f, p, j); o != nil {
					t = o.Type
				}
			}
			e.locate(p, t, &args)
		}
	}
	for _, i := range e.order {
		if f := &e.funcs[i]; f.Origin != 0 && f.Flags&fnDeclaration == 0 {
			e.passOn(f)
		}
	}
	for _, i := range e.order {
		if !e.wanted(i) {
			continue
		}
		f := &e.funcs[i]
		if e.changed(f) {
			f.Flags |= fnChanged
		}
		e.check(f, &args)
	}
}

func (e *paramEnv) wanted(i uint32) bool { return e.only == nil || e.only(i) }

// copiedFlags are the flags that a parameter passes on to its origin.
const copiedFlags = pmHasLoc | pmHasConst | pmConstant | pmOnStack | pmInMemory

// passOn adds what is known of f's parameters to their origins: flags stay set
// once one concrete function set them, of registers the last one counts. Like
// names and types, none of this concerns parameters with a type of their own.
// (All of it by experiment with pahole 1.32.)
func (e *paramEnv) passOn(f *funcRec) {
	ps := e.paramsOf(f)
	for j := range ps {
		p := &ps[j]
		if p.Origin == 0 || p.HasType {
			continue
		}
		o, k := e.originOf(f, p, j)
		if o == nil {
			continue
		}
		if k&0xff != j&0xff {
			f.Flags |= fnReordered
		}
		o.Flags |= p.Flags & copiedFlags
		if p.Reg >= 0 {
			o.Reg = p.Reg
		}
		o.Size = p.Size
		o.PieceFirst |= p.PieceFirst
		o.PieceSecond |= p.PieceSecond
	}
}

// changed reports whether clang changed the function's signature, which it
// says with DW_CC_nocall.
func (e *paramEnv) changed(f *funcRec) bool {
	if !e.clang || f.Flags&fnInline != 0 {
		return false
	}
	if f.Origin != 0 {
		f = e.funcAt(f.Origin)
	}
	return f != nil && f.Flags&fnNoCall != 0
}

// check sets fnUnexpectedReg and fnOptimizedParms of f (encode-behaviour 4.5.3).
func (e *paramEnv) check(f *funcRec, args *argRegs) {
	ps := e.paramsOf(f)
	changed := f.Flags&fnChanged != 0
	switch {
	case e.clang && !changed:
		e.checkClang(ps, args)
	case changed && e.trueSignature:
		e.checkChanged(ps, args)
	default:
		e.checkPlain(ps, args)
	}
	var all paramFlags
	structs := false
	for j := range ps {
		p := &ps[j]
		all |= p.Flags
		if p.Flags&pmOptimized != 0 || p.Flags&pmHasLoc == 0 {
			f.Flags |= fnOptimizedParms
		}
		if e.isStruct(p.Type) {
			structs = true
		}
	}
	if all&pmUnexpected != 0 && !structs {
		f.Flags |= fnUnexpectedReg
	}
}

// checkClang is the check for clang functions that keep their signature: clang
// describes less, so that only a register that is known and wrong counts. On
// machines of which the reference encoder knows the number of registers only,
// every register is wrong to it.
func (e *paramEnv) checkClang(ps []paramRec, args *argRegs) {
	slot := 0
	for j := range ps {
		p := &ps[j]
		if p.Flags&pmInMemory != 0 {
			continue
		}
		if slot >= args.n {
			return
		}
		n := e.slots(p, args)
		if p.Reg >= 0 && !args.among(p.Reg, slot, n) {
			p.Flags |= pmUnexpected
		}
		slot += n
	}
}

// checkPlain is the check for GCC, and for changed clang functions as long as
// true signatures are not asked for.
func (e *paramEnv) checkPlain(ps []paramRec, args *argRegs) {
	slot := 0
	for j := range ps {
		p := &ps[j]
		if p.Flags&pmHasLoc != 0 {
			switch {
			case slot >= args.n:
				continue
			case p.Reg < 0:
				p.Flags |= pmOptimized
			case args.known && p.Reg != args.at(slot):
				p.Flags |= pmUnexpected
			}
		} else if p.Flags&pmHasConst != 0 && !e.clang {
			p.Flags |= pmOptimized
		}
		if p.Flags&pmInMemory != 0 {
			slot++
		} else {
			slot += e.slots(p, args)
		}
	}
}

// checkChanged finds the true signature of a changed clang function:
// parameters that are gone are marked optimized, and a struct of which only
// one member is passed becomes that member.
func (e *paramEnv) checkChanged(ps []paramRec, args *argRegs) {
	slot := 0
	for j := range ps {
		p := &ps[j]
		p.Member = e.trueMember(p)
		n := e.slots(p, args)
		// nextFits: the next parameter stands where it should if this one has
		// all the registers of its source type.
		nextFits := j+1 < len(ps) && args.known && slot+n < args.n &&
			ps[j+1].Reg >= 0 && ps[j+1].Reg == args.at(slot+n)
		inMemory := p.Flags&pmInMemory != 0
		if p.Flags&pmHasLoc == 0 {
			if slot < args.n && nextFits {
				slot += n
			} else {
				p.Flags |= pmOptimized
			}
			continue
		}
		switch {
		case p.Flags&pmConstant != 0:
			p.Flags |= pmOptimized
			continue
		case slot >= args.n:
			continue
		case p.Flags&pmOnStack != 0:
			if inMemory {
				continue
			}
			p.Flags |= pmUnexpected
		case p.Reg < 0:
			p.Flags |= pmUnexpected
		case args.known && p.Reg != args.at(slot):
			p.Flags |= pmUnexpected
		case p.PieceFirst|p.PieceSecond != 0:
			if p.PieceFirst != 0 && p.PieceSecond != 0 {
				slot += n
				continue
			}
			if nextFits {
				p.Member = 0
				slot += n
				continue
			}
			if p.Member != 0 {
				p.Type = e.members[p.Member-1].Type
				slot++
				continue
			}
		}
		if inMemory {
			slot++
		} else {
			slot += n
		}
	}
}

// trueMember returns 1 + the index of the only member of the struct p that is
// described, if the described pieces begin at exactly one byte, else 0. It is
// looked for only where location and type are attributes of the same DIE, so
// not in concrete functions that have an abstract origin, nor in those.
func (e *paramEnv) trueMember(p *paramRec) uint32 {
	if !p.HasType || p.LocKind == locNone {
		return 0
	}
	at := -1
	switch {
	case p.PieceSecond == 0:
		at = onlyBit(p.PieceFirst)
	case p.PieceFirst == 0:
		if at = onlyBit(p.PieceSecond); at >= 0 {
			at += e.addrSize
		}
	}
	if at < 0 {
		return 0
	}
	n := e.structOf(p.Type)
	if n == nil {
		return 0
	}
	ms := e.membersOf(n)
	for i := range ms {
		if bit, _ := bitsOf(n, &ms[i]); bit == uint64(at)*8 {
			return n.First + uint32(i) + 1
		}
	}
	return 0
}
