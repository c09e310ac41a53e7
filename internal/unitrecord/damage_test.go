package unitrecord_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/btflite/btflite"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/ccobject"
	"github.com/btflite/btflite/internal/unitrecord"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// object compiles the unit of ccobject's tests, and converts it.
func object(tb testing.TB) []byte {
	tb.Helper()
	return objectOf(tb, "../ccobject/testdata/unit.c")
}

// objectOf compiles a C file, and converts the object.
func objectOf(tb testing.TB, source string) []byte {
	tb.Helper()
	data, err := ccobject.Convert(mmapelf.Source{Path: compiled(tb, source, "-O2")}, "test", nil)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// compiled compiles a C file with gcc and returns the path of the object.
func compiled(tb testing.TB, source string, words ...string) string {
	tb.Helper()
	corpus.Installed(tb, "gcc")
	path := filepath.Join(tb.TempDir(), "unit.o")
	words = append(words, "-g", "-w", "-ffreestanding", "-c", "-o", path, source)
	if out, err := exec.Command("gcc", words...).CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	return path
}

// section finds a section of an object.
func section(tb testing.TB, object []byte, name string) *mmapelf.Section {
	tb.Helper()
	f, err := mmapelf.New("unit.o", object)
	if err != nil {
		tb.Fatal(err)
	}
	s := f.Section(name)
	if s == nil {
		tb.Fatalf("no section %s", name)
	}
	return s
}

// record finds the record in an object of one unit. Before it is its length, and behind it the end of the DIEs.
func record(tb testing.TB, object []byte) (from, to int) {
	tb.Helper()
	s := section(tb, object, ".debug_info")
	info := object[s.Offset:][:s.Size]
	at := 13
	for range 2 { // producer, then language and name
		for info[at] != 0 {
			at++
		}
		at++
		if at < 64 && info[at] == 29 { // DW_LANG_C11
			at += 2
		}
	}
	n := int(binary.LittleEndian.Uint32(info[at:]))
	if at+4+n+1 != len(info) {
		tb.Fatalf("the record is not found: %d + 4 + %d + 1 of %d bytes", at, n, len(info))
	}
	return int(s.Offset) + at + 4, int(s.Offset) + at + 4 + n
}

// nodes finds the nodes of an object of one unit: the rest of .debug_abbrev behind its only
// abbreviation.
func nodes(tb testing.TB, object []byte) (from, to int) {
	tb.Helper()
	s := section(tb, object, ".debug_abbrev")
	table := bytes.Index(object[s.Offset:][:s.Size], []byte{0, 0, 0})
	if table < 0 {
		tb.Fatal("the abbreviation is not found")
	}
	return int(s.Offset) + table + 3, int(s.Offset + s.Size)
}

// encodes encodes an object whose record may be damaged, and fails the test if that
// crashes or writes BTF that the kernel would refuse. It reports whether there was
// BTF.
func encodes(tb testing.TB, object []byte) bool {
	tb.Helper()
	r, err := btflite.Encode(context.Background(), []btflite.Source{{Path: "unit.o", Data: object}}, btflite.Options{})
	var crash *encode.Crash
	if errors.As(err, &crash) {
		tb.Fatalf("crash: %v", err)
	}
	if err != nil {
		return false
	}
	defer r.Close()
	if err := btflite.Verify(context.Background(), r.BTF, nil, ""); err != nil {
		tb.Fatalf("BTF is refused: %v", err)
	}
	return true
}

// rounds is how many mutants a test makes; BTFLITE_MUTANTS asks for more.
func rounds(tb testing.TB) int {
	if s := os.Getenv("BTFLITE_MUTANTS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			tb.Fatal(err)
		}
		return n
	}
	return 300
}

// TestDamagedFrame: a record in which a byte has changed gives an error, unless it is
// one that nothing depends on.
func TestDamagedFrame(t *testing.T) {
	data := object(t)
	if !encodes(t, data) {
		t.Fatal("the object itself cannot be encoded")
	}
	parts := [2][2]int{}
	parts[0][0], parts[0][1] = record(t, data)
	parts[1][0], parts[1][1] = nodes(t, data)
	random := rand.New(rand.NewPCG(1, 2))
	for range rounds(t) {
		mutant := append([]byte(nil), data...)
		for range 1 + random.IntN(3) {
			p := parts[random.IntN(2)]
			mutant[p[0]+random.IntN(p[1]-p[0])] ^= 1 << random.IntN(8)
		}
		encodes(t, mutant)
	}
}

// TestDamagedBlock: each bit of a block that is read counts. All blocks of the only unit are read.
func TestDamagedBlock(t *testing.T) {
	data := object(t)
	_, to := nodes(t, data)
	for at := to - 200; at < to; at++ {
		mutant := append([]byte(nil), data...)
		mutant[at] ^= 1 << (at % 8)
		if encodes(t, mutant) {
			t.Errorf("byte %d from the end has changed, and nobody has seen it", to-at)
		}
	}
}

// TestNodesElsewhere: nodes that the section does not have, by their place or their size, are
// damage.
func TestNodesElsewhere(t *testing.T) {
	data := object(t)
	from, to := record(t, data)
	nodesFrom, nodesTo := nodes(t, data)
	table := uint64(nodesFrom) - section(t, data, ".debug_abbrev").Offset
	size := uint64(nodesTo - nodesFrom)
	want := binary.AppendUvarint(binary.AppendUvarint(nil, table), size)
	at := bytes.Index(data[from:to], want)
	if at < 0 {
		t.Fatal("the record does not say where its nodes are")
	}
	rest := data[from+at+len(want) : to]
	for _, place := range [][2]uint64{{table, size + 1}, {table + 1, size}, {table, size - 1}, {table - 1, size}, {table, 0}, {0, 0}, {0, table + size},
		{1 << 63, 1 << 63}, {^uint64(0), size}, {^uint64(0), ^uint64(0)}, {table, ^uint64(0)}, {table + size, 1}} {
		made := append([]byte(nil), data[from:from+at]...)
		made = append(binary.AppendUvarint(binary.AppendUvarint(made, place[0]), place[1]), rest...)
		if encodes(t, replace(data, from, to, made, true)) {
			t.Errorf("nodes at %d of %d bytes are taken; they are at %d of %d", place[0], place[1], table, size)
		}
	}
}

// remakes is the object with other columns and blocks, and checksums that are right.
func remakes(tb testing.TB, data []byte, columns, blocks func([]byte) []byte) []byte {
	tb.Helper()
	from, to := record(tb, data)
	nodesFrom, nodesTo := nodes(tb, data)
	if nodesFrom < to {
		tb.Fatal(".debug_abbrev lies before .debug_info")
	}
	made, others := unitrecord.Remake(data[from:to], data[nodesFrom:nodesTo], 8, columns, blocks)
	if made == nil {
		tb.Fatal("no record")
	}
	return replace(replace(data, nodesFrom, nodesTo, others, false), from, to, made, true)
}

// same changes nothing.
func same(b []byte) []byte { return b }

// TestMadeUpColumns: columns and blocks that somebody has made up, with checksums that are
// right, crash nothing.
func TestMadeUpColumns(t *testing.T) {
	data := object(t)
	random := rand.New(rand.NewPCG(3, 4))
	accepted := 0
	change := func(columns []byte) []byte {
		for range 1 + random.IntN(4) {
			at := random.IntN(len(columns))
			switch random.IntN(3) {
			case 0:
				columns[at] ^= 1 << random.IntN(8)
			case 1:
				columns[at] = byte(random.IntN(256))
			default:
				columns[at] = columns[random.IntN(len(columns))]
			}
		}
		return columns
	}
	for i := range rounds(t) {
		columns, blocks := change, same
		if i%2 == 1 {
			columns, blocks = same, change
		}
		if encodes(t, remakes(t, data, columns, blocks)) {
			accepted++
		}
	}
	if accepted == 0 {
		t.Error("no mutant at all was accepted: the test does not reach behind the checksum")
	}
}

// replace is the object with other bytes in a section. inUnit says that they are the end of the
// only unit.
func replace(data []byte, from, to int, made []byte, inUnit bool) []byte {
	grown := len(made) - (to - from)
	out := append([]byte(nil), data[:from]...)
	out = append(append(out, made...), data[to:]...)
	le := binary.LittleEndian
	shoff := int(le.Uint64(data[40:]))
	le.PutUint64(out[40:], uint64(shoff+grown))
	for i := range int(le.Uint16(data[60:])) {
		h := out[shoff+grown+i*64:]
		switch off := int(le.Uint64(h[24:])); {
		case off > from:
			le.PutUint64(h[24:], uint64(off+grown))
		case off <= from && from < off+int(le.Uint64(h[32:])):
			le.PutUint64(h[32:], le.Uint64(h[32:])+uint64(grown))
			if inUnit {
				le.PutUint32(out[off:], le.Uint32(out[off:])+uint32(grown))
			}
		}
	}
	if inUnit {
		le.PutUint32(out[from-4:], uint32(len(made)))
		reseal(out, from, from+len(made))
	}
	return out
}

// reseal makes the checksum of the head right, of the only unit of an object, whose record is there.
func reseal(data []byte, from, to int) {
	f, err := mmapelf.New("unit.o", data)
	if err != nil || f.Section(".debug_info") == nil || f.Section(".debug_abbrev") == nil {
		return
	}
	info, abbrev := f.Section(".debug_info"), f.Section(".debug_abbrev")
	table := data[abbrev.Offset:][:bytes.Index(data[abbrev.Offset:], []byte{0, 0, 0})+3]
	_ = unitrecord.Seal(data[info.Offset:to], from-int(info.Offset), table, 8)
}

// FuzzRecord encodes objects whose record has any columns and blocks.
func FuzzRecord(f *testing.F) {
	data := object(f)
	var columns, blocks []byte
	keep := func(p *[]byte) func([]byte) []byte {
		return func(b []byte) []byte {
			*p = append([]byte(nil), b...)
			return b
		}
	}
	remakes(f, data, keep(&columns), keep(&blocks))
	f.Add(columns, blocks)
	f.Fuzz(func(t *testing.T, columns, blocks []byte) {
		encodes(t, remakes(t, data, func([]byte) []byte { return columns }, func([]byte) []byte { return blocks }))
	})
}

// TestVersion: a record of another format says who has made it.
func TestVersion(t *testing.T) {
	data := object(t)
	from, _ := record(t, data)
	for at := range 2 { // format, dictionary
		other := append([]byte(nil), data...)
		other[from+at] += 7
		_, err := btflite.Encode(context.Background(), []btflite.Source{{Path: "unit.o", Data: other}}, btflite.Options{})
		if want := `unit.o: .debug_info: CU "../ccobject/testdata/unit.c" at 0x0: the unit record was built by btflite "test": rebuild the object or use that version`; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestMemoryAdvice: what a run over records is said to need is more than for as many bytes of DWARF.
func TestMemoryAdvice(t *testing.T) {
	path := testfile.New(t, "unit.o", object(t))
	_, err := encode.Run([]string{path}, encode.Options{MemoryLimit: 1 << 20})
	if want := path + ": the memory limit of 1 MiB cannot suffice for 1 MiB of debug information: kernels of that size need 10 MiB"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestMemoryAdviceWhileSymbolsAreRead: the tables of many functions meet the limit before a unit is
// read. The error names the same amount of memory as the first check of the input.
func TestMemoryAdviceWhileSymbolsAreRead(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the memory in use is known on Linux only")
	}
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("int variable; int function(int a) { return a; }\nasm(\n")
	for i := range 20000 {
		fmt.Fprintf(&text, "\".type f%d, %%function; f%d:\\n\"\n", i, i)
	}
	text.WriteString(");\n")
	source, path := filepath.Join(dir, "many.c"), filepath.Join(dir, "many.o")
	testfile.Write(t, source, text.String())
	testfile.Write(t, path, objectOf(t, source))
	_, err := encode.Run([]string{path}, encode.Options{MemoryLimit: 5 << 20})
	if err == nil || !strings.Contains(err.Error(), "limit of 5 MiB is reached") || !strings.HasSuffix(err.Error(), "kernels of that size need 10 MiB") {
		t.Error(err)
	}
}
