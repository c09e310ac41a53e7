package unit

import (
	"maps"
	"slices"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/names"
)

// TestWithoutTypeTags: references to tags lead to what is behind them: a type behind two tags, void, and void
// as well if tags lead to each other. What is known of the nodes that stay goes with them.
func TestWithoutTypeTags(t *testing.T) {
	r := new(Reader)
	u := &r.Unit
	for _, n := range []struct {
		kind btf.Kind
		to   dedup.Ref
	}{
		{btf.KindTypeTag, 0}, {btf.KindPtr, 1},
		{btf.KindTypeTag, 4}, {btf.KindTypeTag, 5}, {btf.KindInt, 0}, {btf.KindPtr, 3},
		{btf.KindTypeTag, 8}, {btf.KindTypeTag, 7}, {btf.KindPtr, 7}, {btf.KindEnum, 4},
	} {
		u.Types.Nodes.Append(dedup.Node{Info: btf.Info(n.kind, 0, false), Third: n.to})
	}
	u.Unsigned, u.InFunctions = map[uint32]bool{9: true}, map[uint32]bool{4: true}
	WithoutTypeTags(r)
	u.dropUnencodable(new(names.Text), r.stubs, false)
	var got []dedup.Ref
	for _, n := range u.Types.Nodes.S {
		got = append(got, n.Third)
	}
	if want := []dedup.Ref{0, 0, 2, 0, 4}; !slices.Equal(got, want) {
		t.Errorf("the types that stay lead to %d, want %d", got, want)
	}
	if !maps.Equal(u.Unsigned, map[uint32]bool{4: true}) || !maps.Equal(u.InFunctions, map[uint32]bool{1: true}) {
		t.Errorf("unsigned %v, in functions %v; want 4 and 1", u.Unsigned, u.InFunctions)
	}
}
