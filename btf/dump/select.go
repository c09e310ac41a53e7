package dump

import (
	"fmt"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/glob"
)

// pattern is a pattern of Select.
type pattern struct {
	text  string
	match glob.Pattern // "" if text is a plain name
	fits  bool         // it has fit a name
}

// fit reports whether the name fits p.
func (p *pattern) fit(name []byte) bool {
	ok := string(name) == p.text
	if p.match != "" {
		ok = p.match.Fits(name)
	}
	p.fits = p.fits || ok
	return ok
}

// Select returns the ids of the types of b whose name fits one of the patterns, in
// ascending order, and the patterns that fit no name. In the bases of b it looks for
// patterns that match no type of b itself or, with bases, for all of them. Package glob
// has the rules of patterns. A plain name also selects the enum that has an enumerator of
// the name, because most enums have no name. Names of tags do not count.
func Select(b *btf.Blob, patterns []string, bases bool) (ids []uint32, unmatched []string, err error) {
	list := make([]pattern, len(patterns))
	for i, text := range patterns {
		match, err := glob.Parse(text)
		if err != nil {
			return nil, nil, fmt.Errorf("dump: pattern %q: %w", text, err)
		}
		list[i].text = text
		if glob.Is(text) && !hasName(b, text) { // names of Rust can look like patterns: &[u8]
			list[i].match = match
		}
	}
	search := func(from, to uint32, list []pattern) {
		for id := from; id < to; id++ {
			if selected(b, b.Record(id), list) {
				ids = append(ids, id)
			}
		}
	}
	search(b.FirstID, b.TypeCount(), list)
	rest := list
	if !bases {
		rest = slices.DeleteFunc(slices.Clone(list), func(p pattern) bool { return p.fits })
	}
	if len(rest) > 0 {
		search(1, b.FirstID, rest)
	}
	for i := range rest {
		if !rest[i].fits {
			unmatched = append(unmatched, rest[i].text)
		}
	}
	slices.Sort(ids)
	return ids, unmatched, nil
}

// hasName reports whether a type of b or its bases has the name.
func hasName(b *btf.Blob, name string) bool {
	for id := uint32(1); id < b.TypeCount(); id++ {
		if string(b.NameBytes(b.Record(id).Name())) == name {
			return true
		}
	}
	return false
}

// selected reports whether a name of the type fits a pattern.
func selected(b *btf.Blob, rec btf.Record, list []pattern) (yes bool) {
	k := rec.Kind()
	if k == btf.KindDeclTag || k == btf.KindTypeTag {
		return false
	}
	name := b.NameBytes(rec.Name())
	for i := range list {
		p := &list[i]
		if len(name) > 0 && p.fit(name) {
			yes = true
		}
		if p.match == "" && (k == btf.KindEnum || k == btf.KindEnum64) && hasValue(b, rec, p) {
			yes = true
		}
	}
	return yes
}

// hasValue reports whether an enumerator has the name.
func hasValue(b *btf.Blob, rec btf.Record, p *pattern) bool {
	stride, n := btf.NameWords(rec.Kind(), rec.Vlen())
	for i := range n {
		if p.fit(b.NameBytes(rec.Extra()[i*stride])) {
			return true
		}
	}
	return false
}

// Needed returns the ids and the ids of all types that they need to be complete, in
// ascending order. A struct or union that is only pointed to is not needed, because its
// name is enough for C.
func Needed(b *btf.Blob, ids []uint32) []uint32 {
	const byPointer = 1 // beside a visit by value
	seen := make([]uint8, b.TypeCount())
	type visit struct {
		id      uint32
		pointer bool // reached by a pointer, through modifiers only
	}
	var todo []visit
	for _, id := range ids {
		todo = append(todo, visit{id: id})
	}
	var all []uint32
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		rec := b.Record(v.id)
		if rec == nil {
			continue // void
		}
		k := rec.Kind()
		if v.pointer && (k == btf.KindStruct || k == btf.KindUnion) && rec.Name() != 0 {
			continue
		}
		mark := uint8(2)
		if v.pointer {
			mark = byPointer
		}
		if seen[v.id] >= mark {
			continue
		}
		if seen[v.id] == 0 {
			all = append(all, v.id)
		}
		seen[v.id] = mark
		next := k == btf.KindPtr || v.pointer && isModifier(k)
		btf.EachRef(rec, func(id *uint32) { todo = append(todo, visit{*id, next}) })
	}
	slices.Sort(all)
	return all
}

// isModifier reports whether a type of the kind only modifies its target.
func isModifier(k btf.Kind) bool { return btf.Modifiers.Has(k) }

func isComposite(k btf.Kind) bool { return k == btf.KindStruct || k == btf.KindUnion }

// Named returns the types that C can define in place of ids: for a function or a variable
// the types that it uses, also behind pointers.
func Named(b *btf.Blob, ids []uint32) []uint32 {
	seen := make([]bool, b.TypeCount())
	named := []uint32{} // nil would stand for all types
	todo := slices.Clone(ids)
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		rec := b.Record(id)
		if rec == nil || seen[id] {
			continue
		}
		seen[id] = true
		switch k := rec.Kind(); k {
		case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindTypedef, btf.KindFwd, btf.KindInt, btf.KindFloat:
			named = append(named, id)
		default:
			btf.EachRef(rec, func(ref *uint32) { todo = append(todo, *ref) })
		}
	}
	slices.Sort(named)
	return named
}
