package encode

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/inline"
	"github.com/btflite/btflite/internal/unit"
)

// Functions of a merged file that refer to functions in other groups: GCC's
// link-time optimization describes a function in the unit of its source, and
// what became of it in units of their own. All functions of the file wait for
// its end, as they were read, and are judged together then. Of the types, only
// those that decide how a parameter is passed are needed again: they are
// taken from the Set.

// add takes over the functions of a committed group.
func (l *lateFuncs) add(u *workspace, raw *rawTypes) {
	if raw != nil {
		for i := range u.unit.Funcs.S {
			l.rawFuncs = append(l.rawFuncs, raw.rawOf(u, u.unit.Funcs.S[i].Type))
		}
		for i := range u.unit.Params.S {
			l.rawParams = append(l.rawParams, raw.rawOf(u, u.unit.Params.S[i].Type))
		}
	}
	params, annots, funcs := uint32(len(l.u.unit.Params.S)), uint32(len(l.u.unit.Annots.S)), uint32(len(l.u.unit.Funcs.S))
	for _, fn := range u.unit.Funcs.S {
		fn.Type = u.id(fn.Type)
		fn.First += params
		fn.FirstAn += annots
		l.u.unit.Funcs.Append(fn)
	}
	entries := uint32(len(l.u.unit.Entries))
	for _, p := range u.unit.Params.S {
		p.Type = u.id(p.Type)
		if p.LocKind == callconv.LocEntries {
			p.LocOff += entries
		}
		l.u.unit.Params.Append(p)
	}
	for _, i := range u.unit.FuncOrder.S {
		l.u.unit.FuncOrder.Append(funcs + i)
	}
	for _, r := range u.unit.Formats.S {
		r.First += funcs
		l.u.unit.Formats.Append(r)
	}
	l.u.unit.Entries = append(l.u.unit.Entries, u.unit.Entries...)
	l.u.unit.Annots.AppendSlice(u.unit.Annots.S)
	if u.unit.Inline != nil {
		if l.u.unit.Inline == nil {
			l.u.unit.Inline = new(inline.Reader)
		}
		l.u.unit.Inline.Add(u.unit.Inline)
	}
}

// finishLate judges all functions of the file and saves their states.
func (f *input) finishLate(l *lateFuncs) error {
	u := &l.u
	u.reader.Cursor.File = f.File
	defer u.free()
	t := setTypes{set: f.run.set, u: u, raw: f.run.raw != nil, ref: map[uint64]dedup.Ref{}}
	arena.Bind(f.run.limit, &t.todo)
	defer t.todo.Free()
	for i := range u.unit.Funcs.S {
		u.unit.Funcs.S[i].Type = t.node(u.unit.Funcs.S[i].Type, rawAt(l.rawFuncs, i))
	}
	for i := range u.unit.Params.S {
		u.unit.Params.S[i].Type = t.node(u.unit.Params.S[i].Type, rawAt(l.rawParams, i))
	}
	t.settle()
	err := f.functions(u)
	f.flushLog(u)
	if err != nil {
		return &Error{File: f.File.Path, Section: ".debug_info", What: err.Error()}
	}
	f.run.countUnencodable(u)
	if err := f.saveStates(u); err != nil {
		return err
	}
	saveInlined(f, u)
	return nil
}

// setTypes makes nodes of a unit from types of the Set, as far as the judging
// of parameters looks: not behind pointers.
type setTypes struct {
	set  *dedup.Set
	u    *workspace
	ref  map[uint64]dedup.Ref // by id of the Set, and the id of -V above it
	raw  bool                 // -V is on
	todo arena.Vec[uint32]    // nodes whose references are still to be made
}

// rawAt is element i; 0 without -V.
func rawAt(raw []uint32, i int) uint32 {
	if raw == nil {
		return 0
	}
	return raw[i]
}

// node is the Ref of a type of the Set. With -V, each of its ids there has a node.
func (t *setTypes) node(id, raw uint32) dedup.Ref {
	if id == 0 || id == unit.Dropped {
		return id
	}
	key := uint64(raw)<<32 | uint64(id)
	r, ok := t.ref[key]
	if !ok {
		i := uint32(len(t.u.unit.Types.Nodes.S))
		t.u.unit.Types.Nodes.Append(dedup.Node{})
		t.u.unit.Types.ID.Append(id)
		t.todo.Append(i)
		r = i + 1
		t.ref[key] = r
		if t.raw {
			t.u.raw.Append(raw)
		}
	}
	return r
}

// settle fills the nodes that node has promised.
func (t *setTypes) settle() {
	for len(t.todo.S) > 0 {
		i := t.todo.S[len(t.todo.S)-1]
		t.todo.S = t.todo.S[:len(t.todo.S)-1]
		w := t.set.Record(t.u.unit.Types.ID.S[i])
		n := dedup.Node{Info: w.Info(), Name: w.Name(), Third: w.Third()}
		switch w.Kind() {
		case btf.KindPtr, btf.KindFuncProto:
			n.Third = 0
		case btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindTypeTag:
			n.Third = t.node(w.Third(), 0)
		case btf.KindArray:
			elem, _, nelems := w.Array()
			n.Third, n.Aux = t.node(elem, 0), nelems
		case btf.KindInt:
			n.Aux = w.Data()
		case btf.KindStruct, btf.KindUnion:
			n.First = uint32(len(t.u.unit.Types.Members.S))
			for j := range int(w.Vlen()) {
				name, typ, offset := w.Member(j)
				t.u.unit.Types.Members.Append(dedup.Member{Name: name, Type: t.node(typ, 0), Val: offset})
			}
		}
		t.u.unit.Types.Nodes.S[i] = n
	}
}
