package unit

import "slices"

// VarSection is a section that may contain variables.
type VarSection struct {
	Index      uint32 // in the section table
	Addr, Size uint64 // the address that DWARF uses for it, and bytes
	Name       string
	Wanted     bool // its variables are candidates
	Extra      bool // its variables are not for the main BTF
}

// VarSections are the sections of a file that may contain variables. The zero value has none.
type VarSections struct {
	List  []VarSection
	from  []uint64 // addresses at which another section begins to count, ascending
	first []int32  // index in List of the section that counts from there on, noSection for none
}

const noSection = -1

// NewVarSections makes the table of sections in the order of the file. Of sections that overlap,
// the first one counts.
func NewVarSections(list []VarSection) VarSections {
	v := VarSections{List: list, from: []uint64{0}}
	v.each(func(_ int, start, last uint64) {
		if v.from = append(v.from, start); last+1 != 0 {
			v.from = append(v.from, last+1)
		}
	})
	slices.Sort(v.from)
	v.from = slices.Compact(v.from)
	v.first = make([]int32, len(v.from))
	free := make([]int, len(v.from)+1) // leads to the first place from here on that no section has yet
	for i := range free {
		free[i] = i
	}
	v.each(func(k int, start, last uint64) {
		i, _ := slices.BinarySearch(v.from, start)
		for {
			for free[i] != i {
				free[i] = free[free[i]]
				i = free[i]
			}
			if i == len(v.from) || v.from[i] > last {
				return
			}
			v.first[i], free[i] = int32(k), i+1
		}
	})
	for i := range v.first {
		if free[i] == i {
			v.first[i] = noSection
		}
	}
	return v
}

// each calls fn with the addresses of each section from start to last. One that reaches beyond the last
// address goes on at 0.
func (v *VarSections) each(fn func(k int, start, last uint64)) {
	for k := range v.List {
		s := &v.List[k]
		switch last := s.Addr + s.Size - 1; {
		case s.Size == 0:
		case last < s.Addr:
			fn(k, s.Addr, 1<<64-1)
			fn(k, 0, last)
		default:
			fn(k, s.Addr, last)
		}
	}
}

// at returns the first section that contains addr, or nil. It is nil too if that section's
// variables are not wanted.
func (v *VarSections) at(addr uint64) *VarSection {
	if len(v.List) == 0 {
		return nil
	}
	i, found := slices.BinarySearch(v.from, addr)
	if !found {
		i--
	}
	if k := v.first[i]; k != noSection && v.List[k].Wanted {
		return &v.List[k]
	}
	return nil
}

// Place sets the section of a variable from its address. It reports whether variables of
// that section are wanted.
func (in *Input) Place(v *Var, addr uint64) bool {
	sec := in.Sections.at(addr)
	if sec == nil {
		return false
	}
	v.Section, v.SecOff, v.Extra = sec.Index, addr-sec.Addr, sec.Extra
	return true
}
