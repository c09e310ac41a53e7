package loadbtf

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/internal/elftest"
)

// TestExpandIsBounded: a small file cannot become more than the bound.
func TestExpandIsBounded(t *testing.T) {
	const bound = 1000
	data := read(t, "x86.base.btf")
	for _, suffix := range []string{"", ".gz", ".xz", ".zst"} {
		packed := read(t, "x86.base.btf"+suffix)
		for _, tt := range []struct {
			most int
			fits bool
		}{{len(data), true}, {len(data) - 1, false}, {bound, false}} {
			out := contents{most: tt.most}
			err := out.expand(bytes.NewReader(packed[6:]), packed[:6], int64(len(packed)))
			if tt.fits && (err != nil || !bytes.Equal(out.S, data)) || !tt.fits && err == nil {
				t.Errorf("%q with a bound of %d: %d bytes, error %v", suffix, tt.most, len(out.S), err)
			}
			out.Free()
		}
	}
}

// packed is data in each format, by suffix.
func packed(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for suffix, open := range map[string]func(io.Writer) (io.WriteCloser, error){
		".gz":  func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		".xz":  func(w io.Writer) (io.WriteCloser, error) { return xz.WriterConfig{DictCap: 1 << 16}.NewWriter(w) },
		".zst": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
	} {
		var b bytes.Buffer
		w, err := open(&b)
		if err == nil {
			_, err = w.Write(data)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		all[suffix] = b.Bytes()
	}
	return all
}

// TestBombs: what shrinks more than files with debug information do is refused before it is
// there as a whole, and what is neither BTF nor an ELF file after a few bytes of it, in
// every format, as a file and as bytes.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("files of some hundred megabytes")
	}
	for what, c := range map[string]struct{ begin, want string }{
		"BTF":   {"\x9f\xeb\x01\x00", "more than 100 times as much as it has"},
		"ELF":   {"\x7fELF", "more than 100 times as much as it has"},
		"zeros": {"", "neither an ELF file nor BTF"},
	} {
		const piece = 1 << 20
		zeros := packed(t, make([]byte, piece))
		for suffix, bomb := range packed(t, append([]byte(c.begin), make([]byte, piece-len(c.begin))...)) {
			bomb = append(bomb, bytes.Repeat(zeros[suffix], largeContents/piece+8)...) // all formats have streams in a row
			asked := uint64(0)
			limit := new(arena.Limit)
			limit.Set(arena.Bounds{Bytes: 1 << 40, Used: func() uint64 { asked += contentStep; return 0 }}) // each time for one step at least
			_, err := Loader{Limit: limit}.Load(write(t, bomb), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s%s: %v", what, suffix, err)
			}
			if most := uint64(largeContents + 2<<20); asked == 0 || asked > most || c.begin == "" && asked > 4*contentStep {
				t.Errorf("%s%s: it was expanded up to %d bytes", what, suffix, asked)
			}
			_, _, err = Loader{}.openLoaded("in", bomb)
			if c.begin != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s%s as bytes: %v", what, suffix, err)
			}
		}
	}
}

// TestSmallFilesMayShrink: a small file is taken, no matter how far it shrinks.
func TestSmallFilesMayShrink(t *testing.T) {
	want := read(t, "x86.base.btf")
	file := image(machineX86, elftest.Section{Name: SectionBTF, Data: want}, elftest.Section{Name: ".zeros", Data: make([]byte, 8<<20)})
	for suffix, small := range packed(t, file) {
		b, err := Loader{}.Load(write(t, small), nil)
		if err != nil || !bytes.Equal(b.Encode(), want) {
			t.Errorf("%s, of %d bytes: other BTF, or error %v", suffix, len(small), err)
		}
		if len(file) < 100*len(small) {
			t.Errorf("%s: %d bytes do not shrink enough for this test", suffix, len(small))
		}
	}
}

// TestLimitWhileExpanding: the limit is asked while a file expands, not only before, and
// what has been expanded is given back.
func TestLimitWhileExpanding(t *testing.T) {
	noise := make([]byte, 3<<20)
	copy(noise, "\x9f\xeb\x01\x00")
	r := rand.New(rand.NewPCG(1, 2))
	for i := 4; i < len(noise); i++ {
		noise[i] = byte(r.Uint32()) & 15
	}
	for suffix, file := range packed(t, noise) {
		path := write(t, file)
		times := uint64(0)
		limit := new(arena.Limit)
		limit.Set(arena.Bounds{Bytes: 8 * contentStep, Used: func() uint64 { times++; return 2 * times * contentStep }, Reclaim: func() {}})
		_, err := Loader{Limit: limit}.Load(path, nil)
		fails(t, suffix, err, path, "the memory limit is reached after")
		if !errors.As(err, new(arena.Exhausted)) {
			t.Errorf("%s: %v is not the error of the limit", suffix, err)
		}
		if _, err := (Loader{}).Load(path, nil); err == nil || strings.Contains(err.Error(), "limit") {
			t.Errorf("%s without a limit: %v", suffix, err)
		}
	}
}

// longXZ is an xz file of several blocks, and where their headers begin.
func longXZ(t *testing.T) (file []byte, blocks []int) {
	t.Helper()
	var b bytes.Buffer
	w, err := xz.WriterConfig{DictCap: 1 << 16, BlockSize: 1 << 10, CheckSum: xz.CRC64}.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	if _, err := w.Write([]byte("\x9f\xeb\x01\x00")); err != nil { // as BTF begins
		t.Fatal(err)
	}
	for range 5000 {
		if _, err := w.Write([]byte{byte(r.Uint32()), 'x', 'z'}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file = b.Bytes()
	// All blocks have the same header; its sum of four bytes finds the others.
	header := file[12 : 12+(int(file[12])+1)*4]
	for at := 0; ; {
		k := bytes.Index(file[at:], header)
		if k < 0 {
			return file, blocks
		}
		blocks = append(blocks, at+k)
		at += k + 1
	}
}

// TestXZDictionaries: a dictionary that is too large is refused before it is made, in
// whichever block it is named.
func TestXZDictionaries(t *testing.T) {
	const lzma2 = 0x21
	file, blocks := longXZ(t)
	if len(blocks) < 10 {
		t.Fatalf("%d blocks", len(blocks))
	}
	for _, at := range []int{0, 1, len(blocks) / 2, len(blocks) - 1} {
		for bits, refused := range map[byte]bool{28: false, 30: false, 31: true, 37: true, 40: true} { // 64, 128, 192 MiB, 1.5 and 4 GiB
			bad := bytes.Clone(file)
			header := bad[blocks[at]:]
			header = header[:(int(header[0])+1)*4]
			k := bytes.Index(header, []byte{lzma2, 1})
			header[k+2] = bits
			binary.LittleEndian.PutUint32(header[len(header)-4:], crc32.ChecksumIEEE(header[:len(header)-4]))
			if _, err := (Loader{}).Load(write(t, bad), nil); err == nil || strings.Contains(err.Error(), "it needs a dictionary of more than 128.0 MiB") != refused {
				t.Errorf("block %d, size %d: %v", at, bits, err)
			}
		}
	}
}

// TestReadLimited: as many bytes as the limit says, with those that are there, and not one more.
func TestReadLimited(t *testing.T) {
	for _, had := range []int{0, 3} {
		for n := 5; n <= 9; n++ {
			data := bytes.NewBuffer(make([]byte, had))
			err := ReadLimited(data, bytes.NewReader(make([]byte, n)), 8)
			if want := had+n > 8; (err != nil) != want || !want && data.Len() != had+n {
				t.Errorf("%d bytes, then %d: %v, %d in all", had, n, err, data.Len())
			}
		}
	}
}
