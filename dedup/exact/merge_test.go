package exact

import (
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
