package dump

import (
	"strings"

	"github.com/btflite/btflite/btf"
)

// LoseFirst makes a sorted header as incomplete as bpftool's.
func (o *COptions) LoseFirst() { o.loseFirst = true }

// Asserts writes assertions of sizes and offsets after each struct.
func (o *COptions) Asserts() { o.after = assert }

// Lost is how many members a strict header lacks.
func Lost(b *btf.Blob) (int, error) {
	s, _, err := strictTypes(b, &COptions{PointerSize: b.PointerSize()}, nil)
	return s.lost, err
}

// FixedLines are the lines of strict C that do not depend on the types.
func FixedLines() []string {
	fixed := strings.Split(strictBegin+strictEnd+stubsBegin, "\n")
	for _, where := range sometimes() {
		fixed = append(fixed, "#if "+where)
	}
	return append(fixed, "#else", "/* BPF kfuncs */", "#ifndef BPF_NO_KFUNC_PROTOTYPES")
}

// Around is the text around the types of a header, plain and strict.
func Around() []string { return []string{cBegin, cEnd, strictBegin, strictEnd, stubsBegin} }

// UnusedPrefix is unusedPrefix.
var UnusedPrefix = unusedPrefix

// TakeNames are the names that a struct with members of these names gets.
func TakeNames(names ...string) []string {
	used, got := usedNames{}, []string(nil)
	for _, name := range names {
		got = append(got, used.take(name))
	}
	return got
}
