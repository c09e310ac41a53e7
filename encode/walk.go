package encode

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
)

// The walk reads the DIEs of a unit once, in order, and fills the unit's flat
// tables: a node for each type DIE, members, functions with their parameters,
// candidate variables. It follows no reference; link does that afterwards.
//
// A DIE whose abbreviation is direct costs a table look-up and a few masked
// loads; runs of members, almost half of all DIEs, have a loop of their own.
// What lies below inlined_subroutine and call_site is jumped over, as
// pahole does.

// role is what the children of a DIE are read as.
type role uint8

const (
	ctxUnit role = iota
	ctxNamespace
	ctxFunc
	ctxBlock
	ctxAggregate
	ctxEnum
	ctxProto
	ctxArray // dimensions and annotations only, like all that follow
	ctxType  // pointer, typedef …: annotations only
	ctxOther // member, parameter, variable: annotations only
)

// frame is an open DIE with children.
type frame struct {
	ctx   role
	tag   dwarf.Tag
	owner uint32 // node, function or variable index
	first uint32 // first member in types.Members, or in open if inOpen
	n     uint32 // members, enumerators, parameters so far; dimensions of an array
	comp  int32  // component index for annotations of the owner's parts
	kflag bool
	open  bool // members are in u.open
	neg   bool // an enumerator is negative
	big   bool // an enumerator needs more than 32 bits
	an    uint32
}

// maxDepth bounds the depth of a DIE tree; compilers stay far below.
const maxDepth = 2048

// maxVlen is how many members and the like a type can have: what fits into the 16
// bits of vlen that all kernels read. What is beyond is refused, not cut.
const maxVlen = 0xffff

// walk reads all DIEs below the unit DIE, which ends at p.
func (f *file) walk(u *unit, p int) error {
	b := u.hdr.Data
	be := f.bigEndian
	tab := u.abbrevs.Dense()
	u.starts.Resize((len(b) + 63) / 64)
	members := &u.types.Members
	u.push(ctxUnit, 0)
	dies := u.dies
	last := p
	for p < len(b) {
		if u.reader.Bad {
			return f.dieError(u, last, "a name lies beyond .debug_str")
		}
		off := p
		last = p
		code := uint64(b[p])
		p++
		if code >= 0x80 {
			if code, p = dwarf.ULEB(b, off); p < 0 {
				return f.dieError(u, off, "abbreviation code cut off")
			}
		}
		if code == 0 {
			if err := f.closeFrame(u); err != nil {
				return err
			}
			if len(u.frames.S) == 0 {
				if err := f.onlyZeros(u, p); err != nil {
					return err
				}
				break
			}
			continue
		}
		var a *dwarf.Abbrev
		if code < uint64(len(tab)) {
			a = &tab[code]
		}
		if a == nil || a.Tag == 0 {
			if a = u.abbrevs.Lookup(code); a == nil {
				return f.dieError(u, off, "no abbreviation has its code")
			}
		}
		dies++
		top := &u.frames.S[len(u.frames.S)-1]
		direct := a.Direct && p+int(a.Size)+4 <= len(b)
		class := a.Class
		if top.ctx >= ctxArray && class != dwarf.ClassSubrange && class != dwarf.ClassAnnotation {
			class = dwarf.ClassBlock // nothing here: skipped below
		}

		switch class {
		case dwarf.ClassMember:
			if top.ctx != ctxAggregate {
				break
			}
			if (direct || a.Inline && p+int(a.Size)+8 <= len(b)) && !top.open && !a.Children {
				next, n, err := f.memberRun(u, a, off, p, top)
				if err == nil {
					p = next
					dies += n
					if p < len(b) && b[p] == 0 && top.n <= maxVlen && top.an == 0 && u.language != langRust {
						// The end of the type, with nothing to settle.
						p++
						x := &u.types.Nodes.S[top.owner]
						x.First = top.first
						x.Info = btf.Info(btf.InfoKind(x.Info), top.n, top.kflag)
						u.addOrder(top.owner)
						u.frames.S = u.frames.S[:len(u.frames.S)-1]
					}
					continue
				}
				if err != errLongName {
					return err
				}
				// Back to where the code of the member with it was read.
				off, dies = next, dies+n
				code, q := dwarf.ULEB(b, off)
				a, p = u.abbrevs.Lookup(code), q
				top = &u.frames.S[len(u.frames.S)-1]
			}
			next, err := f.member(u, a, off, p, top)
			if err != nil {
				return err
			}
			p = next
			if a.Children {
				u.push(ctxOther, a.Tag)
			}
			continue

		case dwarf.ClassRef:
			var name, third uint32
			var an uint64
			if direct {
				if !a.Children {
					if next, n := f.plainRefs(u, a, off, p); n != 0 {
						p = next
						dies += n - 1
						continue
					}
				}
				d := b[p:]
				name = f.direct(u, a, d)
				if third = load(d, &a.Slots[1], be); third >= uint32(len(b)) {
					return f.outOfUnit(u, off)
				}
				p += int(a.Size)
			} else {
				next, have := u.abbrevs.Decode(a, b, p, &u.vals)
				if next < 0 {
					return f.cutOff(u, off)
				}
				p = next
				name = f.nameOf(u, have)
				var err error
				if third, err = f.refOf(u, off, have, dwarf.VType); err != nil {
					return err
				}
				if have&(1<<dwarf.VAnnotation) != 0 {
					an = u.vals[dwarf.VAnnotation].U
				}
				if name == 0 && have&(1<<dwarf.VSpec) != 0 && a.Tag == dwarf.TagTypedef {
					name = f.nameAt(u, u.vals[dwarf.VSpec].U)
				}
			}
			k := &refKinds[a.Tag&0xff]
			if name &= k.named; name|^k.named == 0 {
				return f.noName(u, off, "typedef without a name")
			}
			if an != 0 && a.Tag == dwarf.TagPointerType && f.opt.Features&TypeTag != 0 {
				third = f.gnuTypeTags(u, uint32(an), third)
			}
			n, i := u.addNode(off)
			n.Info, n.Name, n.Third = k.info, name, third
			if a.Children {
				u.push(ctxType, a.Tag).owner = i
				if len(u.frames.S) > maxDepth {
					return f.dieError(u, off, "DIE tree too deep")
				}
				continue
			}
			u.addOrder(i)
			continue

		case dwarf.ClassAggregate:
			var name, size, decl uint32
			if direct {
				d := b[p:]
				name = f.direct(u, a, d)
				size = load(d, &a.Slots[2], be)
				decl = load(d, &a.Slots[3], be)
				p += int(a.Size)
			} else {
				next, have := u.abbrevs.Decode(a, b, p, &u.vals)
				if next < 0 {
					return f.cutOff(u, off)
				}
				p = next
				name = f.nameOf(u, have)
				long := f.number(u, have, dwarf.VByteSize)
				if size = uint32(long); long>>32 != 0 {
					return f.dieError(u, off, "size over 4294967295 bytes")
				}
				decl = uint32(f.number(u, have, dwarf.VDeclaration))
			}
			kind := btf.KindStruct
			if a.Tag == dwarf.TagUnionType {
				kind = btf.KindUnion
			}
			ctx, tag := ctxAggregate, a.Tag
			info := btf.Info(kind, 0, false)
			signed := !direct && a.Present&(1<<dwarf.VSignature) != 0
			if decl != 0 || signed {
				if name == 0 && !signed {
					if u.reader.Bad {
						return f.noName(u, off, "")
					}
					u.leaveOut(uint32(len(u.types.Nodes.S)), "declaration of a struct without a name")
				}
				info, size = btf.Info(btf.KindFwd, 0, kind == btf.KindUnion), 0
				ctx, tag = ctxType, 0
				if signed {
					if err := f.addStub(u, off, a.Present); err != nil {
						return err
					}
					ctx = ctxNamespace // what is declared in it may be described here
				}
			}
			n, i := u.addNode(off)
			n.Info, n.Name, n.Third = info, name, size
			if decl == 0 && !signed {
				n.First = uint32(len(members.S))
			}
			an := uint32(0)
			if !direct && a.Present&(1<<dwarf.VAnnotation) != 0 && a.Tag != dwarf.TagUnionType {
				an = uint32(u.vals[dwarf.VAnnotation].U)
			}
			if a.Present&(1<<dwarf.VSpec) != 0 {
				f.defines(u, i)
			}
			if a.Children {
				f.suspend(u, top)
				first, n := uint32(len(members.S)), uint32(0)
				if ctx == ctxAggregate && an == 0 {
					var closed bool
					p, n, closed = f.plainStruct(u, i, p)
					dies += uint64(n)
					if closed {
						continue
					}
				}
				fr := u.push(ctx, tag)
				fr.owner, fr.first, fr.an, fr.n, fr.comp = i, first, an, n, int32(n)
				if len(u.frames.S) > maxDepth {
					return f.dieError(u, off, "DIE tree too deep")
				}
				continue
			}
			if an != 0 {
				f.gnuDeclTags(u, an, i, -1)
			}
			u.addOrder(i)
			continue

		case dwarf.ClassParam:
			switch top.ctx {
			case ctxProto:
				m := dedup.Member{}
				if direct && a.Present&(1<<dwarf.VOrigin|1<<dwarf.VLocation) == 0 {
					d := b[p:]
					m.Name = f.direct(u, a, d)
					if m.Type = load(d, &a.Slots[1], be); m.Type >= uint32(len(b)) {
						return f.outOfUnit(u, off)
					}
					p += int(a.Size)
				} else {
					next, have := u.abbrevs.Decode(a, b, p, &u.vals)
					if next < 0 {
						return f.cutOff(u, off)
					}
					p = next
					m.Name = f.nameOf(u, have)
					var err error
					if m.Type, err = f.refOf(u, off, have, dwarf.VType); err != nil {
						return err
					}
				}
				f.addMember(u, top, m)
				if a.Children {
					u.push(ctxOther, a.Tag)
				}
				continue
			case ctxFunc:
				if u.funcs.S[top.owner].Flags&callconv.FuncDeclaration != 0 && a.Fixed && !a.Children {
					p += int(a.Size) // of no function that is judged
					continue
				}
				next, err := f.param(u, a, off, p, top)
				if err != nil {
					return err
				}
				p = next
				if a.Children {
					owner, comp := top.owner, int32(top.n)-1
					fr := u.push(ctxOther, a.Tag)
					fr.owner, fr.comp, fr.an = owner, comp, 1
				}
				continue
			}

		case dwarf.ClassVariadic:
			switch top.ctx {
			case ctxProto:
				top.kflag = true // the extra parameter is added when the type is closed
			case ctxFunc:
				u.funcs.S[top.owner].Flags |= callconv.FuncVariadic
			}

		case dwarf.ClassEnumerator:
			if top.ctx != ctxEnum {
				break
			}
			var m dedup.Member
			var v int64
			if direct {
				d := b[p:]
				m.Name = f.direct(u, a, d)
				v = int64(load(d, &a.Slots[2], be))
				p += int(a.Size)
			} else {
				next, have := u.abbrevs.Decode(a, b, p, &u.vals)
				if next < 0 {
					return f.cutOff(u, off)
				}
				p = next
				m.Name = f.nameOf(u, have)
				v = int64(f.number(u, have, dwarf.VConst))
			}
			if m.Name == 0 {
				return f.noName(u, off, "enumerator without a name")
			}
			if v < 0 {
				top.neg = true
			}
			if v < -1<<31 || v > 1<<32-1 {
				top.big = true
			}
			m.Type, m.Val = uint32(v), uint32(uint64(v)>>32)
			f.addMember(u, top, m)
			if a.Children {
				u.push(ctxOther, a.Tag)
			}
			continue

		case dwarf.ClassFunc:
			next, have := u.abbrevs.Decode(a, b, p, &u.vals)
			if next < 0 {
				return f.cutOff(u, off)
			}
			p = next
			if err := f.function(u, a, off, have); err != nil {
				return err
			}
			i := uint32(len(u.funcs.S) - 1)
			var an uint32
			if have&(1<<dwarf.VAnnotation) != 0 {
				an = uint32(u.vals[dwarf.VAnnotation].U)
			}
			if a.Children {
				f.suspend(u, top)
				fr := u.push(ctxFunc, a.Tag)
				fr.owner, fr.an = i, an
				if len(u.frames.S) > maxDepth {
					return f.dieError(u, off, "DIE tree too deep")
				}
				continue
			}
			f.closeFunc(u, i, an)
			continue

		case dwarf.ClassBlock:
			if top.ctx == ctxFunc || top.ctx == ctxBlock || top.ctx == ctxUnit || top.ctx == ctxNamespace {
				if a.Fixed {
					p += int(a.Size)
				} else if p, _ = u.abbrevs.Decode(a, b, p, &u.vals); p < 0 {
					return f.cutOff(u, off)
				}
				if a.Children {
					u.push(ctxBlock, a.Tag)
					if len(u.frames.S) > maxDepth {
						return f.dieError(u, off, "DIE tree too deep")
					}
				}
				continue
			}

		case dwarf.ClassProto:
			var third uint32
			if direct {
				if third = load(b[p:], &a.Slots[1], be); third >= uint32(len(b)) {
					return f.outOfUnit(u, off)
				}
				p += int(a.Size)
			} else {
				next, have := u.abbrevs.Decode(a, b, p, &u.vals)
				if next < 0 {
					return f.cutOff(u, off)
				}
				p = next
				var err error
				if third, err = f.refOf(u, off, have, dwarf.VType); err != nil {
					return err
				}
			}
			n, i := u.addNode(off)
			n.Third = third
			n.Info = btf.Info(btf.KindFuncProto, 0, false)
			n.First = uint32(len(members.S))
			if a.Children {
				f.suspend(u, top)
				if next, n := f.plainProto(u, i, p); next != 0 {
					p = next
					dies += n
					continue
				}
				fr := u.push(ctxProto, a.Tag)
				fr.owner, fr.first = i, uint32(len(members.S))
				if len(u.frames.S) > maxDepth {
					return f.dieError(u, off, "DIE tree too deep")
				}
				continue
			}
			u.addOrder(i)
			continue

		case dwarf.ClassArray:
			var third uint32
			if direct {
				if third = load(b[p:], &a.Slots[1], be); third >= uint32(len(b)) {
					return f.outOfUnit(u, off)
				}
				p += int(a.Size)
			} else {
				next, have := u.abbrevs.Decode(a, b, p, &u.vals)
				if next < 0 {
					return f.cutOff(u, off)
				}
				p = next
				var err error
				if third, err = f.refOf(u, off, have, dwarf.VType); err != nil {
					return err
				}
			}
			n, i := u.addNode(off)
			n.Third = third
			n.Info = btf.Info(btf.KindArray, 0, false)
			u.arrays = true
			if a.Children {
				if next := f.plainArray(u, i, p); next != 0 {
					p = next
					dies++
					continue
				}
				// Dimensions wait in open: only the last one says how many
				// inner arrays there are.
				f.suspend(u, top)
				fr := u.push(ctxArray, a.Tag)
				fr.owner, fr.first, fr.open = i, uint32(len(u.open.S)), true
				continue
			}
			u.addOrder(i)
			continue

		case dwarf.ClassSubrange:
			if top.ctx != ctxArray {
				break
			}
			var count uint32
			if direct {
				count = directDimension(a, b[p:], be)
				p += int(a.Size)
			} else {
				next, have := u.abbrevs.Decode(a, b, p, &u.vals)
				if next < 0 {
					return f.cutOff(u, off)
				}
				p = next
				count = dimension(u, have)
			}
			if top.n < 64 {
				u.open.Append(dedup.Member{Val: count})
				top.n++
			}
			if a.Children {
				u.push(ctxOther, a.Tag)
			}
			continue

		case dwarf.ClassBase:
			next, have := u.abbrevs.Decode(a, b, p, &u.vals)
			if next < 0 {
				return f.cutOff(u, off)
			}
			p = next
			if err := f.baseType(u, off, have); err != nil {
				return err
			}
			if a.Children {
				u.push(ctxOther, a.Tag)
			}
			continue

		case dwarf.ClassEnum:
			var name, typ, size uint32
			if direct {
				d := b[p:]
				name = f.direct(u, a, d)
				if typ = load(d, &a.Slots[1], be); typ >= uint32(len(b)) {
					return f.outOfUnit(u, off)
				}
				size = load(d, &a.Slots[2], be)
				p += int(a.Size)
			} else {
				next, have := u.abbrevs.Decode(a, b, p, &u.vals)
				if next < 0 {
					return f.cutOff(u, off)
				}
				p = next
				name = f.nameOf(u, have)
				size = uint32(f.number(u, have, dwarf.VByteSize))
				var err error
				if typ, err = f.refOf(u, off, have, dwarf.VType); err != nil {
					return err
				}
			}
			if size == 0 {
				size = 4
			}
			if size > 8 || size&(size-1) != 0 {
				u.leaveOut(uint32(len(u.types.Nodes.S)), "enumeration of "+itoa(int(size))+" bytes")
			}
			if !direct && a.Present&(1<<dwarf.VSignature) != 0 {
				if err := f.addStub(u, off, a.Present); err != nil {
					return err
				}
			}
			n, i := u.addNode(off)
			n.Info, n.Name, n.Third, n.Aux = btf.Info(btf.KindEnum, 0, false), name, size, typ
			n.First = uint32(len(members.S))
			if a.Present&(1<<dwarf.VSpec) != 0 {
				f.defines(u, i)
			}
			if a.Children {
				f.suspend(u, top)
				next, n, err := f.plainEnum(u, i, p)
				if err != nil {
					return err
				}
				if next != 0 {
					p = next
					dies += n
					continue
				}
				fr := u.push(ctxEnum, a.Tag)
				fr.owner, fr.first = i, uint32(len(members.S))
				continue
			}
			if err := f.closeEnum(u, &frame{owner: i, first: n.First}); err != nil {
				return err
			}
			u.addOrder(i)
			continue

		case dwarf.ClassVariable:
			if top.ctx != ctxUnit || !f.wantVars || a.Present&(1<<dwarf.VLocation) == 0 && a.Fixed {
				break
			}
			next, err := f.variable(u, a, off, p)
			if err != nil {
				return err
			}
			p = next
			if a.Children {
				fr := frame{ctx: ctxOther, tag: a.Tag}
				if n := len(u.vars.S); n > 0 && u.vars.S[n-1].Off == uint32(off) {
					fr.owner, fr.an = uint32(n-1), 2
				}
				*u.push(fr.ctx, fr.tag) = fr
			}
			continue

		case dwarf.ClassNamespace:
			if top.ctx == ctxUnit || top.ctx == ctxNamespace {
				if a.Fixed {
					p += int(a.Size)
				} else if p, _ = u.abbrevs.Decode(a, b, p, &u.vals); p < 0 {
					return f.cutOff(u, off)
				}
				if a.Children {
					u.push(ctxNamespace, a.Tag)
					if len(u.frames.S) > maxDepth {
						return f.dieError(u, off, "DIE tree too deep")
					}
				}
				continue
			}

		case dwarf.ClassAnnotation:
			next, have := u.abbrevs.Decode(a, b, p, &u.vals)
			if next < 0 {
				return f.cutOff(u, off)
			}
			p = next
			if a.Tag == dwarf.TagLLVMAnnotation {
				f.annotation(u, have)
			}
			if a.Children {
				var ok bool
				if p, ok = f.skipChildren(u, p); !ok {
					return f.cutOff(u, off)
				}
			}
			continue

		case dwarf.ClassInheritance:
			if top.ctx == ctxAggregate {
				top.comp++
			}

		case dwarf.ClassUnencodable:
			n, i := u.addNode(off)
			n.Info = btf.Info(btf.KindConst, 0, false)
			u.addOrder(i)
			u.leaveOut(i, tagName(a.Tag))

		case dwarf.ClassImport:
			if top.ctx == ctxUnit {
				if err := f.importUnit(u, a, off, p); err != nil {
					return err
				}
			}
		}

		// Everything that has no meaning here: skip it with its children.
		if a.Class == dwarf.ClassSkip && a.Children && direct && a.Present != 0 {
			if sib := int(load(b[p:], &a.Slots[2], be)); sib > p && sib <= len(b) {
				p = sib
				continue
			}
			return f.dieError(u, off, "sibling reference does not lead forward")
		}
		if a.Fixed {
			p += int(a.Size)
		} else if p, _ = u.abbrevs.Decode(a, b, p, &u.vals); p < 0 {
			return f.cutOff(u, off)
		}
		if a.Children {
			var ok bool
			if p, ok = f.skipChildren(u, p); !ok {
				return f.cutOff(u, off)
			}
		}
	}
	// A unit may end without the last zero bytes: close what is open.
	for len(u.frames.S) > 0 {
		if err := f.closeFrame(u); err != nil {
			return err
		}
	}
	u.dies = dies
	if p > len(b) {
		return f.cutOff(u, len(b))
	}
	return nil
}
