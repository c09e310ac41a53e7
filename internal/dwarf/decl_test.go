package dwarf

import (
	"bytes"
	"slices"
	"testing"
)

// TestDeclsOfEveryForm: a line of every form is read, or stepped over if it is
// no number, and what stands behind it is read too. Nothing is read of a DIE
// that is cut off.
func TestDeclsOfEveryForm(t *testing.T) {
	for i := range shapesOfUnits {
		u := &shapesOfUnits[i]
		cases := append(formCases(u), formCase{FormImplicitConst, nil, 1<<64 - 2})
		for _, c := range cases {
			for _, indirect := range []bool{false, true} {
				line, data := at{attr: atDeclLine, form: c.form}, c.data
				want := c.want
				switch c.form {
				case FormImplicitConst:
					line.implicit = []byte{0x7e}
				case FormData16, FormStrx3, FormAddrx3, FormFlagPresent, FormString, FormBlock, FormBlock1, FormBlock2, FormBlock4, FormExprloc:
					want = 0
				}
				if indirect {
					if c.form == FormImplicitConst {
						continue // DWARF has none
					}
					line.form, data, want = FormIndirect, slices.Concat(uleb(uint64(c.form)), c.data), 0
				}
				sec := append(declare(1, TagSubprogram, false, line, at{attr: 0x8a, form: FormData2}, at{attr: atDeclFile, form: FormData1}), 0)
				die := slices.Concat([]byte{0xff, 1}, data, []byte{5, 5, 9})
				var d Decls
				if !d.Index(sec, u) {
					t.Fatalf("form %#x: no table", c.form)
				}
				if x, ok := d.Read(die, 1); !ok || x != (Decl{Line: want, File: 9, HasFile: true}) {
					t.Errorf("unit %d, form %#x, indirect %v: %+v, %v, want line %d", i, c.form, indirect, x, ok, want)
				}
				for n := range len(die) {
					if x, ok := d.Read(die[:n:n], 1); ok {
						t.Errorf("unit %d, form %#x, indirect %v: %d of %d bytes are %+v", i, c.form, indirect, n, len(die), x)
					}
				}
			}
		}
	}
}

// TestDeclsIndex: which abbreviations are found, and which DIEs can be read.
func TestDeclsIndex(t *testing.T) {
	u := &Unit{Version: 5, AddrSize: 8, AbbrevOff: 2}
	line := func(n byte) at { return at{atDeclLine, FormImplicitConst, []byte{n}} }
	sec := slices.Concat([]byte{1, 1}, declare(1, TagSubprogram, true, line(1)), declare(1, TagSubprogram, false, line(2)),
		declare(maxDeclCode, TagSubprogram, false, line(3)), declare(maxDeclCode+1, TagSubprogram, false, line(4)),
		declare(5, TagCompileUnit, false, at{attr: atStmtList, form: FormData1}, at{attr: atRanges, form: FormData1}),
		declare(6, TagSubprogram, false, at{attr: 0, form: FormData1}, line(6)), // attribute 0 with a form is no end
		declare(7, TagSubprogram, false, at{attr: atDeclLine}),
		[]byte{0})
	end := len(sec)
	sec = append(append(sec, declare(8, TagSubprogram, false, line(8))...), 0)
	var d Decls
	if _, ok := d.Read([]byte{1}, 0); ok {
		t.Error("a DIE without a table")
	}
	if !d.Index(sec, u) {
		t.Fatal("no table")
	}
	for _, tt := range []struct {
		die  []byte
		off  int
		want Decl
		ok   bool
	}{
		{[]byte{1}, 0, Decl{Line: 1}, true},
		{uleb(maxDeclCode), 0, Decl{Line: 3}, true},
		{uleb(maxDeclCode + 1), 0, Decl{}, false},
		{[]byte{5, 7, 8}, 0, Decl{LineTable: 7, HasLines: true, Ranges: true}, true},
		{[]byte{6, 7}, 0, Decl{Line: 6}, true},
		{[]byte{7, 7}, 0, Decl{}, false}, // form 0 of an attribute
		{[]byte{8}, 0, Decl{}, false},    // of the next table
		{[]byte{2}, 0, Decl{}, false},
		{[]byte{0}, 0, Decl{}, false},
		{[]byte{1}, 1, Decl{}, false},
		{[]byte{1}, 2, Decl{}, false},
		{[]byte{1}, -1, Decl{}, false},
		{[]byte{0x81}, 0, Decl{}, false},
	} {
		if x, ok := d.Read(tt.die, tt.off); ok != tt.ok || ok && x != tt.want {
			t.Errorf("DIE % x at %d: %+v, %v, want %+v, %v", tt.die, tt.off, x, ok, tt.want, tt.ok)
		}
	}
	wide := slices.Concat(uleb(1), uleb(0x2e), []byte{0}, uleb(atDeclLine), uleb(0x10000|uint64(FormData1)), []byte{0, 0, 0})
	if d.Index(wide, &Unit{Version: 5, AddrSize: 8}) {
		if x, ok := d.Read([]byte{1, 9}, 0); ok {
			t.Errorf("a form of more than 16 bits: %+v", x)
		}
	}
	for n := 2; n < end; n++ {
		if new(Decls).Index(sec[:n:n], u) {
			t.Errorf("a table is whole with %d of %d bytes", n, end)
		}
	}
	if new(Decls).Index(sec, &Unit{Version: 5, AddrSize: 8, AbbrevOff: 1 << 40}) {
		t.Error("a table beyond the section")
	}
}

// TestDeclsKeep: a table is read again if it is another, or for other units.
func TestDeclsKeep(t *testing.T) {
	one := append(declare(1, TagSubprogram, false, at{atDeclLine, FormImplicitConst, []byte{1}}), 0)
	first := Unit{Version: 4, AddrSize: 8}
	for name, change := range map[string]func(u *Unit, d *Decls){
		"":           func(*Unit, *Decls) {},
		"offset":     func(u *Unit, _ *Decls) { u.AbbrevOff = uint64(len(one)) },
		"version":    func(u *Unit, _ *Decls) { u.Version = 5 },
		"address":    func(u *Unit, _ *Decls) { u.AddrSize = 4 },
		"64-bit":     func(u *Unit, _ *Decls) { u.Dwarf64 = true },
		"byte order": func(u *Unit, _ *Decls) { u.BigEndian = true },
		"forgotten":  func(_ *Unit, d *Decls) { d.Forget() },
	} {
		sec := append(bytes.Clone(one), one...)
		var d Decls
		if !d.Index(sec, &first) {
			t.Fatal("no table")
		}
		// What is read from here on is cut off.
		clear(sec)
		for i := range sec {
			sec[i] = 0x80
		}
		u := first
		change(&u, &d)
		if kept := d.Index(sec, &u); kept != (name == "") {
			t.Errorf("other %q: the table is kept: %v", name, kept)
		}
	}
	sec := bytes.Clone(one)
	var d Decls
	if !d.Index(sec, &first) || d.Index(sec[:len(sec)-1], &first) || !d.Index(sec, &first) || !d.Index(bytes.Clone(sec), &first) {
		t.Error("the same table in a shorter or another section")
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
	constant := declare(1, TagSubprogram, false, at{attr: atDeclaration, form: FormFlagPresent}) // takes steps as well
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
