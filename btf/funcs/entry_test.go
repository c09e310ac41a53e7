package funcs

import (
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
)

// TestEntryFault: what the kernel's fentry takes, by the rules that make attach-kernels
// compares with kernels.
func TestEntryFault(t *testing.T) {
	b := newBuilder()
	b.types["S16"] = b.add("S16", btf.KindStruct, 0, false, 16)
	b.types["S17"] = b.add("S17", btf.KindStruct, 0, false, 17)
	many := func(n int) string { return "void" + strings.Repeat(",int", n) }
	rows := []struct{ types, want string }{
		{"void", ""},
		{"t P S,P void,t c E,v E64,int", ""},
		{"void,t S16", ""},
		{many(12), ""},
		{many(13), "it has 13 parameters, and 12 is the most"},
		{"S", "it returns a struct"},
		{"t U", "it returns a union"},
		{"double", "its result has the kind FLOAT"},
		{"void,int,c S17", "parameter 2 is a struct of 17 bytes, and 16 is the most"},
		{"void,U", "parameter 1 has the kind UNION"},
		{"void,double", "parameter 1 has the kind FLOAT"},
	}
	for _, r := range rows {
		b.function("f", 0, strings.Split(r.types, ",")...)
	}
	b.add("varied", btf.KindFunc, 0, false, b.get("f3"))
	s := b.set(t)
	for i, f := range s.Named("f") {
		if got := f.EntryFault(); got != rows[i].want {
			t.Errorf("%s: %q, want %q", rows[i].types, got, rows[i].want)
		}
	}
	if got := s.Named("varied")[0].EntryFault(); got != "it takes variable arguments" {
		t.Error(got)
	}
}
