package elfwrite

import (
	"bytes"
	"debug/elf"
	"io"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// TestObject: objects for the targets of the golden files, read by debug/elf
// and, where there is one, combined by a linker.
func TestObject(t *testing.T) {
	for _, target := range []struct{ file, ld string }{
		{"x86-gcc5", "ld -r"}, {"x86-gcc5", "ld.lld -r"}, {"i386-gcc5-r", "ld -m elf_i386 -r"}, {"s390x-gcc5", "s390x-linux-gnu-ld -r"},
		{"arm-gcc4", "arm-linux-gnueabihf-ld -r"}, {"arm64-gcc5", "ld.lld -r"}, {"mips-gcc4-r", "mips-linux-gnu-ld -r"},
		{"ppc64-gcc4-r", "powerpc64-linux-gnu-ld -r"}, {"riscv64-gcc5-r", "ld.lld -r"}, {"ppc-clang4-o", ""}, {"mips64-clang5-o", "ld.lld -r"},
	} {
		path := "../../encode/testdata/golden/" + target.file + ".elf"
		to, err := TargetOf(path)
		if err != nil {
			t.Fatal(err)
		}
		contents := []byte("contents of nineteen")
		section := func(name string, data []byte) Section {
			return Section{Name: name, Size: int64(len(data)), Write: func(w io.Writer) error { _, err := w.Write(data); return err }}
		}
		o := to.NewObject(section(".BTF", contents[:19]), section(".note.x", contents))
		var data bytes.Buffer
		for range 2 {
			data.Reset()
			if err := o.Write(&data); err != nil {
				t.Fatal(err)
			}
		}
		check := func(data []byte, linked bool) {
			t.Helper()
			got, err := elf.NewFile(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			want, err := elf.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer want.Close()
			if got.Class != want.Class || got.Data != want.Data || got.Machine != want.Machine || got.OSABI != want.OSABI || got.Type != elf.ET_REL {
				t.Errorf("%s: %+v, want %+v", target.file, got.FileHeader, want.FileHeader)
			}
			for name, want := range map[string][]byte{".BTF": contents[:19], ".note.x": contents} {
				s := got.Section(name)
				if s == nil {
					t.Fatalf("%s: no section %s", target.file, name)
				}
				if b, err := s.Data(); err != nil || !bytes.Equal(b, want) || s.Flags != 0 {
					t.Errorf("%s: %s is %q, %+v, %v", target.file, name, b, s.SectionHeader, err)
				}
			}
			if !linked && (len(got.Sections) != 5 || got.Section(".note.GNU-stack").Type != elf.SHT_PROGBITS || got.Section(".note.x").Type != elf.SHT_NOTE) {
				t.Errorf("%s: sections %v", target.file, got.Sections)
			}
		}
		check(data.Bytes(), false)
		args := bytes.Fields([]byte(target.ld))
		if len(args) == 0 {
			continue
		}
		if _, err := exec.LookPath(string(args[0])); err != nil {
			t.Logf("%s: not linked: %v", target.file, err)
			continue
		}
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in.o"), filepath.Join(dir, "out.o")
		testfile.Write(t, in, data.Bytes())
		cmd := exec.Command(string(args[0]), "-o", out, in)
		for _, a := range args[1:] {
			cmd.Args = append(cmd.Args, string(a))
		}
		if text, err := cmd.CombinedOutput(); err != nil || len(text) > 0 {
			t.Errorf("%s: %v: %s", cmd, err, text)
			continue
		}
		check(testfile.Read(t, out), true)
	}
}

func TestObjectRefuses(t *testing.T) {
	if _, err := TargetOf("object_test.go"); err == nil {
		t.Error("a text file has a target")
	}
	to, err := TargetOf("../../encode/testdata/golden/x86-gcc5.elf")
	if err != nil {
		t.Fatal(err)
	}
	short := to.NewObject(Section{Name: ".BTF", Size: 5, Write: func(w io.Writer) error { _, err := w.Write([]byte("four")); return err }})
	if err := short.Write(io.Discard); err == nil {
		t.Error("contents shorter than announced were written")
	}
}
