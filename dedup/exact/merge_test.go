package exact

import (
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

func TestMergeShiftsOwnIDsAndStringsOnly(t *testing.T) {
	bb := btftest.New()
	bb.Add("int", btf.Info(btf.KindInt, 0, false), 4, 32)
	base := bb.Blob(t)
	part := func(name string) *btf.Blob {
		b := btftest.Over(base)
		td := b.Typedef(name, 1)
		b.Struct("s", 4, b.Member("int", td, 0))
		blob := b.Blob(t)
		return blob
	}
	got, err := Merge([]*btf.Blob{part("a"), part("b")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := btf.Parse(got.Encode(), base); err != nil {
		t.Fatal(err)
	}
	const want = `[2] TYPEDEF 'a' type_id=1
[3] STRUCT 's' size=4 vlen=1
	'int' type_id=2 bits_offset=0
[4] TYPEDEF 'b' type_id=1
[5] STRUCT 's' size=4 vlen=1
	'int' type_id=4 bits_offset=0
`
	if text := btftest.Text(got); text != want {
		t.Errorf("got\n%s", text)
	}
}

func TestMergeRefusesInputsThatDoNotFit(t *testing.T) {
	plain := vectors.Parse(t, "quirks/array-slack.raw.btf", nil)
	big := *plain
	big.BigEndian = true
	split := vectors.Parse(t, "quirks/split-typedef-in-base.raw.btf", vectors.Parse(t, "quirks/split.base.btf", nil))
	for want, inputs := range map[string][]*btf.Blob{
		"no input":   nil,
		"byte order": {plain, &big},
		"base":       {plain, split},
	} {
		if _, err := Merge(inputs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestMergeOfOne: a single input is the result, as it is.
func TestMergeOfOne(t *testing.T) {
	in := vectors.Parse(t, "quirks/array-slack.raw.btf", nil)
	if out, err := Merge([]*btf.Blob{in}); err != nil || out != in {
		t.Errorf("%p became %p, %v", in, out, err)
	}
}

// TestMergeLimits: inputs may have the highest id and string offset of the format
// together, and no more. They are the same input again and again, which is never
// looked into.
func TestMergeLimits(t *testing.T) {
	const many = 1 << 11
	for _, tt := range []struct {
		name                  string
		types, words, strings uint64 // of all together
		want                  string // "" is none
	}{
		{"all that fits", btf.MaxID, 1 << 20, btf.MaxStrOff, ""},
		{"one type too many", btf.MaxID + 1, 0, 0, "2147483648 types"},
		{"one string byte too many", 0, 0, btf.MaxStrOff + 1, "2147483648 string bytes"},
		{"words", 0, inProgress - 1, 0, ""},
		{"one word too many", 0, inProgress, 0, "too large"},
	} {
		up := func(n uint64) uint64 { return (n + many - 1) / many }
		in := &btf.Blob{Off: make([]uint32, up(tt.types)), Words: make([]uint32, up(tt.words)), Strings: make([]byte, up(tt.strings))}
		inputs := slices.Repeat([]*btf.Blob{in}, many)
		last := btf.Blob{Off: in.Off[many*up(tt.types)-tt.types:], Words: in.Words[many*up(tt.words)-tt.words:], Strings: in.Strings[many*up(tt.strings)-tt.strings:]}
		inputs[many-1] = &last
		if err := mergeable(inputs); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}
