package main

import (
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/diff"
	"github.com/btflite/btflite/btf/view"
)

// circleParts knows which parts of types C cannot express.
type circleParts struct {
	over   map[[2]string]bool // by names of struct and member: see overlapping
	hollow map[string]bool    // names of unions without members that have a size
}

func newCircleParts(b *btf.Blob) circleParts {
	p := circleParts{map[[2]string]bool{}, map[string]bool{}}
	for t := range view.New(b).All() {
		if !t.IsComposite() {
			continue
		}
		union, end := t.Kind() == btf.KindUnion, uint64(0)
		if union && t.Vlen() == 0 && t.Size() > 0 {
			p.hollow[string(t.Name())] = true
		}
		for _, m := range t.Members() {
			from, width := uint64(m.Offset), uint64(m.Bits)
			if width == 0 {
				width = 8 * m.Type().Size()
			}
			if union && from != 0 || !union && from < end || from+width > 8*t.Size() {
				p.over[[2]string{string(t.Name()), string(m.Name())}] = true
				continue
			}
			end = max(end, from+width)
		}
	}
	return p
}

// inside returns why C cannot avoid any of the parts of a difference, or "". owner is the
// name of the type that has the parts; parts of parts are listed only for types without a
// name. If there are several reasons, it returns the first one.
func (k *circleReasons) inside(owner string, d *diff.Difference) (why string) {
	if d.Part == "member" && d.Change == diff.Removed && k.parts.over[[2]string{owner, d.Name}] {
		return overlapping
	}
	if d.Part == "member" {
		owner = ""
	}
	for i := range d.Details {
		next := k.inside(owner, &d.Details[i])
		if next == "" {
			return ""
		}
		if why == "" {
			why = next
		}
	}
	if len(d.Details) > 0 {
		return why
	}
	was, _ := d.Before.(string)
	is, _ := d.After.(string)
	switch {
	case d.Part == "size" && k.parts.hollow[owner]:
		return hollow
	case was == "" || is == "":
		return ""
	case namelessInPrototype(was):
		return inPrototype
	case strings.ReplaceAll(was, "(...)", "(void)") == is:
		return noPrototype
	case k.onlyArrays(d):
		return ofArrays
	}
	if text, isArray := k.unqualified(was); isArray {
		if other, _ := k.unqualified(is); text == other {
			return qualified
		}
	}
	return ""
}

// namelessInPrototype reports whether the text has a type without a name in a list of
// parameters.
func namelessInPrototype(text string) bool {
	for _, word := range []string{"struct {", "union {", "enum {"} {
		before, _, found := strings.Cut(text, word)
		if found && strings.Count(before, "(") > strings.Count(before, ")") {
			return true
		}
	}
	return false
}

// An array of something, or a pointer to one, and the qualifiers before it.
var (
	wholeArray      = pattern{text: `^\w[\w ]* (?:\([*\w ]*\))?(?:\[\d+\])+$`}
	beginQualifiers = pattern{text: `^(?:(?:const|volatile) )+`}
)

// maxArrays bounds a chain of typedefs of arrays.
const maxArrays = 8

// unqualified removes qualifiers from the type of an array, and replaces typedefs of
// arrays by arrays. isArray reports whether the type is an array.
func (k *circleReasons) unqualified(text string) (_ string, isArray bool) {
	for range maxArrays {
		text = beginQualifiers.get().ReplaceAllString(text, "")
		word, rest, _ := strings.Cut(text, " ")
		around, ok := k.arrays[word]
		if !ok || strings.HasPrefix(rest, "*") {
			break
		}
		text = around[0] + " " + rest + around[1]
	}
	return text, wholeArray.get().MatchString(text)
}
