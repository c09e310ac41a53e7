package compactstate

import (
	"cmp"
	"slices"
)

// Var is one variable of a data section. ID is the type id of its BTF VAR,
// Offset its offset from the start of the section and Size its size, both in
// bytes.
type Var struct{ ID, Offset, Size uint32 }

// DataSection is the content of one BTF DATASEC.
type DataSection struct {
	Index uint32 // ELF section index
	Size  uint32 // size of the DATASEC in bytes: end of the last variable
	Vars  []Var  // by ascending offset; equal offsets in the order of adding
}

// Vars collects the variables of all data sections. The zero value is empty.
type Vars struct {
	vars     []Var
	sections []uint32 // ELF section index of each variable
}

// Add adds a variable that lies in ELF section number section. The calls
// must be in the order of the BTF VARs.
func (v *Vars) Add(section, varID, offset, size uint32) {
	v.vars = append(v.vars, Var{varID, offset, size})
	v.sections = append(v.sections, section)
}

// Sections returns the sections that have variables, by ascending ELF section
// index. The result does not share memory with v. Any of them may have more
// variables than a DATASEC can hold.
func (v *Vars) Sections() []DataSection {
	counts := make(map[uint32]int)
	for _, sec := range v.sections {
		counts[sec]++
	}
	list := make([]DataSection, 0, len(counts))
	for sec, n := range counts {
		list = append(list, DataSection{Index: sec, Vars: make([]Var, 0, n)})
	}
	slices.SortFunc(list, func(a, b DataSection) int { return cmp.Compare(a.Index, b.Index) })
	for i := range list {
		counts[list[i].Index] = i // from here on: position in list
	}
	for i, sec := range v.sections {
		s := &list[counts[sec]]
		s.Vars = append(s.Vars, v.vars[i])
	}
	for i := range list {
		s := &list[i]
		slices.SortStableFunc(s.Vars, func(a, b Var) int { return cmp.Compare(a.Offset, b.Offset) })
		if n := len(s.Vars); n > 0 {
			s.Size = s.Vars[n-1].Offset + s.Vars[n-1].Size
		}
	}
	return list
}
