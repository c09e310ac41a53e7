package encode

import (
	"strconv"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
)

// What -V says of types, variables and functions: a line for each as it is
// described in DWARF, in the words of pahole. Ids are those that
// types have there before deduplication: types of one unit after the other, then
// functions and DATASECs. Lines go out with their unit; what is kept is a few
// words for a function or variable that is in the output.

// maxLog is how many bytes of a unit's lines may stay allocated.
const maxLog = 1 << 20

// rawTypes counts types as if nothing were merged. It exists with
// Options.Verbose only; units are read one by one then.
type rawTypes struct {
	next    uint32              // id of the next type
	index   uint32              // id of the int that indexes arrays, 0 until known
	started bool                // the name of the file has been written
	vars    map[uint32]uint32   // ids of VARs, by id of the Set
	protos  map[uint32][]uint32 // ids of return type and parameters, by place of the state
	line    []byte
	kflag   bool // of the struct in work: a bit-field has been seen
	// differ are the lines of functions whose states have different prototypes, by
	// name, until it is their turn.
	differ map[string][]string
}

func (r *run) newRawTypes() *rawTypes {
	l := &rawTypes{next: 1, vars: map[uint32]uint32{}, protos: map[uint32][]uint32{}, differ: map[string][]string{}}
	if r.opt.Base != nil {
		l.next = r.opt.Base.types
	}
	return l
}

// verbose keeps a line for -V until its unit is committed.
func (f *file) verbose(u *unit, line string) {
	if f.opt.Verbose != nil {
		u.log = append(append(u.log, line...), '\n')
	}
}

// warn writes a line of -V on standard error.
func (f *file) warn(line string) {
	if f.opt.Warn != nil {
		f.opt.Warn(line)
	}
}

// flushLog writes the lines of a unit.
func (f *file) flushLog(u *unit) {
	if f.opt.Verbose == nil {
		return
	}
	f.startLog()
	if n := len(u.log); n > 0 {
		f.opt.Verbose(string(u.log[:n-1]))
	}
	if u.log = u.log[:0]; cap(u.log) > maxLog {
		u.log = nil
	}
}

// startLog writes what comes before the first type.
func (f *file) startLog() {
	l := f.run.raw
	if l.started {
		return
	}
	l.started = true
	lead := f.run.files[f.run.lead]
	if lead.elf.Section(percpuName) == nil {
		f.opt.Verbose("btf_encoder__new: '" + lead.path + "' doesn't have '" + percpuName + "' section")
	}
	f.opt.Verbose("File " + lead.path + ":")
}

// logFiltered writes that a unit is left out by its language.
// pahole asks twice for languages that are excluded.
func (f *file) logFiltered(u *unit) {
	if f.opt.Verbose == nil || f.wrongName(u) {
		return
	}
	line := "Filtering CU " + string(f.names.Text(u.name)) + " written in " + langName(u.language) + "."
	f.opt.Verbose(line)
	if len(f.opt.Lang) == 0 && f.merge == nil {
		f.opt.Verbose(line)
	}
}

// logTypes keeps the lines of the unit's types, which are linked, and their ids.
func (f *file) logTypes(u *unit) {
	l := f.run.raw
	if l == nil {
		return
	}
	u.raw.Resize(len(u.types.Nodes.S))
	clear(u.raw.S)
	for i, k := range u.types.Order.S {
		u.raw.S[k] = l.next + uint32(i)
	}
	for i, k := range u.types.Order.S {
		u.log = l.appendType(u.log, f, u, l.next+uint32(i), k)
	}
}

// rawOf is the id of a Ref of the unit.
func (l *rawTypes) rawOf(u *unit, ref dedup.Ref) uint32 {
	switch {
	case l == nil || ref == 0 || ref == refLeftOut:
		return 0
	case ref&dedup.Extern != 0:
		return l.index
	case int(ref) <= len(u.raw.S):
		return u.raw.S[ref-1]
	}
	return 0
}

// committed counts the types of a unit.
func (l *rawTypes) committed(u *unit) {
	if l == nil {
		return
	}
	if l.index == 0 && u.firstInt != 0 {
		l.index = u.raw.S[u.firstInt-1]
	}
	l.next += uint32(len(u.types.Order.S))
}

// appendName appends a name as lines have it.
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

// appendHead appends what the line of a type begins with.
func appendHead(b []byte, id uint32, kind string, name []byte) []byte {
	b = strconv.AppendUint(append(b, '['), uint64(id), 10)
	return appendName(append(append(append(b, "] "...), kind...), ' '), name)
}

// appendType appends the lines of node k of the unit.
func (l *rawTypes) appendType(b []byte, f *file, u *unit, id, k uint32) []byte {
	n := &u.types.Nodes.S[k]
	kind := btf.InfoKind(n.Info)
	b = appendHead(b, id, kind.String(), f.names.Text(n.Name))
	var members []dedup.Member
	if m := btf.InfoVlen(n.Info); m > 0 {
		members = u.types.Members.S[n.First:][:m]
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
			b = l.appendMember(append(b, '\n'), f, u, n, &members[i])
		}
	case btf.KindEnum, btf.KindEnum64:
		b = appendField(b, "size", n.Third)
		for i := range members {
			b = appendName(append(b, "\n\t"...), f.names.Text(members[i].Name))
			b = appendValue(append(b, " val="...), n, &members[i], u.unsigned[k])
		}
	case btf.KindFuncProto:
		b = appendField(b, "return", l.rawOf(u, n.Third))
		b = append(b, " args=("...)
		for i := range members {
			b = appendParam(b, i == 0, i+1 == len(members), l.rawOf(u, members[i].Type), f.names.Text(members[i].Name))
		}
		b = endParams(b, len(members))
	case btf.KindDeclTag:
		b = appendField(b, "type_id", l.rawOf(u, n.Third))
		b = strconv.AppendInt(append(b, " component_idx="...), int64(int32(n.Aux)), 10)
	}
	return append(b, '\n')
}

// intEncodings are the words for the encodings of an INT that there are here.
var intEncodings = [8]string{0: "(none)", 1: "SIGNED", 4: "BOOL"}

// appendMember appends the line of a member: from the first bit-field on all of
// them have a width.
func (l *rawTypes) appendMember(b []byte, f *file, u *unit, n *dedup.Node, m *dedup.Member) []byte {
	b = appendName(append(b, '\t'), f.names.Text(m.Name))
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

// noteEnum keeps of node k whether the type r of an enumeration says that its
// values have no sign, though there are negative ones.
func (u *unit) noteEnum(k uint32, r dedup.Ref) {
	n := &u.types.Nodes.S[k]
	if btf.InfoKind(n.Info) == btf.KindEnum && btf.InfoKflag(n.Info) && !u.isSigned(r) {
		if u.unsigned == nil {
			u.unsigned = make(map[uint32]bool)
		}
		u.unsigned[k] = true
	}
}

// appendValue appends the value of an enumerator.
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

// appendParam appends a parameter of a prototype.
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

// print writes the line in work, and counts a type.
func (l *rawTypes) print(r *run, b []byte) {
	l.line = b[:0]
	r.opt.Verbose(string(b))
	l.next++
}

// tag writes the line of a DECL_TAG.
func (l *rawTypes) tag(r *run, value []byte, typ uint32, component int32) {
	b := appendField(appendHead(l.line, l.next, "DECL_TAG", value), "type_id", typ)
	l.print(r, strconv.AppendInt(append(b, " component_idx="...), int64(component), 10))
}

// logSearch writes that the variables of a unit follow, nil if units are merged.
func (f *file) logSearch(u *unit) {
	if f.opt.Verbose == nil || f.opt.Features&(Var|GlobalVar) == 0 {
		return
	}
	f.opt.Verbose("search cu '" + f.run.cuName(u) + "' for percpu global variables.")
}

// cuName is the name of a unit for lines; u is nil if units are merged.
func (r *run) cuName(u *unit) string {
	if u == nil {
		return ""
	}
	name, _ := r.names.Bytes(u.name)
	return string(name)
}

// variable writes the lines of a variable of u, nil if units are merged, whose VAR
// has an id in the Set, and gives its id here.
func (l *rawTypes) variable(r *run, v *varRec, id, typ uint32, u *unit) uint32 {
	name, _ := r.names.Bytes(v.Name)
	r.opt.Verbose("Variable '" + string(appendName(nil, name)) + "' from CU '" + r.cuName(u) + "' at address 0x" + strconv.FormatUint(v.SecOff, 16) + " encoded")
	l.vars[id] = l.next
	linkage := uint32(0)
	if v.External {
		linkage = 1
	}
	l.print(r, appendField(appendField(appendHead(l.line, l.next, "VAR", name), "type", typ), "linkage", linkage))
	return l.next - 1
}

// proto is the ids of the types of a function state.
func (l *rawTypes) proto(u *unit, ret dedup.Ref, params []compactstate.Param) []uint32 {
	ids := []uint32{l.rawOf(u, ret)}
	for _, p := range params {
		ids = append(ids, l.rawOf(u, p.Type))
	}
	return ids
}

// mismatch keeps in which way two states of an entry differ; see
// compactstate.Decide.
func (l *rawTypes) mismatch(r *run, entry uint32, what int, a, b []uint32) {
	why := "return type mismatch"
	switch {
	case what < 0:
		why = "param count mismatch; " + itoa(len(a)/2) + " params != " + itoa(len(b)/2) + " params"
	case what > 0:
		name := func(w []uint32) string {
			n, _ := r.names.Bytes(r.names.Canonical(w[2*what-2]))
			return string(appendName(nil, n))
		}
		why = "param type mismatch for param#" + itoa(what) + " " + name(a) + " != " + name(b)
	}
	fn := string(r.funcs.Name(entry))
	l.differ[fn] = append(l.differ[fn], fn+skipping+why)
}

// skipping is what a line says of a function between its name and the reason.
const skipping = " : skipping BTF encoding of function due to "

// decided writes what is kept of a function about which has been decided.
func (l *rawTypes) decided(r *run, name []byte) {
	for _, line := range l.differ[string(name)] {
		r.opt.Verbose(line)
	}
	delete(l.differ, string(name))
}

// function writes the lines of a function. Types that come from .BTF_ids have no
// lines, but ids.
func (l *rawTypes) function(e *emitter, c *compactstate.Choice) {
	l.decided(e.run, e.funcs.Name(c.Entry))
	ids := l.protos[c.Place]
	flags := e.arenaFlags(c)
	for i, flag := range [...]uint32{kfArenaRet, kfArenaArg1, kfArenaArg2} {
		if flags&flag != 0 {
			ids[i] = l.next + 1
			l.next += 2
		}
	}
	b := append(appendField(appendHead(l.line, l.next, "FUNC_PROTO", nil), "return", ids[0]), " args=("...)
	for i, p := range c.Params {
		name, _ := e.names.Bytes(e.cut(e.names.Canonical(p.Name)))
		b = appendParam(b, i == 0, i+1 == len(c.Params), ids[i+1], name)
	}
	l.print(e.run, endParams(b, len(c.Params)))
	fn := l.next
	l.print(e.run, appendField(appendHead(l.line, fn, "FUNC", c.Name), "type_id", fn-1))
	for _, a := range c.Annotations {
		value, _ := e.names.Bytes(e.names.Unalias(e.cut(a.Value)))
		l.tag(e.run, value, fn, a.Component)
	}
	l.next += uint32(len(e.kfuncTags(c)))
}

// datasec writes the lines of a DATASEC.
func (l *rawTypes) datasec(r *run, name string, size uint32, vars []compactstate.Var) {
	b := appendHead(l.line, l.next, "DATASEC", []byte(name))
	b = appendField(appendField(b, "size", size), "vlen", uint32(len(vars)))
	for _, v := range vars {
		b = strconv.AppendUint(append(b, "\n\ttype="...), uint64(l.vars[v.ID]), 10)
		b = appendField(appendField(b, "offset", v.Offset), "size", v.Size)
	}
	l.print(r, b)
}
