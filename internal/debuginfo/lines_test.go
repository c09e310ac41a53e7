package debuginfo

import (
	"encoding/binary"
	"strings"
	"testing"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elftest"
)

// TestLineFiles: the path of a file of a line table, below the folder of the compilation
// or joined with its own folder, with strings of both sections, relocated or not.
func TestLineFiles(t *testing.T) {
	o := binary.LittleEndian
	place := func(all, s string) uint32 { return uint32(strings.Index(all, s+"\x00")) }
	const lineStr, str = "\x00/build\x00/build/sub\x00rel\x00/build\x00", "\x00unit.c\x00/abs/x.h\x00/build/y.h\x00"
	for _, relocated := range []bool{false, true} {
		var rela []byte
		b := []byte{0xee} // the table begins at offset 1
		b = append(o.AppendUint32(b, 0), 5, 0, 8, 0)
		b = append(o.AppendUint32(b, 0), 1, 1, 1, 1, 1, 1)
		add := func(v uint32, symbol uint64) {
			if relocated {
				rela = o.AppendUint64(o.AppendUint64(o.AppendUint64(rela, uint64(len(b))), symbol<<32|10), uint64(v))
				v = 0xffff
			}
			b = o.AppendUint32(b, v)
		}
		b = append(b, 1, 1, dt.FormLineStrp, 3)
		for _, dir := range []string{"/build", "/build/sub", "rel"} {
			add(place(lineStr, dir), 1)
		}
		b = append(b, 2, 1, dt.FormStrp, 2, dt.FormUdata, 6)
		for _, f := range []struct {
			name string
			dir  byte
		}{{"unit.c", 0}, {"unit.c", 1}, {"unit.c", 2}, {"/abs/x.h", 1}, {"/build/y.h", 1}} {
			add(place(str, f.name), 2)
			b = append(b, f.dir)
		}
		b = append(o.AppendUint32(b, uint32(len(str))), 0) // a string behind the section
		o.PutUint32(b[9:], uint32(len(b)-13))
		o.PutUint32(b[1:], uint32(len(b)-5))
		file := &dt.File{Units: []*dt.Unit{{Root: dt.N(dt.TagCompileUnit)}}, Symbols: []dt.Symbol{
			{Name: "line_str", Type: 3, Section: ".debug_line_str"}, {Name: "str", Type: 3, Section: ".debug_str"}}}
		debug := append(file.DebugSections(), dt.Section{Name: ".debug_line_str", Data: []byte(lineStr)}, dt.Section{Name: ".debug_str", Data: []byte(str)},
			dt.Section{Name: ".debug_line", Data: b})
		if relocated {
			file.Type = elftest.Relocatable
			info := uint32(len(debug) + 1)
			debug = append(debug, dt.Section{Name: ".like", Data: rela, Info: info}, dt.Section{Name: ".rela.debug_line", Type: elfabi.SHTRela, Data: rela, Info: info, EntSize: 24})
		}
		f := loaded(t, file.Image(debug), false)
		l, err := OpenLines(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range [][2]string{{"unit.c", "/build/unit.c"}, {"sub/unit.c", "/build/sub/unit.c"}, {"rel/unit.c", "rel/unit.c"}, {"/abs/x.h", "/abs/x.h"}, {"y.h", "/build/y.h"}} {
			if got := l.File(1, uint64(i)); got != want[0] {
				t.Errorf("relocated %v: file %d is %q, want %q", relocated, i, got, want[0])
			}
			if got := l.Path(1, uint64(i), "/other"); got != want[1] {
				t.Errorf("relocated %v: path %d is %q, want %q", relocated, i, got, want[1])
			}
		}
		if l.File(1, 6) != "" || l.Path(1, 6, "/other") != "" || l.File(1<<20, 0) != "" {
			t.Error("a file that the table does not have")
		}
	}
}
