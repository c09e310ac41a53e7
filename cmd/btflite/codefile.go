package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/btflite/btflite/btf/funcs"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/attach"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// codeFile is an ELF file with code, and where the separate debug file may be that has
// its symbols.
type codeFile struct {
	mmapelf.Source
	debug encode.DebugFiles
}

// withSymbols opens an ELF file for a function that reads its symbols.
func withSymbols(in codeFile, read func(image, symbols *mmapelf.File) error) error {
	image, symbols, done, err := debuginfo.OpenSymbols(&in.Source, in.debug)
	if err != nil {
		return message.NamingFile([]string{in.Path}, err)
	}
	defer done()
	err = read(image, symbols)
	if errors.Is(err, attach.ErrNoSymbols) {
		return fmt.Errorf("%s: %w, and BTF has no addresses", message.OneLine(in.Path), err)
	}
	return err
}

// eachFunctionSymbol calls fn for each symbol of a function in the ELF file in, because
// BTF has neither addresses nor sizes of code. Their values say where the code is; see
// attach.Each.
func eachFunctionSymbol(in codeFile, fn func(name []byte, s *mmapelf.Symbol)) error {
	return withSymbols(in, func(image, symbols *mmapelf.File) error {
		return attach.Each(image, symbols, func(name []byte, s *mmapelf.Symbol, _ bool) {
			if attach.IsFunction(s) {
				fn(name, s)
			}
		})
	})
}

// readAttach reads which of the wanted functions tracers can attach to.
func readAttach(in codeFile, wanted func(name []byte) bool) (s *attach.Symbols, err error) {
	err = withSymbols(in, func(image, symbols *mmapelf.File) error {
		s, err = attach.Read(image, symbols, wanted)
		return err
	})
	return s, err
}

// functionToAttach describes the function of the set for attach.
func functionToAttach(set *funcs.Set, name string) attach.Function {
	f := attach.Function{Name: name}
	if all := set.Named(name); len(all) > 0 {
		f.InBTF = true
		f.Fault, f.TakenFrom = all[0].EntryFault()
	}
	return f
}

// functionAt returns the function of the set whose code is at the address, and the symbol
// there: the function's own, or a variant such as NAME.isra.0. If several symbols cover
// the address, it prefers one whose name the set has.
func functionAt(in codeFile, set *funcs.Set, address uint64) (name, symbol string, err error) {
	best := 0
	err = eachFunctionSymbol(in, func(text []byte, s *mmapelf.Symbol) {
		if address < s.Value || address-s.Value >= max(s.Size, 1) || best == 3 {
			return
		}
		whole := string(text)
		stem, _, _ := strings.Cut(whole, ".")
		switch {
		case len(set.Named(whole)) > 0:
			name, symbol, best = whole, whole, 3
		case best < 2 && stem != "" && len(set.Named(stem)) > 0:
			name, symbol, best = stem, whole, 2
		case best < 1:
			name, symbol, best = whole, whole, 1
		}
	})
	if err == nil && best == 0 {
		err = fmt.Errorf("%s: no function at %#x", message.OneLine(in.Path), address)
	}
	return name, symbol, err
}

// symbolSizes returns the sizes of functions in bytes, by name.
func symbolSizes(in codeFile) (map[string]uint64, error) {
	sizes := map[string]uint64{}
	err := eachFunctionSymbol(in, func(name []byte, s *mmapelf.Symbol) { sizes[string(name)] = s.Size })
	return sizes, err
}

// adviceNote returns a note on how to attach to a function, "" if the usual way works. symbol
// is the symbol that was asked for.
func adviceNote(in codeFile, set *funcs.Set, name, symbol string) (string, error) {
	s, err := readAttach(in, func(n []byte) bool { return string(n) == name })
	if err != nil {
		return "", err
	}
	advice := s.Advise(functionToAttach(set, name))
	if symbol == name && advice.Entry != "" && len(advice.Reasons)+len(advice.Variants) == 0 {
		return "", nil
	}
	at := ""
	if symbol != name {
		at = "the symbol there is " + symbol + ": "
	}
	return message.OneLine(fmt.Sprintf("%s: note: %s: %s%s", in.Path, name, at, strings.Join(advice.Lines(), "; "))), nil
}

// hasSymbol reports whether an ELF file defines a symbol.
func hasSymbol(path, wanted string) (found bool) {
	err := withSymbols(codeFile{Source: mmapelf.Source{Path: path}}, func(image, symbols *mmapelf.File) error {
		return attach.Each(image, symbols, func(name []byte, s *mmapelf.Symbol, _ bool) {
			found = found || string(name) == wanted && s.Shndx != 0
		})
	})
	return err == nil && found
}

// codeMap knows the sections and functions of an ELF file by address.
type codeMap struct {
	path      string
	sections  []codeRange
	functions []codeRange // by address
}

// sitePoint is a place in a section, or in any section if it has no name.
type sitePoint struct {
	section string
	offset  uint32
}

// codeRange is a section or a function. In a file that is not linked, addresses are
// offsets in sections, so several ranges may have the same.
type codeRange struct {
	name       string
	addr, size uint64
	section    uint32
}

// openCode reads an ELF file; nil if in has no path, as raw BTF.
func openCode(in codeFile) (*codeMap, error) {
	if in.Path == "" {
		return nil, nil
	}
	e, err := in.Open()
	if err != nil {
		return nil, message.NamingFile([]string{in.Path}, err)
	}
	defer e.Close()
	m := &codeMap{path: in.Path}
	for i := range e.Sections {
		if s := &e.Sections[i]; s.IsCode() {
			m.sections = append(m.sections, codeRange{s.Name, s.Addr, s.Size, uint32(i)})
		}
	}
	err = eachFunctionSymbol(in, func(name []byte, s *mmapelf.Symbol) {
		m.functions = append(m.functions, codeRange{string(name), s.Value, s.Size, uint32(s.Shndx)})
	})
	if e.Section(".symtab") == nil { // without symbols, addresses are still known
		err = nil
	}
	slices.SortStableFunc(m.functions, func(a, b codeRange) int {
		return cmp.Or(cmp.Compare(a.section, b.section), cmp.Compare(a.addr, b.addr))
	})
	return m, err
}

// pointAt returns the section or function that contains an address.
func (m *codeMap) pointAt(addr uint64) (p sitePoint, ok bool) {
	for _, s := range m.sections {
		if addr >= s.addr && addr-s.addr < s.size {
			return sitePoint{s.name, uint32(addr - s.addr)}, true
		}
	}
	return p, false
}

// hasSection reports whether a section with code has the name.
func (m *codeMap) hasSection(name string) bool {
	return slices.ContainsFunc(m.sections, func(s codeRange) bool { return s.name == name })
}

// inFunction returns the places of an offset in the functions of a name.
func (m *codeMap) inFunction(name string, offset uint64) (places []sitePoint) {
	for _, f := range m.functions {
		if f.name != name || offset >= f.size {
			continue
		}
		for _, s := range m.sections {
			if p := (sitePoint{s.name, uint32(f.addr - s.addr + offset)}); s.section == f.section && !slices.Contains(places, p) {
				places = append(places, p)
			}
		}
	}
	return places
}

// describe returns the address of an offset in a section, and the function there; "" for
// an unknown one.
func (m *codeMap) describe(section string, offset uint32) (address, symbol string) {
	i := slices.IndexFunc(m.sections, func(s codeRange) bool { return s.name == section && uint64(offset) < s.size })
	if i < 0 {
		return "", ""
	}
	s := &m.sections[i]
	addr := s.addr + uint64(offset)
	j, found := slices.BinarySearchFunc(m.functions, codeRange{section: s.section, addr: addr}, func(f, at codeRange) int {
		return cmp.Or(cmp.Compare(f.section, at.section), cmp.Compare(f.addr, at.addr))
	})
	if !found {
		j--
	}
	for ; j >= 0 && m.functions[j].section == s.section; j-- {
		if f := &m.functions[j]; addr-f.addr < f.size {
			return fmt.Sprintf("%#x", addr), fmt.Sprintf("%s+%#x", f.name, addr-f.addr)
		}
		if addr-m.functions[j].addr > 1<<20 {
			break
		}
	}
	return fmt.Sprintf("%#x", addr), ""
}
