package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/corpus"
)

// TestKernelOptions: options of a kernel that take something from records. The first object that one
// concerns says so, once in a build, and the build goes on.
func TestKernelOptions(t *testing.T) {
	for _, program := range []string{"make", "gcc"} {
		corpus.Installed(t, program)
	}
	if os.Getenv("MAKELEVEL") != "" {
		t.Skip("a make that runs this test is the build: it is told once for all rows")
	}
	const exports = `asm(".section .export_symbol,\"a\"; .previous");`
	for _, tt := range []struct{ name, config, flags, text, says, keeps string }{
		{name: "GENDWARFKSYMS", config: "CONFIG_GENDWARFKSYMS=y\n", text: exports, keeps: "abc",
			says: "a.o: left with DWARF, like others after it: CONFIG_GENDWARFKSYMS reads the DWARF of objects with exported symbols"},
		{name: "GENDWARFKSYMS, no exports", config: "CONFIG_GENDWARFKSYMS=y\n"},
		{name: "exports", config: "# CONFIG_GENDWARFKSYMS is not set\n", text: exports},
		{name: "SPLIT", flags: "-gsplit-dwarf", keeps: "abc",
			says: "a.o: left with DWARF, like others after it: its DWARF is in a file of its own (-gsplit-dwarf)"},
		{name: "REDUCED", flags: "-femit-struct-debug-baseonly",
			says: "a.o: -femit-struct-debug-baseonly leaves types out of the debug information of this object and of others after it: their BTF will have only what is left"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			self := command(dir, "slowModules")
			for name, text := range map[string]string{
				"x.c": tt.text + "\nstruct s { int n; } x;\n", "include/config/auto.conf": tt.config,
				"Makefile": "all: a.o b.o c.o\n%.o: x.c\n\t$(BTFLITE) cc gcc -g " + tt.flags + " -c x.c -o $@\n",
			} {
				path := filepath.Join(dir, name)
				if err := orFirst(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("make", "-sr", "BTFLITE="+self.Path)
			cmd.Dir, cmd.Env = dir, append(self.Env, kernelVariable+"="+dir)
			status, _, stderr := runCommand(t, cmd)
			want := ""
			if tt.says != "" {
				want = "btflite: " + tt.says + "\n"
			}
			if status != 0 || stderr != want {
				t.Errorf("status %d, %q, want %q", status, stderr, want)
			}
			for _, name := range []string{"a", "b", "c"} {
				if kept := hasStrings(t, filepath.Join(dir, name+".o")); kept != strings.Contains(tt.keeps, name) {
					t.Errorf("%s.o: has DWARF: %v", name, kept)
				}
			}
		})
	}
}

// hasStrings reports whether an object has DWARF that is not in records: those have no strings elsewhere.
func hasStrings(t *testing.T, path string) bool {
	t.Helper()
	f, err := mmapelf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return f.Section(".debug_str") != nil || f.Section(".debug_line") != nil
}
