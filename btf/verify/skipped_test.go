package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// laterBTF is BTF with types of kinds 23 and 24 between others, over base or nil, and
// a layout section.
func laterBTF(big bool, base *btf.Blob, layout []byte) []byte {
	first := uint32(1)
	types := []uint32{}
	strs := "\x00int\x00"
	name := uint32(1)
	if base != nil {
		first, strs = base.TypeCount(), "int\x00"
		name = base.StrEnd()
	}
	types = append(types,
		0, btf.Info(23, 2, false), 4, 8, 1, 2,
		name, btf.Info(btf.KindInt, 0, false), 4, 1<<24|32,
		0, btf.Info(24, 1, true), 0, first,
		0, btf.Info(btf.KindPtr, 0, false), first+1,
	)
	f := btf.Form{Layout: layout}
	d := f.AppendHeader(nil, big, uint32(4*len(types)), uint32(len(strs)))
	d = btf.AppendWords(d, big, types)
	return append(append(d, layout...), strs...)
}

func laterLayout() []byte { return append(btf.LongLayout(), 4, 4, 0, 0, 0, 4, 0, 0) }

// TestUnknownKindsAreNotJudged: by the newest release or one after it, types of
// unknown kinds are skipped by the layout section. No release known takes them.
func TestUnknownKindsAreNotJudged(t *testing.T) {
	for _, big := range []bool{false, true} {
		data := laterBTF(big, nil, laterLayout())
		before := slices.Clone(data)
		for _, level := range []Level{Load, Boot, Readable} {
			v, err := Judge(data, nil, Rules{Level: level})
			if err != nil || v.Types != 4 || !slices.Equal(v.Skipped, []btf.Skipped{{Kind: 23, Types: 1}, {Kind: 24, Types: 1}}) {
				t.Errorf("level %d: %+v, %v", level, v, err)
			}
		}
		if !slices.Equal(data, before) {
			t.Error("the data has changed")
		}
		for _, r := range []Release{{7, 2, 0}, {7, 1, 0}, {5, 2, 0}} {
			if _, err := Check(data, nil, Rules{Kernel: r}); err == nil || !strings.Contains(err.Error(), "unknown kind 23") {
				t.Errorf("Linux %s: %v", r, err)
			}
		}
	}
}

// TestUnknownKindsNeedALayout: of the file, or of its base if it has none of its own.
func TestUnknownKindsNeedALayout(t *testing.T) {
	odd := laterLayout()
	odd[4*23] = 5
	long := laterLayout()
	long[4*24+1] = 252
	for name, c := range map[string]struct {
		layout []byte
		want   string
	}{
		"none":                 {nil, "unknown kind 23"},
		"too short":            {laterLayout()[:96], "unknown kind 24"},
		"an odd size":          {odd, "unknown kind 23"},
		"more than there is":   {long, "record goes beyond the type section"},
		"sizes of known kinds": {append(make([]byte, 4*btf.NumKinds), 4, 4, 0, 0, 0, 4, 0, 0), ""},
	} {
		_, err := Check(laterBTF(false, nil, c.layout), nil, Rules{})
		if err != nil && strings.Contains(err.Error(), "VOID") {
			t.Errorf("%s: %v: of a kind that it is not", name, err)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	b := btftest.New()
	b.Add("base", btf.Info(btf.KindInt, 0, false), 8, 64)
	base := b.Blob(t)
	split := laterBTF(false, base, nil)
	if _, err := Check(split, base, Rules{}); err == nil {
		t.Error("over a base without a layout section")
	}
	base.Form.Layout = laterLayout()
	if v, err := Judge(split, base, Rules{}); err != nil || len(v.Skipped) != 2 {
		t.Errorf("over a base with one: %+v, %v", v, err)
	}
}

// TestSkippedWordsAreNotFollowed: nothing in a record of an unknown kind counts as a
// name or a reference.
func TestSkippedWordsAreNotFollowed(t *testing.T) {
	data := laterBTF(false, nil, laterLayout())
	for _, at := range []int{0, 8, 12, 16, 20, 24 + 16, 24 + 16 + 8, 24 + 16 + 12} {
		d := slices.Clone(data)
		for i := range 4 {
			d[32+at+i] = 0xff
		}
		if _, err := Check(d, nil, Rules{}); err != nil {
			t.Errorf("word at %d: %v", at, err)
		}
	}
}

// TestLongUnknownRecord: a record of an unknown kind can claim more bytes than an int of 32 bits holds.
func TestLongUnknownRecord(t *testing.T) {
	data := laterBTF(false, nil, append(btf.LongLayout(), 252, 252, 0, 0))
	data[32+4], data[32+5], data[32+6] = 0xff, 0xff, 0xff // vlen
	if _, err := Check(data, nil, Rules{}); err == nil || !strings.Contains(err.Error(), "record goes beyond the type section") {
		t.Errorf("%v", err)
	}
}
