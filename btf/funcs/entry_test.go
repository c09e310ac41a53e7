package funcs

import (
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
)

// TestEntryFault: functions that the kernel's fentry accepts, by the rules that make
// attach-kernels compares with kernels.
func TestEntryFault(t *testing.T) {
	b := newBuilder()
	b.types["S16"] = b.add("S16", btf.KindStruct, 0, false, 16)
	b.types["U16"] = b.add("U16", btf.KindUnion, 0, false, 16)
	b.types["U17"] = b.add("U17", btf.KindUnion, 0, false, 17)
	b.types["S17"] = b.add("S17", btf.KindStruct, 0, false, 17)
	b.types["S0"] = b.add("S0", btf.KindStruct, 0, false, 0)
	b.types["U0"] = b.add("U0", btf.KindUnion, 0, false, 0)
	many := func(n int) string { return "void" + strings.Repeat(",int", n) }
	rows := []struct {
		types, want string
		from        [2]int
	}{
		{"void", "", [2]int{}},
		{"t P S,P void,t c E,v E64,int", "", [2]int{}},
		{"void,t S16", "", [2]int{}},
		{many(12), "", [2]int{}},
		{many(13), "it has 13 parameters, and 12 is the most", [2]int{}},
		{"S", "it returns a struct", [2]int{}},
		{"t U", "it returns a union", [2]int{}},
		{"double", "its result has the kind FLOAT", [2]int{}},
		{"void,int,c S17", "parameter 2 is a struct of 17 bytes, and 16 is the most", [2]int{}},
		{"void,int,U16,U16", "parameter 2 is a union", [2]int{6, 18}},
		{"void,U16,S17", "parameter 2 is a struct of 17 bytes, and 16 is the most", [2]int{}},
		{"void,U17", "parameter 1 is a union of 17 bytes, and 16 is the most", [2]int{}},
		{"void,int,t S0", "parameter 2 is a struct of 0 bytes", [2]int{}},
		{"void,U16,U0", "parameter 2 is a union of 0 bytes", [2]int{}},
		{"void,double", "parameter 1 has the kind FLOAT", [2]int{}},
	}
	for _, r := range rows {
		b.function("f", 0, strings.Split(r.types, ",")...)
	}
	b.add("varied", btf.KindFunc, 0, false, b.get("f3"))
	s := b.set(t)
	for i, f := range s.Named("f") {
		if got, from := f.EntryFault(); got != rows[i].want || from != rows[i].from {
			t.Errorf("%s: %q from %v, want %q from %v", rows[i].types, got, from, rows[i].want, rows[i].from)
		}
	}
	if got, _ := s.Named("varied")[0].EntryFault(); got != "it takes variable arguments" {
		t.Error(got)
	}
}
