package encode

import (
	"bytes"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/unit"
)

// Readers of DWARF also print functions that pahole leaves out: functions of C++ and
// Rust, whose symbols have other names, and functions whose compiled form may not match
// their types. With ForReaders they are added after the other functions.

// droppedFunctions is the name under which readers report functions with too many
// parameters.
const droppedFunctions = "functions with too many parameters"

// saveReadable keeps the functions of the unit that have code.
func (r *run) saveReadable(u *workspace) error {
	for _, i := range u.unit.FuncOrder.S {
		fn := &u.unit.Funcs.S[i]
		if fn.Name == 0 || fn.Flags&(callconv.FuncDeclaration|callconv.FuncInline) != 0 || fn.Type == unit.Dropped {
			continue
		}
		name, err := r.intern(fn.Name)
		if err != nil {
			return u.reader.Cursor.UnitError(err.Error())
		}
		proto := []uint32{0, 0, u.id(fn.Type)}
		for _, p := range u.unit.Params.S[fn.First:][:fn.N] {
			if p.Name, err = r.intern(p.Name); err != nil {
				return u.reader.Cursor.UnitError(err.Error())
			}
			if p.Type = u.id(p.Type); p.Type == unit.Dropped {
				p.Type = 0
			}
			proto = append(proto, p.Name, p.Type)
		}
		if fn.Flags&callconv.FuncVariadic != 0 {
			proto = append(proto, 0, 0)
		}
		r.funcs.readable = append(r.funcs.readable, readable{name, u.unit.Facts.Foreign != 0, proto})
	}
	return nil
}

// addReadable adds the functions that emitFuncs has left out and readers print.
func (r *run) addReadable() error {
	text := func(f readable) []byte {
		b, _ := r.names.Bytes(r.names.Canonical(f.name))
		return b
	}
	slices.SortStableFunc(r.funcs.readable, func(a, b readable) int { return bytes.Compare(text(a), text(b)) })
	for _, f := range r.funcs.readable {
		if !f.foreign && r.funcs.emitted[string(text(f))] {
			continue
		}
		n := (len(f.proto) - 3) / 2
		if unit.BeyondVlen(n, "parameters", false) != "" {
			r.leftOut(droppedFunctions, 1)
			continue
		}
		f.proto[1] = btf.Info(btf.KindFuncProto, uint32(n), false)
		for i := 3; i < len(f.proto); i += 2 {
			f.proto[i] = r.names.Canonical(f.proto[i])
		}
		if _, err := r.set.AddFunc(r.names.Canonical(f.name), f.proto, false); err != nil {
			return err
		}
	}
	r.funcs.readable = nil
	return nil
}
