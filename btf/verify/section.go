package verify

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/btflite/btflite/btf"
)

// entry is one of a DATASEC.
type entry struct{ id, off, size uint32 }

// entryName begins what is said of the i-th entry of a section, with the name of its variable.
func (x *input) entryName(i int, id uint32) string {
	if name := x.variable(id); len(name) > 0 {
		return fmt.Sprintf("entry %d %s: ", i, quote(string(name)))
	}
	return fmt.Sprintf("entry %d: ", i)
}

// variable is the name of a VAR; empty for what is none.
func (x *input) variable(id uint32) []byte {
	if id == 0 || id >= x.count() || x.kind(id) != btf.KindVar {
		return nil
	}
	return x.name(x.get(id, 0))
}

// entryRule says what is wrong with the i-th entry of a section of size bytes. before is
// the previous entry.
func (x *input) entryRule(e *entry, i int, before *entry, size uint32) string {
	off, n, next := uint64(e.off), uint64(e.size), uint64(before.off)+uint64(before.size)
	switch {
	case off < next:
		named := ""
		if name := x.variable(before.id); len(name) > 0 {
			named = ", " + quote(string(name))
		}
		return fmt.Sprintf("%soffset %d %s%s, which ends at %d", x.entryName(i, e.id), off, overlap, named, next)
	case n == 0:
		return x.entryName(i, e.id) + "size 0"
	case off+n > uint64(size):
		return fmt.Sprintf("%s%d+%d in a section of %d bytes", x.entryName(i, e.id), off, n, size)
	}
	return ""
}

// section judges the entries of a DATASEC, which are at the offsets from at to
// end. It returns the highest id among them, as far as it has got.
func (x *input) section(at, end int, size uint32) (maxRef uint32, rule string) {
	if size == 0 {
		return 0, "size 0"
	}
	var before entry
	for i := 0; at < end && !x.endedAt(i, askElements); i, at = i+1, at+12 {
		e := x.entry(at)
		maxRef = max(maxRef, e.id)
		if e.id == 0 {
			return maxRef, fmt.Sprintf("entry %d: type is void", i)
		}
		if rule := x.entryRule(&e, i, &before, size); rule != "" {
			return maxRef, rule
		}
		before = e
	}
	return maxRef, ""
}

func (x *input) entry(at int) entry { return entry{x.word(at), x.word(at + 4), x.word(at + 8)} }

// BTF of BPF objects is never loaded as the compiler wrote it. libbpf and other loaders
// fill in the size of sections and the offsets of variables from the ELF file, sort the
// variables, and replace externs. So these parts are not judged; everything else is.

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
	var before entry
	for i := range list {
		if rule := x.entryRule(&list[i], i, &before, size); rule != "" {
			return maxRef, rule
		}
		before = list[i]
	}
	return maxRef, ""
}
