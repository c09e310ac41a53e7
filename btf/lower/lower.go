// Package lower rewrites BTF for kernels and programs that are older than it: what they do
// not know gives way to something that they do. Records are replaced in place. No id and no
// string offset changes, so BTF that is split from the result is valid as it was before.
//
// What a release takes is the table of package verify. A row without a rule here is a refusal:
// package verify then says which type needs what, so callers check the result by the same release.
//
// For kernels everything is rewritten. For programs that read BTF only the form is: an old
// program fails on a kind of record that it has never heard of, but not on a name with a dot.
//
// The stable API is package btflite. What it does not use of this package may change.
package lower

import (
	"fmt"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/verify"
)

// Lower rewrites the own types of b. The base of split BTF is taken as it is. b is left
// unchanged and the result may share its strings. It is an error if b has types of unknown
// kinds that others refer to, if no INT can be the type of members that Options.Unions asks
// for, or if a section would lose its name; it names the type.
func Lower(b *btf.Blob, o Options) (*btf.Blob, Report, error) {
	l := &lowering{in: b, opt: o, out: new(btf.Blob)}
	*l.out = *b
	l.out.Words = arena.Make[uint32](len(b.Words))[:0]
	l.out.Off = arena.Make[uint32](len(b.Off))[:0]
	l.out.Skipped = nil
	if l.lacks(verify.LayoutSection) && len(b.Form.Layout) > 0 {
		l.out.Form = btf.Form{}
	}
	for id := b.FirstID; id < b.TypeCount(); id++ {
		if err := l.record(id); err != nil {
			return nil, Report{}, err
		}
	}
	if err := l.names(); err != nil {
		return nil, Report{}, err
	}
	return l.out, l.report, nil
}

// record adds the record that takes the place of type id.
func (l *lowering) record(id uint32) error {
	r := l.in.Record(id)
	at := len(l.out.Words)
	l.out.Off = append(l.out.Off, uint32(at))
	switch k := r.Kind(); {
	case k == btf.KindVoid: // of a kind that is not known
		l.placeholder(0)
	case k == btf.KindTypeTag && l.dropped(r):
		l.add(0, btf.Info(btf.KindConst, 0, false), r.Third())
	case k == btf.KindFloat && l.lacksKind(k):
		l.integer(r.Name(), r.Third(), 0)
	case k == btf.KindEnum64 && l.lacksKind(k):
		return l.enum64(id, r)
	case k == btf.KindDeclTag && l.dropped(r), l.lacksKind(k):
		l.placeholder(r.Name())
	case k == btf.KindEnum:
		l.add(r...)
		l.enum(at)
	case k == btf.KindFunc && l.lacks(verify.GlobalFunc) && r.Vlen() == linkageGlobal:
		l.add(r.Name(), btf.Info(k, 0, false), r.Third())
	case k == btf.KindDatasec && l.lacks(verify.EmptySection) && r.Vlen() == 0:
		l.add(0, btf.Info(btf.KindStruct, 0, false), r.Third())
	default:
		l.add(r...)
	}
	return l.refs(id, l.out.Words[at:])
}

// linkageGlobal is the linkage of a FUNC that other files can call.
const linkageGlobal = 1

// dropped tells whether a tag gives way to something else. An attribute would mean something
// else without its kind_flag, so it goes as a whole.
func (l *lowering) dropped(tag btf.Record) bool {
	return l.lacksKind(tag.Kind()) || l.lacks(verify.Attribute) && btf.InfoKflag(tag.Info())
}

// refs changes the references of a new record so that they skip tags that are dropped. A
// modifier skips all tags, if the release wants tags before modifiers.
func (l *lowering) refs(id uint32, r btf.Record) (err error) {
	all := false
	switch r.Kind() {
	case btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef:
		all = l.lacks(verify.TagBehindModifier)
	}
	btf.EachRef(r, func(ref *uint32) {
		*ref = l.around(*ref, all)
		if *ref != 0 && l.in.Kind(*ref) == btf.KindVoid && err == nil {
			err = fmt.Errorf("btf: types: %s [%d] refers to a type of a kind that is not known, and nothing can take its place", l.in.Kind(id), id)
		}
	})
	return err
}

// around is the type that a reference to id leads to without the tags that are dropped, or
// without all tags. A ring of tags is left as it is: no kernel takes it.
func (l *lowering) around(id uint32, all bool) uint32 {
	to := id
	for range btf.MaxDepth {
		r := l.in.Head(to)
		if r == nil || r.Kind() != btf.KindTypeTag || !all && !l.dropped(r[:3]) {
			return to
		}
		to = r.Third()
	}
	return id
}
