package encode

import (
	"fmt"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/mmapelf"
)

// symbolWork and symbolRepeat bound how many bytes of symbols' names are read:
// symbolWork, or symbolRepeat times the size of .strtab. Linkers let a name be the end of
// another one. In a crafted file, every symbol could refer to the same long text.
const (
	symbolWork   = 64 << 20
	symbolRepeat = 16
)

// symbolsOverlap is the error for names of symbols that exceed these bounds.
func (f *input) symbolsOverlap() error {
	return fmt.Errorf("%s: .strtab: names of symbols overlap, so that too much of it is read again and again", f.File.Path)
}

// symbolBlock is how many functions are added to the function table at once.
const symbolBlock = 64

// readSymbols reads the symbol table: functions for the function table, and the objects
// at the start of a section with variables.
func (f *input) readSymbols() error {
	e, symtab, strtab, err := f.File.Symbols()
	if err != nil {
		return err
	}
	e.PrefetchRange(symtab.Offset, symtab.Size)
	if f.run.funcs.table == nil {
		// Count first, because a table that grows leaves its old copies behind.
		n, err := countFuncs(e, symtab, strtab, f.run.funcs.padding)
		if err != nil {
			return err
		}
		f.run.funcs.newTable(n, f.run.limit)
	}
	t := f.run.funcs.table
	t.BeginFile(strtab)
	idsIndex := uint32(0)
	var ids *mmapelf.Section
	if f.first && f.opt.Features&DeclTagKfuncs != 0 {
		if ids = f.File.ELF.Section(".BTF_ids"); ids != nil {
			idsIndex = uint32(ids.Index)
		}
	}
	var kf kfuncs
	left := symbolWork + symbolRepeat*len(strtab)
	var wait []compactstate.Symbol
	err = e.Symbols(symtab, func(i int, s *mmapelf.Symbol) bool {
		switch s.Info & 0xf {
		case elfabi.STTFunc:
			if wait = append(wait, compactstate.Symbol{Name: s.Name, Value: s.Value}); len(wait) == symbolBlock {
				left -= t.AddAll(wait)
				wait = wait[:0]
			}
		case elfabi.STTObject:
			if at := f.starts[s.Shndx]; at != nil && s.Value == at.value {
				if name, ok := e.StringAt(strtab, s.Name); ok {
					left -= len(name)
					at.names = append(at.names, name)
				}
			}
		}
		if idsIndex != 0 && s.Shndx == idsIndex {
			if name, ok := e.StringAt(strtab, s.Name); ok {
				left -= len(name)
				kf.add(name, s.Value, s.Size)
			}
		}
		return left >= 0
	})
	if err != nil {
		return err
	}
	if left -= t.AddAll(wait); left < 0 {
		return f.symbolsOverlap()
	}
	t.Seal()
	names := &f.run.funcs.names
	*names = append(*names, make([]dedup.Name, t.MaxEntry()+1-len(*names))...)
	e.ReleaseRange(symtab.Offset, symtab.Size)
	e.Release(strtab)
	if ids != nil && ids.Type == elfabi.SHTNobits && len(kf.sets) > 0 {
		return fmt.Errorf("%s: .BTF_ids: no contents (NOBITS, a debug file?), so kernel functions cannot be told; encode the file itself, or without decl_tag_kfuncs", f.File.Path)
	}
	if ids != nil {
		data, err := f.File.ELF.Data(ids)
		if err != nil {
			return err
		}
		kf.resolve(f, ids.Addr, data, t)
	}
	return nil
}

// countFuncs returns how many functions the function table will have, with padding or without.
func countFuncs(e *mmapelf.File, symtab *mmapelf.Section, strtab []byte, padding bool) (n int, err error) {
	var wait []compactstate.Symbol
	var touched arena.Touched
	count := func() {
		if padding {
			n += len(wait)
		} else {
			n += compactstate.WithoutPadding(strtab, wait, &touched)
		}
		wait = wait[:0]
	}
	err = e.Symbols(symtab, func(_ int, s *mmapelf.Symbol) bool {
		if s.Info&0xf == elfabi.STTFunc {
			if wait = append(wait, compactstate.Symbol{Name: s.Name}); len(wait) == symbolBlock {
				count()
			}
		}
		return true
	})
	count()
	return n, err
}
