package btf

import (
	"strings"
	"testing"
)

// TestLongNamesOfBase: names count that split BTF takes from a base, however the base was made.
func TestLongNamesOfBase(t *testing.T) {
	made := NewBuilder(false, nil)
	long := made.Str(strings.Repeat("n", 1<<16))
	blob := MustBlob(t, made)
	skipped, err := blob.WithoutSkipped()
	if err != nil {
		t.Fatal(err)
	}
	for how, base := range map[string]*Blob{"Builder": blob, "Parse": MustParse(t, blob.Encode(), nil), "WithoutSkipped": skipped, "fields": {Strings: blob.Strings, FirstID: 1}} {
		split := NewBuilder(false, base)
		for range 100 {
			split.Add("", Info(KindFwd, 0, false), 0)
		}
		b := MustBlob(t, split)
		for i := range b.Off {
			b.Words[b.Off[i]] = long
		}
		if _, err := Parse(b.Encode(), base); err == nil || !strings.Contains(err.Error(), "take more than 16 times") {
			t.Errorf("base of %s: error %v", how, err)
		}
	}
}

// TestHasLongName: sizes around the limit, at the start of the strings, after one
// and before one.
func TestHasLongName(t *testing.T) {
	for n := longName - 3; n <= longName+3; n++ {
		name := strings.Repeat("n", n) + "\x00"
		for _, s := range []string{name, "\x00" + name, "\x00int\x00" + name, "\x00" + name + "int\x00"} {
			if got := hasLongName([]byte(s)); got != (n >= longName) {
				t.Errorf("%d bytes in %d: %v", n, len(s), got)
			}
		}
	}
}
