package verify

import (
	"cmp"
	"fmt"
	"slices"
)

// entry is one of a DATASEC.
type entry struct{ id, off, size uint32 }

// rule says what is wrong with the i-th entry of a section of size bytes, if the
// one before it ends at next.
func (e *entry) rule(i int, next uint64, size uint32) string {
	off, n := uint64(e.off), uint64(e.size)
	switch {
	case off < next:
		return fmt.Sprintf("entry %d: offset %d %s, which ends at %d", i, off, overlap, next)
	case n == 0:
		return fmt.Sprintf("entry %d: size 0", i)
	case off+n > uint64(size):
		return fmt.Sprintf("entry %d: %d+%d in a section of %d bytes", i, off, n, size)
	}
	return ""
}

// section judges the entries of a DATASEC, which are at the offsets from at to
// end. It returns the highest id among them, as far as it has got.
func (x *input) section(at, end int, size uint32) (maxRef uint32, rule string) {
	if size == 0 {
		return 0, "size 0"
	}
	next := uint64(0)
	for i := 0; at < end && !x.endedAt(i, askElements); i, at = i+1, at+12 {
		e := x.entry(at)
		maxRef = max(maxRef, e.id)
		if e.id == 0 {
			return maxRef, fmt.Sprintf("entry %d: type is void", i)
		}
		if rule := e.rule(i, next, size); rule != "" {
			return maxRef, rule
		}
		next = uint64(e.off) + uint64(e.size)
	}
	return maxRef, ""
}

func (x *input) entry(at int) entry { return entry{x.word(at), x.word(at + 4), x.word(at + 8)} }

// BTF of BPF objects, which nothing loads as the compiler wrote it. libbpf, and
// other loaders likewise, put in the size of sections and the offsets of variables
// from the ELF file, sort the latter, and replace what is extern by what it stands
// for. So these are not judged; all else is.

const linkageExtern = 2

// loadedSection is section for what a loader completes: a section without a size,
// and those that it writes anew.
func (x *input) loadedSection(at, end int, size, name uint32) (maxRef uint32, rule string) {
	var list []entry
	for ; at < end && !x.endedAt(len(list), askElements); at += 12 {
		e := x.entry(at)
		if e.id == 0 {
			return maxRef, fmt.Sprintf("entry %d: type is void", len(list))
		}
		maxRef = max(maxRef, e.id)
		list = append(list, e)
	}
	switch string(x.name(name)) {
	case ".ksyms", ".kconfig":
		return maxRef, ""
	}
	if size == 0 {
		return maxRef, ""
	}
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.off, b.off) })
	next := uint64(0)
	for i := range list {
		if rule := list[i].rule(i, next, size); rule != "" {
			return maxRef, rule
		}
		next = uint64(list[i].off) + uint64(list[i].size)
	}
	return maxRef, ""
}
