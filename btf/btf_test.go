package btf_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	. "github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// everyKind builds a blob with one type of each kind.
func everyKind(t testing.TB, bigEndian bool) *Blob {
	t.Helper()
	b := NewBuilder(bigEndian, nil)
	i := b.Add("int", Info(KindInt, 0, false), 4, 1<<24|32)
	p := b.Add("", Info(KindPtr, 0, false), i)
	b.Add("", Info(KindArray, 0, false), 0, p, i, 7)
	s := b.Add("s", Info(KindStruct, 2, true), 8, b.Str("a"), i, 3<<24, b.Str("b"), i, 32)
	b.Add("u", Info(KindUnion, 1, false), 8, b.Str("a"), i, 0)
	b.Add("e", Info(KindEnum, 1, true), 4, b.Str("E1"), 0xffffffff)
	b.Add("f", Info(KindFwd, 0, true), 0)
	b.Add("td", Info(KindTypedef, 0, false), s)
	b.Add("", Info(KindVolatile, 0, false), i)
	b.Add("", Info(KindConst, 0, false), 0)
	b.Add("", Info(KindRestrict, 0, false), p)
	proto := b.Add("", Info(KindFuncProto, 2, false), i, b.Str("x"), p, 0, 0)
	b.Add("fn", Info(KindFunc, 1, false), proto)
	v := b.Add("var", Info(KindVar, 0, false), s, 1)
	b.Add(".data", Info(KindDatasec, 1, false), 8, v, 0, 8)
	b.Add("double", Info(KindFloat, 0, false), 8)
	b.Add("tag", Info(KindDeclTag, 0, false), s, 0xffffffff)
	b.Add("ttag", Info(KindTypeTag, 0, true), i)
	b.Add("e64", Info(KindEnum64, 1, false), 8, b.Str("E2"), 1, 2)
	blob := MustBlob(t, b)
	return blob
}

const everyKindText = `[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
[2] PTR '(anon)' type_id=1
[3] ARRAY '(anon)' type_id=2 index_type_id=1 nr_elems=7
[4] STRUCT 's' size=8 vlen=2
	'a' type_id=1 bits_offset=0 bitfield_size=3
	'b' type_id=1 bits_offset=32
[5] UNION 'u' size=8 vlen=1
	'a' type_id=1 bits_offset=0
[6] ENUM 'e' encoding=SIGNED size=4 vlen=1
	'E1' val=-1
[7] FWD 'f' fwd_kind=union
[8] TYPEDEF 'td' type_id=4
[9] VOLATILE '(anon)' type_id=1
[10] CONST '(anon)' type_id=0
[11] RESTRICT '(anon)' type_id=2
[12] FUNC_PROTO '(anon)' ret_type_id=1 vlen=2
	'x' type_id=2
	'(anon)' type_id=0
[13] FUNC 'fn' type_id=12 linkage=global
[14] VAR 'var' type_id=4, linkage=global
[15] DATASEC '.data' size=8 vlen=1
	type_id=14 offset=0 size=8 (VAR 'var')
[16] FLOAT 'double' size=8
[17] DECL_TAG 'tag' type_id=4 component_idx=-1
[18] TYPE_TAG 'ttag' type_id=1
[19] ENUM64 'e64' encoding=UNSIGNED size=8 vlen=1
	'E2' val=8589934593ULL
`

func TestEncodeThenParseGivesTheSameTypesInBothByteOrders(t *testing.T) {
	for _, big := range []bool{false, true} {
		data := everyKind(t, big).Encode()
		b := MustParse(t, data, nil)
		if b.BigEndian != big {
			t.Errorf("BigEndian = %v, want %v", b.BigEndian, big)
		}
		if text := btftest.Text(b); text != everyKindText {
			t.Errorf("big endian %v: got\n%s", big, text)
		}
		if !bytes.Equal(b.Encode(), data) {
			t.Errorf("big endian %v: second encoding differs", big)
		}
	}
}

func TestInfoWord(t *testing.T) {
	w := Info(KindEnum64, 0x123456, true)
	if w != 0x93123456 || InfoKind(w) != KindEnum64 || InfoVlen(w) != 0x123456 || !InfoKflag(w) {
		t.Errorf("info word %#x: %v %#x %v", w, InfoKind(w), InfoVlen(w), InfoKflag(w))
	}
	if k := Kind(77); k.String() != "KIND_77" || ExtraWords(k, 9) != 0 {
		t.Errorf("unknown kind: %v, %d extra words", k, ExtraWords(k, 9))
	}
}

func TestSplitContinuesIDsAndStringsOfBase(t *testing.T) {
	base := everyKind(t, false)
	b := NewBuilder(false, base)
	id := b.Add("int", Info(KindTypedef, 0, false), 4)
	b.Add("own", Info(KindTypedef, 0, false), id)
	split := MustBlob(t, b)
	split = MustParse(t, split.Encode(), base)
	if id != 20 || split.FirstID != 20 || split.TypeCount() != 22 {
		t.Errorf("ids start at %d, end at %d", split.FirstID, split.TypeCount())
	}
	if string(split.Strings) != "own\x00" {
		t.Errorf("own strings %q", split.Strings)
	}
	if got := split.Name(split.Record(20)[0]); got != "int" {
		t.Errorf("name from the base = %q", got)
	}
	if split.Kind(4) != KindStruct || split.Kind(0) != KindVoid || split.Kind(99) != KindVoid {
		t.Error("Kind is wrong for a base type, void or a missing type")
	}
	if _, err := Parse(split.Encode(), nil); err == nil {
		t.Error("split BTF accepted without its base")
	}
	if _, err := Parse(everyKind(t, true).Encode(), base); err == nil {
		t.Error("byte order other than the base's accepted")
	}
}

func TestParseRefusesDamage(t *testing.T) {
	le := binary.LittleEndian
	put := func(off int, v uint32) func([]byte) []byte {
		return func(d []byte) []byte { le.PutUint32(d[off:], v); return d }
	}
	tests := []struct {
		name string
		edit func([]byte) []byte
		want string
	}{
		{"short header", func(d []byte) []byte { return d[:23] }, "header: 23 bytes"},
		{"magic", func(d []byte) []byte { d[0] = 1; return d }, "magic"},
		{"version", func(d []byte) []byte { d[2] = 2; return d }, "version 2"},
		{"flags", func(d []byte) []byte { d[3] = 1; return d }, "flags"},
		{"header too short", put(4, 20), "header length 20"},
		{"header behind data", put(4, 1<<20), "header length"},
		{"type offset", put(8, 2), "multiple of 4"},
		{"type length", put(12, 5), "multiple of 4"},
		{"types behind strings", put(12, 0xfffffffc), "behind the strings"},
		{"strings behind data", put(20, 0xffffffff), "strings end at"},
		{"no strings", put(20, 0), "empty section"},
		{"last byte", func(d []byte) []byte { d[len(d)-1] = 'x'; return d }, "no NUL"},
		{"truncated types", put(12, 4), "truncated record at offset 0"},
		{"truncated trailer", put(12, 12), "truncated INT at offset 0"},
		{"kind 0", put(24+4, 0), "unknown kind 0"},
		{"kind 23", put(24+4, 23<<24), "unknown kind 23"},
		{"huge vlen", put(24+4, 4<<24|0xffffff), "truncated STRUCT"},
		{"name offset", put(24, 0x7fff0000), "name offset"},
		{"type id", put(24+16+8, 20), "PTR [2] at offset 16: type id 20"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := Parse(tt.edit(everyKind(t, false).Encode()), nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if b != nil {
				t.Error("a blob came with the error")
			}
		})
	}
}

func TestParseRefusesFuncWithoutPrototype(t *testing.T) {
	b := NewBuilder(false, nil)
	b.Add("fn", Info(KindFunc, 0, false), 0)
	if _, err := b.Blob(); err == nil || !strings.Contains(err.Error(), "not FUNC_PROTO") {
		t.Errorf("error %v", err)
	}
}

func TestParseAcceptsLongHeaderWithLayout(t *testing.T) {
	small := everyKind(t, false)
	le := binary.LittleEndian
	data := AppendHeader(nil, false, uint32(4*len(small.Words)), uint32(len(small.Strings)))
	typeLen := le.Uint32(data[12:])
	le.PutUint32(data[4:], 32)
	le.PutUint32(data[16:], typeLen+4) // strings come after a 4-byte layout
	data = le.AppendUint32(data, typeLen)
	data = le.AppendUint32(data, 4)
	data = AppendWords(data, false, small.Words)
	data = append(data, 0, 0, 0, 0)
	data = append(data, small.Strings...)
	data = append(data, "trailing"...)
	b := MustParse(t, data, nil)
	if b.Form = (Form{}); !bytes.Equal(b.Encode(), small.Encode()) {
		t.Error("content differs")
	}
	le.PutUint32(data[24:], typeLen+2)
	if _, err := Parse(data, nil); err == nil {
		t.Error("misaligned layout accepted")
	}
}

func TestBuilderRefusesWrongRecordLength(t *testing.T) {
	b := NewBuilder(false, nil)
	b.Add("int", Info(KindInt, 0, false), 4)
	if _, err := b.Blob(); err == nil {
		t.Error("INT without data word accepted")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(everyKind(f, false).Encode(), false)
	f.Add(everyKind(f, true).Encode(), false)
	f.Add(everyKind(f, false).Encode(), true)
	f.Add(unhex(f, layoutSample), false)
	for _, big := range []bool{false, true} {
		f.Add(unknownKinds(f, big, laterLayout()), false)
		b := everyKind(f, big)
		b.Form = WithLayout()
		f.Add(b.Encode(), false)
	}
	base := everyKind(f, false)
	f.Fuzz(func(t *testing.T, data []byte, split bool) {
		var over *Blob
		if split {
			over = base
		}
		b, err := Parse(data, over)
		if err != nil {
			if b != nil {
				t.Fatal("a blob came with the error")
			}
			return
		}
		first := btftest.Text(b)
		if len(b.Skipped) > 0 {
			if b, err = b.WithoutSkipped(); err != nil {
				return
			}
			first = btftest.Text(b)
		}
		again, err := Parse(b.Encode(), over)
		if err != nil {
			t.Fatalf("own encoding refused: %v", err)
		}
		if btftest.Text(again) != first {
			t.Fatal("text changed by encoding")
		}
	})
}

// TestPointerSize: the size of long counts, wherever in the chain it is.
func TestPointerSize(t *testing.T) {
	blob := func(base *Blob, long string, size uint32) *Blob {
		b := NewBuilder(false, base)
		b.Add("long double", Info(KindFloat, 0, false), 8)
		b.Add("long long", Info(KindInt, 0, false), 4, 32)
		b.Add(long, Info(KindInt, 0, false), size, 8*size)
		got := MustBlob(t, b)
		return got
	}
	four := blob(nil, "int unsigned long", 4)
	for _, x := range []struct {
		b    *Blob
		want int
	}{{blob(nil, "longer", 4), 8}, {four, 4}, {blob(four, "long int", 8), 4}, {blob(blob(nil, "i", 4), "long int", 4), 4}} {
		if got := x.b.PointerSize(); got != x.want {
			t.Errorf("%d, want %d", got, x.want)
		}
	}
}
