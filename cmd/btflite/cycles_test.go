package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// cycleCommands are the command lines of readerLines that need no other file than FILE and GOOD, which is
// a file without a cycle, and take its base.
func cycleCommands() (lines []string) {
	for _, line := range readerLines {
		if !needsMore.MatchString(line.words) {
			lines = append(lines, line.words)
		}
	}
	return lines
}

// needsMore finds words of readerLines for other files, or for FILE as a base.
var needsMore = regexp.MustCompile(`\b(ELF|COPY|IMAGE|MODULES|PROG|CC|MORE|btf_base\w*|why)\b`)

// cycleKinds are the kinds of types that only stand for another type, so that a cycle of
// them has no end.
var cycleKinds = []btf.Kind{btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypeTag, btf.KindTypedef, btf.KindArray, btf.KindPtr}

// cycles are the kinds along each cycle: one, two of any, and all of them.
func cycles() (all [][]btf.Kind) {
	for i, k := range cycleKinds {
		all = append(all, []btf.Kind{k})
		for _, l := range cycleKinds[i+1:] {
			all = append(all, []btf.Kind{k, l})
		}
	}
	return append(all, cycleKinds)
}

// withCycle is BTF in which members, bit-fields, elements, results, parameters, variables and
// other types lead into a cycle, from a type before it. Without kinds they lead to an int.
func withCycle(kinds []btf.Kind, base *btf.Blob) *btftest.Builder {
	b := btftest.Over(base)
	num := b.Int("int", 4)
	first := b.N + 1
	if base != nil {
		first += base.TypeCount() - 1
	}
	for i, k := range kinds {
		next := first + uint32((i+1)%len(kinds))
		switch k {
		case btf.KindArray:
			b.Array(next, num, 2)
		case btf.KindTypedef:
			b.Typedef("t", next)
		case btf.KindTypeTag:
			b.TypeTag("tag", next)
		default:
			b.Add("", btf.Info(k, 0, false), next)
		}
	}
	if len(kinds) == 0 {
		first = num
	}
	into := b.Const(first)
	unnamed := b.Struct("", 4, b.Member("y", into, 0))
	b.Struct("user", 24, b.Member("a", first, 0), b.Member("b", into, 64), b.Member("c", b.Ptr(into), 128), b.Member("", unnamed, 192))
	b.Of(btf.KindStruct, "bits", true, 4, b.Member("d", into, 3<<24))
	b.Union("u", 8, b.Member("e", b.Array(into, num, 3), 0), b.Member("", into, 0))
	b.Typedef("named", into)
	f := b.Func("f", btftest.Global, b.Proto(into, b.Param("p", into), b.Param("q", b.Ptr(first))))
	b.DeclTag("bpf_kfunc", f, btftest.Whole)
	b.Datasec(".data", 8, btftest.Place(b.Var("v", into, btftest.Global), 0, 8))
	return b
}

// TestCyclesEnd: no command follows a cycle of types without an end. Each prints text or one
// error, alone and over a base, in both byte orders.
func TestCyclesEnd(t *testing.T) {
	lines := cycleCommands()
	dir := t.TempDir()
	good, over := filepath.Join(dir, "good.btf"), filepath.Join(dir, "base.btf")
	for n, kinds := range cycles() {
		for form := range 4 {
			if form != n%4 && len(kinds) == 2 && testing.Short() {
				continue
			}
			bigEndian, split := form&1 != 0, form&2 != 0
			testfile.Write(t, good, withCycle(nil, nil).Encode(bigEndian))
			file, more := filepath.Join(dir, "cycle.btf"), []string{}
			var base *btf.Blob
			if split {
				data := withCycle(nil, nil).Encode(bigEndian)
				testfile.Write(t, over, data)
				base, more = btftest.Parse(t, data, nil), []string{"--btf_base=" + over}
				testfile.Write(t, good, withCycle(nil, base).Encode(bigEndian))
			}
			testfile.Write(t, file, withCycle(kinds, base).Encode(bigEndian))
			for i, line := range lines {
				if len(kinds) == 2 && (i+n)%4 != 0 {
					continue // the other cycles of two are for the other lines
				}
				words := strings.Fields(strings.NewReplacer("FILE", file, "GOOD", good, "OUT", filepath.Join(dir, "out")).Replace(line))
				endsInTime(t, fmt.Sprintf("cycle of %v, big endian %t, split %t: %s", kinds, bigEndian, split, line), append(words, more...))
			}
		}
	}
}

// maxCycle is how long a command may take for a file with a cycle, which has some hundred bytes.
const maxCycle = 30 * time.Second

// endsInTime runs a command, which ends with text or one error.
func endsInTime(t *testing.T, what string, words []string) {
	t.Helper()
	c, _, errs := testCLI(t)
	done := make(chan int, 1)
	go func() { done <- c.run(words) }()
	select {
	case status := <-done:
		if status == exitInternal || status == exitUsage || status == exitTrouble && errs.Len() == 0 {
			t.Errorf("%s: status %d: %s", what, status, errs)
		}
	case <-time.After(maxCycle): // nothing can be done with what goes on
		t.Fatalf("%s: it does not end", what)
	}
}
