package btffile

import (
	"bytes"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

func TestMergeOfInputWithItselfDeduplicatesToTheSameTypes(t *testing.T) {
	for _, name := range []string{"unambiguous/000", "unambiguous/031", "quirks/proto-param-names"} {
		raw := vectors.Parse(t, name+".raw.btf", nil)
		once, err := Dedup([]*btf.Blob{raw}, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := Dedup([]*btf.Blob{raw, raw}, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once.Encode(), twice.Encode()) {
			t.Errorf("%s: once\n%stwice\n%s", name, btftest.Text(once), btftest.Text(twice))
		}
	}
}

func TestDedupAlwaysUsesExactWithBase(t *testing.T) {
	base := vectors.Parse(t, "quirks/split.base.btf", nil)
	raw := vectors.Parse(t, "quirks/split-typedef-in-base.raw.btf", base)
	exp := vectors.Parse(t, "quirks/split-typedef-in-base.exp.btf", base)
	out, err := Dedup([]*btf.Blob{raw}, base, false)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Encode(), exp.Encode()) {
		t.Errorf("got\n%s", btftest.Text(out))
	}
}

func TestDedupRefusesSplitInputWithoutItsBase(t *testing.T) {
	split := vectors.Parse(t, "quirks/split-typedef-in-base.raw.btf", vectors.Parse(t, "quirks/split.base.btf", nil))
	if _, err := Dedup([]*btf.Blob{split}, nil, true); err == nil {
		t.Error("split input accepted without its base")
	}
}
