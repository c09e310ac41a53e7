package verify

import (
	"fmt"
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// input is a blob whose records have been found. It does not change after that.
type input struct {
	sections
	texts
	first uint32 // id of the first own type

	// By own type, in order of ids.
	off   []uint32 // offset of the record in types, and at last the end of all
	kinds []btf.Kind

	behindLast *Fault // the fault of the first bytes after these types that are not a record, or nil

	skips   bool          // records of unknown kinds are skipped by the layout section
	skipped []btf.Skipped // how many there are of each kind
}

// enter finds all records of data that fit.
func enter(data []byte, base *btf.Blob, rules Rules) (input, error) {
	s, err := parseSections(data, base)
	if err != nil {
		return input{}, err
	}
	x := input{sections: s, texts: texts{base: base, own: s.strings, stop: rules.Stop}, first: 1, skips: rules.Kernel == (Release{})}
	if base != nil {
		x.first = base.TypeCount()
		x.start = base.StrEnd()
	}
	// Records take 12 bytes or more, most of them more.
	n := len(x.types)/24 + 2
	x.off = arena.Make[uint32](n)[:0]
	x.kinds = make([]btf.Kind, 0, n)
	if rules.Level == Readable {
		x.enterAll()
	} else {
		both(workersFor(rules.Workers, n), x.enterAll, x.findIdentifiers)
	}
	return x, nil
}

// enterAll enters all records, up to one that does not fit.
func (x *input) enterAll() {
	at := 0
	for at < len(x.types) && x.behindLast == nil && !x.endedAt(len(x.kinds), askTypes) {
		at += x.enterRecord(at)
	}
	x.off = append(x.off, uint32(at))
}

// enterRecord adds the record at offset at of the types to the tables and returns
// its length.
func (x *input) enterRecord(at int) int {
	fault := func(rule string) int {
		x.behindLast = &Fault{ID: x.count(), Rule: rule, Level: Readable}
		return 0
	}
	if len(x.types)-at < 12 {
		return fault("record goes beyond the type section")
	}
	if x.count() > maxTypes {
		return fault(fmt.Sprintf("more than %d types", maxTypes))
	}
	info := x.word(at + 4)
	k := btf.InfoKind(info)
	words := 3 + btf.ExtraWords(k, btf.InfoVlen(info))
	known := k != btf.KindVoid && int(k) < btf.NumKinds
	if !known {
		var ok bool
		words, ok = btf.UnknownWords(btf.LayoutFor(x.layout, x.base), k, btf.InfoVlen(info))
		if !ok || !x.skips || k == btf.KindVoid {
			return fault(fmt.Sprintf("unknown kind %d", k))
		}
	}
	if words > (len(x.types)-at)/4 { // bytes of an unknown record may be more than 31 bits
		return fault("record goes beyond the type section")
	}
	if !known {
		x.skip(at, k)
		k = btf.KindVoid
	}
	x.off = append(x.off, uint32(at))
	x.kinds = append(x.kinds, k)
	return 4 * words
}

// skip makes a record of KindVoid of the one at offset at of the types, which are
// copied for that.
func (x *input) skip(at int, k btf.Kind) {
	if x.skipped == nil {
		x.types = slices.Clone(x.types)
	}
	clear(x.types[at : at+12])
	x.skipped = btf.CountSkipped(x.skipped, k)
}

// fault describes what is wrong with an own type.
func (x *input) fault(id uint32, level Level, rule string) *Fault {
	return &Fault{ID: id, Kind: x.kind(id), Name: string(x.name(x.get(id, 0))), Rule: rule, Level: level}
}

// count is the number of types, including void and the base's: the first id that does
// not exist.
func (x *input) count() uint32 { return x.first + uint32(len(x.kinds)) }

// kind is the kind of a type that exists.
func (x *input) kind(id uint32) btf.Kind {
	if id >= x.first {
		return x.kinds[id-x.first]
	}
	if x.base == nil {
		return btf.KindVoid
	}
	return x.base.Kind(id)
}

// get is the i-th word of the record of a type that exists and is not void.
func (x *input) get(id uint32, i int) uint32 {
	if id >= x.first {
		return x.word(int(x.off[id-x.first]) + 4*i)
	}
	return x.base.Record(id)[i]
}

// pointerSizes lists the sizes that a pointer may have: the size of C's long. If the BTF has no
// long, or has longs of 4 and of 8 bytes, a pointer may have either size.
func (x *input) pointerSizes() []uint32 {
	found, both := uint32(0), false
	note := func(name []byte, size uint32) {
		switch string(name) {
		case "long", "long int", "unsigned long", "long unsigned int":
			if size == 4 || size == 8 {
				both = both || found != 0 && found != size
				found = size
			}
		}
	}
	// Read the records of the base in sequence. A module has few types of its own, and
	// looking up each type of its kernel would take longer than everything else here.
	for b := x.base; b != nil; b = b.Base {
		for _, off := range b.Off {
			if btf.InfoKind(b.Words[off+1]) == btf.KindInt {
				note(x.name(b.Words[off]), b.Words[off+2])
			}
		}
	}
	for i, k := range x.kinds {
		if id := x.first + uint32(i); k == btf.KindInt {
			note(x.name(x.get(id, 0)), x.get(id, 2))
		}
	}
	if both {
		return []uint32{8, 4}
	}
	if found != 0 {
		return []uint32{found}
	}
	return []uint32{8, 4}
}
