package encode

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/inline"
	"github.com/btflite/btflite/internal/unit"
)

// Functions of a merged file may refer to functions in other groups: GCC's link-time
// optimization describes a function in the unit of its source, and the compiled code in
// another unit. So all functions of the file are kept as they were read, and are checked
// together at the end. The check needs only types that decide how a parameter is passed.
// It takes them from the Set.

// add copies the functions of a committed group to pf, with ids of the Set in place of Refs. raw is nil
// without -V.
func (pf *pendingFuncs) add(u *workspace, raw *rawTypes) {
	if raw != nil {
		for i := range u.unit.Funcs.S {
			pf.rawFuncs = append(pf.rawFuncs, raw.rawOf(u, u.unit.Funcs.S[i].Type))
		}
		for i := range u.unit.Params.S {
			pf.rawParams = append(pf.rawParams, raw.rawOf(u, u.unit.Params.S[i].Type))
		}
	}
	params, annots, funcs := uint32(len(pf.u.unit.Params.S)), uint32(len(pf.u.unit.Annots.S)), uint32(len(pf.u.unit.Funcs.S))
	for _, fn := range u.unit.Funcs.S {
		fn.Type = u.id(fn.Type)
		fn.First += params
		fn.FirstAn += annots
		pf.u.unit.Funcs.Append(fn)
	}
	entries := uint32(len(pf.u.unit.Entries))
	for _, p := range u.unit.Params.S {
		p.Type = u.id(p.Type)
		if p.LocKind == callconv.LocEntries {
			p.LocOff += entries
		}
		pf.u.unit.Params.Append(p)
	}
	for _, i := range u.unit.FuncOrder.S {
		pf.u.unit.FuncOrder.Append(funcs + i)
	}
	for _, r := range u.unit.Formats.S {
		r.First += funcs
		pf.u.unit.Formats.Append(r)
	}
	pf.u.unit.Entries = append(pf.u.unit.Entries, u.unit.Entries...)
	pf.u.unit.Annots.AppendSlice(u.unit.Annots.S)
	if u.unit.Inline != nil {
		if pf.u.unit.Inline == nil {
			pf.u.unit.Inline = new(inline.Reader)
		}
		pf.u.unit.Inline.Add(u.unit.Inline)
	}
}

// finishPending checks all functions of the file and saves their states.
func (f *input) finishPending(l *pendingFuncs) error {
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

// setTypes makes nodes of a unit from types of the Set, for the check of parameters. It
// does not follow pointers, because the check does not either.
type setTypes struct {
	set  *dedup.Set
	u    *workspace
	ref  map[uint64]dedup.Ref // by id in the Set; the id of -V is in the upper half
	raw  bool                 // with -V
	todo arena.Vec[uint32]    // nodes whose references are not made yet
}

// rawAt returns element i, or 0 without -V.
func rawAt(raw []uint32, i int) uint32 {
	if raw == nil {
		return 0
	}
	return raw[i]
}

// node returns the Ref for a type of the Set. With -V, each id of -V for the type has its
// own node.
func (ts *setTypes) node(id, raw uint32) dedup.Ref {
	if id == 0 || id == unit.Dropped {
		return id
	}
	key := uint64(raw)<<32 | uint64(id)
	r, ok := ts.ref[key]
	if !ok {
		i := uint32(len(ts.u.unit.Types.Nodes.S))
		ts.u.unit.Types.Nodes.Append(dedup.Node{})
		ts.u.unit.Types.ID.Append(id)
		ts.todo.Append(i)
		r = i + 1
		ts.ref[key] = r
		if ts.raw {
			ts.u.raw.Append(raw)
		}
	}
	return r
}

// settle fills in the references of the nodes that node made.
func (ts *setTypes) settle() {
	for len(ts.todo.S) > 0 {
		i := ts.todo.S[len(ts.todo.S)-1]
		ts.todo.S = ts.todo.S[:len(ts.todo.S)-1]
		w := ts.set.Record(ts.u.unit.Types.ID.S[i])
		n := dedup.Node{Info: w.Info(), Name: w.Name(), Third: w.Third()}
		switch w.Kind() {
		case btf.KindPtr, btf.KindFuncProto:
			n.Third = 0
		case btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindTypeTag:
			n.Third = ts.node(w.Third(), 0)
		case btf.KindArray:
			elem, _, nelems := w.Array()
			n.Third, n.Aux = ts.node(elem, 0), nelems
		case btf.KindInt:
			n.Aux = w.Data()
		case btf.KindStruct, btf.KindUnion:
			n.First = uint32(len(ts.u.unit.Types.Members.S))
			for j := range int(w.Vlen()) {
				name, typ, offset := w.Member(j)
				ts.u.unit.Types.Members.Append(dedup.Member{Name: name, Type: ts.node(typ, 0), Val: offset})
			}
		}
		ts.u.unit.Types.Nodes.S[i] = n
	}
}
