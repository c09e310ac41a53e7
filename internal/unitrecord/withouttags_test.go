package unitrecord

import (
	"slices"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/unit"
)

// TestWithoutTags: references to tags lead to what is behind them: a type behind two tags, void, and void
// as well if tags lead to each other.
func TestWithoutTags(t *testing.T) {
	var u unit.Unit
	for _, n := range []struct {
		kind btf.Kind
		to   dedup.Ref
	}{
		{btf.KindTypeTag, 0}, {btf.KindPtr, 1},
		{btf.KindTypeTag, 4}, {btf.KindTypeTag, 5}, {btf.KindInt, 0}, {btf.KindPtr, 3},
		{btf.KindTypeTag, 8}, {btf.KindTypeTag, 7}, {btf.KindPtr, 7},
	} {
		u.Types.Nodes.Append(dedup.Node{Info: btf.Info(n.kind, 0, false), Third: n.to})
	}
	withoutTags(&u)
	var got []dedup.Ref
	for _, n := range u.Types.Nodes.S {
		got = append(got, n.Third)
	}
	if want := []dedup.Ref{0, 0, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("the types that stay lead to %d, want %d", got, want)
	}
}
