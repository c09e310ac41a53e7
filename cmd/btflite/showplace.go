package main

import (
	"slices"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/show"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/declared"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/message"
)

// Where types are declared, for -I, -u and -D. BTF does not say it, DWARF does.

// findPlaces sets s.place for the types that the command line names or, without names,
// for all types.
func (s *showCommand) findPlaces(c *cli, t *types, v *view.View) error {
	var search declared.Search
	s.place = func(of view.Type) show.Place {
		if at, ok := search.Place(of.Name(), declaredType(of)); ok {
			return show.Place(at)
		}
		return show.Place{Unit: t.path}
	}
	if t.source.Path == "" || s.asksNoDWARF(t) {
		return nil
	}
	add := func(of view.Type) {
		if kind := declaredType(of); kind.Tag != 0 && (of.HasName() || s.filter.Anonymous) {
			search.Add(of.Name(), kind)
		}
	}
	for _, name := range s.names {
		_, _, ids, err := s.idsOf(v, name)
		if err != nil {
			return err
		}
		for _, id := range ids {
			add(v.Type(id))
		}
	}
	if len(s.names) == 0 {
		for of := range v.Own() {
			if of.IsComposite() {
				add(of)
			}
		}
	}
	var err error
	if search.Lang, search.LangExclude, err = s.in.lang.resolve(c.lookupEnv); err != nil {
		return err
	}
	search.CUExclude, search.DebugFiles.Find = s.in.cuExclude, s.in.findDebug
	if err = search.In(&t.source); err != nil {
		return message.NamingFile([]string{t.path}, err)
	}
	s.placed = search.Any()
	return nil
}

// asksNoDWARF reports whether an option excludes DWARF.
func (s *showCommand) asksNoDWARF(t *types) bool {
	return strings.HasPrefix(s.formats, "btf") && !t.encoded
}

// isElsewhere reports whether a type is declared in a file that -D does not exclude. A type
// without a file is not.
func (s *showCommand) isElsewhere(t view.Type) bool {
	file := s.place(t).File
	return file != "" && !slices.ContainsFunc(s.declExclude, func(p string) bool { return strings.HasPrefix(file, p) })
}

// declaredType describes t for the search in DWARF. It has no tag if types like t are not
// declared.
func declaredType(t view.Type) (d declared.Type) {
	switch t.Kind() {
	case btf.KindStruct:
		d.Tag = dwarf.TagStructureType
	case btf.KindUnion:
		d.Tag = dwarf.TagUnionType
	case btf.KindEnum, btf.KindEnum64:
		d.Tag = dwarf.TagEnumerationType
	case btf.KindTypedef:
		return declared.Type{Tag: dwarf.TagTypedef}
	default:
		return d
	}
	d.Size = t.Size()
	for _, m := range t.Members() {
		if m.IsBase() {
			continue // not a member of the DIE
		}
		d.Shape = d.Shape.With(m.Name())
	}
	for _, e := range t.Values() {
		d.Shape = d.Shape.With(e.Name())
	}
	return d
}
