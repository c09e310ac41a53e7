package encode

import (
	"strconv"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/internal/unit"
)

// -V prints a line for each type, variable and function as DWARF describes it, in
// pahole's words. The ids in the lines are those that types have before deduplication:
// the types of one unit after another, then functions and DATASECs. Lines are written
// with their unit. Only a few words are kept for each function or variable of the output.

// maxLog is how many bytes for a unit's lines may stay allocated.
const maxLog = 1 << 20

func newRawTypes(opt *Options, names *names.Table) *rawTypes {
	l := &rawTypes{
		out: opt.Verbose, names: names, search: opt.Features&(Var|GlobalVar) != 0,
		next: 1, vars: map[uint32]uint32{}, protos: map[uint32][]uint32{}, differ: map[string][]string{},
	}
	if opt.Base != nil {
		l.next = opt.Base.types
	}
	return l
}

// text returns a name, or nil if it cannot be read.
func (l *rawTypes) text(t dedup.Name) []byte { return l.names.Text(t) }

// say keeps a line until its unit is committed.
func (l *rawTypes) say(u *workspace, line string) { u.log = append(append(u.log, line...), '\n') }

// types keeps the lines and ids of the unit's linked types.
func (l *rawTypes) types(u *workspace) {
	if l == nil {
		return
	}
	u.raw.Resize(len(u.unit.Types.Nodes.S))
	clear(u.raw.S)
	for i, k := range u.unit.Types.Order.S {
		u.raw.S[k] = l.next + uint32(i)
	}
	for i, k := range u.unit.Types.Order.S {
		u.log = l.appendType(u.log, u, l.next+uint32(i), k)
	}
}

// rawOf returns the id of a Ref of the unit.
func (l *rawTypes) rawOf(u *workspace, ref dedup.Ref) uint32 {
	switch {
	case l == nil || ref == 0 || ref == unit.Dropped:
		return 0
	case ref&dedup.Extern != 0:
		return l.arrayIndex
	case int(ref) <= len(u.raw.S):
		return u.raw.S[ref-1]
	}
	return 0
}

// committed counts the types of a unit.
func (l *rawTypes) committed(u *workspace) {
	if l == nil {
		return
	}
	if l.arrayIndex == 0 && u.unit.FirstInt != 0 {
		l.arrayIndex = u.raw.S[u.unit.FirstInt-1]
	}
	l.next += uint32(len(u.unit.Types.Order.S))
}

// appendName appends a name as lines print it.
func appendName(b, name []byte) []byte {
	if len(name) == 0 {
		return append(b, "(anon)"...)
	}
	for _, c := range name {
		if c < 0x20 || c == 0x7f {
			c = '?' // it could disturb a terminal, or end the line
		}
		b = append(b, c)
	}
	return b
}

// appendField appends " key=value".
func appendField(b []byte, key string, value uint32) []byte {
	return strconv.AppendUint(append(append(append(b, ' '), key...), '='), uint64(value), 10)
}

// appendHead appends the start of a type's line.
func appendHead(b []byte, id uint32, kind string, name []byte) []byte {
	b = strconv.AppendUint(append(b, '['), uint64(id), 10)
	return appendName(append(append(append(b, "] "...), kind...), ' '), name)
}

// appendType appends the lines of node k of the unit.
func (l *rawTypes) appendType(b []byte, u *workspace, id, k uint32) []byte {
	n := &u.unit.Types.Nodes.S[k]
	kind := btf.InfoKind(n.Info)
	b = appendHead(b, id, kind.String(), l.text(n.Name))
	var members []dedup.Member
	if m := btf.InfoVlen(n.Info); m > 0 {
		members = u.unit.Types.Members.S[n.First:][:m]
	}
	switch kind {
	case btf.KindInt:
		b = appendField(appendField(b, "size", n.Third), "nr_bits", callconv.DwarfSize(n)*8)
		b = append(append(b, " encoding="...), intEncodings[n.Aux>>24&7]...)
	case btf.KindFloat:
		b = appendField(appendField(b, "size", n.Third), "nr_bits", n.Third*8)
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindTypeTag:
		b = appendField(b, "type_id", l.rawOf(u, n.Third))
	case btf.KindArray:
		b = appendField(appendField(b, "type_id", l.rawOf(u, n.Third)), "index_type_id", l.rawOf(u, n.First))
		b = appendField(b, "nr_elems", n.Aux)
	case btf.KindFwd:
		if btf.InfoKflag(n.Info) {
			b = append(b, " union"...)
		} else {
			b = append(b, " struct"...)
		}
	case btf.KindStruct, btf.KindUnion:
		b = appendField(b, "size", n.Third)
		l.kflag = false
		for i := range members {
			b = l.appendMember(append(b, '\n'), u, n, &members[i])
		}
	case btf.KindEnum, btf.KindEnum64:
		b = appendField(b, "size", n.Third)
		for i := range members {
			b = appendName(append(b, "\n\t"...), l.text(members[i].Name))
			b = appendValue(append(b, " val="...), n, &members[i], u.unit.Unsigned[k])
		}
	case btf.KindFuncProto:
		b = appendField(b, "return", l.rawOf(u, n.Third))
		b = append(b, " args=("...)
		for i := range members {
			b = appendParam(b, i == 0, i+1 == len(members), l.rawOf(u, members[i].Type), l.text(members[i].Name))
		}
		b = endParams(b, len(members))
	case btf.KindDeclTag:
		b = appendField(b, "type_id", l.rawOf(u, n.Third))
		b = strconv.AppendInt(append(b, " component_idx="...), int64(int32(n.Aux)), 10)
	}
	return append(b, '\n')
}

// intEncodings are the words for the encodings of INTs that occur.
var intEncodings = [8]string{0: "(none)", 1: "SIGNED", 4: "BOOL"}

// appendMember appends the line of a member. From the first bit-field on, all members
// have a width.
func (l *rawTypes) appendMember(b []byte, u *workspace, n *dedup.Node, m *dedup.Member) []byte {
	b = appendName(append(b, '\t'), l.text(m.Name))
	b = appendField(b, "type_id", l.rawOf(u, m.Type))
	at := m.Val
	if btf.InfoKflag(n.Info) {
		width := at >> 24
		at &= 0xffffff
		if l.kflag = l.kflag || width != 0; l.kflag {
			b = appendField(b, "bitfield_size", width)
		}
	}
	return appendField(b, "bits_offset", at)
}

func appendValue(b []byte, n *dedup.Node, m *dedup.Member, unsigned bool) []byte {
	signed := btf.InfoKflag(n.Info)
	switch {
	case unsigned:
		return strconv.AppendUint(b, uint64(int32(m.Type)), 10)
	case btf.InfoKind(n.Info) == btf.KindEnum64 && signed:
		return strconv.AppendInt(b, int64(uint64(m.Val)<<32|uint64(m.Type)), 10)
	case btf.InfoKind(n.Info) == btf.KindEnum64:
		return strconv.AppendUint(b, uint64(m.Val)<<32|uint64(m.Type), 10)
	case signed:
		return strconv.AppendInt(b, int64(int32(m.Type)), 10)
	}
	return strconv.AppendUint(b, uint64(m.Type), 10)
}

func appendParam(b []byte, first, last bool, typ uint32, name []byte) []byte {
	if !first {
		b = append(b, ", "...)
	}
	if last && typ == 0 {
		return append(b, "vararg"...)
	}
	b = append(strconv.AppendUint(b, uint64(typ), 10), ' ')
	if len(name) == 0 {
		return append(b, "(null)"...)
	}
	return appendName(b, name)
}

// endParams ends a list of n parameters.
func endParams(b []byte, n int) []byte {
	if n == 0 {
		b = append(b, "void"...)
	}
	return append(b, ')')
}

// print writes a finished line, and counts a type.
func (l *rawTypes) print(b []byte) {
	l.line = b[:0]
	l.out(string(b))
	l.next++
}

// tag writes the line of a DECL_TAG.
func (l *rawTypes) tag(value dedup.Name, typ uint32, component int32) {
	b := appendField(appendHead(l.line, l.next, "DECL_TAG", l.text(value)), "type_id", typ)
	l.print(strconv.AppendInt(append(b, " component_idx="...), int64(component), 10))
}

// variables writes that the variables of a unit follow. u is nil if units are merged.
func (l *rawTypes) variables(u *workspace) {
	if l != nil && l.search {
		l.out("search cu '" + l.unitName(u) + "' for percpu global variables.")
	}
}

// unitName returns the name of a unit for lines. u is nil if units are merged.
func (l *rawTypes) unitName(u *workspace) string {
	if u == nil {
		return ""
	}
	return string(l.text(u.reader.Cursor.Name))
}

// variable writes the lines of a variable and returns its id in the lines. id is the
// VAR's id in the Set. u is nil if units are merged.
func (l *rawTypes) variable(v *unit.Var, id, typ uint32, u *workspace) uint32 {
	name := l.text(v.Name)
	l.out("Variable '" + string(appendName(nil, name)) + "' from CU '" + l.unitName(u) + "' at address 0x" + strconv.FormatUint(v.SecOff, 16) + " encoded")
	l.vars[id] = l.next
	l.print(appendField(appendField(appendHead(l.line, l.next, "VAR", name), "type", typ), "linkage", unit.Linkage(v.External)))
	return l.next - 1
}

// proto returns the ids of the types of a function state.
func (l *rawTypes) proto(u *workspace, ret dedup.Ref, params []compactstate.Param) []uint32 {
	ids := []uint32{l.rawOf(u, ret)}
	for _, p := range params {
		ids = append(ids, l.rawOf(u, p.Type))
	}
	return ids
}

// mismatch keeps a line about how two states of a function differ. See
// compactstate.Decide.
func (l *rawTypes) mismatch(fn string, what int, a, b []uint32) {
	why := "return type mismatch"
	switch {
	case what < 0:
		why = "param count mismatch; " + strconv.Itoa(len(a)/2) + " params != " + strconv.Itoa(len(b)/2) + " params"
	case what > 0:
		name := func(w []uint32) string {
			return string(appendName(nil, l.text(l.names.Canonical(w[2*what-2]))))
		}
		why = "param type mismatch for param#" + strconv.Itoa(what) + " " + name(a) + " != " + name(b)
	}
	l.differ[fn] = append(l.differ[fn], fn+skipping+why)
}

// skipping stands in a line between the name of a function and the reason.
const skipping = " : skipping BTF encoding of function due to "

// decided writes the lines that were kept for a function, once it is decided.
func (l *rawTypes) decided(name []byte) {
	for _, line := range l.differ[string(name)] {
		l.out(line)
	}
	delete(l.differ, string(name))
}

// chosen is a function of the output, as its lines print it.
type chosen struct {
	*compactstate.Choice
	entry  []byte       // its name in the symbol table
	params []dedup.Name // names of the parameters
	tags   []compactstate.Annotation
	arena  [3]bool // whether return type and first two parameters get an address space
	kfuncs int     // number of tags because of .BTF_ids
}

// function writes the lines of a function. Types added because of .BTF_ids have ids, but
// no lines.
func (l *rawTypes) function(c *chosen) {
	l.decided(c.entry)
	ids := l.protos[c.Place]
	for i, has := range c.arena {
		if has {
			ids[i] = l.next + 1
			l.next += 2
		}
	}
	b := append(appendField(appendHead(l.line, l.next, "FUNC_PROTO", nil), "return", ids[0]), " args=("...)
	for i, p := range c.params {
		b = appendParam(b, i == 0, i+1 == len(c.params), ids[i+1], l.text(p))
	}
	l.print(endParams(b, len(c.params)))
	fn := l.next
	l.print(appendField(appendHead(l.line, fn, "FUNC", c.Name), "type_id", fn-1))
	for _, a := range c.tags {
		l.tag(a.Value, fn, a.Component)
	}
	l.next += uint32(c.kfuncs)
}

// datasec writes the lines of a DATASEC.
func (l *rawTypes) datasec(name string, size uint32, vars []compactstate.Var) {
	b := appendHead(l.line, l.next, "DATASEC", []byte(name))
	b = appendField(appendField(b, "size", size), "vlen", uint32(len(vars)))
	for _, v := range vars {
		b = strconv.AppendUint(append(b, "\n\ttype="...), uint64(l.vars[v.ID]), 10)
		b = appendField(appendField(b, "offset", v.Offset), "size", v.Size)
	}
	l.print(b)
}
