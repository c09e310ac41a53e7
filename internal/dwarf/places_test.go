package dwarf

import (
	"bytes"
	"slices"
	"testing"
)

// TestDeclsOfEveryForm: a line of every form is read, or skipped if it is not a number,
// and the next attribute is read too. Nothing is read of a DIE that is cut off.
func TestDeclsOfEveryForm(t *testing.T) {
	for i := range shapesOfUnits {
		u := &shapesOfUnits[i]
		cases := append(formCases(u), formCase{FormImplicitConst, nil, 1<<64 - 2})
		for _, c := range cases {
			for _, indirect := range []bool{false, true} {
				line, data := at{attr: atDeclLine, form: c.form}, c.data
				want := (&Value{c.want, c.form}).Numeric()
				if c.form == FormImplicitConst {
					line.implicit = []byte{0x7e}
				}
				if indirect {
					if c.form == FormImplicitConst {
						continue // DWARF has none
					}
					line.form, data = FormIndirect, slices.Concat(uleb(uint64(c.form)), c.data)
				}
				sec := append(declare(1, TagSubprogram, false, line, at{attr: 0x8a, form: FormData2}, at{attr: atDeclFile, form: FormData1}), 0)
				die := slices.Concat([]byte{0xff, 1}, data, []byte{5, 5, 9})
				var d Abbrevs
				if err := d.Compile(sec, u, Places, 0); err != nil {
					t.Fatalf("form %#x: %v", c.form, err)
				}
				if x, ok := d.Decl(die, 1); !ok || x != (Decl{Line: want, File: 9, HasFile: true}) {
					t.Errorf("unit %d, form %#x, indirect %v: %+v, %v, want line %d", i, c.form, indirect, x, ok, want)
				}
				for n := range len(die) {
					if x, ok := d.Decl(die[:n:n], 1); ok {
						t.Errorf("unit %d, form %#x, indirect %v: %d of %d bytes are %+v", i, c.form, indirect, n, len(die), x)
					}
				}
			}
		}
	}
}

// TestDecls: the declarations of DIEs, and which of them can be read.
func TestDecls(t *testing.T) {
	u := &Unit{Version: 5, AddrSize: 8, AbbrevOff: 2}
	line := func(n byte) at { return at{atDeclLine, FormImplicitConst, []byte{n}} }
	sec := slices.Concat([]byte{1, 1}, declare(1, TagSubprogram, true, line(1)), declare(1, TagSubprogram, false, line(2)),
		declare(1<<20, TagTypedef, false, line(3)),
		declare(5, TagCompileUnit, false, at{attr: atStmtList, form: FormSecOffset}, at{attr: atRanges, form: FormData1}),
		declare(6, TagSubprogram, false, at{attr: 0, form: FormData1}, line(6)), // attribute 0 with a form does not end the list
		[]byte{0})
	sec = append(append(sec, declare(8, TagSubprogram, false, line(8))...), 0)
	var d Abbrevs
	if _, ok := d.Decl([]byte{1}, 0); ok {
		t.Error("a DIE without a table")
	}
	if err := d.Compile(sec, u, Places, 0); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		die  []byte
		off  int
		want Decl
		ok   bool
	}{
		{[]byte{1}, 0, Decl{Line: 1}, true},
		{uleb(1 << 20), 0, Decl{Line: 3}, true},
		{[]byte{5, 7, 0, 0, 0, 8}, 0, Decl{LineTable: 7, HasLines: true, Ranges: true}, true},
		{[]byte{6, 7}, 0, Decl{Line: 6}, true},
		{[]byte{8}, 0, Decl{}, false}, // of the next table
		{[]byte{2}, 0, Decl{}, false},
		{[]byte{0}, 0, Decl{}, false},
		{[]byte{1}, 1, Decl{}, false},
		{[]byte{1}, 2, Decl{}, false},
		{[]byte{1}, -1, Decl{}, false},
		{[]byte{0x81}, 0, Decl{}, false},
	} {
		if x, ok := d.Decl(tt.die, tt.off); ok != tt.ok || ok && x != tt.want {
			t.Errorf("DIE % x at %d: %+v, %v, want %+v, %v", tt.die, tt.off, x, ok, tt.want, tt.ok)
		}
	}
}

// TestPlansApart: one table serves plans one after the other, and a value of one is not
// taken for a value of another.
func TestPlansApart(t *testing.T) {
	sec := append(declare(1, TagSubprogram, false, at{attr: atDeclLine, form: FormData1}, at{attr: atName, form: FormStrp}), 0)
	u := &Unit{Version: 5, AddrSize: 8}
	var table Abbrevs
	for range 2 {
		for _, x := range []struct {
			plan *Plan
			want uint32
		}{{Types, bit(VName)}, {Places, bit(placeLine)}} {
			if err := table.Compile(sec, u, x.plan, 0); err != nil {
				t.Fatal(err)
			}
			if got := table.Lookup(1).Present; got != x.want {
				t.Errorf("values %#x, want %#x", got, x.want)
			}
		}
	}
}

// TestBytesOfTables: a table that holds more takes more memory.
func TestBytesOfTables(t *testing.T) {
	size := func(abbrevs ...[]byte) int {
		var table Abbrevs
		if err := table.Compile(append(slices.Concat(abbrevs...), 0), &Unit{Version: 5, AddrSize: 8}, Types, 0); err != nil {
			t.Fatal(err)
		}
		return table.Bytes()
	}
	few := size(declare(1, TagTypedef, false))
	if few < abbrevBytes {
		t.Errorf("%d bytes for an abbreviation of %d", few, abbrevBytes)
	}
	constant := declare(1, TagSubprogram, false, at{atDeclaration, FormImplicitConst, []byte{0x7f}}) // takes steps as well
	for name, more := range map[string]int{
		"codes":     size(declare(1, TagTypedef, false), declare(900, TagTypedef, false)) - 899*abbrevBytes,
		"far codes": size(declare(1, TagTypedef, false), declare(1<<40, TagTypedef, false)) - abbrevBytes,
		"steps":     size(declare(1, TagTypedef, false, many(500, FormUdata)...)) - 8*500,
		"constants": size(bytes.Repeat(constant, 500)) - 3*8*500,
	} {
		if more < few {
			t.Errorf("%s: %d bytes beside them, %d without", name, more, few)
		}
	}
}
