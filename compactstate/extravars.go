package compactstate

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/btflite/btflite/arena"
)

// ExtraVar is a variable for split BTF over the main BTF. Name and Type are
// opaque; Offset, from the start of the section, and Size are in bytes.
type ExtraVar struct {
	Name, Type   uint32
	Section      uint32 // ELF section index
	Offset, Size uint32 // their sum must be less than 4 GiB
	External     bool

	ntags uint16
	tags  uint32 // index of the first one in ExtraVars.tags
}

// ExtraSection is the content of one BTF DATASEC. An ELF section has several if it has
// too many variables or some overlap: kernels refuse a DATASEC with overlaps.
type ExtraSection struct {
	Index uint32   // ELF section index
	Size  uint32   // bytes: end of the last variable
	Vars  []uint32 // indexes for ExtraVars.At, by ascending offset
}

// ExtraVars collects variables, 28 bytes each, outside the Go heap. The zero value
// is empty.
type ExtraVars struct {
	vars arena.Vec[ExtraVar]
	tags arena.Vec[uint32]
}

// MaxExtraTags is how many tags a variable may have.
const MaxExtraTags = 1<<16 - 1

// Add adds a variable with its declaration tags, at most MaxExtraTags.
func (e *ExtraVars) Add(v ExtraVar, tags ...uint32) {
	v.tags, v.ntags = uint32(len(e.tags.S)), uint16(len(tags))
	e.tags.AppendSlice(tags)
	e.vars.Append(v)
}

// Free gives the memory back. The ExtraVars is empty afterwards.
func (e *ExtraVars) Free() {
	e.vars.Free()
	e.tags.Free()
}

// Len returns the number of variables.
func (e *ExtraVars) Len() int { return len(e.vars.S) }

// At returns variable i with its tags, which must not be changed.
func (e *ExtraVars) At(i int) (v ExtraVar, tags []uint32) {
	v = e.vars.S[i]
	return v, e.tags.S[v.tags:][:v.ntags]
}

// Settle maps each name and type by the functions, sorts the variables by section and
// offset, and removes repeats: several units can describe one variable.
func (e *ExtraVars) Settle(name, typ func(uint32) uint32) {
	for i := range e.vars.S {
		v := &e.vars.S[i]
		v.Name, v.Type = name(v.Name), typ(v.Type)
	}
	slices.SortStableFunc(e.vars.S, func(a, b ExtraVar) int {
		return cmp.Or(cmp.Compare(a.Section, b.Section), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Type, b.Type), cmp.Compare(a.Size, b.Size))
	})
	e.vars.S = slices.CompactFunc(e.vars.S, func(a, b ExtraVar) bool {
		same := slices.Equal(e.tags.S[a.tags:][:a.ntags], e.tags.S[b.tags:][:b.ntags])
		a.tags, b.tags = 0, 0
		return same && a == b
	})
}

// maxDatasec is how many elements a BTF type had before Linux 7.2.
const maxDatasec = 1<<16 - 1

// Sections divides the settled variables into DATASECs, by ascending section index.
// In a DATASEC no variables overlap, and there are at most 65,535. The first
// DATASEC of a section takes as many as it can.
func (e *ExtraVars) Sections() []ExtraSection {
	var all []ExtraSection
	for from := 0; from < len(e.vars.S); {
		to := from + 1
		for to < len(e.vars.S) && e.vars.S[to].Section == e.vars.S[from].Section {
			to++
		}
		all = append(all, e.layers(from, to)...)
		from = to
	}
	return all
}

// layers divides the variables from..to-1, which are all of one section, into
// layers. Each layer becomes a DATASEC.
func (e *ExtraVars) layers(from, to int) []ExtraSection {
	index := e.vars.S[from].Section
	l := layers{list: []ExtraSection{{Index: index, Vars: make([]uint32, 0, min(to-from, maxDatasec))}}}
	first := 0 // the layer that is tried first; the others are in l.open
	for i := from; i < to; i++ {
		v := &e.vars.S[i]
		if len(l.list[first].Vars) == maxDatasec {
			first = l.add(index)
		}
		k, waits := first, false
		if l.list[first].Size > v.Offset {
			if len(l.open) > 0 && l.list[l.open[0]].Size <= v.Offset {
				k = heap.Pop(&l).(int)
			} else {
				k = l.add(index)
			}
			waits = true
		}
		s := &l.list[k]
		s.Vars = append(s.Vars, uint32(i))
		s.Size = v.Offset + v.Size
		if waits && len(s.Vars) < maxDatasec {
			heap.Push(&l, k)
		}
	}
	return l.list
}

// layers are the layers of one section. open is a heap of indexes in list: the layer
// that ends first is in front.
type layers struct {
	list []ExtraSection
	open []int
}

func (l *layers) add(index uint32) int {
	l.list = append(l.list, ExtraSection{Index: index})
	return len(l.list) - 1
}

func (l *layers) Len() int           { return len(l.open) }
func (l *layers) Less(i, j int) bool { return l.list[l.open[i]].Size < l.list[l.open[j]].Size }
func (l *layers) Swap(i, j int)      { l.open[i], l.open[j] = l.open[j], l.open[i] }
func (l *layers) Push(x any)         { l.open = append(l.open, x.(int)) }

func (l *layers) Pop() any {
	n := len(l.open) - 1
	k := l.open[n]
	l.open = l.open[:n]
	return k
}
