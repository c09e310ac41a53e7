package main

import (
	"testing"

	"github.com/btflite/btflite/btf"
)

// TestContent: ids, order and repeats do not count, types and places do.
func TestContent(t *testing.T) {
	build := func(edit func(b *btf.Builder, size, offset *uint32)) content {
		b := btf.NewBuilder(false, nil)
		size, offset := uint32(4), uint32(8)
		if edit != nil {
			edit(b, &size, &offset)
		}
		i := b.Add("int", btf.Info(btf.KindInt, 0, false), size, 32)
		p := b.Add("", btf.Info(btf.KindPtr, 0, false), i)
		v := b.Add("v", btf.Info(btf.KindVar, 0, false), p, 1)
		b.Add(".data", btf.Info(btf.KindDatasec, 1, false), 100, v, offset, 8)
		blob, err := b.Blob()
		if err != nil {
			t.Fatal(err)
		}
		return contentOf(blob)
	}
	same := build(nil)
	for _, c := range []struct {
		name          string
		edit          func(b *btf.Builder, size, offset *uint32)
		types, places int
	}{
		{"ids", func(b *btf.Builder, _, _ *uint32) { b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 32) }, 0, 0},
		{"size", func(_ *btf.Builder, size, _ *uint32) { *size = 8 }, 6, 2},
		{"offset", func(_ *btf.Builder, _, offset *uint32) { *offset = 9 }, 0, 2},
	} {
		other := build(c.edit)
		if n, m := differing(same.types, other.types), differing(same.places, other.places); n != c.types || m != c.places {
			t.Errorf("%s: %d types and %d places differ, want %d and %d", c.name, n, m, c.types, c.places)
		}
	}
}
