package dedup

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/btflite/btflite/btf"
)

// splitNames are the tokens of a split BTF's strings: those of the base where
// the base has the text, else 1 and more.
type splitNames struct {
	base  *Base
	texts [][]byte
	index map[string]Name
}

func (n *splitNames) Alias(t, canon Name) { panic("one token a text") }

func (n *splitNames) Touch(t []Name) byte { return 0 }

func (n *splitNames) Bytes(t Name) ([]byte, bool) {
	if t >= BaseToken {
		return n.base.Bytes(t), true
	}
	return n.texts[t-1], true
}

func (n *splitNames) token(text []byte) Name {
	if t := n.base.Token(text, TextHash(text)); t != 0 || len(text) == 0 {
		return t
	}
	if t, ok := n.index[string(text)]; ok {
		return t
	}
	n.texts = append(n.texts, bytes.Clone(text))
	n.index[string(text)] = Name(len(n.texts))
	return Name(len(n.texts))
}

// noShort says that all texts have tokens by place.
func noShort([]byte) (Name, bool) { return 0, false }

// cut returns the types first..end-1 of in as BTF of their own.
func cut(in *btf.Blob, first, end uint32) *btf.Blob {
	out := &btf.Blob{BigEndian: in.BigEndian, FirstID: 1, Strings: in.Strings}
	for id := first; id < end; id++ {
		at := len(out.Words)
		out.Off = append(out.Off, uint32(at))
		out.Words = append(out.Words, in.Record(id)...)
		m := make([]uint32, end)
		for i := first; i < end; i++ {
			m[i] = i - first + 1
		}
		exactRemap(out.Words[at:], m)
	}
	return out
}

// streamSplit merges the units of in, split BTF, into s, and returns what the
// base lacks. cus are the first type ids of the units, and the end.
func streamSplit(s *Set, names *splitNames, in *btf.Blob, cus []uint32) (*btf.Blob, error) {
	r := newBTFReader(in)
	defer r.free()
	for id := range in.FirstID {
		r.placed[id] = id
	}
	r.tokens.Resize(int(in.StrEnd()))
	token := func(off uint32) { r.tokens.S[off] = 1 + names.token(in.NameBytes(off)) }
	for id := in.FirstID; id < in.TypeCount(); id++ {
		w := in.Record(id)
		token(w[0])
		stride, n := btf.NameWords(btf.InfoKind(w[1]), btf.InfoVlen(w[1]))
		for j := range n {
			token(w[3+j*stride])
		}
	}
	for len(cus) > 1 {
		var u Unit
		defer u.Free()
		if err := r.read(&u, cus[0], cus[1]); err != nil {
			return nil, err
		}
		s.Resolve(&u)
		if err := s.Commit(&u); err != nil {
			return nil, err
		}
		copy(r.placed[cus[0]:cus[1]], u.ID.S)
		cus = cus[1:]
	}
	n := s.Finish()
	defer n.Free()
	data := btf.AppendHeader(nil, in.BigEndian, uint32(n.TypeBytes), uint32(len(s.Strings())))
	types := make([]byte, n.TypeBytes)
	n.PutTypes(types, in.BigEndian, 3)
	data = append(append(data, types...), s.Strings()...)
	return btf.Parse(data, in.Base)
}

// TestSplitStreamEqualsExact takes some units of an input as a base and merges
// the others over it, into a new Set and into one that was used before. With
// noTypedefs the flaw of libbpf 1.7.0 is repeated.
func TestSplitStreamEqualsExact(t *testing.T) {
	for _, opt := range []universeOptions{{names: 6, units: 6}, {names: 10, units: 10}, {names: 4, units: 3}} {
		for _, noTypedefs := range []bool{false, true} {
			t.Run(fmt.Sprint(opt.names, "x", opt.units, noTypedefs), func(t *testing.T) {
				raised := 0
				for seed := range uint64(universes(300)) {
					raw, cus, err := newUniverse(seed, opt).build(seed%7 == 0)
					if err != nil {
						t.Fatal(err)
					}
					k := len(cus) / 2
					base, err := Exact(cut(raw, 1, cus[k]), ExactOptions{})
					if err != nil {
						t.Fatal(err)
					}
					in, err := Split(cut(raw, cus[k], cus[len(cus)-1]), base)
					if err != nil {
						t.Fatal(err)
					}
					want, err := Exact(in, ExactOptions{LibbpfTypedefBug: noTypedefs})
					if err != nil {
						t.Fatal(err)
					}
					b, err := NewBase(base, noShort)
					if err != nil {
						t.Fatal(err)
					}
					var units []uint32
					for _, first := range cus[k:] {
						units = append(units, first-cus[k]+in.FirstID)
					}
					names := &splitNames{base: b, index: map[string]Name{}}
					s, err := NewSplitSet(names, b, 16, noTypedefs)
					if err != nil {
						t.Fatal(err)
					}
					for round := range 3 {
						if round > 0 {
							names = &splitNames{base: b, index: map[string]Name{}}
							if err := s.Restart(names); err != nil {
								t.Fatal(err)
							}
						}
						got, err := streamSplit(s, names, in, units)
						if err != nil {
							t.Fatalf("seed %d, round %d: %v", seed, round, err)
						}
						raised += len(s.base.copies)
						if !bytes.Equal(got.Encode(), want.Encode()) {
							t.Errorf("seed %d, round %d: %d types instead of %d: %s", seed, round, len(got.Off), len(want.Off),
								firstDifference(exactText(got), exactText(want)))
						}
					}
					s.Free()
					b.Free()
				}
				t.Logf("%d copies of types of the base", raised)
			})
		}
	}
}
