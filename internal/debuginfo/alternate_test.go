package debuginfo

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/dwarf"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/testfile"
)

// TestDebugSup: version, what the file is, the name of the other, the length of the id, the id.
func TestDebugSup(t *testing.T) {
	for _, x := range []struct {
		data          string
		supplementary bool
		name, id      string
	}{
		{"\x05\x00\x00sup\x00\x04abcd", false, "sup", "abcd"}, {"\x05\x00\x01sup\x00\x04abcd", false, "", ""},
		{"\x05\x00\x01\x00\x04abcd", true, "", "abcd"}, {"\x05\x00\x00\x00\x04abcd", true, "", ""},
		{"\x05\x00\x00sup\x00\x04abcdrest", false, "sup", "abcd"}, {"\x05\x00\x00sup\x00\x04abc", false, "", ""},
		{"\x05\x00\x00sup\x00\x80\x01", false, "", ""}, {"\x05\x00\x00sup\x00\x80", false, "", ""}, {"\x05\x00\x00sup", false, "", ""},
		{"\x05\x00\x00sup\x00", false, "", ""}, {"\x05\x00\x00s\x00\x00", false, "s", ""}, {"\x05\x00\x00", false, "", ""}, {"\x05\x00", false, "", ""}, {"", false, "", ""},
	} {
		if name, id := debugSup([]byte(x.data), x.supplementary); name != x.name || string(id) != x.id {
			t.Errorf("%q: %q, %q", x.data, name, id)
		}
	}
	for _, x := range []struct{ section, data, name, id, own string }{
		{".gnu_debugaltlink", "alt\x00abcd", "alt", "abcd", ""}, {".gnu_debugaltlink", "a\x00", "a", "", ""},
		{".gnu_debugaltlink", "\x00abcd", "", "", ""}, {".gnu_debugaltlink", "alt", "", "", ""},
		{".debug_sup", "\x05\x00\x00sup\x00\x04abcd", "sup", "abcd", ""}, {".debug_sup", "\x05\x00\x01\x00\x04abcd", "", "", "abcd"},
		{".other", "alt\x00abcd", "", "", ""},
	} {
		e := withSection(t, dt.Section{Name: x.section, Data: []byte(x.data)}, false).ELF
		if name, id, err := altLink(e); name != x.name || string(id) != x.id || err != nil {
			t.Errorf("%s %q: %q, %q, %v", x.section, x.data, name, id, err)
		}
		if id := altID(e); string(id) != x.own {
			t.Errorf("%s %q: own id %q", x.section, x.data, id)
		}
	}
}

// TestAlternateFile: where the alternate file is looked for, which id it must have, and
// where its debug information is taken to lie.
func TestAlternateFile(t *testing.T) {
	const id = "\x0aBCD"
	alt := func(id string) []byte {
		return (&dt.File{Units: []*dt.Unit{dt.CU()}, Sections: []dt.Section{buildIDNote(id)}}).Bytes()
	}
	for _, x := range []struct {
		name, place string
		id          string
		ok          bool
	}{
		{"alt", "bin/alt", id, true}, {"sub/alt", "bin/sub/alt", id, true}, {"sub/alt", "bin/.dwz/alt", id, true}, {"sub/alt", "root/.dwz/alt", id, true},
		{"alt", "root/.build-id/0a/424344.debug", id, true}, {"DIR/other/alt", "other/alt", id, true},
		{"alt", "bin/alt", "\x0aBCE", false}, {"alt", "other/alt", id, false}, {"DIR/other/alt", "bin/.dwz/alt", id, false},
		{"alt", "FindDebug", id, true}, {"alt", "FindDebug", "\x0aBCE", false},
	} {
		dir := t.TempDir()
		saved := debugRoot
		debugRoot = filepath.Join(dir, "root")
		name := strings.Replace(x.name, "DIR", dir, 1)
		path, place := filepath.Join(dir, "bin", "in"), filepath.Join(dir, x.place)
		testfile.Write(t, path, (&dt.File{Units: []*dt.Unit{dt.CU()}, Sections: []dt.Section{{Name: ".gnu_debugaltlink", Data: []byte(name + "\x00" + id)}}}).Bytes())
		testfile.Write(t, place, alt(x.id))
		s := plenty(t)
		s.DebugFiles.Find = func(file string, got []byte) (string, error) {
			if file != path || string(got) != id || filepath.Base(place) != "FindDebug" && x.ok {
				t.Errorf("%+v: asked for %s, %q", x, file, got)
			}
			return filepath.Join(dir, "FindDebug"), nil
		}
		f, err := Open(&mmapelf.Source{Path: path}, s)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Load(false); err != nil {
			t.Fatal(err)
		}
		err = f.OpenAlt()
		debugRoot = saved
		if (err == nil) != x.ok || x.ok != (f.Alt != nil) {
			t.Errorf("%+v: %v", x, err)
		}
		if err != nil && !strings.Contains(err.Error(), "its alternate debug file ") {
			t.Error(err)
		}
		if x.ok {
			last := uint64(len(f.Alt.Info)) - 1
			for _, v := range []struct {
				form dwarf.Form
				off  uint64
				ok   bool
			}{{dwarf.FormGNURefAlt, 0, true}, {dwarf.FormRefSup4, last, true}, {dwarf.FormRefSup8, last + 1, false}, {dwarf.FormRef4, 0, false}} {
				off, ok := f.InAlt(&dwarf.Value{Form: v.form, U: v.off})
				if ok != v.ok || ok && off != uint64(len(f.Info))+v.off {
					t.Errorf("form %#x, offset %d: %d, %v", v.form, v.off, off, ok)
				}
			}
			c := Cursor{Position: Position{File: f}}
			tok := c.NameValue(&dwarf.Value{Form: dwarf.FormGNUStrpAlt, U: 0})
			if got := string(f.Names.Text(tok)); got == "" || c.Reader.Bad || tok != f.Alt.Names.Base+1 {
				t.Errorf("the first name of the alternate file is %q, token %#x", got, tok)
			}
		} else {
			c := Cursor{Position: Position{File: f}}
			if c.NameValue(&dwarf.Value{Form: dwarf.FormStrpSup}) != 0 || !c.Reader.Bad {
				t.Error("a name of an alternate file that is not there")
			}
			if _, ok := f.InAlt(&dwarf.Value{Form: dwarf.FormRefSup4}); ok {
				t.Error("a place in an alternate file that is not there")
			}
		}
		f.Close()
	}
}
