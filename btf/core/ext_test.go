package core

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// small is an object with two relocations of a struct.
func small() *object {
	o := newObject()
	s := o.Struct("item", 8, o.Member("a", o.Int("int", 4), 0))
	o.reloc(s, "0:0", FieldByteOffset)
	o.reloc(s, "0", TypeExists)
	return o
}

// TestHostileSections: a part of .BTF.ext that lies outside of the section, or has an unknown form, is one
// error that says where.
func TestHostileSections(t *testing.T) {
	put := func(at int, v uint32) func([]byte) []byte {
		return func(d []byte) []byte { binary.LittleEndian.PutUint32(d[at:], v); return d }
	}
	const part = 32            // the header's length
	const first = part + 4 + 8 // the first relocation
	const second = first + coreRecordLen
	o := small()
	o.ext(false) // adds a name
	end := o.Blob(t).StrEnd()
	for _, tt := range []struct {
		name   string
		damage func([]byte) []byte
		want   string
	}{
		{"empty", func(d []byte) []byte { return nil }, "0 bytes are less than a header"},
		{"cut header", func(d []byte) []byte { return d[:23] }, "23 bytes are less than a header"},
		{"magic", put(0, 0x01011234), "bad magic 0x1234"},
		{"byte order", func(d []byte) []byte { d[0], d[1] = d[1], d[0]; return d }, "the byte order is not the one of .BTF"},
		{"version", func(d []byte) []byte { d[2] = 2; return d }, "version 2 is not known"},
		{"header too short", put(4, 23), "the header claims 23 bytes"},
		{"header too long", put(4, 1<<31), "the header claims 2147483648 bytes"},
		{"part behind the end", put(24, 1), "go beyond the end"},
		{"a part that comes later", func(d []byte) []byte {
			return put(24, 4)(append(d[:part:part], append([]byte{9, 9, 9, 9}, d[part:]...)...))
		}, ""},
		{"part too long", put(28, 1<<32-1), "go beyond the end"},
		{"records too short", put(part, 12), "relocations of 12 bytes, not of 16"},
		{"records of odd size", put(part, 18), "relocations of 18 bytes, not of 16"},
		{"records too long", put(part, 1<<20), "relocations of 1048576 bytes, not of 16"},
		{"too many records", put(part+8, 3), "3 relocations of a section do not fit"},
		{"very many records", put(part+8, 1<<32-1), "4294967295 relocations of a section do not fit"},
		{"section name", put(part+4, 1<<30), "name offset 1073741824 of a section is out of range"},
		{"section name at the end", put(part+4, end), "of a section is out of range"},
		{"access at the end", put(first+8, end), "string offset"},
		{"rest of a section", func(d []byte) []byte { return put(28, uint32(len(d)+4-part))(append(d, 0, 0, 0, 0)) }, "do not fit into the rest"},
		{"type", put(first+4, 99), "relocation at offset 12: type id 99 is out of range"},
		{"void", put(second+4, 0), "relocation at offset 28: type id 0 is out of range"},
		{"access", put(first+8, 1<<31), "string offset 2147483648 is out of range"},
		{"kind", put(first+12, 13), "kind 13 is not known"},
		{"member", put(second+12, uint32(FieldExists)), ""},
		{"no such member", func(d []byte) []byte { return bytes.Replace(d, []byte("?"), nil, 1) }, ""},
	} {
		o := small()
		ext := o.ext(false)
		_, err := ReadProgram(o.Blob(t), tt.damage(ext))
		switch {
		case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestNoRelocations: a section may have none, or be older than they are.
func TestNoRelocations(t *testing.T) {
	o := small()
	ext := o.ext(false)
	for name, d := range map[string][]byte{
		"old header": append([]byte{0x9f, 0xeb, 1, 0, 24, 0, 0, 0}, make([]byte, 16)...),
		"empty part": append([]byte{0x9f, 0xeb, 1, 0, 32, 0, 0, 0}, make([]byte, 24)...),
	} {
		p, err := ReadProgram(o.Blob(t), d)
		if err != nil || p.Count() != 0 {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := RelocatedNames(d, o.Blob(t)); err == nil {
			t.Errorf("%s: names although there are no relocations", name)
		}
	}
	names, err := RelocatedNames(ext, o.Blob(t))
	if err != nil || len(names) != 1 || names[0] != "item" {
		t.Errorf("%q, %v", names, err)
	}
}

// TestAccessStrings: an access string that does not fit the type is an error of the program.
func TestAccessStrings(t *testing.T) {
	for _, tt := range []struct {
		access string
		kind   Kind
		want   string
	}{
		{"", FieldExists, "is not a list of numbers"},
		{"0:", FieldExists, "is not a list of numbers"},
		{"-1", FieldExists, "is not a list of numbers"},
		{"0:1", FieldExists, "does not fit the type"},
		{"0:0:0", FieldExists, "does not fit the type"},
		{"0:4294967296", FieldExists, "is not a list of numbers"},
		{"0" + strings.Repeat(":0", 64), FieldExists, "has more than 64 numbers"},
		{"1", TypeExists, "does not fit the type"},
		{"0:0", TypeSize, "does not fit the type"},
		{"0", EnumvalValue, "does not fit the type"},
		{"0:1:0", FieldExists, "does not fit the type"}, // without elements, but not at the end
		{"0:2:2", FieldExists, "does not fit the type"}, // at the end, but with elements
	} {
		o := newObject()
		i := o.Int("int", 4)
		item := o.Struct("item", 8, o.Member("a", i, 0))
		if strings.Count(tt.access, ":") == 2 && tt.access != "0:0:0" {
			item = o.Struct("item", 8, o.Member("a", i, 0), o.Member("none", o.Array(i, i, 0), 32), o.Member("two", o.Array(i, i, 2), 32))
		}
		o.reloc(item, tt.access, tt.kind)
		ext := o.ext(false)
		_, err := ReadProgram(o.Blob(t), ext)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "tp/test+0x0: ") {
			t.Errorf("%q: %v, want %q", tt.access, err, tt.want)
		}
	}
	// An enum has the values 0 and 1, of its Vlen of 2.
	for _, access := range []string{"0", "1", "2"} {
		o := newObject()
		o.reloc(o.Enum("colour", o.Value("RED", 0), o.Value("BLUE", 7)), access, EnumvalValue)
		ext := o.ext(false)
		if _, err := ReadProgram(o.Blob(t), ext); (err != nil) != (access == "2") {
			t.Errorf("value %s of two: %v", access, err)
		}
	}
	o := newObject()
	o.reloc(o.Ptr(0), "0", TypeExists)
	ext := o.ext(false)
	if _, err := ReadProgram(o.Blob(t), ext); err == nil || !strings.Contains(err.Error(), "of a type without a name") {
		t.Errorf("a pointer: %v", err)
	}
}

func TestEssential(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "a": "a", "a___b": "a", "a___": "a___", "___a": "___a", "a____b": "a____b", "a___b___c": "a___b", "a___b____c": "a", "a_b__c": "a_b__c",
	} {
		if got := string(essential([]byte(name))); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestChain: the search looks at the types of a base first, and goes on to split BTF only if none of them is a candidate.
func TestChain(t *testing.T) {
	base := btftest.Build(t, nil, func(b *btftest.Builder) {
		i := b.Int("int", 4)
		b.Struct("item", 4, b.Member("a", i, 0))
	})
	b := btftest.Build(t, base, func(b *btftest.Builder) {
		b.Struct("item", 8, b.Member("b", 1, 32))
		b.Struct("own", 8, b.Member("x", 1, 32))
	})
	o := newObject()
	i := o.Int("int", 4)
	item := o.Struct("item", 4, o.Member("a", i, 0), o.Member("b", i, 32))
	o.reloc(item, "0:0", FieldExists)
	o.reloc(item, "0:1", FieldExists)
	o.reloc(o.Struct("own", 4, o.Member("x", i, 0)), "0:0", FieldExists)
	verdicts, types := outcome(t, o.read(t), b)
	want := `field_exists struct item.a: found
field_exists struct item.b: missing
field_exists struct own.x: found
[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
[2] STRUCT 'item' size=4 vlen=1
	'a' type_id=1 bits_offset=0
[3] STRUCT 'own' size=8 vlen=1
	'x' type_id=1 bits_offset=32
`
	if verdicts+types != want {
		t.Errorf("got\n%s%s\nwant\n%s", verdicts, types, want)
	}
}

// TestHostileTypes: types that would take forever, or contain themselves, end soon.
func TestHostileTypes(t *testing.T) {
	deep := func(b *btftest.Builder) uint32 { // each prototype has the one before four times
		at := b.Ptr(b.Proto(0))
		for range 14 {
			at = b.Ptr(b.Proto(at, b.Param("", at), b.Param("", at), b.Param("", at)))
		}
		return b.Typedef("deep", at)
	}
	self := func(b *btftest.Builder) uint32 {
		return b.Struct("self", 4, b.Member("", b.N+1, 0))
	}
	o := newObject()
	o.reloc(deep(o.Builder), "0", TypeExists)
	o.reloc(deep(o.Builder), "0", TypeMatches)
	s := self(o.Builder)
	o.reloc(s, "0", TypeMatches)
	o.reloc(o.Struct("self", 4, o.Member("x", o.Int("int", 4), 0)), "0:0", FieldExists)
	began := time.Now()
	verdicts, _ := outcome(t, o.read(t), btftest.Build(t, nil, func(b *btftest.Builder) { deep(b); self(b) }))
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	want := `type_exists deep: failed
type_matches deep: failed
type_matches struct self: missing
field_exists struct self.x: missing
`
	if verdicts != want {
		t.Errorf("got\n%s", verdicts)
	}
}

// FuzzResolve: whatever the program and the kernel are, there is an error or a minimal BTF, and
// the minimal BTF of this is the same again.
func FuzzResolve(f *testing.F) {
	for _, tt := range rules {
		o, target := newObject(), btftest.New()
		tt.local(o)
		tt.target(target)
		ext := o.ext(false)
		f.Add(o.Encode(false), ext, target.Encode(false))
	}
	f.Fuzz(func(t *testing.T, object, ext, kernel []byte) {
		b, err := btf.Parse(object, nil)
		if err != nil {
			return
		}
		k, err := btf.Parse(kernel, nil)
		if err != nil {
			return
		}
		_, _ = RelocatedNames(ext, b)
		p, err := ReadProgram(b, ext)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q", err)
			}
			return
		}
		names := Names{}
		names.Add(p)
		needs := NewTarget(k, names).NewNeeds()
		for _, x := range p.Relocs {
			r := needs.target.Resolve(x)
			needs.Add(x, &r)
		}
		out, err := needs.Blob()
		if err != nil {
			t.Fatal(err)
		}
		again := NewTarget(out, names).NewNeeds()
		for _, x := range p.Relocs {
			r := again.target.Resolve(x)
			again.Add(x, &r)
		}
		if b, err := again.Blob(); err != nil || !bytes.Equal(b.Encode(), out.Encode()) {
			t.Errorf("again: %v\n%s\nbefore:\n%s", err, btftest.Text(b), btftest.Text(out))
		}
	})
}

// TestWhy: what is missing is named.
func TestWhy(t *testing.T) {
	target := btftest.New()
	i := target.Int("int", 4)
	target.Struct("item", 8, target.Member("a", i, 0), target.Member("few", target.Array(i, i, 1), 32))
	target.Enum("colour", target.Value("RED", 0))
	b := target.Blob(t)
	for _, tt := range []struct {
		access string
		kind   Kind
		want   string
	}{
		{"0:0", FieldExists, ""},
		{"0:1:1", FieldExists, "no array of so many elements"},
		{"0:2", FieldExists, "no member b of a compatible type"},
		{"0", TypeMatches, "no type of this name matches"},
		{"1", EnumvalExists, "no value BLUE"},
	} {
		o := newObject()
		i := o.Int("int", 4)
		of := o.Struct("item", 16, o.Member("a", i, 0), o.Member("few", o.Array(i, i, 2), 32), o.Member("b", i, 96))
		if tt.kind == EnumvalExists {
			of = o.Enum("colour", o.Value("RED", 0), o.Value("BLUE", 1))
		}
		o.reloc(of, tt.access, tt.kind)
		p := o.read(t)
		names := Names{}
		names.Add(p)
		if r := NewTarget(b, names).Resolve(p.Relocs[0]); r.Why != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.kind, tt.access, r.Why, tt.want)
		}
	}
}

// TestManyCandidates: many relocations, and many types or values among which each has to look. The work does not
// multiply without a bound.
func TestManyCandidates(t *testing.T) {
	const relocs, many = 4_000, 500_000
	for name, c := range map[string]struct {
		local  func(o *object) uint32
		kind   Kind
		target func(b *btftest.Builder)
	}{
		"types": {func(o *object) uint32 { return o.Struct("x", 4) }, TypeSize, func(b *btftest.Builder) {
			for range many {
				b.Struct("x", 4)
			}
		}},
		"types of another kind": {func(o *object) uint32 { return o.Struct("x", 4) }, TypeSize, func(b *btftest.Builder) {
			for range many {
				b.Enum("x")
			}
		}},
		"values": {func(o *object) uint32 { return o.Enum("x", o.Value("none", 0)) }, EnumvalExists, func(b *btftest.Builder) {
			b.Enum("x", slices.Repeat([]btftest.Part{b.Value("value", 0)}, many)...)
		}},
	} {
		o := newObject()
		for range relocs {
			o.reloc(c.local(o), "0", c.kind)
		}
		p := o.read(t)
		names := Names{}
		names.Add(p)
		target := NewTarget(btftest.Build(t, nil, c.target), names)
		begun := time.Now()
		failed := 0
		for _, x := range p.Relocs {
			if target.Resolve(x).Verdict == Failed {
				failed++
			}
		}
		if took := time.Since(begun); failed < relocs/2 || took > 30*time.Second {
			t.Errorf("%s: %d of %d failed, in %v", name, failed, len(p.Relocs), took)
		}
	}
}
