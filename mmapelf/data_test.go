package mmapelf

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/klauspost/compress/zstd"
)

func deflate(b []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func zstdOf(b []byte) []byte {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	defer w.Close()
	return w.EncodeAll(b, nil)
}

func gnuOf(b []byte) []byte {
	out := binary.BigEndian.AppendUint64([]byte(gnuCompressMagic), uint64(len(b)))
	return append(out, deflate(b)...)
}

func TestDataDecompresses(t *testing.T) {
	want := strings.Repeat("debug text ", 300)
	for _, l := range elftest.Layouts {
		f := mustParse(t, sample(l))
		for _, name := range []string{".debug_str", ".debug_line_str", ".zdebug_info"} {
			b, err := f.Data(f.Section(name))
			if err != nil || string(b) != want {
				t.Errorf("%v %s: %d bytes, %v", l, name, len(b), err)
			}
			if n, err := f.ExpandedSize(f.Section(name)); err != nil || n != uint64(len(want)) {
				t.Errorf("%v %s: %d bytes without expanding it, %v", l, name, n, err)
			}
		}
		if s := f.Section(".text"); s != nil {
			if n, err := f.ExpandedSize(s); err != nil || n != s.Size {
				t.Errorf("%v .text: %d bytes, %v", l, n, err)
			}
		}
	}
}

// TestCompressedNames: the table of section names may be compressed, too, and its memory is given back
// once the names are read. Damage in it is an error.
func TestCompressedNames(t *testing.T) {
	for _, l := range elftest.Layouts {
		data := elftest.Image{Layout: l, Sections: []elftest.Section{{Name: ".text", Data: []byte("code")}}, Names: strings.Repeat("more", minReserve)}.Bytes()
		plain := mustParse(t, data)
		packed := compressedNames(l, plain)
		f := mustParse(t, packed)
		if f.Section(".text") == nil || f.Section(".shstrtab") == nil || len(f.reserved) != 0 {
			t.Errorf("%v: sections %+v, %d of them kept expanded", l, f.Sections, len(f.reserved))
		}
		packed[len(packed)-1] ^= 1
		if _, err := parse("", packed); err == nil || !strings.Contains(err.Error(), "compressed stream") {
			t.Errorf("%v: damaged: error %v", l, err)
		}
	}
}

// compressedNames returns the file f with its section names compressed.
func compressedNames(l elftest.Layout, f *File) []byte {
	names := f.Section(".shstrtab")
	body := l.CompressedAs(elfCompressZlib, names.Size, deflate(f.data[names.Offset:][:names.Size]))
	data := append(bytes.Clone(f.data), body...)
	word := l.WordSize()
	flags := l.SectionTable(data) + names.Index*l.SectionSize() + 8
	l.Put(data, flags, word, elftest.Compressed)
	l.Put(data, flags+2*word, word, uint64(len(f.data)))
	l.Put(data, flags+3*word, word, uint64(len(body)))
	return data
}

func TestDataDecompressesPastTheFirstChunk(t *testing.T) {
	var text []byte
	for i := range uint32(900000) {
		text = binary.LittleEndian.AppendUint32(text, i*2654435761>>12)
	}
	l := elftest.Little64
	for kind, stream := range map[uint32][]byte{elfCompressZlib: deflate(text), elfCompressZstd: zstdOf(text)} {
		f, err := parse("", l.Image(elftest.Section{Name: ".debug_info", Flags: elfabi.SHFCompressed,
			Data: l.CompressedAs(kind, uint64(len(text)), stream)}))
		if err != nil {
			t.Fatal(err)
		}
		b, err := f.Data(&f.Sections[1])
		if err != nil || !bytes.Equal(b, text) {
			t.Errorf("type %d: %d of %d bytes, %v", kind, len(b), len(text), err)
		}
		if cap(b) != len(text) {
			t.Errorf("type %d: capacity %d for %d bytes", kind, cap(b), len(text))
		}
	}
}

func TestDataRefusesBadCompression(t *testing.T) {
	text := bytes.Repeat([]byte("debug text "), 300)
	n := uint64(len(text))
	z := deflate(text)
	zs := zstdOf(text)
	badSum := bytes.Clone(z)
	badSum[len(badSum)-1] ^= 1
	// A frame header that asks for a window of 2^41 bytes.
	hugeWindow := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 31 << 3}, zs...)
	bomb := deflate(make([]byte, 80<<20))

	gnu := func(size uint64, magic string) []byte {
		return append(binary.BigEndian.AppendUint64([]byte(magic), size), z...)
	}
	tests := []struct {
		name, want string
		section    string
		kind       uint32
		size       uint64
		stream     []byte // behind an Elf_Chdr, or the whole of a .zdebug_ section
	}{
		{"size 2^60", "claim to expand", ".debug_str", elfCompressZlib, 1 << 60, z},
		{"size 3G", "claim to expand", ".debug_str", elfCompressZlib, 3 << 30, z},
		{"size just over the ratio", "claim to expand", ".debug_str", elfCompressZlib, uint64(len(z))*maxExpansion + 1, z},
		{"bomb that keeps its promise", "claim to expand", ".debug_str", elfCompressZlib, 80 << 20, bomb},
		{"size too small", "longer than the declared", ".debug_str", elfCompressZlib, n - 1, z},
		{"size too large", "ends after", ".debug_str", elfCompressZlib, n + 1, z},
		{"size 0", "longer than the declared", ".debug_str", elfCompressZlib, 0, z},
		{"stream cut", "ends after", ".debug_str", elfCompressZlib, n, z[:len(z)/2]},
		{"checksum wrong", "checksum", ".debug_str", elfCompressZlib, n, badSum},
		{"no stream", "claim to expand", ".debug_str", elfCompressZlib, n, nil},
		{"not a zlib stream", "bad zlib stream", ".debug_str", elfCompressZlib, n, zs},
		{"type 99", "type 99", ".debug_str", 99, n, z},
		{"zstd over a zlib stream", "bad compressed stream", ".debug_str", elfCompressZstd, n, z},
		{"zstd window of 2^41", "bad compressed stream", ".debug_str", elfCompressZstd, n, hugeWindow},
		{"zstd size 2^60", "claim to expand", ".debug_str", elfCompressZstd, 1 << 60, zs},
		{"zstd size too small", "longer than the declared", ".debug_str", elfCompressZstd, n - 1, zs},
		{"zstd size too large", "ends after", ".debug_str", elfCompressZstd, n + 1, zs},
		{"zstd cut", "", ".debug_str", elfCompressZstd, n, zs[:len(zs)-5]},
		{"gnu magic", "does not start", ".zdebug_info", 0, 0, gnu(n, "zlib")},
		{"gnu header cut", "does not start", ".zdebug_info", 0, 0, []byte("ZLIB\x00")},
		{"gnu size 2^60", "claim to expand", ".zdebug_info", 0, 0, gnu(1<<60, "ZLIB")},
	}
	for _, tt := range tests {
		for _, l := range []elftest.Layout{elftest.Little64, elftest.Big64} {
			p := elftest.Section{Name: tt.section, Data: tt.stream}
			if tt.section == ".debug_str" {
				p.Flags = elfabi.SHFCompressed
				p.Data = l.CompressedAs(tt.kind, tt.size, tt.stream)
			}
			f := mustParse(t, l.Image(p))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			b, err := f.Data(&f.Sections[1])
			runtime.ReadMemStats(&after)
			var fe *FormatError
			if b != nil || !errors.As(err, &fe) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s (%v): %d bytes, error %v, want %q", tt.name, l, len(b), err, tt.want)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 40<<20 {
				t.Errorf("%s (%v): allocated %d bytes", tt.name, l, used)
			}
		}
	}
	l := elftest.Little64
	f := mustParse(t, l.Image(elftest.Section{Name: ".debug_str", Flags: elfabi.SHFCompressed, Data: []byte("zzzz")}))
	if _, err := f.Data(&f.Sections[1]); err == nil || !strings.Contains(err.Error(), "compression header") {
		t.Errorf("section of 4 bytes: %v", err)
	}
}

func TestStringAt(t *testing.T) {
	var f File
	tab := []byte("\x00fn\x00var\x00open")
	for _, tt := range []struct {
		off  uint32
		want string
		ok   bool
	}{{0, "", true}, {1, "fn", true}, {2, "n", true}, {4, "var", true}, {8, "", false}, {12, "", false}, {1 << 31, "", false}} {
		if b, ok := f.StringAt(tab, tt.off); string(b) != tt.want || ok != tt.ok {
			t.Errorf("offset %d: %q %v, want %q %v", tt.off, b, ok, tt.want, tt.ok)
		}
	}
}
