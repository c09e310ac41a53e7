package fullcircle

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/ctype"
	"github.com/btflite/btflite/btf/diff"
	"github.com/btflite/btflite/btf/dump"
	"github.com/btflite/btflite/btf/view"
)

// Reasons for a difference that no C could avoid.
const (
	ownType     = "types that the compiler defines by itself"
	ofVariable  = "types without a name that only variables have"
	severalOnes = "names with several definitions: C can have only one"
	twoSorts    = "functions that have the name of a typedef or an enumerator"
	inPrototype = "prototypes with a type that has no name"
	noName      = "names that C does not have"
	noPrototype = "functions that are declared without a prototype"
	qualified   = "qualifiers of arrays, which compilers have at the array, at its elements, or at both"
	overlapping = "members that lie over others, or outside of their struct"
	hollow      = "unions of members that BTF cannot say, so that C has none"
	ofArrays    = "arrays of a typedef for an array, such as one of vectors, which become one array"
)

// lazily compiles a regular expression on first use, because most runs use none.
func lazily(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// arraySize is the index type that clang adds for arrays.
const arraySize = "__ARRAY_SIZE_TYPE__"

// Reasons knows what C cannot express of some BTF.
type Reasons struct {
	times map[string]int // number of definitions, by name space of C and name
	own   []string       // integer types that compilers make up
	notC  []string       // names that are not C identifiers, and the C names for them
	// arrays has the typedefs of arrays: the text before and after the name in a declaration.
	// gcc merges an array of such a typedef into one array. Vectors, which are arrays in
	// BTF, stay apart.
	arrays map[string][2]string
	parts  parts
}

// Name spaces: tags, then typedefs and enumerators. Functions share the second one in C,
// but are counted apart because they define no type.
const (
	tagNames   = "tag "
	identNames = "identifier "
	funcNames  = "function "
)

// NewReasons looks for what C cannot express of b, the BTF that comes from DWARF.
func NewReasons(b *btf.Blob) *Reasons {
	k := &Reasons{times: map[string]int{}, arrays: map[string][2]string{}, parts: partsOf(b)}
	for t := range view.New(b).All() {
		name := string(t.Name())
		if t.Kind() != btf.KindInt && t.Kind() != btf.KindFloat {
			k.note(name)
		}
		for _, m := range t.Members() {
			k.note(string(m.Name()))
		}
		for _, p := range t.Params() {
			k.note(string(p.Name()))
		}
		switch t.Kind() {
		case btf.KindInt, btf.KindFloat:
			if !dump.IsNumber(t.Record(), name) {
				k.own = append(k.own, name)
			}
		case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFwd:
			k.times[tagNames+name]++
		case btf.KindTypedef:
			k.times[identNames+name]++
			if of := t.Resolved(); of.Kind() == btf.KindArray {
				elem, counts, _ := strings.Cut((&ctype.Declarer{Blob: b, Name: b.Name}).Declare(of.ID, ""), " [")
				k.arrays[name] = [2]string{elem, "[" + counts}
			}
		case btf.KindFunc:
			k.times[funcNames+name]++
		}
		for _, e := range t.Values() {
			k.times[identNames+string(e.Name())]++
		}
	}
	return k
}

// note keeps a name that is not a C identifier, and its replacement in the C.
func (k *Reasons) note(name string) {
	if is := dump.Identifier(name); is != name {
		k.notC = append(k.notC, name, is)
	}
}

// kindOfTag are the kinds of types whose names are tags. C has one name space for all
// tags.
var kindOfTag = map[string]bool{"struct": true, "union": true, "enum": true}

// numberedName matches the name that package dump gives to a further definition of a
// name.
var numberedName = lazily(`(\w+?)___\d+`)

// Of returns why C cannot avoid the difference, or "".
func (k *Reasons) Of(d *diff.Difference) string {
	text := strings.Join(d.Lines(), "\n")
	switch {
	case d.Part == "typedef" && d.Name == "__builtin_va_list" || k.isOwn(d):
		return ownType
	case slices.ContainsFunc(k.notC, func(name string) bool { return strings.Contains(text, name) }):
		return noName
	case d.Name == "" && (d.Part == "struct" || d.Part == "union") && d.Change == diff.Removed:
		return ofVariable
	case k.onlyArrays(d):
		return ofArrays
	case len(d.Definitions) > 0 || k.several(text) || kindOfTag[d.Part] && k.times[tagNames+d.Name] > 1:
		return severalOnes
	case k.inside(d.Name, d) != "":
		return k.inside(d.Name, d)
	case d.Part != "function":
		return ""
	case k.times[funcNames+d.Name] > 1:
		return severalOnes
	case k.times[identNames+d.Name] > 0:
		return twoSorts
	case strings.Contains(text, "struct {") || strings.Contains(text, "union {") || strings.Contains(text, "enum {"):
		return inPrototype
	}
	return ""
}

// isOwn reports whether a difference is an integer type that a compiler adds, or is in
// types that use one.
func (k *Reasons) isOwn(d *diff.Difference) bool {
	if d.Part == "int" || d.Part == "float" { // an added type replaces these
		return d.Change == diff.Added || d.Change == diff.Removed && slices.Contains(k.own, d.Name)
	}
	if len(d.Details) > 0 {
		return !slices.ContainsFunc(d.Details, func(x diff.Difference) bool { return !k.isOwn(&x) })
	}
	was, _ := d.Before.(string)
	return slices.ContainsFunc(k.own, func(name string) bool { return strings.HasPrefix(was, name) })
}

// arrayOf matches an array of a type, or a pointer to one.
var arrayOf = lazily(`(\w+)( (?:\([*\w]*\))?(?:\[\d+\])+)`)

// onlyArrays reports whether the only difference is that gcc merged an array of a typedef for an array.
func (k *Reasons) onlyArrays(d *diff.Difference) bool {
	if len(d.Details) > 0 {
		return !slices.ContainsFunc(d.Details, func(x diff.Difference) bool { return !k.onlyArrays(&x) })
	}
	was, _ := d.Before.(string)
	is, _ := d.After.(string)
	return is != was && is == arrayOf().ReplaceAllStringFunc(was, func(text string) string {
		m := arrayOf().FindStringSubmatch(text)
		if around, ok := k.arrays[m[1]]; ok {
			return around[0] + m[2] + around[1]
		}
		return text
	})
}

// several reports whether the text has a numbered name, that is, one of several
// definitions.
func (k *Reasons) several(text string) bool {
	for _, m := range numberedName().FindAllStringSubmatch(text, -1) {
		if k.times[tagNames+m[1]] > 1 || k.times[identNames+m[1]] > 1 {
			return true
		}
	}
	return false
}

// parts are the parts of types that C cannot express.
type parts struct {
	over   map[[2]string]bool // by names of struct and member: see overlapping
	hollow map[string]bool    // names of unions without members that have a size
}

// partsOf finds the parts of the types in b.
func partsOf(b *btf.Blob) parts {
	p := parts{map[[2]string]bool{}, map[string]bool{}}
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
func (k *Reasons) inside(owner string, d *diff.Difference) (why string) {
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
	wholeArray      = lazily(`^\w[\w ]* (?:\([*\w ]*\))?(?:\[\d+\])+$`)
	beginQualifiers = lazily(`^(?:(?:const|volatile) )+`)
)

// maxArrays bounds a chain of typedefs of arrays.
const maxArrays = 8

// unqualified removes qualifiers from the type of an array, and replaces typedefs of
// arrays by arrays. isArray reports whether the type is an array.
func (k *Reasons) unqualified(text string) (_ string, isArray bool) {
	for range maxArrays {
		text = beginQualifiers().ReplaceAllString(text, "")
		word, rest, _ := strings.Cut(text, " ")
		around, ok := k.arrays[word]
		if !ok || strings.HasPrefix(rest, "*") {
			break
		}
		text = around[0] + " " + rest + around[1]
	}
	return text, wholeArray().MatchString(text)
}
