package dedup

import (
	"fmt"
	"testing"

	"github.com/btflite/btflite/btf"
)

// TestChunksWithForwards: a forward declaration of a known chunk leads to its definition
// once that is there, wherever in the chunk it is.
func TestChunksWithForwards(t *testing.T) {
	const nodes, key = 80, 7
	for _, forwards := range [][]int{{0}, {5}, {62}, {63}, {64}, {79}, {1, 63, 70}} {
		t.Run(fmt.Sprint(forwards), func(t *testing.T) {
			names := texts{"holder", "member"}
			for i := range nodes {
				names = append(names, fmt.Sprintf("name_%d", i))
			}
			s := NewSet(names, 16)
			defer s.Free()
			known := Chunk{Key: key, First: 0, Count: nodes}
			ids := commitHolder(t, s, nodes, forwards, btf.KindFwd, &known)
			definitions := commitHolder(t, s, nodes, forwards, btf.KindStruct, nil)

			var u Unit
			defer u.Free()
			chunks := []Chunk{{Key: 99, First: 0, Count: 2}, {Key: key, First: 2, Count: nodes}, {Key: key, First: 2 + nodes, Count: 1}}
			to := make([]Ref, 2+nodes+1)
			s.LookUpChunks(&u, chunks, to)
			if to[0] != 0 || to[1] != 0 || to[2+nodes] != 0 || u.LeftOutNodes() != nodes {
				t.Fatalf("unknown chunks are %d %d %d, %d nodes are known", to[0], to[1], to[2+nodes], u.LeftOutNodes())
			}
			want := append([]uint32(nil), ids...)
			for _, i := range forwards {
				want[i] = definitions[i]
			}
			for i, id := range want {
				if to[2+i] != id|Extern {
					t.Errorf("node %d is %#x, want type %d", i, to[2+i], id)
				}
			}

			s.index.ambiguous.add(definitions[forwards[len(forwards)-1]])
			if s.LookUpChunks(&u, chunks, to); u.LeftOutNodes() != 0 {
				t.Error("a forward whose definition is one of several is taken for known")
			}
		})
	}
}

// commitHolder commits a unit of n nodes, some forward declarations or
// structs and the others FLOATs, and of a struct with pointers to all of them. It returns
// the ids of the n nodes.
func commitHolder(t *testing.T, s *Set, n int, at []int, kind btf.Kind, c *Chunk) []uint32 {
	t.Helper()
	var u Unit
	defer u.Free()
	for i := range n {
		u.Nodes.Append(Node{Info: btf.Info(btf.KindFloat, 0, false), Name: Name(3 + i), Third: 8})
	}
	holder := Node{Info: btf.Info(btf.KindStruct, uint32(len(at)), false), Name: 1, Third: 64}
	for j, i := range at {
		u.Nodes.S[i] = Node{Info: btf.Info(kind, 0, false), Name: Name(3 + i)}
		u.Nodes.Append(Node{Info: btf.Info(btf.KindPtr, 0, false), Third: Ref(i + 1)})
		u.Members.Append(Member{Name: 2, Type: uint32(len(u.Nodes.S)), Val: uint32(64 * j)})
	}
	u.Nodes.Append(holder)
	for i := range u.Nodes.S {
		u.Order.Append(uint32(i))
	}
	if c != nil {
		u.Chunks([]Chunk{*c})
	}
	s.Resolve(&u)
	if err := s.Commit(&u); err != nil {
		t.Fatal(err)
	}
	return append([]uint32(nil), u.ID.S[:n]...)
}

// TestChunksBesideDefinitions: a unit with a type whose name has two definitions may leave out
// known chunks, unless they lead to that name.
func TestChunksBesideDefinitions(t *testing.T) {
	const foo, bar, qux, member = 1, 2, 3, 4
	build := func(u *Unit, at uint32) { // INT and foo, whose member is at a bit
		u.Nodes.AppendSlice([]Node{
			{Info: btf.Info(btf.KindInt, 0, false), Third: 4, Aux: 32},
			{Info: btf.Info(btf.KindStruct, 1, false), Name: foo, Third: 8},
		})
		u.Members.Append(Member{Name: member, Type: 1, Val: at})
	}
	commit := func(s *Set, u *Unit) error {
		for i := range u.Nodes.S {
			u.Order.Append(uint32(i))
		}
		s.Resolve(u)
		return s.Commit(u)
	}
	for key, want := range map[uint64]error{1: ErrIncomplete, 2: ErrIncomplete, 3: ErrIncomplete, 4: nil} {
		for definition := range uint32(2) {
			s := NewSet(texts{"foo", "bar", "qux", "member"}, 16)
			var first, second, u Unit
			build(&first, 0)
			first.Nodes.AppendSlice([]Node{
				{Info: btf.Info(btf.KindPtr, 0, false), Third: 2},
				{Info: btf.Info(btf.KindStruct, 1, false), Name: bar, Third: 8, First: 1},
				{Info: btf.Info(btf.KindTypedef, 0, false), Name: bar, Third: 3},
				{Info: btf.Info(btf.KindStruct, 1, false), Name: qux, Third: 8, First: 2},
				{Info: btf.Info(btf.KindPtr, 0, false), Third: 4}, // to bar: a name
			})
			first.Members.AppendSlice([]Member{{Name: member, Type: 3}, {Name: member, Type: 7}})
			first.Chunks([]Chunk{{Key: 1, First: 2, Count: 1}, {Key: 2, First: 3, Count: 1}, {Key: 3, First: 4, Count: 1}, {Key: 4, First: 5, Count: 2}})
			build(&second, 32)
			for _, u := range []*Unit{&first, &second} {
				if err := commit(s, u); err != nil {
					t.Fatal(err)
				}
			}
			build(&u, 32*definition)
			count := first.chunks.read[key-1].Count
			s.LookUpChunks(&u, []Chunk{{Key: 99, First: 0, Count: 2}, {Key: key, First: 2, Count: count}}, make([]Ref, 2+count))
			if u.LeftOutNodes() != int(count) {
				t.Fatalf("chunk %d is not known", key)
			}
			if err := commit(s, &u); err != want {
				t.Errorf("chunk %d, definition %d: %v, want %v", key, definition, err, want)
			}
			if id := u.ID.S[1]; want == nil && id != first.ID.S[1] && id != second.ID.S[1] {
				t.Errorf("chunk %d, definition %d: foo became another type", key, definition)
			}
			for _, u := range []*Unit{&first, &second, &u} {
				u.Free()
			}
			s.Free()
		}
	}
}
