package main

import (
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/diff"
	"github.com/btflite/btflite/btf/view"
)

// Why a difference of "btflite fullcircle" is none that a compiler could avoid.
const (
	ownType     = "types that the compiler defines by itself"
	ofVariable  = "types without a name that only variables have"
	severalOnes = "names with several definitions, of which C has room for one"
	twoSorts    = "functions that have the name of a typedef or an enumerator"
	inPrototype = "prototypes with a type that has no name"
)

// arraySize is the type of indexes that clang makes up.
const arraySize = "__ARRAY_SIZE_TYPE__"

// circleReasons knows what C cannot say of some BTF.
type circleReasons struct {
	times map[string]int // how many definitions a name has, by what shares names in C
}

// Names of tags, those of typedefs and enumerators, and those of functions, which are
// ordinary identifiers too but have no types.
const (
	tagNames   = "tag "
	identNames = "identifier "
	funcNames  = "function "
)

func newCircleReasons(b *btf.Blob) *circleReasons {
	k := &circleReasons{times: map[string]int{}}
	for t := range view.New(b).All() {
		name := string(t.Name())
		switch t.Kind() {
		case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFwd:
			k.times[tagNames+name]++
		case btf.KindTypedef:
			k.times[identNames+name]++
		case btf.KindFunc:
			k.times[funcNames+name]++
		}
		for _, e := range t.Values() {
			k.times[identNames+string(e.Name())]++
		}
	}
	return k
}

// numberedName is how the C of package dump calls the second definition of a name.
var numberedName = pattern{text: `(\w+?)___\d+`}

// reason says why C cannot avoid the difference, or is "".
func (k *circleReasons) reason(d *diff.Difference) string {
	text := strings.Join(d.Lines(), "\n")
	switch {
	case d.Part == "typedef" && d.Name == "__builtin_va_list" || d.Part == "int" && d.Name == arraySize:
		return ownType
	case d.Name == "" && (d.Part == "struct" || d.Part == "union") && d.Change == diff.Removed:
		return ofVariable
	case len(d.Definitions) > 0 || k.several(text):
		return severalOnes
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

// several tells whether the text has a numbered name that stands for one of several
// definitions.
func (k *circleReasons) several(text string) bool {
	for _, m := range numberedName.get().FindAllStringSubmatch(text, -1) {
		if k.times[tagNames+m[1]] > 1 || k.times[identNames+m[1]] > 1 {
			return true
		}
	}
	return false
}

// guessProducer is a producer that gives numbers the names that b has, for a file
// that does not say it.
func guessProducer(b *btf.Blob) string {
	for t := range view.New(b).All() {
		if t.Kind() == btf.KindInt && (string(t.Name()) == "long" || string(t.Name()) == "unsigned long" || string(t.Name()) == arraySize) {
			return "clang version 0"
		}
	}
	return ""
}
