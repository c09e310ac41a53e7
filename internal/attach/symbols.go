package attach

import (
	"errors"
	"slices"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/mmapelf"
)

// symbol is a place with a name.
type symbol struct {
	name        string
	section     uint32
	value, size uint64 // as in the file, without the bit of Thumb code
	code        bool   // it is a function, or at least code
	function    bool   // its type says so
	global      bool
}

// ErrNoSymbols is the error for a file without a symbol table.
var ErrNoSymbols = errors.New("no section .symtab")

// IsFunction reports whether the type of a symbol is STT_FUNC.
func IsFunction(s *mmapelf.Symbol) bool { return s.Info&0xf == elfabi.STTFunc }

// Each calls fn for the symbols of f that the kernel may have, in the order of the
// table, which is in the file symbols: f itself, or its separate debug file. The values are places in memory: the lowest bit of an ARM function says that its
// code is Thumb (ELF for the Arm Architecture, symbol values), and is 0 here, and the
// descriptors of 64-bit PowerPC (its ABI, version 1) are replaced by the code that they
// lead to. code says that it is code.
func Each(f, symbols *mmapelf.File, fn func(name []byte, s *mmapelf.Symbol, code bool)) error {
	symtab := symbols.Section(".symtab")
	if symtab == nil {
		return ErrNoSymbols
	}
	names, err := symbols.SymbolStrings(symtab)
	if err != nil {
		return err
	}
	d, own := descriptorsOf(f), sectionsIn(f, symbols)
	return symbols.Symbols(symtab, func(_ int, s *mmapelf.Symbol) bool {
		if kind := s.Info & 0xf; kind == elfabi.STTSection || kind == elfabi.STTFile || s.Shndx == 0 || uint64(s.Shndx) >= uint64(len(own)) {
			return true
		}
		if s.Shndx = own[s.Shndx]; s.Shndx == 0 {
			return true
		}
		name, ok := symbols.StringAt(names, s.Name)
		if !ok || len(name) == 0 || name[0] == '$' { // marks of the assembler
			return true
		}
		section := &f.Sections[s.Shndx]
		code := section.Flags&elfabi.SHFExecInstr != 0
		switch {
		case f.Machine == elfabi.EMARM && IsFunction(s):
			s.Value &^= 1
		case d != nil && int(s.Shndx) == d.section.Index && IsFunction(s):
			d.follow(s)
			code = true
		}
		if section.Flags&elfabi.SHFAlloc != 0 {
			fn(name, s, code)
		}
		return true
	})
}

// sectionsIn returns the number in f of each section of the file with its symbols, 0 for what
// f lacks. strip and objcopy leave the numbers as they are, but nothing obliges other programs to.
func sectionsIn(f, symbols *mmapelf.File) []uint32 {
	own := make([]uint32, len(symbols.Sections))
	for i := range own {
		name := symbols.Sections[i].Name
		if i < len(f.Sections) && f.Sections[i].Name == name {
			own[i] = uint32(i)
		} else if s := f.Section(name); s != nil {
			own[i] = uint32(s.Index)
		}
	}
	return own
}

// descriptors are the function descriptors of a linked file: the symbol of a function is
// at a descriptor, whose first word is the address of the code.
type descriptors struct {
	f       *mmapelf.File
	section *mmapelf.Section
	data    []byte
}

// descriptorsOf finds the descriptors; nil if there are none. In relocatable files they
// get their contents from the linker, so there is nothing to follow.
func descriptorsOf(f *mmapelf.File) *descriptors {
	s := f.Section(".opd")
	if f.Machine != elfabi.EMPPC64 || s == nil || s.Type != elfabi.SHTProgbits || f.Type == elfabi.ETRel {
		return nil
	}
	data, err := f.Data(s)
	if err != nil {
		return nil
	}
	return &descriptors{f, s, data}
}

// follow makes s the symbol of the code.
func (d *descriptors) follow(s *mmapelf.Symbol) {
	at := s.Value - d.section.Addr
	if at > uint64(len(d.data)) || uint64(len(d.data))-at < 8 {
		return
	}
	to := d.f.Order().Uint64(d.data[at:])
	i := slices.IndexFunc(d.f.Sections, func(x mmapelf.Section) bool {
		return x.Flags&elfabi.SHFExecInstr != 0 && to >= x.Addr && to-x.Addr < x.Size
	})
	if i >= 0 {
		s.Value, s.Shndx = to, uint32(i)
	}
}
