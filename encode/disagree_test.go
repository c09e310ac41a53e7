package encode_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// disagreeing is a program of several units that have the same structs, each in one of two
// definitions, or only declared. Members are pointers to other structs, or integers by whose
// type alone the definitions differ.
func disagreeing(seed uint64, more ...*dt.DIE) dt.File {
	const structs = 8
	r := rand.New(rand.NewPCG(seed, 1))
	var members [structs][]int // a struct, or -1 for an integer
	for i := range members {
		for range 1 + r.IntN(4) {
			members[i] = append(members[i], r.IntN(structs+1)-1)
		}
	}
	var units []*dt.Unit
	for range 8 + r.IntN(16) {
		dies := [structs]*dt.DIE{}
		ints := [2]*dt.DIE{base("long int", 8, ateSigned), base("long unsigned int", 8, ateUnsigned)}
		parts := []any{ints[0], ints[1]}
		for i := range dies {
			if name := fmt.Sprintf("s%d", i); r.IntN(4) == 0 {
				dies[i] = forward(dt.TagStructureType, name)
			} else {
				dies[i] = structure(name, 8*len(members[i]))
			}
		}
		for i, d := range dies {
			variant := r.IntN(4) / 3
			for j, m := range members[i] {
				t := ints[variant]
				if m >= 0 {
					t = ptr(dies[m])
					parts = append(parts, t)
				}
				if !isForward(d) {
					d.Add(member(fmt.Sprintf("m%d", j), t, 8*j))
				}
			}
			parts = append(parts, d)
		}
		units = append(units, dt.CU(parts...))
	}
	for _, d := range more {
		units = append(units, dt.CU(d))
	}
	return dt.File{Units: units}
}

func isForward(d *dt.DIE) bool {
	for _, a := range d.Attrs {
		if a.At == dt.AtDeclaration {
			return true
		}
	}
	return false
}

// encodeDisagreeing writes f and encodes it in one way, with one worker and with four.
func encodeDisagreeing(t *testing.T, path string, dedup encode.Dedup) []byte {
	t.Helper()
	var first []byte
	for _, jobs := range []int{1, 4} {
		got := mustRun(t, []string{path}, encode.Options{Features: encode.DefaultFeatures, Dedup: dedup, Jobs: jobs})
		if first == nil {
			first = got
		} else if !bytes.Equal(got, first) {
			t.Fatalf("%s: other bytes with four workers", path)
		}
	}
	return first
}

// equalsPahole compares got with what pahole makes of the file, where there is pahole.
func equalsPahole(t *testing.T, name, path string, got []byte) {
	t.Helper()
	pahole := corpus.Pahole()
	if pahole == "" {
		return
	}
	out := path + ".btf"
	if text, err := exec.Command(pahole, "-J", "-j1", "--btf_features=default", "--btf_encode_detached="+out, path).CombinedOutput(); err != nil {
		t.Fatalf("pahole: %v: %s", err, text)
	}
	if want, err := os.ReadFile(out); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: not pahole's bytes (%v)", name, err)
	}
}

// TestRandomUnitsAsExact: small inputs have libbpf's choice of types, also where units declare what others
// define in different ways.
func TestRandomUnitsAsExact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "input")
	for _, first := range []uint64{0, firstTwins, firstEnums} {
		others := 0
		for seed := first; seed < first+25; seed++ {
			f := randomProgram(seed)
			testfile.Write(t, path, f.Bytes())
			exact := encodeDisagreeing(t, path, encode.DedupExact)
			if !bytes.Equal(encodeDisagreeing(t, path, encode.DedupAuto), exact) {
				t.Errorf("seed %d: not the types that libbpf chooses", seed)
			}
			if !bytes.Equal(encodeDisagreeing(t, path, encode.DedupStream), exact) {
				others++
			}
		}
		t.Logf("from %d: merging unit by unit chooses other types in %d of 25 programs", first, others)
		if first == firstEnums && others < 3 {
			t.Error("too few for a test")
		}
	}
}

// TestEnumsWithoutName encodes two units that have the same struct, but for its member: an enumeration
// without a name, which has values in one unit and none in the other. libbpf takes them for one.
func TestEnumsWithoutName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "input")
	unit := func(size int, values bool, user string) *dt.Unit {
		i, e := intType(), enum("", size)
		if values {
			e = enum("", size, value("A", 1))
		}
		s := structure("", 64, member("a", e, 0))
		return dt.CU(i, e, s, typedef(user, s))
	}
	for _, sizes := range [][2]int{{2, 4}, {4, 4}, {4, 2}} {
		for _, values := range [][2]bool{{false, false}, {true, false}, {false, true}} {
			f := dt.File{Units: []*dt.Unit{unit(sizes[0], values[0], "u0"), unit(sizes[1], values[1], "u1")}}
			testfile.Write(t, path, f.Bytes())
			got := encodeDisagreeing(t, path, encode.DedupAuto)
			if !bytes.Equal(got, encodeDisagreeing(t, path, encode.DedupExact)) {
				t.Errorf("sizes %v, values %v: not the types that libbpf chooses", sizes, values)
			}
			equalsPahole(t, fmt.Sprintf("sizes %v, values %v", sizes, values), path, got)
		}
	}
}

// TestUnitsThatDisagree: where units disagree about a type, small inputs have libbpf's
// choice of types, and so pahole's bytes. Merging unit by unit makes another choice for some.
func TestUnitsThatDisagree(t *testing.T) {
	others := 0
	for seed := range uint64(40) {
		f := disagreeing(seed)
		path := filepath.Join(t.TempDir(), fmt.Sprintf("seed-%d", seed))
		testfile.Write(t, path, f.Bytes())
		got, exact := encodeDisagreeing(t, path, encode.DedupAuto), encodeDisagreeing(t, path, encode.DedupExact)
		if !bytes.Equal(got, exact) {
			t.Errorf("seed %d: not the types that libbpf chooses", seed)
		}
		if !bytes.Equal(encodeDisagreeing(t, path, encode.DedupStream), exact) {
			others++
		}
		equalsPahole(t, fmt.Sprint("seed ", seed), path, got)
	}
	if others < 3 {
		t.Errorf("merging unit by unit chooses other types in %d of 40 programs: too few for a test", others)
	}
}

// TestDisagreeEarly: the first phase ends soon after units have disagreed, with any number of workers, and does not
// read the rest.
func TestDisagreeEarly(t *testing.T) {
	var units []*dt.Unit
	for seed := range uint64(40) {
		units = append(units, disagreeing(seed).Units...)
	}
	f := dt.File{Units: units}
	path := filepath.Join(t.TempDir(), "input")
	testfile.Write(t, path, f.Bytes())
	exact := encodeDisagreeing(t, path, encode.DedupExact)
	if !bytes.Equal(encodeDisagreeing(t, path, encode.DedupAuto), exact) {
		t.Error("not the types that libbpf chooses")
	}
	var first []uint64 // how much of the file each phase had read at last
	last := uint64(0)
	mustRun(t, []string{path}, encode.Options{Features: encode.DefaultFeatures, Jobs: 1, Progress: func(done, total uint64) {
		if done < last {
			first = append(first, last*100/total)
		}
		last = done
	}})
	if len(first) != 1 || first[0] > 75 {
		t.Errorf("the first phase has read %d %% of the file, want one number up to 75", first)
	}
}

// twofold is a program of several units that declare and define some structs, each in one definition. Members,
// and results of functions to which members point, lead to the declaration or to the definition of their unit. From
// seed 150 on, units have their types in one order, after an array, so that a reader can leave out known ones.
func twofold(seed uint64) dt.File {
	const structs = 6
	r := rand.New(rand.NewPCG(seed, 2))
	var members [structs][]int // a struct
	for i := range members {
		for range 1 + r.IntN(4) {
			members[i] = append(members[i], r.IntN(structs))
		}
	}
	var units []*dt.Unit
	for range 2 + r.IntN(8) + int(seed/150)*10 {
		var parts []any
		if seed >= 150 {
			i := intType()
			parts = append(parts, i, array(i, 3))
		}
		var dies, decls [structs]*dt.DIE
		for i := range dies {
			switch name := fmt.Sprintf("s%d", i); i {
			case 0:
				dies[i], decls[i] = enum(name, 4, value("A", 1)), forward(dt.TagEnumerationType, name)
			case 1:
				dies[i], decls[i] = dt.N(dt.TagUnionType, dt.Name(name), dt.Size(8)), forward(dt.TagUnionType, name)
			default:
				dies[i], decls[i] = structure(name, 8*len(members[i])), forward(dt.TagStructureType, name)
			}
			switch other := r.IntN(4); {
			case other == 0 || seed%3 == 1 && i != 0 || seed%3 == 2 && i != 1: // in some programs just the enumeration, or just the union
				decls[i] = dies[i]
			case other == 1:
				dies[i] = decls[i]
			}
		}
		for i, d := range dies {
			for j, m := range members[i] {
				to := dies[m]
				if r.IntN(3) == 0 {
					to = decls[m]
				}
				p := ptr(to)
				parts = append(parts, p)
				if j%2 == 1 {
					f := ref(dt.TagSubroutineType, "", p)
					p = ptr(f)
					parts = append(parts, f, p)
				}
				if !isForward(d) && i > 0 {
					d.Add(member(fmt.Sprintf("m%d", j), p, 8*j*min(i-1, 1)))
				}
			}
			parts = append(parts, d)
			if decls[i] != d {
				parts = append(parts, decls[i])
			}
		}
		if seed >= 150 {
			units = append(units, dt.CU(parts...))
			continue
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		units = append(units, dt.CU(parts...))
	}
	return dt.File{Units: units}
}

// TestUnitsWithDeclarations: where a unit both declares and defines a type of one name, small inputs have libbpf's
// choice of types. Merging unit by unit makes another choice for some.
func TestUnitsWithDeclarations(t *testing.T) {
	var others [3]int
	path := filepath.Join(t.TempDir(), "input")
	for seed := range uint64(300) {
		f := twofold(seed)
		testfile.Write(t, path, f.Bytes())
		got, exact := encodeDisagreeing(t, path, encode.DedupAuto), encodeDisagreeing(t, path, encode.DedupExact)
		if !bytes.Equal(got, exact) {
			t.Errorf("seed %d: not the types that libbpf chooses", seed)
		}
		if !bytes.Equal(encodeDisagreeing(t, path, encode.DedupStream), exact) {
			others[seed%3]++
		}
		equalsPahole(t, fmt.Sprint("seed ", seed), path, got)
	}
	t.Logf("merging unit by unit chooses other types in %d programs", others)
	if others[0] < 3 || others[2] < 3 {
		t.Error("too few for a test")
	}
}

// TestDeclarationsOverBase: the same over a base for units of clang, also in a session, for the files after them.
func TestDeclarationsOverBase(t *testing.T) {
	base := sessionBase(t, "../testdata/small/small")
	defer base.Free()
	opt := encode.Options{Features: encode.DefaultFeatures, Jobs: 1, Base: base, Libbpf: encode.Libbpf17}
	exactly, merged := opt, opt
	exactly.Dedup, merged.Dedup = encode.DedupExact, encode.DedupStream
	s := encode.NewSession(opt)
	defer s.Close()
	others, path := 0, filepath.Join(t.TempDir(), "input")
	for seed := range uint64(100) {
		f := twofold(seed)
		for _, u := range f.Units {
			i := slices.IndexFunc(u.Root.Attrs, func(a dt.Attr) bool { return a.At == dt.AtProducer })
			u.Root.Attrs[i] = dt.Producer("clang version 19.1.7")
		}
		testfile.Write(t, path, f.Bytes())
		exact := mustRun(t, []string{path}, exactly)
		got := mustRun(t, []string{path}, opt)
		inSession, err := s.EncodeSource(mmapelf.Source{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, exact) || !bytes.Equal(inSession.Bytes(), exact) {
			t.Errorf("seed %d: not the types that libbpf chooses", seed)
		}
		inSession.Close()
		if !bytes.Equal(mustRun(t, []string{path}, merged), exact) {
			others++
		}
	}
	if others < 3 {
		t.Errorf("merging unit by unit chooses other types in %d of 100 programs: too few for a test", others)
	}
}

// TestManyTypes: programs as large as the C library have libbpf's choice of types. Beyond
// the limit of DedupAuto types are merged unit by unit.
func TestManyTypes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "input")
	encoded := func(f dt.File, dedup encode.Dedup) []byte {
		testfile.Write(t, path, f.Bytes())
		return encodeDisagreeing(t, path, dedup)
	}
	// Modifiers do not count for the order in which libbpf tries definitions.
	many := func(n int) *dt.DIE {
		d := dt.N(dt.TagNamespace)
		for range n {
			d.Add(ref(dt.TagConstType, "", nil))
		}
		return d
	}
	seed := uint64(0)
	for bytes.Equal(encoded(disagreeing(seed), encode.DedupStream), encoded(disagreeing(seed), encode.DedupExact)) {
		if seed++; seed == 40 {
			t.Fatal("no program in which the two differ")
		}
	}
	for _, c := range []struct {
		types int
		want  encode.Dedup
	}{{1 << 18, encode.DedupExact}, {1 << 20, encode.DedupStream}} {
		f := disagreeing(seed, many(c.types))
		stream, exact := encoded(f, encode.DedupStream), encoded(f, encode.DedupExact)
		if bytes.Equal(stream, exact) {
			t.Errorf("%d types: the two algorithms do not differ: the test says nothing", c.types)
		}
		want := stream
		if c.want == encode.DedupExact {
			want = exact
		}
		if !bytes.Equal(encoded(f, encode.DedupAuto), want) {
			t.Errorf("%d types: not what algorithm %d makes", c.types, c.want)
		}
	}
}
