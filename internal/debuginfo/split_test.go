package debuginfo

import (
	"path/filepath"
	"strings"
	"testing"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/testfile"
)

// TestSplitFile: where the .dwo file of a skeleton is looked for, that the unit in it is
// known by its id, and that the cursor comes back to the skeleton.
func TestSplitFile(t *testing.T) {
	dwo := func(change func(info []byte)) []byte {
		f := &dt.File{Units: []*dt.Unit{{Type: 6, Root: dt.N(0x41)}, {Type: 5, Root: dt.N(dt.TagCompileUnit, dt.Name("split.c"))}}}
		debug := f.DebugSections()
		first := 4 + int(debug[0].Data[0])
		change(debug[0].Data[first:])
		for i := range debug {
			debug[i].Name += ".dwo"
		}
		return f.Image(debug)
	}
	same := func([]byte) {}
	for _, x := range []struct {
		name, dir, place string
		data             []byte
		err              string
	}{
		{"a.dwo", "DIR/build", "build/a.dwo", dwo(same), ""}, {"sub/a.dwo", "DIR/build", "build/sub/a.dwo", dwo(same), ""},
		{"DIR/other/a.dwo", "", "other/a.dwo", dwo(same), ""}, {"sub/a.dwo", "DIR/build", "bin/sub/a.dwo", dwo(same), ""},
		{"sub/a.dwo", "DIR/build", "bin/a.dwo", dwo(same), ""}, {"DIR/other/a.dwo", "DIR/build", "bin/a.dwo", dwo(same), ""},
		{"a.dwo", "", "bin/a.dwo", dwo(same), ""}, {"a.dwo", "DIR/build", "other/a.dwo", dwo(same), "its .dwo file \"a.dwo\" is not there (looked for "},
		{"a.dwo", "", "bin/a.dwo", dwo(func(b []byte) { b[12]++ }), "no unit has the id 0x0807060504030201 of its skeleton in "},
		{"a.dwo", "", "bin/a.dwo", (&dt.File{NoDebug: true}).Bytes(), "no .debug_info.dwo"}, {"a.dwo", "", "bin/a.dwo", []byte("text"), "bin/a.dwo: "},
	} {
		root := t.TempDir()
		text := func(s string) string { return strings.Replace(s, "DIR", root, 1) }
		path := filepath.Join(root, "bin", "in")
		unit := dt.N(dt.TagSkeletonUnit, dt.Attr{At: 0x76, Val: text(x.name), Form: dt.FormStrp}) // DW_AT_dwo_name
		if x.dir != "" {
			unit.Add(dt.Attr{At: 0x1b, Val: text(x.dir), Form: dt.FormStrp}) // DW_AT_comp_dir
		}
		testfile.Write(t, path, (&dt.File{Units: []*dt.Unit{{Type: 4, Root: unit}}}).Bytes())
		testfile.Write(t, filepath.Join(root, x.place), x.data)
		f, err := Open(&mmapelf.Source{Path: path}, plenty(t))
		if err == nil {
			err = f.Load(false)
		}
		if err != nil {
			t.Fatal(err)
		}
		var c Cursor
		if ok, err := f.Next(&c); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		_, _, have, err := c.UnitDIE()
		if err != nil {
			t.Fatal(err)
		}
		s := c.ReadSkeleton(have)
		if s == nil || s.name != text(x.name) || s.dir != text(x.dir) || s.id != dt.Signature {
			t.Fatalf("skeleton %+v", s)
		}
		at, read := c.Hdr.Off, 0
		err = f.Enter(&c, s, func(dwo *File, saved *Saved) (bool, error) {
			if err := c.Start(); err != nil {
				return false, err
			}
			_, _, have, err := c.UnitDIE()
			read++
			if got := string(dwo.Names.Text(c.Name)); got != "split.c" || !dwo.Split() || c.ReadSkeleton(have) != nil || saved.hdr.Off != at {
				t.Errorf("%s: unit %q", x.place, got)
			}
			return c.IsSplit(s), err
		})
		if (err == nil) != (x.err == "") || err != nil && !strings.Contains(err.Error(), x.err) {
			t.Errorf("%+v: %v", x.place, err)
		}
		if x.err == "" && (read != 1 || c.File != f || c.Hdr.Off != at || c.Hdr.DwoID != dt.Signature) {
			t.Errorf("%s: %d units read, the cursor is at %#x", x.place, read, c.Hdr.Off)
		}
		c.Free()
		f.Close()
	}
}

// TestSharedTables: a table is shared when a second unit asks for it, in whatever order,
// and reading tables again has a limit.
func TestSharedTables(t *testing.T) {
	var s sharedAbbrevs
	for range 2 {
		for i, x := range []struct {
			off  uint64
			want bool
		}{{0, false}, {0, true}, {10, false}, {5, false}, {5, true}, {10, true}, {11, false}, {10, false}, {10, true}, {1<<32 - 1, false}, {1<<32 - 1, true}, {1 << 32, false}, {1 << 32, false}} {
			if got := s.isShared(x.off); got != x.want {
				t.Errorf("%d: offset %d is shared: %v", i, x.off, got)
			}
		}
		if !s.charge(abbrevWork, 0) || !s.charge(16, 1) || s.charge(1, 1) || !s.charge(0, 2) {
			t.Error("the limit of what is read again is another")
		}
		s.restart()
	}
}
