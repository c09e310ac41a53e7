package dwarftest

import (
	"fmt"
	"strings"

	"github.com/btflite/btflite/internal/elftest"
)

// builder holds the debug sections while they are written.
type builder struct {
	f        *File
	order    elftest.Order
	info     []byte
	abbrev   []byte
	str      []byte
	lineStr  []byte
	strOff   []byte
	addr     []byte
	loc      []byte
	loclists []byte
	strs     map[string]uint64
}

// DebugSections writes the units. A file changes nothing in its DIEs except
// their offsets, so the same DIEs may be written again.
func (f *File) DebugSections() []Section {
	b := &builder{f: f, order: f.layout().Order, strs: map[string]uint64{}}
	if f.Filler > 0 {
		b.str = append([]byte(strings.Repeat("x", f.Filler-1)), 0)
	}
	for _, u := range f.Units {
		b.layout(u)
	}
	for _, u := range f.Units {
		b.write(u)
	}
	var out []Section
	for _, s := range []Section{
		{Name: ".debug_info", Data: b.info}, {Name: ".debug_abbrev", Data: b.abbrev}, {Name: ".debug_str", Data: b.str},
		{Name: ".debug_line_str", Data: b.lineStr}, {Name: ".debug_str_offsets", Data: b.strOff},
		{Name: ".debug_addr", Data: b.addr}, {Name: ".debug_loc", Data: b.loc}, {Name: ".debug_loclists", Data: b.loclists},
	} {
		if len(s.Data) > 0 || s.Name == ".debug_info" || s.Name == ".debug_abbrev" {
			s.Type = 1
			out = append(out, s)
		}
	}
	return out
}

// layout gives the unit's DIEs their offsets by writing them once with
// references of 0, and collects what goes into other sections.
func (b *builder) layout(u *Unit) {
	if u.Version == 0 {
		u.Version = 5
	}
	if u.AddrSize == 0 {
		u.AddrSize = b.f.layout().WordSize()
	}
	if u.StrForm == 0 {
		u.StrForm = FormStrp
	}
	u.restart()
	u.root = u.Root
	if u.Version >= 5 && u.Root != nil {
		// Find out which bases are needed; the root is written with them.
		b.unit(u, false)
		b.contributions(u)
		root := *u.Root
		for _, x := range []struct {
			need    bool
			at, off int
		}{
			{len(u.lists) > 0, AtLoclistsBase, u.listOff}, {len(u.addrs) > 0, AtAddrBase, u.addrOff},
			{len(u.strs) > 0, AtStrOffsetsBase, u.strsOff},
		} {
			if x.need {
				root.Attrs = append([]Attr{{x.at, FormSecOffset, x.off}}, root.Attrs...)
			}
		}
		u.root = &root
		u.restart()
	}
	u.off = len(b.info)
	b.info = append(b.info, b.unit(u, false)...)
	u.abbrOff = len(b.abbrev)
	b.abbrev = append(append(b.abbrev, u.abbrev...), 0)
}

// restart forgets what a pass over the unit collected.
func (u *Unit) restart() {
	u.codes, u.abbrev, u.strs, u.addrs, u.lists = map[string]int{}, nil, nil, nil, nil
}

// contributions writes the unit's parts of .debug_str_offsets, .debug_addr and
// .debug_loclists, and notes where their tables begin.
func (b *builder) contributions(u *Unit) {
	header := func(n int) []byte {
		var h []byte
		if u.Dwarf64 {
			h = b.order.AppendUint32(h, 0xffffffff)
			h = b.order.AppendUint64(h, uint64(n))
		} else {
			h = b.order.AppendUint32(h, uint32(n))
		}
		return b.order.AppendUint16(h, 5)
	}
	osz := u.offsetSize()
	if len(u.strs) > 0 {
		b.strOff = append(b.strOff, header(4+len(u.strs)*osz)...)
		b.strOff = append(b.strOff, 0, 0)
		u.strsOff = len(b.strOff)
		for _, s := range u.strs {
			b.strOff = b.uint(b.strOff, s, osz)
		}
	}
	if len(u.addrs) > 0 {
		b.addr = append(b.addr, header(4+len(u.addrs)*u.AddrSize)...)
		b.addr = append(b.addr, byte(u.AddrSize), 0)
		u.addrOff = len(b.addr)
		for _, a := range u.addrs {
			b.addr = b.uint(b.addr, a, u.AddrSize)
		}
	}
	if len(u.lists) > 0 {
		var lists []byte
		var offs []int
		for _, l := range u.lists {
			offs = append(offs, len(u.lists)*osz+len(lists))
			lists = b.list5(lists, l)
		}
		b.loclists = append(b.loclists, header(8+len(offs)*osz+len(lists))...)
		b.loclists = append(b.loclists, byte(u.AddrSize), 0)
		b.loclists = b.order.AppendUint32(b.loclists, uint32(len(offs)))
		u.listOff = len(b.loclists)
		for _, o := range offs {
			b.loclists = b.uint(b.loclists, uint64(o), osz)
		}
		b.loclists = append(b.loclists, lists...)
	}
}

// list5 writes a list of DWARF 5: offset pairs.
func (b *builder) list5(p []byte, l List) []byte {
	for i, e := range l {
		p = append(p, 4)
		p = uleb(p, uint64(4*i))
		p = uleb(p, uint64(4*i+4))
		p = append(uleb(p, uint64(len(e))), e...)
	}
	return append(p, 0)
}

// list writes a location list of its own and returns its offset.
func (b *builder) list(u *Unit, l List) uint64 {
	if u.Version >= 5 {
		// A contribution without an offset table: readers find such lists
		// by their section offset.
		body := b.list5(nil, l)
		b.loclists = b.order.AppendUint32(b.loclists, uint32(8+len(body)))
		b.loclists = b.order.AppendUint16(b.loclists, 5)
		b.loclists = append(b.loclists, byte(u.AddrSize), 0, 0, 0, 0, 0)
		b.loclists = append(b.loclists, body...)
		return uint64(len(b.loclists) - len(body))
	}
	off := uint64(len(b.loc))
	for i, e := range l {
		b.loc = b.uint(b.loc, uint64(4*i), u.AddrSize)
		b.loc = b.uint(b.loc, uint64(4*i+4), u.AddrSize)
		b.loc = append(b.order.AppendUint16(b.loc, uint16(len(e))), e...)
	}
	b.loc = append(b.loc, make([]byte, 2*u.AddrSize)...)
	return off
}

// write replaces the space that layout left in .debug_info.
func (b *builder) write(u *Unit) {
	u.strs, u.addrs, u.lists = nil, nil, nil
	copy(b.info[u.off:], b.unit(u, true))
}

func (u *Unit) offsetSize() int {
	if u.Dwarf64 {
		return 8
	}
	return 4
}

// unit writes header and DIEs. With final, all offsets are known.
func (b *builder) unit(u *Unit, final bool) []byte {
	var p []byte
	if u.Dwarf64 {
		p = b.order.AppendUint32(p, 0xffffffff)
		p = append(p, make([]byte, 8)...)
	} else {
		p = append(p, make([]byte, 4)...)
	}
	start := len(p)
	p = b.order.AppendUint16(p, uint16(u.Version))
	if u.Version >= 5 {
		p = append(p, byte(max(u.Type, 1)), byte(u.AddrSize))
		p = b.uint(p, uint64(u.abbrOff), u.offsetSize())
		switch u.Type {
		case 4, 5:
			p = append(p, 1, 2, 3, 4, 5, 6, 7, 8)
		case 2, 6:
			p = append(p, 1, 2, 3, 4, 5, 6, 7, 8)
			at := 0
			if u.TypeDIE != nil && final {
				at = u.TypeDIE.off
			}
			p = b.uint(p, uint64(at), u.offsetSize())
		}
	} else {
		p = b.uint(p, uint64(u.abbrOff), u.offsetSize())
		p = append(p, byte(u.AddrSize))
	}
	if u.root != nil {
		p = b.die(u, u.root, nil, p, final)
	}
	n := uint64(len(p) - start)
	if u.Dwarf64 {
		b.order.PutUint64(p[4:], n)
	} else {
		b.order.PutUint32(p, uint32(n))
	}
	return p
}

// die appends d and its children to p, which starts at the unit's header.
func (b *builder) die(u *Unit, d, parent *DIE, p []byte, final bool) []byte {
	if d == nil {
		return append(p, 0)
	}
	if !final {
		d.off, d.unit = len(p), u
	}
	attrs := d.Attrs
	children := len(d.Children) > 0 || d.KeepChildren
	if u.Siblings && children && parent != nil {
		attrs = append([]Attr{{AtSibling, FormRef4, sibling{}}}, attrs...)
	}
	p = uleb(p, uint64(b.code(u, d, attrs, children)))
	for _, a := range attrs {
		p = b.attr(u, d, a, p, final)
	}
	if children {
		for _, c := range d.Children {
			p = b.die(u, c, d, p, final)
		}
		p = append(p, 0)
	}
	if !final {
		d.end = len(p)
	}
	return p
}

// code finds or makes the abbreviation.
func (b *builder) code(u *Unit, d *DIE, attrs []Attr, children bool) int {
	var a []byte
	a = uleb(a, uint64(d.Tag))
	if children {
		a = append(a, 1)
	} else {
		a = append(a, 0)
	}
	for _, x := range attrs {
		form := u.form(x)
		a = uleb(a, uint64(x.At))
		a = uleb(a, uint64(form))
		if form == FormImplicitConst {
			a = sleb(a, number(x.Val))
		}
	}
	a = append(a, 0, 0)
	if c, ok := u.codes[string(a)]; ok {
		return c
	}
	c := len(u.codes) + 1
	u.codes[string(a)] = c
	u.abbrev = append(uleb(u.abbrev, uint64(c)), a...)
	return c
}

// form is the form in which an attribute is written.
func (u *Unit) form(a Attr) int {
	if a.Form != 0 {
		return a.Form
	}
	switch v := a.Val.(type) {
	case string:
		return u.StrForm
	case *DIE:
		return FormRef4
	case bool:
		if u.Version >= 4 {
			return FormFlagPresent
		}
		return FormFlag
	case []byte:
		if u.Version >= 4 && a.At != AtConstValue {
			return FormExprloc
		}
		return FormBlock1
	case Addr:
		return FormAddr
	case List:
		if u.Version >= 4 {
			return FormSecOffset
		}
		return FormData4
	default:
		n := number(v)
		switch {
		case n < 0:
			return FormSdata
		case n <= 0xff:
			return FormData1
		case n <= 0xffff:
			return FormData2
		case n <= 0x7fffffff:
			return FormData4
		}
		return FormData8
	}
}

func number(v any) int64 {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int64:
		return v
	case uint64:
		return int64(v)
	case Addr:
		return int64(v)
	case bool:
		if v {
			return 1
		}
		return 0
	}
	panic(fmt.Sprintf("dwarftest: %T is not a number", v))
}

// attr writes one attribute value.
func (b *builder) attr(u *Unit, d *DIE, a Attr, p []byte, final bool) []byte {
	form := u.form(a)
	if v, ok := a.Val.(Raw); ok {
		return append(p, v...)
	}
	if form == FormIndirect {
		a.Form = 0
		p = uleb(p, uint64(u.form(a)))
		return b.attr(u, d, a, p, final)
	}
	switch v := a.Val.(type) {
	case string:
		return b.stringAttr(u, form, v, p)
	case sibling:
		return b.uint(p, uint64(d.end), 4)
	case *DIE:
		off := uint64(0)
		if v != nil && (final || v.unit == u) {
			off = uint64(v.off)
			if form == FormRefAddr {
				off += uint64(v.unit.off)
			}
		}
		switch form {
		case FormRef1:
			return append(p, byte(off))
		case FormRef2:
			return b.uint(p, off, 2)
		case FormRef8:
			return b.uint(p, off, 8)
		case FormRefUdata: // always four bytes, so that layout does not depend on it
			return append(p, byte(off)|0x80, byte(off>>7)|0x80, byte(off>>14)|0x80, byte(off>>21)&0x7f)
		case FormRefAddr:
			if u.Version == 2 {
				return b.uint(p, off, u.AddrSize)
			}
			return b.uint(p, off, u.offsetSize())
		}
		return b.uint(p, off, 4)
	case []byte:
		switch form {
		case FormBlock1:
			p = append(p, byte(len(v)))
		case FormBlock2:
			p = b.uint(p, uint64(len(v)), 2)
		case FormBlock4:
			p = b.uint(p, uint64(len(v)), 4)
		default:
			p = uleb(p, uint64(len(v)))
		}
		return append(p, v...)
	case List:
		if form == FormLoclistx {
			u.lists = append(u.lists, v)
			return uleb(p, uint64(len(u.lists)-1))
		}
		off := uint64(0)
		if final {
			off = b.list(u, v)
		}
		if form == FormData4 {
			return b.uint(p, off, 4)
		}
		return b.uint(p, off, u.offsetSize())
	}
	n := number(a.Val)
	switch form {
	case FormFlagPresent, FormImplicitConst:
		return p
	case FormData1, FormFlag:
		return append(p, byte(n))
	case FormData2:
		return b.uint(p, uint64(n), 2)
	case FormData4, FormRef4:
		return b.uint(p, uint64(n), 4)
	case FormData8, FormRef8, FormRefSig8:
		return b.uint(p, uint64(n), 8)
	case FormData16:
		return append(b.uint(p, uint64(n), 8), make([]byte, 8)...)
	case FormSdata:
		return sleb(p, n)
	case FormUdata, FormRefUdata:
		return uleb(p, uint64(n))
	case FormAddr:
		return b.uint(p, uint64(n), u.AddrSize)
	case FormAddrx, FormAddrx1:
		u.addrs = append(u.addrs, uint64(n))
		return uleb(p, uint64(len(u.addrs)-1))
	case FormLLVMAddrxOff: // half of the address by an index
		u.addrs = append(u.addrs, uint64(n)/2)
		return b.uint(uleb(p, uint64(len(u.addrs)-1)), uint64(n)-uint64(n)/2, 4)
	case FormSecOffset, FormStrp, FormRefAddr, FormLineStrp:
		return b.uint(p, uint64(n), u.offsetSize())
	}
	panic(fmt.Sprintf("dwarftest: form %#x for a number", form))
}

// stringAttr writes a string.
func (b *builder) stringAttr(u *Unit, form int, s string, p []byte) []byte {
	switch form {
	case FormString:
		return append(append(p, s...), 0)
	case FormLineStrp:
		off := uint64(len(b.lineStr))
		b.lineStr = append(append(b.lineStr, s...), 0)
		return b.uint(p, off, u.offsetSize())
	case FormStrp:
		return b.uint(p, b.strOffset(s), u.offsetSize())
	}
	u.strs = append(u.strs, b.strOffset(s))
	k := uint64(len(u.strs) - 1)
	switch form {
	case FormStrx1:
		return append(p, byte(k))
	case FormStrx2:
		return b.uint(p, k, 2)
	case FormStrx3:
		if b.f.BigEndian {
			return append(p, 0, byte(k>>8), byte(k))
		}
		return append(p, byte(k), byte(k>>8), 0)
	case FormStrx4:
		return b.uint(p, k, 4)
	}
	return uleb(p, k)
}

// strOffset is the offset of a string in .debug_str. The same text has the
// same offset, unless the file is to repeat strings.
func (b *builder) strOffset(s string) uint64 {
	if off, ok := b.strs[s]; ok && !b.f.RepeatStrings {
		return off
	}
	off := uint64(len(b.str))
	b.str = append(append(b.str, s...), 0)
	b.strs[s] = off
	return off
}

func (b *builder) uint(p []byte, v uint64, n int) []byte {
	switch n {
	case 1:
		return append(p, byte(v))
	case 2:
		return b.order.AppendUint16(p, uint16(v))
	case 4:
		return b.order.AppendUint32(p, uint32(v))
	}
	return b.order.AppendUint64(p, v)
}
