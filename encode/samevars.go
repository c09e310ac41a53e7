package encode

import (
	"cmp"

	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/mmapelf"
)

// Several units may describe one variable: a weak definition that another unit overrides,
// names to which ld -r has given one place, or a common symbol. pahole writes a VAR and
// an entry of the DATASEC for each, and kernels refuse entries that overlap. ForKernel
// keeps such a variable once. Two are the same variable if name and place are equal.

// place is the place of an object in an ELF file.
type place struct {
	section uint32
	offset  uint64
}

// onceEach keeps one of the variables that have the same name and place. If their sizes
// differ, it keeps the one with the size of the symbol there, because the linker chose
// that definition. If no size fits or all are equal, it keeps the first.
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

// sizesDiffer reports whether two variables at one offset have the same name and
// different sizes.
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

// distinct keeps one variable of each name, among variables at one offset. size is the
// size of the symbol there, 0 if there is none. Ids of the dropped variables are
// forwarded to the one that stays.
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

// objectSizes fills in the sizes of the objects at these places, from the symbols of all
// inputs.
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
