package ccobject

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/test/testfile"
)

// readers are commands that packages, debuggers and people run over programs. Each may write a file x.
var readers = []string{
	"readelf -wilroRLKs", "readelf -S", "objdump -dSl", "addr2line -e", "nm -l", "gdb -batch -ex 'info functions first'", "gdb-add-index",
	"eu-readelf --debug-dump=info", "eu-addr2line 0x401000 -e", "eu-elflint --gnu-ld", "eu-strip -f debug", "debugedit -b /old -d /new", "dwz",
	"objcopy --compress-debug-sections=zlib", "strip --only-keep-debug", "strip -g", "llvm-dwarfdump --debug-info", "llvm-symbolizer 0x401000 -e",
}

// strict are readers that find fault with the DWARF of compilers too, so they read records alone.
var strict = []string{"llvm-dwarfdump --verify"}

// complains finds complaints in the output of a reader. LLVM's verifier notices that a unit has no DIEs.
func complains(out string) bool {
	for _, line := range strings.Split(strings.ToLower(out), "\n") {
		if strings.Contains(line, "has no children") || strings.Contains(line, "no errors") {
			continue
		}
		for _, word := range []string{"error", "warning", "invalid", "corrupt", "bogus"} {
			if strings.Contains(line, word) {
				return true
			}
		}
	}
	return false
}

// TestOtherReaders: debuggers and the tools of packages take a program with records, alone and beside
// DWARF, and have nothing to say about it. Those that list all of .debug_abbrev complain, see
// docs/unit-records.md. What the readers make of it gives the same BTF, an error, or says
// that there is no debug information.
func TestOtherReaders(t *testing.T) {
	p := compileProgram(t, &way{cc: "gcc -g"})
	l := link{name: "readers", script: "ld.bfd $SCRIPT -o out $1 $2 $3"}
	for what, objects := range map[string][]string{
		"records": p.records, "mixture": {p.dwarf[0], p.records[1], p.dwarf[2]}, "mixture2": {p.records[0], p.dwarf[1], p.records[2]},
	} {
		path, err := p.link(l, what, objects)
		if err != nil {
			t.Skip(err)
		}
		data := testfile.Read(t, path)
		want, err := encoded(path, encode.DefaultFeatures, 1)
		if err != nil {
			t.Fatal(err)
		}
		lines := readers
		if what == "records" {
			lines = append(slices.Clone(readers), strict...)
		}
		for _, line := range lines {
			if _, err := exec.LookPath(strings.Fields(line)[0]); err != nil {
				t.Logf("left out: %v", err)
				continue
			}
			dir := t.TempDir()
			x := filepath.Join(dir, "x")
			if err := os.WriteFile(x, data, 0o755); err != nil {
				t.Fatal(err)
			}
			out, err := shell(dir, line+" x </dev/null 2>&1 >out; s=$?; grep -i 'warning:\\|error:\\|\\*\\*\\* error' out; exit $s")
			if err != nil || complains(out) {
				t.Errorf("%s, %s: %v\n%.1000s", what, line, err, out)
			}
			if got, err := encoded(x, encode.DefaultFeatures, 1); err == nil && !bytes.Equal(got, want) {
				t.Errorf("%s, %s: the BTF of what it has made is another one", what, line)
			}
		}
	}
}

// TestProducer: of the options of the compiler, a record's unit has those that types and C made of them
// depend on, whatever the compiler calls the standard.
func TestProducer(t *testing.T) {
	source := testfile.Abs(t, "testdata/unit.c")
	dir := t.TempDir()
	for options, want := range map[string]string{
		"-std=gnu11": " -std=gnu11", "--std=c17 -fms-extensions": " -fms-extensions -std=c17", "-std=iso9899:1999 -funsigned-char": " -funsigned-char -std=c99",
		"-std=gnu89": " -std=gnu90", "-O1 -fno-stack-protector": "-march=x86-64",
	} {
		run(t, dir, append(strings.Fields("gcc -g -w -march=x86-64 -c -o unit.o "+source), strings.Fields(options)...)...)
		record := mustConvert(t, filepath.Join(dir, "unit.o"))
		data := testfile.Read(t, record)
		at := bytes.Index(data, []byte("GNU C"))
		text, _, _ := bytes.Cut(data[max(at, 0):], []byte{0})
		for _, w := range strings.Fields(want) {
			if !bytes.Contains(text, []byte(w)) {
				t.Errorf("gcc %s: %q has no %s", options, text, w)
			}
		}
		if bytes.Contains(text, []byte("protector")) || bytes.Contains(text, []byte("-O")) {
			t.Errorf("gcc %s: %q", options, text)
		}
	}
}
