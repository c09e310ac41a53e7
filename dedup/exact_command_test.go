package dedup

import (
	"bytes"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
)

func TestMergeOfInputWithItselfDeduplicatesToTheSameTypes(t *testing.T) {
	for _, name := range []string{"unambiguous/000", "unambiguous/031", "quirks/proto-param-names"} {
		raw := exactParse(t, name+".raw.btf", nil)
		once, err := DedupFile([]*btf.Blob{raw}, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := DedupFile([]*btf.Blob{raw, raw}, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once.Encode(), twice.Encode()) {
			t.Errorf("%s: once\n%stwice\n%s", name, exactText(once), exactText(twice))
		}
	}
}

func TestMergeShiftsOwnIDsAndStringsOnly(t *testing.T) {
	bb := btf.NewBuilder(false, nil)
	bb.Add("int", btf.Info(btf.KindInt, 0, false), 4, 32)
	base, err := bb.Blob()
	if err != nil {
		t.Fatal(err)
	}
	part := func(name string) *btf.Blob {
		b := btf.NewBuilder(false, base)
		td := b.Add(name, btf.Info(btf.KindTypedef, 0, false), 1)
		b.Add("s", btf.Info(btf.KindStruct, 1, false), 4, b.Str("int"), td, 0)
		blob, err := b.Blob()
		if err != nil {
			t.Fatal(err)
		}
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
	if text := exactText(got); text != want {
		t.Errorf("got\n%s", text)
	}
}

func TestMergeRefusesInputsThatDoNotFit(t *testing.T) {
	plain := exactParse(t, "quirks/array-slack.raw.btf", nil)
	big := *plain
	big.BigEndian = true
	split := exactParse(t, "quirks/split-typedef-in-base.raw.btf", exactParse(t, "quirks/split.base.btf", nil))
	for want, inputs := range map[string][]*btf.Blob{
		"no input":   nil,
		"byte order": {plain, &big},
		"base":       {plain, split},
	} {
		if _, err := Merge(inputs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := DedupFile([]*btf.Blob{split}, nil, true); err == nil {
		t.Error("split input accepted without its base")
	}
}

func TestDedupFileAlwaysUsesExactWithBase(t *testing.T) {
	base := exactParse(t, "quirks/split.base.btf", nil)
	raw := exactParse(t, "quirks/split-typedef-in-base.raw.btf", base)
	exp := exactParse(t, "quirks/split-typedef-in-base.exp.btf", base)
	out, err := DedupFile([]*btf.Blob{raw}, base, false)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Encode(), exp.Encode()) {
		t.Errorf("got\n%s", exactText(out))
	}
}
