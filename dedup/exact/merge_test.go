package exact

import (
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup/deduptest"
)

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
	if text := deduptest.Text(got); text != want {
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
