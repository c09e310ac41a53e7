package main

import (
	"bytes"
	"debug/elf"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWhy(t *testing.T) {
	got, _ := btfliteRun(t, exitOK, "why", "sum_point", "walk", smallFile)
	const want = `sum_point: not in BTF: optimized parameters
    the compiler has removed a parameter, so a tracer would take others for it
    symbol sum_point.constprop.0 at 0x401090, 13 bytes
        defined in small.c:143, unit small.c
        parameter 0, unused: nowhere: always the same value
        parameter 1, p: nowhere: always the same value
    attach to it by kprobe:sum_point.constprop.0
walk: in BTF, [99]: s64 walk(struct node * * nodes, int n, bool_t deep, u8 a, u16 b, u32 c, u64 d, point_t on_stack);
    symbol walk at 0x401150, 113 bytes
        defined in small.c:167, unit small.c
        parameter 0, nodes: at first in register rdi
        parameter 1, n: at first in register rsi
        parameter 2, deep: at first in register rdx
        parameter 3, a: at first in register rcx
        parameter 4, b: at first in register r8
        parameter 5, c: in register r9
        parameter 6, d: on the stack
        parameter 7, on_stack: at first on the stack
    attach to it by fentry:walk, fexit:walk or kprobe:walk
`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, file := range []string{"x86.upper.o", "s390x.upper.o"} {
		got, _ := btfliteRun(t, exitOK, "why", "upper_label", splitDir+file)
		if !strings.Contains(got, "upper_label: not in BTF: unexpected register usage for parameter\n") || !strings.Contains(got, "defined in upper.c:") || !strings.Contains(got, "parameter 2, scale: in register ") {
			t.Errorf("%s: %s", file, got)
		}
	}
}

func TestWhyErrors(t *testing.T) {
	for args, want := range map[string]string{
		"wakl " + smallFile:                    `no function and no symbol "wakl"; did you mean walk?`,
		smallFile:                              "why takes names of functions and a file",
		"walk none":                            "none: cannot open",
		"walk " + smallFile + ".btf":           "already BTF",
		"upper " + splitDir + "x86.base-btf.o": "no DWARF",
	} {
		c, _, stderr := testCLI(t)
		if status := c.run(append([]string{"why"}, strings.Fields(args)...)); status == exitOK || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: status %d, %s", args, status, stderr)
		}
	}
}

// TestWhyDamaged: damaged DWARF ends the search.
func TestWhyDamaged(t *testing.T) {
	data, err := os.ReadFile(smallFile)
	if err != nil {
		t.Fatal(err)
	}
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "damaged")
	r := rand.New(rand.NewPCG(1, 2))
	begin := time.Now()
	for range 300 {
		bad := bytes.Clone(data)
		for _, name := range []string{".debug_info", ".debug_abbrev", ".debug_line", ".debug_loclists"} {
			s := e.Section(name)
			bad[s.Offset+r.Uint64N(s.Size)] = byte(r.Uint32())
		}
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if w, err := openWhyDWARF(file); err == nil {
			for _, address := range []uint64{0x401090, 0x401150, 0} {
				w.at("walk", address)
			}
			w.close()
		}
	}
	if d := time.Since(begin); d > time.Minute {
		t.Errorf("300 damaged files took %v", d)
	}
}
