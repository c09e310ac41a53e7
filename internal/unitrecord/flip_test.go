package unitrecord_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/btflite/btflite"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/ccobject"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// encoded is the BTF of a file that may be damaged.
func encoded(tb testing.TB, data []byte) ([]byte, error) {
	tb.Helper()
	r, err := btflite.Encode(context.Background(), []btflite.Source{{Path: "unit.o", Data: data}},
		btflite.Options{Features: encode.DefaultFeatures | encode.GlobalVar, AllowRefused: true})
	var crash *encode.Crash
	if errors.As(err, &crash) {
		tb.Fatalf("crash: %v", err)
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return bytes.Clone(r.BTF), nil
}

// flipObjects are objects with unit records, by what they are: alone, linked with others and
// with DWARF, and compressed.
func flipObjects(t *testing.T) map[string][]byte {
	t.Helper()
	for _, tool := range []string{"gcc", "ld", "objcopy"} {
		corpus.Installed(t, tool)
	}
	dir := t.TempDir()
	run := func(args ...string) {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("%v: %v\n%s", args, err, out)
		}
	}
	for i, text := range []string{
		"struct a { int x; char *y; }; int fa(struct a *p, long n) { return p->x + n; } int va; static struct a sa; struct a *ra(void) { return &sa; }",
		"struct b { long x; struct b *y; enum { B, C } z; }; int fb(struct b *p) { return p->z; } struct b vb; static inline int ib(int q) { return q; } int gb(int w) { return ib(w); }",
		"struct c { short x[3]; union { int i; long l; } u; }; int fc(struct c *p) { return p->x[1]; } struct c vc = { { 1 } };",
	} {
		name := fmt.Sprintf("%c", 'a'+i)
		testfile.Write(t, filepath.Join(dir, name+".c"), text)
		run("gcc", "-g", "-O1", "-ffreestanding", "-fno-asynchronous-unwind-tables", "-c", name+".c", "-o", name+".dwarf.o")
		data, err := ccobject.Convert(mmapelf.Source{Path: filepath.Join(dir, name+".dwarf.o")}, "test", nil)
		if err != nil {
			t.Fatal(err)
		}
		testfile.Write(t, filepath.Join(dir, name+".o"), data)
	}
	run("ld", "-r", "a.o", "b.o", "-o", "partly.o")
	run("ld", "-e", "0", "a.o", "c.dwarf.o", "b.o", "-o", "linked.o")
	run("objcopy", "--compress-debug-sections", "partly.o", "packed.o")
	out := map[string][]byte{}
	for _, name := range []string{"a.o", "partly.o", "linked.o", "packed.o"} {
		data := testfile.Read(t, filepath.Join(dir, name))
		out[name] = data
	}
	return out
}

// part is a run of bytes of a file.
type part struct {
	what     string
	from, to uint64
}

// recordParts lists all that belongs to the unit records of a file of 64 bits, and what finds it. The bases, and in an object their
// relocations, are left out: they are addresses that a linker writes, and have no checksum.
func recordParts(t *testing.T, data []byte) (parts []part) {
	t.Helper()
	f, err := mmapelf.New("unit.o", data)
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	info, abbrev := f.Section(".debug_info"), f.Section(".debug_abbrev")
	const headers, headerSize, compressed, relocatable = 40, 64, 0x800, 1
	for i, s := range f.Sections {
		if s.Index == info.Index || s.Index == abbrev.Index || s.Name == ".rela.debug_info" {
			at := le.Uint64(data[headers:]) + uint64(i)*headerSize
			parts = append(parts, part{"section header of " + s.Name, at, at + headerSize})
		}
		for at := s.Offset; s.Name == ".rela.debug_info" && at < s.Offset+s.Size; at += 24 {
			if le.Uint64(data[at:]) == 8 { // of the first unit's abbreviations
				parts = append(parts, part{s.Name, at, at + 24})
			}
		}
	}
	if info.Flags&compressed != 0 {
		return append(parts, part{info.Name, info.Offset, info.Offset + info.Size}, part{abbrev.Name, abbrev.Offset, abbrev.Offset + abbrev.Size})
	}
	if f.Type == relocatable {
		return append(parts, part{info.Name, info.Offset, info.Offset + info.Size}, part{abbrev.Name, abbrev.Offset, abbrev.Offset + abbrev.Size})
	}
	var tables []uint64
	for at := info.Offset; at < info.Offset+info.Size; at += 4 + uint64(le.Uint32(data[at:])) {
		tables = append(tables, uint64(le.Uint32(data[at+8:])))
	}
	tables = append(tables, abbrev.Size)
	k := 0
	for at := info.Offset; at < info.Offset+info.Size; k++ {
		end := at + 4 + uint64(le.Uint32(data[at:]))
		if mark := bytes.Index(data[at:end], []byte(dwarf.RecordMark)); mark >= 0 {
			bases := at + uint64(mark+len(dwarf.RecordMark)) + 5
			parts = append(parts, part{info.Name, at, bases}, part{info.Name, bases + 8*uint64(data[bases-1]), end},
				part{abbrev.Name, abbrev.Offset + tables[k], abbrev.Offset + tables[k+1]})
		}
		at = end
	}
	return parts
}

// TestEveryBit changes each bit of all that belongs to records, and of all that finds them: each result is the same
// BTF, or an error. BTFLITE_MUTANTS has all bits changed, else it is one of each byte.
func TestEveryBit(t *testing.T) {
	if testing.Short() {
		t.Skip("each bit of some units")
	}
	for name, data := range flipObjects(t) {
		want, err := encoded(t, data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, p := range recordParts(t, data) {
			same, lost := 0, 0
			for at := p.from; at < p.to; at++ {
				for bit := range 8 {
					if os.Getenv("BTFLITE_MUTANTS") == "" && bit != int(at%8) {
						continue
					}
					mutant := bytes.Clone(data)
					mutant[at] ^= 1 << bit
					got, err := encoded(t, mutant)
					switch {
					case err != nil:
					case bytes.Equal(got, want):
						same++
					default:
						if lost++; lost < 10 {
							t.Errorf("%s: bit %d of byte %#x of %s has changed, and so has the BTF, without a word", name, bit, at-p.from, p.what)
						}
					}
				}
			}
			t.Logf("%s: %s: %d bytes, %d changes without an effect, %d lost", name, p.what, p.to-p.from, same, lost)
		}
	}
}
