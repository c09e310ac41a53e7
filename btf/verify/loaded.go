package verify

import (
	"cmp"
	"fmt"
	"slices"
)

// BTF of BPF objects, which nothing loads as the compiler wrote it. libbpf, and
// other loaders likewise, put in the size of sections and the offsets of variables
// from the ELF file, sort the latter, and replace what is extern by what it stands
// for. So these are not judged; all else is.

const linkageExtern = 2

// loadedExtern reports whether a linkage is one that the loader replaces.
func (c *checker) loadedExtern(linkage uint32) bool {
	return c.rules.Loaded && linkage == linkageExtern
}

// loadedSection is sectionEntries for what a loader completes: a section without
// a size, and those that it writes anew.
func (c *checker) loadedSection(at, end int, size, name uint32) string {
	var list []entry
	for ; at < end; at += 12 {
		e := entry{c.word(at), c.word(at + 4), c.word(at + 8)}
		if e.id == 0 {
			return fmt.Sprintf("entry %d: type is void", len(list))
		}
		c.maxRef = max(c.maxRef, e.id)
		list = append(list, e)
	}
	switch string(c.name(name)) {
	case ".ksyms", ".kconfig":
		return ""
	}
	if size == 0 {
		return ""
	}
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.off, b.off) })
	next := uint64(0)
	for i := range list {
		if rule := list[i].rule(i, next, size); rule != "" {
			return rule
		}
		next = uint64(list[i].off) + uint64(list[i].size)
	}
	return ""
}
