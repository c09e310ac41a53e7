package ccobject

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOtherReaders: debuggers and the tools of packages take a program with records, alone and beside
// DWARF. dwz refuses it and leaves it as it is. docs/unit-records.md says what complains.
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
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{
			"readelf -wi", "readelf -S", "objdump -dSl", "addr2line -e", "nm -l", "gdb -batch -ex 'info functions first'",
			"eu-readelf --debug-dump=info", "eu-addr2line 0x401000 -e", "eu-elflint --gnu-ld", "debugedit -b /old -d /new", "eu-strip -f debug",
			"objcopy --compress-debug-sections=zlib", "strip --only-keep-debug", "strip -g", "llvm-dwarfdump --debug-info", "llvm-symbolizer 0x401000 -e",
		} {
			if _, err := exec.LookPath(strings.Fields(line)[0]); err != nil {
				continue
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "x"), data, 0o755); err != nil {
				t.Fatal(err)
			}
			if out, err := shell(dir, line+" x </dev/null >/dev/null"); err != nil || strings.Contains(strings.ToLower(out), "error") {
				t.Errorf("%s, %s: %v\n%.1000s", what, line, err, out)
			}
		}
		if _, err := exec.LookPath("dwz"); err != nil {
			continue
		}
		if out, err := shell(filepath.Dir(path), "dwz out"); err == nil || !strings.Contains(out, "Attributes extend beyond end of CU") {
			t.Errorf("%s: dwz says %s", what, out)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, data) {
			t.Errorf("%s: dwz has changed it, %v", what, err)
		}
	}
}

// TestProducer: of the options of the compiler, a record's unit has those that types and C made of them
// depend on, whatever the compiler calls the standard.
func TestProducer(t *testing.T) {
	source, err := filepath.Abs("testdata/unit.c")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for options, want := range map[string]string{
		"-std=gnu11": " -std=gnu11", "--std=c17 -fms-extensions": " -fms-extensions -std=c17", "-std=iso9899:1999 -funsigned-char": " -funsigned-char -std=c99",
		"-std=gnu89": " -std=gnu90", "-O1 -fno-stack-protector": "-march=x86-64",
	} {
		run(t, dir, append(strings.Fields("gcc -g -w -march=x86-64 -c -o unit.o "+source), strings.Fields(options)...)...)
		record, err := convert(filepath.Join(dir, "unit.o"))
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(record)
		if err != nil {
			t.Fatal(err)
		}
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
