package unitrecord_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/ccobject"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/testfile"
)

// declaring is a program of units with the same structs and unions. Some units only declare them, in parameter lists,
// and some define them. Only the last one does both, and gcc warns that these are two types. Records of the last one
// are then made of runs of types that a reader knows from the units before it.
func declaring(seed uint64) (sources []string) {
	const structs = 40
	r := rand.New(rand.NewPCG(seed, 3))
	keyword := func(i int) string { return [...]string{"struct", "union"}[i%4/3] }
	var declarations, definitions strings.Builder
	for i := range structs {
		fmt.Fprintf(&declarations, "typedef int (*callback_%d)(%s s%d *); callback_%d w%d;\n", i, keyword(i), i, i, i)
		fmt.Fprintf(&definitions, "%s s%d {", keyword(i), i)
		for j := range 1 + r.IntN(3) {
			to := r.IntN(structs)
			switch {
			case seed%2 == 1 && r.IntN(8) == 0:
				fmt.Fprintf(&definitions, " callback_%d m%d;", to, j)
			case r.IntN(4) == 0:
				fmt.Fprintf(&definitions, " int (*m%d)(%s s%d *);", j, keyword(to), to)
			default:
				fmt.Fprintf(&definitions, " %s s%d *m%d;", keyword(to), to, j)
			}
		}
		fmt.Fprintf(&definitions, " } v%d;\n", i)
	}
	var known strings.Builder // so that parameters are not declared in their list
	for i := range structs {
		fmt.Fprintf(&known, "%s s%d;\n", keyword(i), i)
	}
	sources = []string{
		"int a[3];" + declarations.String(),
		"int a[3];" + known.String() + declarations.String() + definitions.String(),
		"int a[3];" + declarations.String() + definitions.String(),
	}
	if r.IntN(2) == 0 {
		sources[0], sources[1] = sources[1], sources[0]
	}
	return sources
}

// TestUnitsWithDeclarations: libbpf keeps types of units apart that both declare and define a type. An encoding finds
// such units as well where it reads records, and leaves out the runs of types that it knows.
func TestUnitsWithDeclarations(t *testing.T) {
	others := 0
	for seed := range uint64(12) {
		var dwarf, records [][]byte
		for _, text := range declaring(seed) {
			path := compiled(t, testfile.New(t, "unit.c", text), "-O2", "-fcommon")
			record, err := ccobject.Convert(mmapelf.Source{Path: path}, "test", nil)
			if err != nil {
				t.Fatal(err)
			}
			dwarf, records = append(dwarf, testfile.Read(t, path)), append(records, record)
		}
		program := linked(t, records...)
		want := inMode(t, linked(t, dwarf...), encode.DedupExact)
		if !bytes.Equal(inMode(t, program, encode.DedupAuto), want) {
			t.Errorf("seed %d: not the types that libbpf chooses", seed)
		}
		if !bytes.Equal(inMode(t, program, encode.DedupStream), want) {
			others++
		}
	}
	t.Logf("merging unit by unit chooses other types in %d of 12 programs", others)
	if others < 3 {
		t.Error("too few for a test")
	}
}

// inMode returns the BTF of a file, deduplicated in one way.
func inMode(t *testing.T, data []byte, mode encode.Dedup) []byte {
	t.Helper()
	path := testfile.New(t, "program.o", string(data))
	out, err := encode.Run([]string{path}, encode.Options{Features: encode.DefaultFeatures, Dedup: mode})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	return bytes.Clone(out.Bytes())
}
