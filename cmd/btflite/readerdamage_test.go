package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/test/testfile"
)

// damaged is the input of one run of the campaign of readers.
type damaged struct {
	name string // what was damaged, and how it lies in its file
	file string // the name of the file
	data []byte // its contents
	good []byte // those before the damage
	base []byte // the base that it is split from; nil: none
	elf  []byte // an object with DWARF of the same byte order
	prog []byte // a BPF object
}

// readerSeed is BTF to be damaged.
type readerSeed struct {
	name       string
	data, base []byte
}

// readerSeeds are the inputs that are damaged, in one byte order.
type readerSeeds struct {
	big       bool
	elf, prog []byte
	seeds     []readerSeed
}

// newReaderSeeds reads and makes the seeds: of compilers' files with all sets of features,
// split BTF with its base, one with a distilled base, and one with each kind.
func newReaderSeeds(t *testing.T, big bool) *readerSeeds {
	read := func(name string) []byte {
		return testfile.Read(t, name)
	}
	machine, prog := "x86", "bpf-clang5-o"
	if big {
		machine, prog = "s390x", "bpfeb-clang5-o"
	}
	const golden = "../../encode/testdata/golden/"
	elf := golden + machine + "-gcc5.elf"
	s := &readerSeeds{big: big, elf: read(elf), prog: read(golden + prog + ".elf")}
	out := filepath.Join(t.TempDir(), "out")
	for _, features := range []string{"default", "all", "default,inline", "default,layout", "default,global_var"} {
		c, _, errs := testCLI(t)
		if status := c.run([]string{"-J", "--verify=warn", "--btf_features=" + features, "--btf_encode_detached=" + out, elf}); status != exitOK {
			t.Fatalf("%s: %s", features, errs)
		}
		s.seeds = append(s.seeds, readerSeed{features, read(out), nil})
	}
	b := btftest.New()
	btftest.EveryKind(b)
	s.seeds = append(s.seeds, readerSeed{"each kind", b.Encode(big), nil}, readerSeed{"each kind, in the base", b.Encode(big), nil},
		readerSeed{"module", read(splitDir + machine + ".module.btf"), read(splitDir + machine + ".base.btf")},
		readerSeed{"module, distilled", read(splitDir + machine + ".distilled.btf"), read(splitDir + machine + ".distilled.base.btf")})
	return s
}

// make is damaged file number n. Of five files two are graphs that no compiler makes, and
// the others are seeds with damage. One of six is compressed or a section of an ELF file.
func (s *readerSeeds) make(n int) *damaged {
	order := uint64(0)
	if s.big {
		order = 1
	}
	r := rand.New(rand.NewPCG(order, uint64(n)))
	if r.IntN(5) < 2 {
		return s.graph(r)
	}
	seed := s.seeds[r.IntN(len(s.seeds))]
	d := &damaged{name: seed.name, file: "m.btf", good: seed.data, base: seed.base, elf: s.elf, prog: s.prog}
	wrap := wraps[max(0, r.IntN(6*(len(wraps)-1))-5*(len(wraps)-1)+1)]
	d.name, d.file = d.name+wrap.name, d.file+wrap.suffix
	switch {
	case d.base != nil && r.IntN(4) == 0: // the base is damaged
		d.name, d.data, d.base = d.name+", over a damaged base", wrap.pack(d.good, s.big), btftest.Damage(r, d.base)
	case wrap.suffix != "" && r.IntN(4) == 0: // damaged as it is packed
		d.data = btftest.Damage(r, wrap.pack(d.good, s.big))
	default:
		d.data = wrap.pack(btftest.Damage(r, d.good), s.big)
	}
	return d
}

// graph is BTF of a graph, one time of four with damage, and rarely a large one.
func (s *readerSeeds) graph(r *rand.Rand) *damaged {
	g := &btftest.Graphs[r.IntN(len(btftest.Graphs))]
	n := 1 << (1 + r.IntN(8))
	if r.IntN(20) == 0 {
		n = 1 << (8 + r.IntN(6))
	}
	data := g.Make(r, n, s.big)
	if r.IntN(4) == 0 {
		data = btftest.Damage(r, data)
	}
	return &damaged{name: fmt.Sprintf("%s, %d", g.Name, n), file: "m.btf", data: data, good: s.seeds[0].data, elf: s.elf, prog: s.prog}
}

// wraps are how BTF may lie in its file.
var wraps = []struct {
	name, suffix string
	pack         func(data []byte, big bool) []byte
}{
	{"", "", func(data []byte, _ bool) []byte { return data }},
	{", gzip", ".gz", func(data []byte, _ bool) []byte {
		return packed(data, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	}},
	{", xz", ".xz", func(data []byte, _ bool) []byte {
		return packed(data, func(w io.Writer) io.WriteCloser { x, _ := xz.NewWriter(w); return x })
	}},
	{", zstd", ".zst", func(data []byte, _ bool) []byte {
		return packed(data, func(w io.Writer) io.WriteCloser { x, _ := zstd.NewWriter(w); return x })
	}},
	{", in an ELF file", ".ko", func(data []byte, big bool) []byte {
		return elftest.Of(true, big).Image(elftest.Section{Name: loadbtf.SectionBTF, Data: data})
	}},
}

// packed is data as a writer compresses it.
func packed(data []byte, to func(io.Writer) io.WriteCloser) []byte {
	var b bytes.Buffer
	w := to(&b)
	w.Write(data) // to a bytes.Buffer: no error
	w.Close()
	return slices.Clone(b.Bytes())
}
