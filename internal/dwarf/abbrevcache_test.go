package dwarf

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// sameTable reports whether two tables have the same abbreviations with the same programs.
func sameTable(x, y *Abbrevs) bool {
	if len(x.tab) != len(y.tab) || len(x.sparse) != len(y.sparse) || x.cross != y.cross {
		return false
	}
	same := func(a, b Abbrev) bool {
		program := func(t *Abbrevs, a *Abbrev) (ops []op, consts []int64) {
			for _, o := range t.ops[a.prog&^crossProg:] {
				if o.code == opConst {
					consts = append(consts, t.consts[o.arg])
					o.arg = 0
				}
				if ops = append(ops, o); o.code == opEnd {
					break
				}
			}
			return ops, consts
		}
		if a.Tag != 0 && b.Tag != 0 {
			aOps, aConsts := program(x, &a)
			bOps, bConsts := program(y, &b)
			if !slices.Equal(aOps, bOps) || !slices.Equal(aConsts, bConsts) {
				return false
			}
		}
		a.prog, b.prog = a.prog&crossProg, b.prog&crossProg
		return a == b
	}
	for code, a := range x.sparse {
		if b, ok := y.sparse[code]; !ok || !same(a, b) {
			return false
		}
	}
	return slices.EqualFunc(x.tab, y.tab, same)
}

// TestAbbrevCache: a table is the same with a cache that has seen others, whatever they were.
func TestAbbrevCache(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	attrs := []uint64{atName, atType, atSibling, atByteSize, atDataMemberLoc, atDeclaration, atLocation, atConstValue, 0x39, 0x3a, 0x3b, 0x3f, 0x2137, 0x8a}
	forms := []Form{FormStrp, FormString, FormRef4, FormData1, FormData2, FormUdata, FormSdata, FormFlagPresent, FormImplicitConst, FormSecOffset, FormExprloc,
		FormBlock1, FormRefAddr, FormIndirect, 0x1f01, 0x7f}
	tags := []Tag{TagMember, TagStructureType, TagBaseType, TagSubprogram, TagFormalParameter, TagPointerType, TagTypedef, TagImportedUnit, 0x4109}
	constants := [][]byte{{0}, {1}, {0x3f}, {0x7f}, {0x80, 1}, {0xff, 0x7f}, {0x80, 0x80, 0x04}}
	declaration := func() []byte {
		var list []at
		for range r.IntN(13) {
			x := at{attr: attrs[r.IntN(len(attrs))], form: forms[r.IntN(len(forms))]}
			if r.IntN(20) > 0 && x.form >= 0x7f {
				x.form = FormData4
			}
			if x.form == FormImplicitConst {
				x.implicit = constants[r.IntN(len(constants))]
			}
			list = append(list, x)
		}
		return declare(0, tags[r.IntN(len(tags))], r.IntN(2) == 0, list...)[1:]
	}
	var known [][]byte
	for range 2 * cacheEntries {
		known = append(known, declaration())
	}
	units := []Unit{{Version: 5, AddrSize: 8}, {Version: 4, AddrSize: 8}, {Version: 5, AddrSize: 4}, {Version: 5, AddrSize: 8, Dwarf64: true}, {Version: 5, AddrSize: 8, BigEndian: true}}
	cache := NewAbbrevCache(Types, 7)
	reused := Abbrevs{Cache: cache}
	for range 2000 {
		u, plan, base := &units[0], Types, uint32(7)
		switch r.IntN(8) {
		case 0:
			u = &units[r.IntN(len(units))]
		case 1:
			plan = Places
		case 2:
			base = 8
		}
		var sec []byte
		for n := range r.IntN(60) {
			code := uint64(n + 1)
			if r.IntN(50) == 0 {
				code = uint64(r.IntN(5000))
			}
			sec = slices.Concat(sec, uleb(code), known[r.IntN(len(known))])
		}
		sec = append(sec, 0)
		if r.IntN(20) == 0 {
			sec = sec[:r.IntN(len(sec))+1]
		}
		var fresh Abbrevs
		want, got := fresh.Compile(sec, u, plan, base), reused.Compile(sec, u, plan, base)
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("with a cache: %v; without: %v", got, want)
		}
		if want == nil && !sameTable(&fresh, &reused) {
			t.Fatalf("unit %+v: %x is compiled to something else with a cache", *u, sec)
		}
	}
	used := 0
	for i := range cache.entries {
		if cache.entries[i].Load() != nil {
			used++
		}
	}
	if used < cacheEntries/2 {
		t.Errorf("%d entries of %d are in use: the tables say little", used, cacheEntries)
	}
}

// TestDeclaration: what the plan does not read makes no difference, all else does, and what
// does not fit is refused.
func TestDeclaration(t *testing.T) {
	name, typ := at{attr: atName, form: FormStrp}, at{attr: atType, form: FormRef4}
	line := func(b ...byte) at { return at{0x3b, FormImplicitConst, b} }
	size := func(b ...byte) at { return at{atByteSize, FormImplicitConst, b} }
	v5 := unitFormat{version: 5, addrSize: 8}
	read := func(b []byte, f unitFormat) (declaration, int) {
		var d declaration
		end := d.read(append(b[:len(b):len(b)], 0), 1, Types, f) // 0 ends the table
		return d, end
	}
	base := declare(1, TagStructureType, true, name, typ, line(9))
	want, end := read(base, v5)
	if end != len(base) {
		t.Fatalf("ends at %d of %d", end, len(base))
	}
	for what, b := range map[string][]byte{
		"another line": declare(1, TagStructureType, true, name, typ, line(0x11)),
		"a long line":  declare(1, TagStructureType, true, name, typ, line(0x80, 0x80, 0x01)),
	} {
		if d, end := read(b, v5); d != want || end != len(b) {
			t.Errorf("%s: another declaration, or its end is %d of %d", what, end, len(b))
		}
	}
	seen := map[declaration]string{want: "the first"}
	for what, b := range map[string][]byte{
		"tag": declare(1, TagUnionType, true, name, typ, line(9)), "long tag": declare(1, 0x2013, true, name, typ, line(9)),
		"children": declare(1, TagStructureType, false, name, typ, line(9)), "order": declare(1, TagStructureType, true, typ, name, line(9)),
		"form": declare(1, TagStructureType, true, at{attr: atName, form: FormString}, typ, line(9)), "one less": declare(1, TagStructureType, true, name, typ),
		"constant": declare(1, TagStructureType, true, name, size(4)), "another constant": declare(1, TagStructureType, true, name, size(5)),
		"a number":       declare(1, TagStructureType, true, name, at{attr: atByteSize, form: FormData1}),
		"long attribute": declare(1, TagStructureType, true, name, at{attr: 0x2137, form: FormData1}), "another": declare(1, TagStructureType, true, name, at{attr: 0x2138, form: FormData1}),
		"none": declare(1, TagStructureType, true), "many": declare(1, TagStructureType, true, many(12, FormData1)...), "more": declare(1, TagStructureType, true, slices.Repeat([]at{name}, 20)...),
	} {
		d, end := read(b, v5)
		if other, ok := seen[d]; ok || end != len(b) {
			t.Errorf("%s: the same as %s, or its end is %d of %d", what, other, end, len(b))
		}
		seen[d] = what
	}
	for _, f := range []unitFormat{{version: 2, addrSize: 8}, {version: 3, addrSize: 8}, {version: 4, addrSize: 8}, {version: 5, addrSize: 4}, {version: 5, addrSize: 8, dwarf64: true}, {version: 5, addrSize: 8, bigEndian: true}} {
		d, _ := read(base, f)
		if other, ok := seen[d]; ok {
			t.Errorf("format %+v: the same as %s", f, other)
		}
		seen[d] = "a format"
	}
	for n := range 8 { // whatever the size is, the version makes a difference
		versions := map[declaration]bool{}
		for v := range uint16(4) {
			d, _ := read(declare(1, TagStructureType, true, append(slices.Repeat([]at{size(4)}, n%2), slices.Repeat([]at{name}, n/2)...)...), unitFormat{version: 2 + v, addrSize: 8})
			versions[d] = true
		}
		if len(versions) != 4 {
			t.Errorf("%d attributes: only %d of 4 versions differ", n, len(versions))
		}
	}
	for what, b := range map[string][]byte{
		"24 attributes": declare(1, TagStructureType, true, slices.Repeat([]at{name}, 24)...), "20 long attributes": declare(1, TagStructureType, true, many(20, FormData1)...), "form of two bytes": declare(1, TagStructureType, true, at{attr: atName, form: 0x1f01}),
		"wanted constant of two bytes": declare(1, TagStructureType, true, size(0x80, 1)), "attribute of three bytes": declare(1, TagStructureType, true, at{attr: 1 << 14, form: FormData1}),
		"tag of three bytes": declare(1, TagGNUCallSite, true), "constant of a long attribute": declare(1, TagStructureType, true, at{0x2137, FormImplicitConst, []byte{1}}),
		"overlong constant": declare(1, TagStructureType, true, line(bytes.Repeat([]byte{0x80}, 20)...)),
	} {
		if _, end := read(b, v5); end != 0 {
			t.Errorf("%s: taken, up to %d of %d", what, end, len(b))
		}
	}
	for n := range base {
		if end := new(declaration).read(base[:n:n], 1, Types, v5); n > 0 && end != 0 {
			t.Errorf("%d of %d bytes: taken", n, len(base))
		}
	}
}
