package inline

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// TestStorePlaces: equal places have one index, and others have others, whatever was asked for
// meanwhile: those that are kept without a hash, those asked for last, and all others.
func TestStorePlaces(t *testing.T) {
	var places []Place
	for reg := range uint32(40) {
		places = append(places, Place{Kind: Register, Reg: reg}, Place{Kind: Register, Reg: reg, Width: 8},
			Place{Kind: Memory, Reg: reg, Value: 16}, Place{Kind: Sum, Reg: reg, Value: 16})
	}
	for v := range uint64(600) {
		places = append(places, Place{Kind: Const, Value: v}, Place{Kind: Address, Value: v})
	}
	places = append(places, missing(NotHere), Place{Kind: Pair, Reg: 3, Reg2: 4, Width: 16, Exact: true})
	var s Store
	defer s.Free()
	indexes, missed := map[string]uint32{}, 0
	r := rand.New(rand.NewPCG(7, 11))
	for range 50_000 {
		p, size, signed := places[r.IntN(len(places))], uint32(r.IntN(18)), r.IntN(2) > 0
		flags, values, why := p.record(nil, size, signed)
		i, reason := s.Place(&p, size, signed)
		if reason != why || (i == 0) != (why != NoPlace) {
			t.Fatalf("%+v of %d bytes: %d, %v; want %v", p, size, i, reason, why)
		}
		if i == 0 {
			missed++
			continue
		}
		key := fmt.Sprint(size, flags, values)
		if want, ok := indexes[key]; !ok {
			indexes[key] = i
		} else if i != want {
			t.Fatalf("%+v of %d bytes: %d, and %d before", p, size, i, want)
		}
		if got := s.params.record(i - 1); !slices.Equal(got, append([]uint32{size, flags}, values...)) {
			t.Fatalf("%+v of %d bytes: record %v", p, size, got)
		}
	}
	if s.params.len() != len(indexes) {
		t.Errorf("%d places are kept for %d different ones", s.params.len(), len(indexes))
	}
	if got := s.Missing(NoLocation); got != 0 || s.Stats.missing[NoLocation] != 1 {
		t.Errorf("a missing parameter has the index %d", got)
	}
	if sum := 0; missed > 0 {
		for _, n := range s.Stats.missing {
			sum += n
		}
		if sum != missed+1 {
			t.Errorf("%d missing parameters were counted, not %d", sum, missed+1)
		}
	}
}

// TestStoreFunctions: a function is found again by its words, however many others of the
// same name come between.
func TestStoreFunctions(t *testing.T) {
	var s Store
	defer s.Free()
	for name := range uint32(5000) {
		for ret := range uint32(2) {
			w := []uint32{name * 4096, ret}
			if _, ok := s.Known(w); ok {
				t.Fatalf("%v is known before it came", w)
			}
			i := s.Func(w)
			for range 2 {
				if k, ok := s.Known(w); !ok || k != i {
					t.Fatalf("%v: %d, %v; want %d", w, k, ok, i)
				}
			}
		}
		if k, ok := s.Known([]uint32{name * 4096, 0}); !ok || k != 2*name {
			t.Fatalf("first function of name %d: %d, %v", name, k, ok)
		}
	}
}

// TestStoreSites: sites come section by section, in the order of functions, offsets and lists, each once,
// and the counts are right. Lists of all lengths are kept once each.
func TestStoreSites(t *testing.T) {
	var s Store
	defer s.Free()
	r := rand.New(rand.NewPCG(13, 17))
	const funcs = 30
	for i := range uint32(funcs) {
		s.Func([]uint32{i, 0})
	}
	type site struct {
		section, fn, off uint32
		places           string
	}
	want := map[site]bool{}
	var all, some, none int
	for range 20_000 {
		places := make([]uint32, r.IntN(5))
		for i := range places {
			places[i] = uint32(r.IntN(4)) * uint32(1+r.IntN(90)) // one of four has no place
		}
		x := site{section: uint32(r.IntN(4)), fn: uint32(r.IntN(funcs)), off: uint32(r.IntN(60))}
		if r.IntN(3) > 0 { // mostly the same section as before
			x.section = uint32(len(want)) / 500 % 4
		}
		ellipsis := r.IntN(8) == 0
		with := 0
		for _, p := range places {
			if p != 0 {
				with++
			}
		}
		switch {
		case with == len(places):
			all++
		case with == 0:
			none++
		default:
			some++
		}
		s.Site(x.fn, x.section, x.off, slices.Clone(places), ellipsis)
		if ellipsis {
			places = append(places, 0)
		}
		x.places = fmt.Sprint(places)
		want[x] = true
	}
	if st := s.Stats; st.Sites != 20_000 || st.All != all || st.Some != some || st.None != none {
		t.Errorf("%+v, want all of %d, some of %d, none of %d", st, all, some, none)
	}
	rank := make([]uint32, funcs)
	for i, k := range r.Perm(funcs) {
		rank[i] = uint32(k)
	}
	got := map[site]bool{}
	last := -1
	s.sections(rank, func(section uint32, sites []siteRec) {
		if int(section) <= last {
			t.Errorf("section %d comes after %d", section, last)
		}
		last = int(section)
		if !slices.IsSortedFunc(sites, func(a, b siteRec) int {
			return cmp.Or(cmp.Compare(rank[a.fn], rank[b.fn]), cmp.Compare(a.off, b.off), cmp.Compare(a.proto, b.proto))
		}) {
			t.Errorf("the sites of section %d are not in order", section)
		}
		for _, x := range sites {
			one := site{section, x.fn, x.off, fmt.Sprint(append([]uint32{}, s.protos.record(x.proto)...))}
			if got[one] {
				t.Errorf("%+v is there twice", one)
			}
			got[one] = true
		}
	})
	if !maps.Equal(want, got) {
		t.Errorf("%d sites, want %d", len(got), len(want))
	}
	lists := map[string]bool{}
	for i := range s.protos.len() {
		key := fmt.Sprint(s.protos.record(uint32(i)))
		if lists[key] {
			t.Errorf("the list %s is kept twice", key)
		}
		lists[key] = true
	}
}

// TestSettledRecords: what is added to BTF: prototypes and functions that the BTF has are not repeated,
// ids and names are those that the caller gives, also after Retype, and a LOCSEC with too many sites
// becomes two.
func TestSettledRecords(t *testing.T) {
	for _, order := range []byteOrder{binary.LittleEndian, binary.BigEndian} {
		var s Store
		// f and g have one prototype, h has another one. BTF has int as 1, the prototype of f and g as 2
		// and f as 3.
		f := s.Func([]uint32{10, 100, 20, 100})
		g := s.Func([]uint32{11, 100, 20, 100})
		h := s.Func([]uint32{12, 0})
		reg := Place{Kind: Register, Reg: 5}
		p, _ := s.Place(&reg, 4, true)
		s.Site(h, 7, 8, nil, false)
		for i := range uint32(maxSites) {
			s.Site(g, 6, 2*i, []uint32{p}, false)
		}
		s.Site(f, 6, 99, []uint32{0}, true)
		set, err := s.Settle(func(n uint32) (uint32, error) { return n + 1000, nil }, func(id uint32) uint32 { return id / 100 * 5 })
		if err != nil {
			t.Fatal(err)
		}
		set.Retype(func(id uint32) uint32 { return map[uint32]uint32{0: 0, 5: 1}[id] })
		var types []byte
		put := func(words ...uint32) {
			for _, w := range words {
				types = order.AppendUint32(types, w)
			}
		}
		put(1, btf.Info(btf.KindInt, 0, false), 4, 1<<24|32)
		put(0, btf.Info(btf.KindFuncProto, 1, false), 1, 1020, 1)
		put(1010, btf.Info(btf.KindFunc, 0, false), 2)
		var dst arena.Vec[byte]
		dst.AppendSlice(make([]byte, 20)) // what comes before stays, and does not count
		set.Append(&dst, &Beside{Order: order, Types: types, First: 1, End: 4}, func(section uint32) uint32 { return 5000 + section })
		var got []uint32
		for b := dst.S[20:]; len(b) > 0; b = b[4:] {
			got = append(got, order.Uint32(b))
		}
		want := []uint32{
			0, btf.Info(btf.KindLocParam, 1, false), 4, 8, 5, // 4
			0, btf.Info(btf.KindLocProto, 0, false), 0, // 5: of h
			0, btf.Info(btf.KindLocProto, 1, false), 0, 4, // 6: of g
			0, btf.Info(btf.KindLocProto, 2, false), 0, 0, 0, // 7: of f, with an ellipsis
			0, btf.Info(btf.KindFuncProto, 0, false), 0, // 8: of h
			1011, btf.Info(btf.KindFunc, 0, false), 2, // 9: g
			1012, btf.Info(btf.KindFunc, 0, false), 8, // 10: h
			5006, btf.Info(btf.KindLocsec, maxSites, false), 0, 3, 7, 99,
		}
		for i := range uint32(maxSites - 1) {
			want = append(want, 9, 6, 2*i)
		}
		want = append(want, 5006, btf.Info(btf.KindLocsec, 1, false), 0, 9, 6, 2*(maxSites-1))
		want = append(want, 5007, btf.Info(btf.KindLocsec, 1, false), 0, 10, 5, 8)
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || want[i] != got[i] {
				t.Fatalf("%v: word %d differs, of %d; %d are wanted", order, i, len(got), len(want))
			}
		}
		if st := set.Stats; st.Funcs != 3 || st.Added != 2 || st.Params != 1 || st.Protos != 3 || st.Types != len(dst.S)-20 {
			t.Errorf("%v: %+v", order, st)
		}
		dst.Free()
		set.Free()
	}
}

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}
