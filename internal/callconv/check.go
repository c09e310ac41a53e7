package callconv

import (
	"math/bits"
	"slices"

	"github.com/btflite/btflite/btf"
)

// changed reports whether clang changed the function's signature, which it
// says with DW_CC_nocall.
func (e *Functions) changed(f *Func) bool {
	if !e.Clang || f.Flags&FuncInline != 0 {
		return false
	}
	if f.Origin != 0 {
		f = e.funcAt(f.Origin)
	}
	return f != nil && f.Flags&FuncNoCall != 0
}

// check sets FuncUnexpectedReg and FuncOptimizedParams of f.
func (e *Functions) check(f *Func, args *argRegs) {
	ps := e.paramsOf(f)
	changed := f.Flags&FuncChanged != 0
	switch {
	case e.Clang && !changed:
		e.checkClang(ps, args)
	case changed && e.TrueSignature:
		e.checkChanged(ps, args)
	default:
		e.checkPlain(ps, args)
	}
	var all ParamFlags
	for j := range ps {
		p := &ps[j]
		all |= p.Flags
		if p.Flags&ParamOptimized != 0 || p.Flags&ParamHasLoc == 0 {
			f.Flags |= FuncOptimizedParams
		}
	}
	if all&ParamUnexpected != 0 && !e.hasStruct(ps) {
		f.Flags |= FuncUnexpectedReg
	}
}

// hasStruct reports whether the type of a parameter is a struct.
func (e *Functions) hasStruct(ps []Param) bool {
	return slices.ContainsFunc(ps, func(p Param) bool { return p.Flags&ParamClass == 0 && e.Types.isStruct(p.Type) })
}

// checkClang is the check for clang functions that keep their signature. clang
// describes fewer locations, so only a register that is known and wrong counts. Of some
// machines pahole knows only the number of registers: there every register is wrong.
func (e *Functions) checkClang(ps []Param, args *argRegs) {
	slot := 0
	for j := range ps {
		p := &ps[j]
		if p.Flags&ParamInMemory != 0 {
			continue
		}
		if slot >= args.n {
			return
		}
		n := e.slots(p, args)
		if p.Reg >= 0 && !args.among(p.Reg, slot, n) {
			p.Flags |= ParamUnexpected
		}
		slot += n
	}
}

// checkPlain is the check for GCC, and for changed clang functions without true
// signatures.
func (e *Functions) checkPlain(ps []Param, args *argRegs) {
	slot := 0
	for j := range ps {
		p := &ps[j]
		if p.Flags&ParamHasLoc != 0 {
			switch {
			case slot >= args.n:
				continue
			case p.Reg < 0:
				p.Flags |= ParamOptimized
			case args.known && p.Reg != args.at(slot):
				p.Flags |= ParamUnexpected
			}
		} else if p.Flags&ParamHasConst != 0 && !e.Clang {
			p.Flags |= ParamOptimized
		}
		if p.Flags&ParamInMemory != 0 {
			slot++
		} else {
			slot += e.slots(p, args)
		}
	}
}

// checkChanged finds the true signature of a changed clang function: it marks parameters
// that are gone as optimized, and replaces a struct by its member if only that is
// passed.
func (e *Functions) checkChanged(ps []Param, args *argRegs) {
	slot := 0
	for j := range ps {
		p := &ps[j]
		p.Member = e.trueMember(p)
		n := e.slots(p, args)
		// nextFits: the next parameter stands where it should if this one has
		// all the registers of its source type.
		nextFits := j+1 < len(ps) && args.known && slot+n < args.n &&
			ps[j+1].Reg >= 0 && ps[j+1].Reg == args.at(slot+n)
		inMemory := p.Flags&ParamInMemory != 0
		if p.Flags&ParamHasLoc == 0 {
			if slot < args.n && nextFits {
				slot += n
			} else {
				p.Flags |= ParamOptimized
			}
			continue
		}
		switch {
		case p.Flags&ParamConstant != 0:
			p.Flags |= ParamOptimized
			continue
		case slot >= args.n:
			continue
		case p.Flags&ParamOnStack != 0:
			if inMemory {
				continue
			}
			p.Flags |= ParamUnexpected
		case p.Reg < 0:
			p.Flags |= ParamUnexpected
		case args.known && p.Reg != args.at(slot):
			p.Flags |= ParamUnexpected
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
				p.Type = e.Types.Members[p.Member-1].Type
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
// described, if the described pieces begin at exactly one byte, else 0. The DIE must
// have both the location and the type. In a function with an abstract origin, the
// concrete DIE has only the location and the origin only the type.
func (e *Functions) trueMember(p *Param) uint32 {
	if !p.HasType || p.LocKind == LocNone {
		return 0
	}
	at := -1
	switch {
	case p.PieceSecond == 0:
		at = onlyBit(p.PieceFirst)
	case p.PieceFirst == 0:
		if at = onlyBit(p.PieceSecond); at >= 0 {
			at += e.Types.AddrSize
		}
	}
	if at < 0 {
		return 0
	}
	r, n, ok := e.Types.stripped(p.Type)
	if !ok || btf.InfoKind(n.Info) != btf.KindStruct {
		return 0
	}
	ms := e.Types.membersOf(r, &n)
	for i := range ms {
		if bit, _ := bitsOf(&n, &ms[i]); bit == uint64(at)*8 {
			return n.First + uint32(i) + 1
		}
	}
	return 0
}

// slots is the number of registers that p takes if it is not in memory.
func (e *Functions) slots(p *Param, args *argRegs) int {
	if args.oneEach || int(p.Size) <= e.Types.AddrSize || e.Types.AddrSize == 0 {
		return 1
	}
	return (int(p.Size) + e.Types.AddrSize - 1) / e.Types.AddrSize
}

// onlyBit returns the number of the only bit set in v, or -1.
func onlyBit(v uint16) int {
	if bits.OnesCount16(v) != 1 {
		return -1
	}
	return bits.TrailingZeros16(v)
}
