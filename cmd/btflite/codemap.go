package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// codeMap knows the sections and functions of an ELF file by address.
type codeMap struct {
	path      string
	sections  []codeRange
	functions []codeRange // by address
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
