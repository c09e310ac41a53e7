package elfwrite

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/internal/fileid"
	"github.com/btflite/btflite/test/testfile"
)

func TestSetErrorLeavesTheFile(t *testing.T) {
	good := build(elftest.Little64, elftest.Image{Linked: true}, plain...)
	patch := func(off int, b ...byte) []byte {
		c := bytes.Clone(good)
		copy(c[off:], b)
		return c
	}
	shoff := int(elftest.Little64.Order.Uint64(good[40:]))
	lastFlags := shoff + 64*(int(good[60])-1) + 8
	okay := func(w io.Writer) error { _, err := io.WriteString(w, "12345"); return err }
	broken := errors.New("encoder failed")
	tests := []struct {
		name, want string
		data       []byte
		section    string
		size       int64
		write      func(io.Writer) error
	}{
		{"writer fails", "encoder failed", good, ".BTF", 5, func(w io.Writer) error { io.WriteString(w, "123"); return broken }},
		{"too short", "5 bytes, 6 were announced", good, ".BTF", 6, okay},
		{"too long", "longer than announced", good, ".BTF", 4, okay},
		{"negative size", "bad size", good, ".BTF", -1, okay},
		{"no name", "bad section name", good, "", 5, okay},
		{"name with NUL", "bad section name", good, ".BTF\x00", 5, okay},
		{"longer than a file can be", "bad size", good, ".BTF", 1 << 62, okay},
		{"the name table", "cannot be replaced", good, ".shstrtab", 5, okay},
		{"text", "not an ELF file", []byte("#!/bin/sh\necho this is not ELF\n"), ".BTF", 5, okay},
		{"empty", "not an ELF file", nil, ".BTF", 5, okay},
		{"ident only", "ELF header", good[:16], ".BTF", 5, okay},
		{"class", "unknown class", patch(4, 9), ".BTF", 5, okay},
		{"byte order", "unknown byte order", patch(5, 9), ".BTF", 5, okay},
		{"no section table", "no section header table", patch(40, 0, 0, 0, 0, 0, 0, 0, 0), ".BTF", 5, okay},
		{"no name table", "no section name table", patch(62, 0, 0), ".BTF", 5, okay},
		{"compressed names", "eu-elfcompress -t none -n .shstrtab", patch(lastFlags, 0, 8), ".BTF", 5, okay},
		{"name table index", "section 99 of", patch(62, 99, 0), ".BTF", 5, okay},
		{"name past the table", "name of section 1", patch(shoff+64, byte(len(".text.data.bss.comment.shstrtab")+6)), ".BTF", 5, okay},
		{"table past the end", "section table", patch(40, 0xff, 0xff, 0xff), ".BTF", 5, okay},
		{"table wraps", "section table", patch(40, 0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), ".BTF", 5, okay},
		{"table count", "section table", patch(60, 0xff, 0xfe), ".BTF", 5, okay},
		{"entry size", "entries of 1 bytes", patch(58, 1, 0), ".BTF", 5, okay},
		{"program header count", "program header table", patch(56, 0xff, 0xfe), ".BTF", 5, okay},
		{"program header size", "program headers of 1 bytes", patch(54, 1, 0), ".BTF", 5, okay},
		{"section past the end", "section 2 leave", patch(shoff+2*64+32+4, 1), ".BTF", 5, okay},
		{"half", "section table", good[:len(good)/2], ".BTF", 5, okay},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := file(t, tt.data)
			err := Set(path, nil, nil, Section{Name: tt.section, Size: tt.size, Write: tt.write})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if !bytes.Equal(testfile.Read(t, path), tt.data) {
				t.Error("file changed")
			}
			onlyFile(t, path)
		})
	}
}

// onlyFile checks that nothing is beside path.
func onlyFile(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("folder holds %v", entries)
	}
}

func TestSetRefusesEveryTruncation(t *testing.T) {
	for _, l := range elftest.Layouts {
		good := build(l, elftest.Image{Linked: true}, plain...)
		for n := range good {
			if m, err := readImage(bytes.NewReader(good[:n]), int64(n)); err == nil {
				t.Fatalf("%v: %d of %d bytes read: %d sections", l, n, len(good), m.count)
			}
		}
	}
}

// TestSetRefusesLargeTables: a file with holes may have a table that memory does not hold.
func TestSetRefusesLargeTables(t *testing.T) {
	for _, l := range elftest.Layouts {
		path := file(t, build(l, elftest.Image{}, plain...))
		const end = 2<<30 - 1
		data := testfile.Read(t, path)
		m := imageOf(t, data)
		names := m.section(m.strIndex)
		names.size = end - names.off
		m.setSection(m.strIndex, names)
		copy(data[m.shoff:], m.shdrs)
		testfile.Write(t, path, data)
		if err := os.Truncate(path, end); err != nil {
			t.Skip(err)
		}
		if err := Check(path, ".BTF"); err == nil || !strings.Contains(err.Error(), "section name table: it has 2.0 GiB, more than 512.0 MiB") {
			t.Errorf("%v: %v", l, err)
		}
	}
}

func TestSetRefusesA32BitFileOver4GiB(t *testing.T) {
	path := file(t, build(elftest.Little32, elftest.Image{}, plain...))
	err := Set(path, nil, nil, Section{Name: ".BTF", Size: 1 << 32, Write: func(io.Writer) error { t.Error("contents asked for"); return nil }})
	if err == nil || !strings.Contains(err.Error(), "32-bit") {
		t.Errorf("error %v", err)
	}
}

// fileChanges are changes that another program may make to a file while it is read. Each
// returns the expected contents of path afterwards, nil if it must not exist.
var fileChanges = map[string]func(path string, before os.FileInfo) ([]byte, error){
	"longer, of the same time": func(path string, before os.FileInfo) ([]byte, error) {
		data, err := os.ReadFile(path)
		data = append(data, "more"...)
		return data, errors.Join(err, os.WriteFile(path, data, 0), os.Chtimes(path, time.Time{}, before.ModTime()))
	},
	"of the same size, later": func(path string, before os.FileInfo) ([]byte, error) {
		data, err := os.ReadFile(path)
		return data, errors.Join(err, os.Chtimes(path, time.Time{}, before.ModTime().Add(time.Second)))
	},
	"replaced, of the same size and time": func(path string, before os.FileInfo) ([]byte, error) {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		data[len(data)-1] ^= 1
		other := path + ".other"
		return data, errors.Join(os.WriteFile(other, data, 0o600), os.Chtimes(other, time.Time{}, before.ModTime()), os.Rename(other, path))
	},
	"removed": func(path string, _ os.FileInfo) ([]byte, error) { return nil, os.Remove(path) },
}

// TestSetNoticesChanges: what another program does to the file between its reading and
// the rename is neither lost nor given sections of the older file.
func TestSetNoticesChanges(t *testing.T) {
	for name, change := range fileChanges {
		for _, before := range []bool{true, false} {
			path := file(t, build(elftest.Little64, elftest.Image{}, plain...))
			opened, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			var want []byte
			if before {
				if want, err = change(path, opened); err != nil {
					t.Fatal(err)
				}
			}
			err = Set(path, opened, nil, Section{Name: ".BTF", Size: 1, Write: func(w io.Writer) error {
				_, err := w.Write([]byte("x"))
				if !before {
					want, err = change(path, opened)
				}
				return err
			}})
			missing := before && want == nil // then there is nothing to begin with
			if !errors.Is(err, fileid.ErrChanged) && !(missing && errors.Is(err, os.ErrNotExist)) {
				t.Errorf("%s, before %v: error %v", name, before, err)
			}
			if want == nil {
				if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 0 {
					t.Errorf("%s, before %v: %v, %v", name, before, entries, err)
				}
				continue
			}
			if !bytes.Equal(testfile.Read(t, path), want) {
				t.Errorf("%s, before %v: it is not what the other program wrote", name, before)
			}
			onlyFile(t, path)
		}
	}
}

// FuzzSet checks that an image is refused or gets the sections, and that a
// second run then changes nothing, if its program headers lie within it.
func FuzzSet(f *testing.F) {
	for _, l := range elftest.Layouts {
		f.Add(build(l, elftest.Image{Linked: true}, withBTF(elftest.Section{Flags: 2, Data: []byte("old")})...), false)
		f.Add(build(l, elftest.Image{Extended: true, Names: ".BTF\x00"}, plain...), true)
		f.Add(build(l, elftest.Image{}, elftest.Section{Name: ".BTF.base", Data: []byte("old base")}, elftest.Section{Name: ".BTF", Data: []byte("contents")}), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, two bool) {
		dir := t.TempDir()
		path := filepath.Join(dir, "image")
		testfile.Write(t, path, data)
		want := map[string]string{".BTF": "new contents"}
		set := []Section{textSection(".BTF", want[".BTF"])}
		if two {
			want[".BTF.base"] = "new base"
			set = append(set, textSection(".BTF.base", want[".BTF.base"]))
		}
		if err := Set(path, nil, nil, set...); err != nil {
			if !bytes.Equal(testfile.Read(t, path), data) {
				t.Fatalf("file changed with error %v", err)
			}
			return
		}
		once := testfile.Read(t, path)
		m, err := readImage(bytes.NewReader(once), int64(len(once)))
		if err != nil {
			t.Fatalf("result cannot be read: %v", err)
		}
		for name, text := range want {
			s := m.section(m.find(name))
			if got := once[s.off:][:s.size]; string(got) != text {
				t.Fatalf("%s has contents %q", name, got)
			}
		}
		if err := Set(path, nil, nil, set...); err != nil {
			t.Fatal(err)
		}
		// Program headers that claim bytes behind the end of the file claim
		// what is appended, too: such a damaged file grows with each run.
		for _, s := range m.segments {
			if !(span{0, uint64(len(data))}).contains(s) {
				return
			}
		}
		if !bytes.Equal(testfile.Read(t, path), once) {
			t.Fatal("second run changed the file")
		}
	})
}
