package encode

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
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
	pf.u.unit.AddFuncs(u.unit, u.id)
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
	for i := range u.unit.Funcs.S {
		u.unit.Funcs.S[i].Type = t.node(u.unit.Funcs.S[i].Type, rawAt(l.rawFuncs, i))
	}
	for i := range u.unit.Params.S {
		u.unit.Params.S[i].Type = t.node(u.unit.Params.S[i].Type, rawAt(l.rawParams, i))
	}
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

// setTypes makes Refs of types of the Set, for the check of parameters. With -V, they are nodes.
type setTypes struct {
	set *dedup.Set
	u   *workspace
	ref map[uint64]dedup.Ref // by id in the Set; the id of -V is in the upper half
	raw bool                 // with -V
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
	switch {
	case id == 0 || id == unit.Dropped:
		return id
	case !ts.raw:
		return id | dedup.Extern
	}
	key, types := uint64(raw)<<32|uint64(id), &ts.u.unit.Types
	if r, ok := ts.ref[key]; ok {
		return r
	}
	n := ts.set.Node(id)
	r, first := dedup.Ref(len(types.Nodes.S)+1), len(types.Members.S)
	ts.ref[key] = r
	k := btf.InfoKind(n.Info)
	if k == btf.KindStruct || k == btf.KindUnion {
		n.First = uint32(first)
		types.Members.AppendSlice(ts.set.AppendMembers(nil, id))
	}
	types.Nodes.Append(n)
	types.ID.Append(id)
	ts.u.raw.Append(raw)
	for i, end := first, len(types.Members.S); i < end; i++ {
		typ := ts.node(types.Members.S[i].Type&^dedup.Extern, 0)
		types.Members.S[i].Type = typ
	}
	return r
}
