package btftest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/btflite/btflite/btf"
)

// A Graph is a way to make BTF whose types refer to each other as in no compiler's
// output.
type Graph struct {
	Name string
	add  func(b *Builder, r *rand.Rand, n int)
}

// Graphs are the ways.
var Graphs = []Graph{
	{"modifiers in a ring", modifierRing},
	{"types in a ring", typeRing},
	{"modifiers in a chain", modifierChain},
	{"structs in structs", nestedStructs},
	{"structs twice in structs", doubledStructs},
	{"structs without names in each other", namelessStructs},
	{"arrays of arrays", nestedArrays},
	{"prototypes of prototypes", nestedPrototypes},
	{"names that share text", sharedNames},
	{"one name for all", sameNames},
	{"large counts", largeCounts},
	{"places far apart", largeGaps},
	{"sites of inlined functions", randomSites},
	{"any kinds", anyKinds},
	{"many values", manyValues},
}

// Make is BTF of the graph, with about n types. r decides what is open.
func (g *Graph) Make(r *rand.Rand, n int, bigEndian bool) []byte {
	b := New()
	b.Int("int", 4)
	g.add(b, r, n)
	return b.Encode(bigEndian)
}

// modifiers are the kinds that a walk passes on the way to the type that they modify.
var modifiers = []btf.Kind{btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypeTag, btf.KindTypedef}

// modifier adds a modifier, a pointer among them if pointers are welcome.
func (b *Builder) modifier(r *rand.Rand, to uint32, pointers bool) uint32 {
	switch k := modifiers[r.IntN(len(modifiers))]; {
	case pointers && r.IntN(3) == 0:
		return b.Ptr(to)
	case k == btf.KindTypedef || k == btf.KindTypeTag:
		return b.Add(fmt.Sprintf("m%d", b.N), plain(k), to)
	default:
		return b.Add("", plain(k), to)
	}
}

// users adds types of all sorts that use the type.
func (b *Builder) users(typ uint32) {
	b.Struct("user", 64, b.Member("m", typ, 0), b.Member("n", typ, 256))
	b.Union("either", 32, b.Member("m", typ, 0))
	f := b.Func("use", Global, b.Proto(typ, b.Param("p", typ), b.Param("q", typ)))
	v := b.Var("used", typ, Global)
	b.Datasec(".data", 64, Place(v, 0, 8))
	b.DeclTag("tag", f, 0)
	b.Array(typ, 1, 2)
	b.Typedef("alias", typ)
	b.Ptr(typ)
}

func modifierRing(b *Builder, r *rand.Rand, n int) {
	n = 1 + r.IntN(min(n, 6))
	first := b.N + 1
	for i := range n {
		b.modifier(r, first+uint32((i+1)%n), false)
	}
	b.users(first + uint32(r.IntN(n)))
}

func typeRing(b *Builder, r *rand.Rand, n int) {
	n = 1 + r.IntN(min(n, 8))
	first := b.N + 1
	for i := range n {
		to := first + uint32((i+1)%n)
		switch r.IntN(6) {
		case 0:
			b.Struct(fmt.Sprintf("s%d", i), 8, b.Member("m", to, 0))
		case 1:
			b.Union("", 8, b.Member("", to, 0))
		case 2:
			b.Array(to, 1, 1)
		case 3:
			b.Proto(to, b.Param("p", to))
		default:
			b.modifier(r, to, true)
		}
	}
	b.users(first + uint32(r.IntN(n)))
}

func modifierChain(b *Builder, r *rand.Rand, n int) {
	pointers := r.IntN(2) == 0
	for range n {
		b.modifier(r, b.N, pointers)
	}
	b.users(b.N)
}

func nestedStructs(b *Builder, r *rand.Rand, n int) {
	for i := range n {
		b.Struct(fmt.Sprintf("s%d", i), 8, b.Member("m", b.N, 0))
	}
	b.users(b.N)
}

func doubledStructs(b *Builder, r *rand.Rand, n int) {
	size := uint32(4)
	for i := range min(n, 4+r.IntN(40)) {
		last := b.N
		b.Struct(fmt.Sprintf("s%d", i), 2*size, b.Member("m", last, 0), b.Member("n", last, 8*size))
		size *= 2
	}
	b.users(b.N)
}

func namelessStructs(b *Builder, r *rand.Rand, n int) {
	name := []string{"", "m"}[r.IntN(2)]
	for range n {
		b.Struct("", 4, b.Member(name, b.N, 0))
	}
	b.users(b.N)
}

func nestedArrays(b *Builder, r *rand.Rand, n int) {
	count := []uint32{0, 1, 2, 1 << 16, math.MaxUint32}[r.IntN(5)]
	for range n {
		b.Array(b.N, 1, count)
	}
	b.users(b.N)
}

func nestedPrototypes(b *Builder, r *rand.Rand, n int) {
	for range n / 2 {
		b.Ptr(b.Proto(b.N, b.Param("p", b.N)))
	}
	b.users(b.N)
}

// sharedNames has names that are each the end of one long text.
func sharedNames(b *Builder, r *rand.Rand, n int) {
	at := b.Str(strings.Repeat("a", n+1))
	named := func(i int, kind btf.Kind, vlen uint32, third uint32, rest ...uint32) {
		b.Words = append(append(b.Words, at+uint32(i), info(kind, vlen, false), third), rest...)
		b.N++
	}
	kind := r.IntN(5)
	for i := range n {
		switch kind {
		case 0:
			named(i, btf.KindTypedef, 0, 1)
		case 1:
			named(i, btf.KindStruct, 1, 4, at+uint32(n-1-i), 1, 0)
		case 2:
			named(i, btf.KindEnum, 1, 4, at+uint32(i), 7)
		case 3:
			b.Proto(0)
			named(i, btf.KindFunc, 1, b.N)
		default:
			named(i, btf.KindVar, 0, 1, 1)
		}
	}
}

func sameNames(b *Builder, r *rand.Rand, n int) {
	pointers := r.IntN(2) == 0
	for i := range n {
		to := 1 + r.Uint32N(b.N+1)
		if pointers {
			to = b.Ptr(to)
		}
		b.Struct("one", 4+uint32(i), b.Member("m", to, 0))
	}
}

func largeCounts(b *Builder, r *rand.Rand, n int) {
	huge := func() uint32 { return odd[r.IntN(len(odd))] }
	for i := range min(n, 20) {
		a := b.Array(1+r.Uint32N(b.N), 1, huge())
		b.Struct(fmt.Sprintf("s%d", i), huge(), b.Member("m", a, huge()), b.Member("n", 1, huge()))
		b.Add("big", plain(btf.KindInt), huge(), huge())
		b.Of(btf.KindStruct, fmt.Sprintf("bits%d", i), true, huge(), b.Member("m", 1, huge()))
		b.Float("f", huge())
		b.Of(btf.KindEnum64, "e", i%2 == 0, huge(), b.Value64("V", math.MaxUint64))
		v := b.Var("v", a, huge())
		b.Datasec(".bss", huge(), Place(v, huge(), huge()))
		b.DeclTag("t", b.N-5, huge())
	}
	b.users(b.N)
}

// largeGaps has members far from each other.
func largeGaps(b *Builder, r *rand.Rand, n int) {
	var members []Part
	step := uint32(1) << (3 + r.IntN(24))
	for i := range uint32(min(n, 100)) {
		members = append(members, b.Member(fmt.Sprintf("m%d", i), 1, i*step))
	}
	b.Struct("gaps", uint32(len(members))*step/8, members...)
	b.users(b.N)
}

func randomSites(b *Builder, r *rand.Rand, n int) {
	f := b.Func("inlined", Static, b.Proto(0, b.Param("p", 1)))
	first := b.N + 1
	for range n / 2 {
		flags := r.Uint32N(64)
		vlen := 1 + r.Uint32N(3)
		rest := []uint32{flags}
		for range vlen {
			rest = append(rest, r.Uint32N(40))
		}
		p := b.Add("", info(btf.KindLocParam, vlen, false), r.Uint32N(17), rest...)
		b.Add("", info(btf.KindLocProto, 1, false), 0, p)
	}
	var sites []uint32
	for range n {
		sites = append(sites, f, first+r.Uint32N(uint32(n)), r.Uint32N(1<<20))
	}
	b.Add("inline.text", info(btf.KindLocsec, uint32(n), false), 0, sites...)
}

// anyKinds has records of all kinds that refer to any types.
func anyKinds(b *Builder, r *rand.Rand, n int) {
	for range n {
		k := btf.Kind(1 + r.IntN(btf.NumKinds-1))
		vlen := r.Uint32N(4)
		name := ""
		if r.IntN(3) > 0 {
			name = fmt.Sprintf("n%d", r.IntN(n))
		}
		third := r.Uint32N(uint32(n) + 2)
		if !btf.ThirdIsRef(k) {
			third = 1 << r.IntN(6)
		}
		rest := make([]uint32, btf.ExtraWords(k, vlen))
		for i := range rest {
			rest[i] = r.Uint32N(uint32(n))
		}
		word := info(k, vlen, r.IntN(4) == 0)
		rec := append([]uint32{0, word, third}, rest...)
		btf.EachName(rec, func(off *uint32) { *off = b.Str(fmt.Sprintf("p%d", r.IntN(n))) })
		b.Add(name, word, third, rec[3:]...)
	}
	b.users(1 + r.Uint32N(b.N))
}

// manyValues has an enumeration with more values than old kernels take, one time of ten.
func manyValues(b *Builder, r *rand.Rand, n int) {
	if r.IntN(10) == 0 {
		n = 1<<16 + r.IntN(100)
	}
	var values []Part
	for i := range n {
		values = append(values, Part{b.Str("V"), uint32(i)})
	}
	b.Enum("many", values...)
	b.users(b.N)
}
