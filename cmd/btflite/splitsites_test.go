package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// TestSplitSites: split DWARF has the sites of inlined functions, and the places of parameters, that
// whole DWARF has. Addresses and, before DWARF 5, ranges of split units are in the main file.
func TestSplitSites(t *testing.T) {
	source := testfile.Abs(t, "testdata/sites.c")
	for _, compiler := range []string{"gcc", "clang"} {
		corpus.Installed(t, compiler)
		for _, kind := range []string{"-gdwarf-4 -no-pie", "-gdwarf-5 -no-pie", "-gdwarf-4 -c", "-gdwarf-5 -c"} {
			dir := t.TempDir()
			said := map[string]string{}
			for name, split := range map[string]string{"whole": "", "split": " -gsplit-dwarf", "packed": " -gsplit-dwarf"} {
				words := strings.Fields("-g -O2 -fno-inline -w " + kind + split)
				cmd := exec.Command(compiler, append(words, source, "-o", name)...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Skipf("%s %s: %v: %s", compiler, kind, err, out)
				}
				path := filepath.Join(dir, name)
				if name == "packed" {
					pack := exec.Command("llvm-dwp", "-e", name, "-o", name+".dwp")
					if pack.Dir = dir; strings.Contains(kind, "-c") || pack.Run() != nil {
						continue
					}
				}
				sites, _ := btfliteRun(t, exitOK, "inline", "check", path)
				why, _ := btfliteRun(t, exitOK, "why", "one", "two", "eat", path)
				said[name] = sites + why
			}
			if n := strings.Count(said["whole"], "check at"); n != 2 {
				t.Errorf("%s %s: %d sites, want 2:\n%s", compiler, kind, n, said["whole"])
			}
			for name, text := range said {
				if text != said["whole"] {
					t.Errorf("%s %s: %s:\n%s\nwhole:\n%s", compiler, kind, name, text, said["whole"])
				}
			}
		}
	}
}
