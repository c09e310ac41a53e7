package encode

import (
	"cmp"

	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/mmapelf"
)

// A variable that several units describe: a weak definition that another unit overrides, where
// ld -r has let both names mean one place, or a common symbol. pahole writes a VAR and an entry of the
// DATASEC for each, and a kernel takes no entries that overlap. ForKernel has
// such a variable once. It is one if name and place are the same.

// place is where an object of an ELF file is.
type place struct {
	section uint32
	offset  uint64
}

// onceEach leaves one of the variables that have the same name and place. If they differ in size, that is
// the one with the size of the symbol there, which is the definition that the linker chose. Without such a
// symbol, and of variables of one size, it is the first.
func (r *run) onceEach(sections []compactstate.DataSection) error {
	sizes := map[place]uint64{}
	for i := range sections {
		s := &sections[i]
		sameOffset(s.Vars, func(vars []compactstate.Var) {
			if r.sizesDiffer(vars) {
				sizes[place{s.Index, uint64(vars[0].Offset)}] = 0
			}
		})
	}
	if len(sizes) > 0 {
		if err := r.objectSizes(sizes); err != nil {
			return err
		}
	}
	for i := range sections {
		s := &sections[i]
		kept := s.Vars[:0]
		sameOffset(s.Vars, func(vars []compactstate.Var) {
			kept = append(kept, r.distinct(vars, sizes[place{s.Index, uint64(vars[0].Offset)}])...)
		})
		s.Vars = kept
		last := kept[len(kept)-1]
		s.Size = last.Offset + last.Size
	}
	return nil
}

// sameOffset calls f for each run of variables at one offset.
func sameOffset(vars []compactstate.Var, f func([]compactstate.Var)) {
	for i := 0; i < len(vars); {
		k := i + 1
		for k < len(vars) && vars[k].Offset == vars[i].Offset {
			k++
		}
		f(vars[i:k])
		i = k
	}
}

// sizesDiffer reports whether two of some variables at one offset have the same name and
// other sizes.
func (r *run) sizesDiffer(vars []compactstate.Var) bool {
	if len(vars) == 1 {
		return false
	}
	size := make(map[dedup.Name]uint32, len(vars))
	for _, v := range vars {
		name := r.set.Record(v.ID).Name()
		if n, ok := size[name]; ok && n != v.Size {
			return true
		}
		size[name] = v.Size
	}
	return false
}

// distinct leaves one variable of each name, of those at one offset where a symbol has a size, 0 for
// none. The others are forwarded to it.
func (r *run) distinct(vars []compactstate.Var, size uint64) []compactstate.Var {
	if len(vars) == 1 {
		return vars
	}
	at := make(map[dedup.Name]int, len(vars))
	kept := vars[:0]
	for _, v := range vars {
		name := r.set.Record(v.ID).Name()
		k, again := at[name]
		switch {
		case !again:
			at[name] = len(kept)
			kept = append(kept, v)
		case kept[k].Size != v.Size && uint64(v.Size) == size:
			r.set.Forward(kept[k].ID, v.ID)
			kept[k] = v
		default:
			r.set.Forward(v.ID, kept[k].ID)
		}
	}
	return kept
}

// objectSizes fills in the sizes of the objects at some places, by the symbols of all inputs.
func (r *run) objectSizes(sizes map[place]uint64) error {
	for _, f := range r.inputs {
		e, symtab, _, err := f.File.Symbols()
		if err != nil {
			return err
		}
		err = e.Symbols(symtab, func(_ int, s *mmapelf.Symbol) bool {
			start := f.starts[s.Shndx]
			if s.Info&0xf != elfabi.STTObject || start == nil {
				return true
			}
			at := place{s.Shndx, s.Value - start.value}
			if n, wanted := sizes[at]; wanted {
				sizes[at] = cmp.Or(n, s.Size)
			}
			return true
		})
		if err != nil {
			return err
		}
		e.ReleaseRange(symtab.Offset, symtab.Size)
	}
	return nil
}
