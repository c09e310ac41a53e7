package library

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/lower"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/internal/elftest"
)

var update = flag.Bool("update", false, "write testdata/sanitized.txt")

// newerTypes adds a type of each newer kind to the BTF of a BPF object. Its ids stay.
func newerTypes(t *testing.T, b *btf.Blob) *btf.Blob {
	t.Helper()
	add := func(name string, words ...uint32) uint32 {
		off := uint32(0)
		if name != "" {
			off = uint32(len(b.Strings))
			b.Strings = append(append(b.Strings, name...), 0)
		}
		b.Off = append(b.Off, uint32(len(b.Words)))
		b.Words = append(append(b.Words, off), words...)
		return uint32(len(b.Off))
	}
	str := func(name string) uint32 {
		off := uint32(len(b.Strings))
		b.Strings = append(append(b.Strings, name...), 0)
		return off
	}
	info := func(k btf.Kind, vlen uint32) uint32 { return uint32(k)<<24 | vlen }
	const signed = 1 << 31
	number := add("number", info(btf.KindInt, 0), 4, 1<<24|32)
	float := add("real", info(btf.KindFloat, 0), 8)
	holder := add("mark_of_test", info(btf.KindStruct, 1), 8, str("value"), float, 0)
	tag := add("user", info(btf.KindTypeTag, 0), number)
	add("", info(btf.KindPtr, 0), tag)
	add("a tag", info(btf.KindDeclTag, 0), holder, 0xffffffff)
	add("small", info(btf.KindEnum, 1)|signed, 4, str("MINUS"), 0xffffffff)
	add("wide", info(btf.KindEnum64, 2), 8, str("FITS"), 1, 0, str("WIDE"), 2, 1)
	return btftest.Parse(t, b.Encode(), nil)
}

// withBTF is the object at path with other BTF, which is behind the rest of the file.
func withBTF(t *testing.T, path string, data []byte) []byte {
	t.Helper()
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(f.Sections, func(s *elf.Section) bool { return s.Name == ".BTF" })
	if i < 0 || f.Class != elf.ELFCLASS64 || f.ByteOrder != binary.LittleEndian {
		t.Fatalf("%s: not the object that is expected", path)
	}
	header := image[binary.LittleEndian.Uint64(image[40:])+64*uint64(i):] // e_shoff, then headers of 64 bytes
	binary.LittleEndian.PutUint64(header[24:], uint64(len(image)))
	binary.LittleEndian.PutUint64(header[32:], uint64(len(data)))
	return append(image, data...)
}

// TestLibbpfSanitizes: what libbpf makes of the BTF of an object for kernels that lack kinds,
// beside what lower makes of it. Both keep all ids.
func TestLibbpfSanitizes(t *testing.T) {
	const golden = "testdata/sanitized.txt"
	dir := t.TempDir()
	program := filepath.Join(dir, "sanitize")
	if said, err := exec.Command("cc", "-O1", "-rdynamic", "-o", program, "testdata/sanitize.c", "-lbpf").CombinedOutput(); err != nil {
		t.Skipf("no C compiler, or no libbpf (Debian's libbpf-dev): %s", said)
	}
	const plain = "../../testdata/min/thing.bpf.o"
	all := newerTypes(t, btftest.Parse(t, elftest.Contents(t, plain, ".BTF"), nil))
	object := filepath.Join(dir, "newer.bpf.o")
	if err := os.WriteFile(object, withBTF(t, plain, all.Encode()), 0o666); err != nil {
		t.Fatal(err)
	}
	var s strings.Builder
	for _, x := range []struct {
		release string
		last    btf.Kind // that it knows
	}{
		{"5.12", btf.KindDatasec}, {"5.15", btf.KindFloat}, {"5.16", btf.KindDeclTag}, {"5.19", btf.KindTypeTag}, {"6.0", btf.KindEnum64},
	} {
		out := filepath.Join(dir, x.release)
		if said, err := exec.Command(program, object, strconv.Itoa(int(x.last)), "mark_of_test", out).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		theirs := btftest.Read(t, out, nil)
		release, err := verify.ParseRelease(x.release)
		if err != nil {
			t.Fatal(err)
		}
		ours, _, err := lower.Lower(all, lower.Options{Kernel: release})
		if err != nil {
			t.Fatal(err)
		}
		if ours.TypeCount() != all.TypeCount() || theirs.TypeCount() < all.TypeCount() {
			t.Errorf("%s: %d types, libbpf has %d, lower %d", x.release, all.TypeCount(), theirs.TypeCount(), ours.TypeCount())
		}
		fmt.Fprintf(&s, "# Linux %s\n", x.release)
		a, b, c := typeLines(all), typeLines(theirs), typeLines(ours)
		for i := range b {
			switch {
			case i >= len(a):
				fmt.Fprintf(&s, "libbpf adds:  %s\n", b[i])
			case isSection(a[i]): // libbpf writes sizes and places into it
			case a[i] != b[i] || a[i] != c[i]:
				fmt.Fprintf(&s, "%s\n      libbpf:  %s\n      lower:   %s\n", a[i], b[i], c[i])
			}
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(s.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), s.String()); diff != "" {
		t.Error(diff)
	}
}

func isSection(line string) bool {
	return strings.Contains(line, "DATASEC") || strings.Contains(line, "VAR ")
}

// typeLines is one line for each type.
func typeLines(b *btf.Blob) []string {
	text := strings.TrimSuffix(btftest.Text(b), "\n")
	return strings.Split(strings.ReplaceAll(text, "\n\t", "; "), "\n")
}
