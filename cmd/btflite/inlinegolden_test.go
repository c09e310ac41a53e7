package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf/sites"
)

// TestInlineCompilers: what compilers have inlined and where they say that parameters are,
// for gcc and clang, DWARF 2 to 5, linked, relocatable and optimized while linked, in both
// byte orders and with registers of 32 and 64 bits. Each line of testdata/inlined.txt about
// arm64-gcc5 and s390x-gcc5 was compared with the text of llvm-dwarfdump.
func TestInlineCompilers(t *testing.T) {
	const golden = "testdata/inlined.txt"
	var got []byte
	for _, name := range []string{"x86-gcc4", "x86-gcc5", "x86-gcc5-r", "x86-gcc5-lto", "x86-gcc5-dwz", "x86-clang4", "x86-clang5", "x86-clang5-lto",
		"i386-gcc4", "arm-gcc4", "arm64-gcc5", "s390x-gcc2", "s390x-gcc5", "mips-gcc4-r", "riscv64-gcc5-r", "sparc64-gcc5-r", "loong64-clang5-o"} {
		m := &inlineCommand{in: newTypeReader(os.LookupEnv)}
		b, done, err := m.encode("../../encode/testdata/golden/" + name + ".elf")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sites.Each(b, m.wanted, func(s *sites.Site) bool {
			m.listed = append(m.listed, m.listedSite(s))
			return true
		})
		got = append(fmt.Appendf(got, "# %s\n", name), m.text()...)
		done()
	}
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}
