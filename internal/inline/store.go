package inline

import (
	"cmp"
	"slices"

	"github.com/btflite/btflite/arena"
)

// Store keeps the sites of all units: functions, places and lists of places once
// each, and 12 bytes for each site, outside the Go heap. Names and types of functions
// are opaque to it until Settle.
type Store struct {
	params, protos, funcs table
	sites                 arena.Vec[siteRec]
	runs                  arena.Vec[run]
	Stats                 Stats

	// Caches. Most parameters are in a register, and most sites have at most two parameters. So
	// the indexes of places in registers, and of lists of one place, are found without a hash.
	// Of other places and of lists of two, recent ones are remembered.
	registers [32][maxConst + 1]uint32 // by register and size: 1 + the index in params
	recent    [1 << 9]recentPlace      // by hash
	singles   arena.Vec[uint32]        // by place (1 + its index): 1 + the index in protos of the list of it alone
	pairs     [1 << 11]pair            // by hash
	empty     uint32                   // 1 + the index of the list without places
}

// siteRec is a site: indexes of tables, and its offset in a section.
type siteRec struct{ fn, proto, off uint32 }

// recentPlace is a place for parameters of a size, and 1 + its index in Store.params; 0 if it has none
// yet.
type recentPlace struct {
	Place
	size   uint32
	index  uint32
	signed bool
}

// pair is a list of two places, and 1 + its index in Store.protos.
type pair struct{ first, second, index uint32 }

// run is a run of sites in one section: the section, and the index of the first site.
type run struct{ section, first uint32 }

// Stats counts sites and their parameters.
type Stats struct {
	Sites  int `json:"sites"`
	All    int `json:"sites_with_all_parameters"` // sites of functions without parameters among them
	Some   int `json:"sites_with_some_parameters"`
	None   int `json:"sites_with_no_parameters"`
	Funcs  int `json:"functions"`       // FUNCs that sites name
	Added  int `json:"functions_added"` // the part of Funcs that the BTF lacks
	Params int `json:"loc_params"`
	Protos int `json:"loc_protos"`
	Types  int `json:"type_bytes"`   // of the added records
	Names  int `json:"string_bytes"` // of the added names
	// Missing counts parameters without a place, and Dropped sites that are left out, by reason.
	Missing map[string]int `json:"parameters_missing"`
	Dropped map[string]int `json:"sites_left_out"`

	missing [Reasons]int
	dropped [drops]int
}

// Drop says why a site is left out.
type Drop uint8

// The reasons.
const (
	NoAddress  Drop = iota // nothing says where it is
	NoSection              // no section with code has its address
	NoFunction             // its function is not described, or has no name
	BadName                // the function or a parameter has a name that kernels refuse
	NoType                 // a type of the function cannot be said in BTF
	drops
)

var dropText = [drops]string{
	"no address", "in no section with code", "function not described or without a name",
	"name that is not an identifier", "type that BTF has no kind for",
}

// Drop counts a site that is left out.
func (s *Store) Drop(why Drop) { s.Stats.dropped[why]++ }

// Free gives the memory back.
func (s *Store) Free() {
	s.singles.Free()
	s.params.free()
	s.protos.free()
	s.funcs.free()
	s.sites.Free()
	s.runs.Free()
}

// Func returns the index of a function, and adds it if it is new. words are its name, its return
// type, and name and type of each parameter one after the other.
func (s *Store) Func(words []uint32) uint32 { return s.funcs.intern(words) }

// Known returns the index of a function if the store has it already. words are as for Func.
func (s *Store) Known(words []uint32) (i uint32, ok bool) {
	return s.funcs.find(words)
}

// Place keeps the place of a parameter of size bytes, which is signed if it is an
// integer with a sign. It returns 1 + the index of the place, or 0 and why there is none,
// which is counted.
func (s *Store) Place(p *Place, size uint32, signed bool) (uint32, Reason) {
	var quick *uint32
	switch {
	case p.Kind == Missing:
	case p.Kind == Register && p.Reg < uint32(len(s.registers)) && size <= maxConst && p.Width == 0:
		if quick = &s.registers[p.Reg][size]; *quick != 0 {
			return *quick, NoPlace
		}
	default:
		r := &s.recent[(p.Value^uint64(p.Reg)<<6^uint64(size)<<3^uint64(p.Kind))*0x9e3779b97f4a7c15>>(64-9)]
		if r.index != 0 && r.Place == *p && r.size == size && r.signed == signed {
			return r.index, NoPlace
		}
		*r = recentPlace{*p, size, 0, signed}
		quick = &r.index
	}
	var buf [2 + 3]uint32
	flags, values, why := p.record(buf[2:2], size, signed)
	if why != NoPlace {
		s.Stats.missing[why]++
		return 0, why
	}
	buf[0], buf[1] = size, flags
	i := 1 + s.params.intern(buf[:2+len(values)])
	if quick != nil {
		*quick = i
	}
	return i, NoPlace
}

// Missing counts a parameter that has no place, and returns 0.
func (s *Store) Missing(why Reason) uint32 {
	s.Stats.missing[why]++
	return 0
}

// Site adds a site of function fn at an offset of a section, with the places of its
// parameters. An ellipsis after them has none.
func (s *Store) Site(fn, section, off uint32, places []uint32, ellipsis bool) {
	with := 0
	for _, p := range places {
		if p != 0 {
			with++
		}
	}
	st := &s.Stats
	st.Sites++
	switch with {
	case len(places):
		st.All++
	case 0:
		st.None++
	default:
		st.Some++
	}
	if ellipsis {
		places = append(places, 0)
	}
	if n := len(s.runs.S); n == 0 || s.runs.S[n-1].section != section {
		s.runs.Append(run{section, uint32(len(s.sites.S))})
	}
	s.sites.Append(siteRec{fn, s.list(places), off})
}

// list returns the index of a list of places, and adds it if it is new.
func (s *Store) list(places []uint32) uint32 {
	var known *uint32
	switch len(places) {
	case 0:
		known = &s.empty
	case 1:
		p := int(places[0])
		if p >= len(s.singles.S) {
			s.singles.Resize(max(2*p, 64))
		}
		known = &s.singles.S[p]
	case 2:
		p := &s.pairs[(uint64(places[0])<<32|uint64(places[1]))*0x9e3779b97f4a7c15>>(64-11)]
		if p.first != places[0] || p.second != places[1] {
			*p = pair{first: places[0], second: places[1]}
		}
		known = &p.index
	default:
		return s.protos.intern(places)
	}
	if *known == 0 {
		*known = 1 + s.protos.intern(places)
	}
	return *known - 1
}

// sections calls fn with the sites of each section, in ascending order of sections. The sites of a
// section are sorted by function, offset and places, and none is there twice. They are valid until fn
// returns. rank says, by index of a function, its place in the order.
func (s *Store) sections(rank []uint32, fn func(section uint32, sites []siteRec)) {
	runs := make([]uint32, len(s.runs.S))
	for i := range runs {
		runs[i] = uint32(i)
	}
	slices.SortStableFunc(runs, func(a, b uint32) int { return cmp.Compare(s.runs.S[a].section, s.runs.S[b].section) })
	all, counts := s.sites.Another(), s.protos.at.Another()
	defer all.Free()
	defer counts.Free()
	for len(runs) > 0 {
		section, n := s.runs.S[runs[0]].section, 1
		for n < len(runs) && s.runs.S[runs[n]].section == section {
			n++
		}
		counts.Reset()
		counts.Resize(len(rank) + 1)
		total := 0
		s.eachRun(runs[:n], func(sites []siteRec) {
			for i := range sites {
				counts.S[rank[sites[i].fn]+1]++
			}
			total += len(sites)
		})
		for i := range rank {
			counts.S[i+1] += counts.S[i]
		}
		all.Reset()
		all.Extend(total)
		s.eachRun(runs[:n], func(sites []siteRec) {
			for _, x := range sites {
				at := &counts.S[rank[x.fn]]
				all.S[*at] = x
				*at++
			}
		})
		sortEach(all.S)
		fn(section, slices.Compact(all.S))
		runs = runs[n:]
	}
}

// eachRun calls fn with the sites of each of the runs.
func (s *Store) eachRun(runs []uint32, fn func(sites []siteRec)) {
	for _, i := range runs {
		from, to := s.runs.S[i].first, uint32(len(s.sites.S))
		if int(i)+1 < len(s.runs.S) {
			to = s.runs.S[i+1].first
		}
		fn(s.sites.S[from:to])
	}
}

// sortEach sorts the sites of each function, which lie together.
func sortEach(sites []siteRec) {
	var keys []uint64 // of sites of one function: a sort of numbers takes half the time
	for len(sites) > 0 {
		n, sorted := 1, true
		for n < len(sites) && sites[n].fn == sites[0].fn {
			sorted = sorted && sites[n-1].key() <= sites[n].key()
			n++
		}
		if !sorted {
			keys = keys[:0]
			for i := range sites[:n] {
				keys = append(keys, sites[i].key())
			}
			slices.Sort(keys)
			for i, k := range keys {
				sites[i].off, sites[i].proto = uint32(k>>32), uint32(k)
			}
		}
		sites = sites[n:]
	}
}

// key orders sites of one function.
func (a *siteRec) key() uint64 { return uint64(a.off)<<32 | uint64(a.proto) }
