package debuginfo

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/testfile"
)

// plenty are settings without limits, with a table of names of their own.
func plenty(t *testing.T) Settings {
	n := new(names.Table)
	n.Use(names.NewPool(nil, nil))
	t.Cleanup(n.FreePool)
	return Settings{Names: n, Workers: 1, Scarce: func(uint64) bool { return false }}
}

// buildIDNote is a section with a build id.
func buildIDNote(id string) dt.Section {
	return dt.Section{Name: ".note.gnu.build-id", Type: elfabi.SHTNote, Data: appendNote(nil, binary.LittleEndian, "GNU\x00", 3, id)}
}

// TestDebugLink: a name, zeros up to a multiple of four bytes, the checksum.
func TestDebugLink(t *testing.T) {
	for _, x := range []struct {
		data, name string
		ok         bool
	}{
		{"a\x00\x00\x00\x01\x02\x03\x04", "a", true}, {"abc\x00\x01\x02\x03\x04", "abc", true}, {"abcd\x00\x00\x00\x00\x01\x02\x03\x04", "abcd", true},
		{"abc\x00\x01\x02\x03\x04rest", "abc", true}, {"abc\x00\x01\x02\x03", "", false}, {"abcd\x00\x01\x02\x03\x04", "", false},
		{"\x00\x00\x00\x00\x01\x02\x03\x04", "", false}, {"abcdefgh", "", false}, {"", "", false},
		{"a/b\x00\x01\x02\x03\x04", "", false}, {"a\\b\x00\x01\x02\x03\x04", "", false}, {".\x00\x00\x00\x01\x02\x03\x04", "", false},
		{"..\x00\x00\x01\x02\x03\x04", "", false}, {"...\x00\x01\x02\x03\x04", "...", true},
	} {
		for _, big := range []bool{false, true} {
			name, crc, err := debugLink(withSection(t, dt.Section{Name: ".gnu_debuglink", Data: []byte(x.data)}, big).ELF)
			want := uint32(0)
			if x.ok {
				want = elfabi.Order(big).Uint32([]byte{1, 2, 3, 4})
			}
			if name != x.name || crc != want || (err == nil) != x.ok {
				t.Errorf("%q: %q, %#x, %v", x.data, name, crc, err)
			}
		}
	}
	if name, _, err := debugLink(withSection(t, dt.Section{Name: ".other"}, false).ELF); name != "" || err != nil {
		t.Errorf("no section: %q, %v", name, err)
	}
}

// TestChecksum: the checksum is over the whole file, whatever its size.
func TestChecksum(t *testing.T) {
	for _, size := range []int{0, 1, crcStep - 400, crcStep, 2*crcStep + 7} {
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(i * i >> 7)
		}
		e := withSection(t, dt.Section{Name: ".data", Data: data}, false).ELF
		if sum, want := checksum(e), crc32.ChecksumIEEE(e.Bytes()); sum != want {
			t.Errorf("%d bytes: %#x, want %#x", len(e.Bytes()), sum, want)
		}
	}
}

// TestSeparateFile: where a separate debug file is looked for, and what proves that it is
// the right one.
func TestSeparateFile(t *testing.T) {
	const id = "\x0aBCDEFG"
	debug := func(f dt.File, sections ...dt.Section) []byte {
		f.Units, f.Sections = []*dt.Unit{dt.CU()}, sections
		return f.Bytes()
	}
	withID, without := debug(dt.File{}, buildIDNote(id)), debug(dt.File{})
	slim := (&dt.File{NoDebug: true, Sections: []dt.Section{{Name: ltoPrefix + ".debug_info", Data: []byte{1}}}}).Bytes()
	byID := filepath.Join(".build-id", "0a", "424344454647.debug")
	for _, x := range []struct {
		what   string
		id     string
		link   bool // with the checksum of data
		place  string
		data   []byte
		errHas string // "" if it is found
	}{
		{"by id in the folder given", id, false, "given/" + byID, withID, ""},
		{"by id in the system's folder", id, false, "root/" + byID, withID, ""},
		{"by id, without one in the file", id, false, "given/" + byID, without, "it has no build-id"},
		{"by id, with another", id, false, "given/" + byID, debug(dt.File{}, buildIDNote("\x0aBCDEFH")), "its build-id is another"},
		{"by link beside the file", "", true, "bin/in.debug", without, ""},
		{"by link in .debug", "", true, "bin/.debug/in.debug", without, ""},
		{"by link in the folder given", "", true, "given/in.debug", without, ""},
		{"by link and path in the folder given", "", true, "given/PATH/in.debug", without, ""},
		{"by link and path in the system's folder", "", true, "root/PATH/in.debug", without, ""},
		{"by link, with an id in one of them", id, true, "bin/in.debug", without, ""},
		{"by link, with the id of another", id, true, "bin/in.debug", debug(dt.File{}, buildIDNote("other")), "its build-id is another"},
		{"by link, elsewhere", "", true, "elsewhere/in.debug", without, "its separate debug file \"in.debug\" is not in "},
		{"by link, of another machine", "", true, "bin/in.debug", debug(dt.File{Machine: dt.MachineAARCH64}), "of another machine or type"},
		{"by link, of another type", "", true, "bin/in.debug", debug(dt.File{Type: 3}), "of another machine or type"},
		{"by link, of another class", "", true, "bin/in.debug", debug(dt.File{Class32: true}), "of another machine or type"},
		{"by link, of another byte order", "", true, "bin/in.debug", debug(dt.File{BigEndian: true}), "of another machine or type"},
		{"by link, without DWARF", "", true, "bin/in.debug", (&dt.File{NoDebug: true}).Bytes(), "no .debug_info"},
		{"by link, of a slim object of GCC", "", true, "bin/in.debug", slim, ""},
		{"by link, not an ELF file", "", true, "bin/in.debug", []byte("text"), "its separate debug file cannot be used"},
	} {
		t.Run(x.what, func(t *testing.T) {
			dir := t.TempDir()
			saved := debugRoot
			debugRoot = filepath.Join(dir, "root")
			defer func() { debugRoot = saved }()
			in := dt.File{NoDebug: true}
			if x.id != "" {
				in.Sections = append(in.Sections, buildIDNote(x.id))
			}
			if x.link {
				in.Sections = append(in.Sections, dt.Section{Name: ".gnu_debuglink",
					Data: binary.LittleEndian.AppendUint32([]byte("in.debug\x00\x00\x00\x00"), crc32.ChecksumIEEE(x.data))})
			}
			path := filepath.Join(dir, "bin", "in")
			testfile.Write(t, path, in.Bytes())
			place := filepath.Join(dir, strings.Replace(x.place, "PATH", filepath.Dir(path), 1))
			testfile.Write(t, place, x.data)
			s := plenty(t)
			s.DebugFiles.Dir = filepath.Join(dir, "given")
			f, err := Open(&mmapelf.Source{Path: path}, s)
			if x.errHas != "" {
				if err == nil || !strings.Contains(err.Error(), x.errHas) || !strings.HasPrefix(err.Error(), path+": no .debug_info, and ") {
					t.Fatalf("error %v, want one with %q", err, x.errHas)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if f.Dwarf == f.ELF || f.Dwarf.Path != place || f.section(".debug_info") == nil {
				t.Errorf("debug information is in %s, want %s", f.Dwarf.Path, place)
			}
			if files := Beside(path, s.DebugFiles.Dir); len(files) != 2 || files[0] != place || files[1] != path+".dwp" {
				t.Errorf("files next to it: %q", files)
			}
			if x.link {
				// The same file with a byte more has another checksum.
				testfile.Write(t, place, append(x.data[:len(x.data):len(x.data)], 0))
				if _, err := Open(&mmapelf.Source{Path: path}, s); err == nil || !strings.Contains(err.Error(), "its checksum is not the one in .gnu_debuglink") {
					t.Errorf("another checksum: %v", err)
				}
			}
		})
	}
}

// TestFindDebug: the function is asked only if no folder has the debug file, and what it
// finds is checked.
func TestFindDebug(t *testing.T) {
	const id = "\x0aBCDEFG"
	debug := func(id string) []byte {
		return (&dt.File{Units: []*dt.Unit{dt.CU()}, Sections: []dt.Section{buildIDNote(id)}}).Bytes()
	}
	link := dt.Section{Name: ".gnu_debuglink", Data: []byte("none\x00\x00\x00\x00\x01\x02\x03\x04")}
	note := buildIDNote(id)
	for _, x := range []struct {
		what   string
		in     dt.File
		found  []byte // nil: nothing
		asks   int
		errHas string
		own    bool // no other file has its DWARF
	}{
		{"found", dt.File{NoDebug: true, Sections: []dt.Section{note}}, debug(id), 1, "", false},
		{"found, though a name leads nowhere", dt.File{NoDebug: true, Sections: []dt.Section{note, link}}, debug(id), 1, "", false},
		{"not found", dt.File{NoDebug: true, Sections: []dt.Section{note}}, nil, 1, "", true},
		{"not found, and a name leads nowhere", dt.File{NoDebug: true, Sections: []dt.Section{note, link}}, nil, 1, "its separate debug file \"none\" is not in ", false},
		{"the file of another", dt.File{NoDebug: true, Sections: []dt.Section{note}}, debug("\x0aBCDEFH"), 1, "its build-id is another", false},
		{"without a build-id", dt.File{NoDebug: true, Sections: []dt.Section{note}}, (&dt.File{Units: []*dt.Unit{dt.CU()}}).Bytes(), 1, "it has no build-id", false},
		{"not an ELF file", dt.File{NoDebug: true, Sections: []dt.Section{note}}, []byte("<html>"), 1, "its separate debug file cannot be used", false},
		{"no build-id to ask for", dt.File{NoDebug: true}, debug(id), 0, "", true},
		{"with DWARF", dt.File{Units: []*dt.Unit{dt.CU()}, Sections: []dt.Section{note}}, debug(id), 0, "", true},
	} {
		t.Run(x.what, func(t *testing.T) {
			path, place := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "found")
			testfile.Write(t, path, x.in.Bytes())
			if x.found != nil {
				testfile.Write(t, place, x.found)
			}
			s, asks := plenty(t), 0
			s.DebugFiles.Find = func(file string, got []byte) (string, error) {
				if asks++; file != path || string(got) != id {
					t.Errorf("asked for %s, %x", file, got)
				}
				if x.found == nil {
					return "", os.ErrNotExist
				}
				return place, nil
			}
			f, err := Open(&mmapelf.Source{Path: path}, s)
			if (err == nil) != (x.errHas == "") || err != nil && !strings.Contains(err.Error(), x.errHas) {
				t.Errorf("error %v, want %q", err, x.errHas)
			}
			if asks != x.asks {
				t.Errorf("asked %d times, want %d", asks, x.asks)
			}
			if err == nil {
				defer f.Close()
				if own := f.Dwarf == f.ELF; own != x.own {
					t.Errorf("its DWARF is in itself: %v", own)
				}
			}
		})
	}
}

// TestOwnDebug: a file with debug information does not ask for another, a file without
// anything stays as it is, and the link of a file may be its own name.
func TestOwnDebug(t *testing.T) {
	dir := t.TempDir()
	link := dt.Section{Name: ".gnu_debuglink", Data: []byte("in\x00\x00\x01\x02\x03\x04")}
	for name, x := range map[string]struct {
		file dt.File
		ok   bool
	}{
		"with DWARF":       {dt.File{Units: []*dt.Unit{dt.CU()}, Sections: []dt.Section{link}}, true},
		"with nothing":     {dt.File{NoDebug: true}, true},
		"linked to itself": {dt.File{NoDebug: true, Sections: []dt.Section{link}}, false},
		"a short id":       {dt.File{NoDebug: true, Sections: []dt.Section{buildIDNote("a")}}, true},
	} {
		path := filepath.Join(dir, "in")
		testfile.Write(t, path, x.file.Bytes())
		f, err := Open(&mmapelf.Source{Path: path}, plenty(t))
		if (err == nil) != x.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if f.Dwarf != f.ELF {
			t.Errorf("%s: debug information is in %s", name, f.Dwarf.Path)
		}
		f.Close()
	}
	if Beside(filepath.Join(dir, "none"), "") != nil {
		t.Error("there are files beside one that does not exist")
	}
}
