package faults

import (
	"strings"
	"testing"
)

// TestShowCompilesOnce: show --compile -a printed the typedef of a struct without a name
// twice, which does not compile. Mended in b13888f.
//
// Input: BTF of btf/show/testdata. Each such struct must be printed once, after the types
// that it needs.
func TestShowCompilesOnce(t *testing.T) {
	for _, name := range []string{"plain", "needs", "consts", "pointers", "within", "packed"} {
		out, _ := btflite(t, 0, "show", "--compile", "-a", "-q", shownFiles+name+".btf")
		seen := map[string]bool{}
		for _, line := range strings.Split(out, "\n") {
			if strings.HasPrefix(line, "} ") && seen[line] {
				t.Errorf("%s: twice %s", name, line)
			}
			seen[line] = !strings.HasPrefix(line, "} __attribute__")
		}
	}
	got, _ := btflite(t, 0, "show", "--compile", "-a", "-q", shownFiles+"needs.btf")
	if want := "typedef unsigned char u8;\n\ntypedef struct {\n\tu8                         q;\n} an_t;\n"; !strings.Contains(got, want) {
		t.Errorf("%s lacks %s", got, want)
	}
}
