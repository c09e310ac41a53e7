package mmapelf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elftest"
)

// streamText is 4 MiB that compress a little and do not repeat, also as a zlib
// and a zstd stream.
var streamText = sync.OnceValues(func() ([]byte, map[uint32][]byte) {
	var b []byte
	for i := range uint32(4 << 18) {
		b = binary.LittleEndian.AppendUint32(b, i*2654435761>>12)
	}
	z := deflate(b)
	return b, map[uint32][]byte{elfCompressZlib: z, elfCompressZstd: zstdOf(b), 0: z}
})

// openStream is a file of one compressed section, opened as a Stream.
func openStream(t *testing.T, kind uint32, size int, stream []byte) *Stream {
	t.Helper()
	l := elftest.Little64
	p := elftest.Section{Name: ".debug_info", Flags: elfabi.SHFCompressed, Data: l.CompressedAs(kind, uint64(size), stream)}
	if kind == 0 {
		p = elftest.Section{Name: ".zdebug_info", Data: append(binary.BigEndian.AppendUint64([]byte(gnuCompressMagic), uint64(size)), stream...)}
	}
	f, err := Open(write(t, l.Image(p)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	st, err := f.Stream(&f.Sections[1])
	if err != nil || st == nil {
		t.Fatalf("stream %v, %v", st, err)
	}
	t.Cleanup(st.Close)
	return st
}

func TestStreamInOrder(t *testing.T) {
	text, streams := streamText()
	for kind, stream := range streams {
		st := openStream(t, kind, len(text), stream)
		const unit = 300000
		most := 0
		for off := 0; off < len(text); off += unit {
			end := min(off+unit, len(text))
			ready, err := st.Need(1, uint64(off), uint64(end-off))
			if err != nil || ready < uint64(end) {
				t.Fatalf("type %d: %d bytes at %d: %d, %v", kind, end-off, off, ready, err)
			}
			if !bytes.Equal(st.Bytes()[off:end], text[off:end]) {
				t.Fatalf("type %d: bytes at %d differ", kind, off)
			}
			st.mu.Lock()
			most = max(most, st.ready-st.dropped)
			st.mu.Unlock()
			st.Unpin(1)
			st.Drop(uint64(end))
		}
		if limit := 2*unit + streamAhead + streamStep + dropUnit; most > limit {
			t.Errorf("type %d: held %d bytes, more than %d", kind, most, limit)
		}
		if st.dropped < len(text)-dropUnit {
			t.Errorf("type %d: dropped %d of %d bytes", kind, st.dropped, len(text))
		}
	}
}

func TestStreamKeepsWhatIsInUse(t *testing.T) {
	text, streams := streamText()
	st := openStream(t, elfCompressZstd, len(text), streams[elfCompressZstd])
	if _, err := st.Need(7, 100000, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Need(8, 3<<20, 10); err != nil {
		t.Fatal(err)
	}
	st.Drop(3 << 20)
	if !bytes.Equal(st.Bytes()[100000:2<<20], text[100000:2<<20]) {
		t.Error("dropped what reader 7 has asked for")
	}
	st.Unpin(7)
	st.Drop(3 << 20)
	if st.dropped < 2<<20 {
		t.Errorf("dropped %d bytes", st.dropped)
	}
}

func TestStreamGoesBack(t *testing.T) {
	text, streams := streamText()
	for kind, stream := range streams {
		st := openStream(t, kind, len(text), stream)
		if _, err := st.Need(1, 3<<20, 100); err != nil {
			t.Fatal(err)
		}
		st.Unpin(1)
		st.Drop(3 << 20)
		var wg sync.WaitGroup
		for reader := range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				off := uint64(reader << 19)
				if _, err := st.Need(reader, off, 1000); err != nil || !bytes.Equal(st.Bytes()[off:off+1000], text[off:off+1000]) {
					t.Errorf("type %d: bytes at %d differ, %v", kind, off, err)
				}
			}()
		}
		wg.Wait()
		if st.dropped != 0 || !st.keep {
			t.Errorf("type %d: what is back counts as dropped", kind)
		}
		st.Drop(3 << 20)
		if !bytes.Equal(st.Bytes()[:2<<20], text[:2<<20]) {
			t.Errorf("type %d: dropped again", kind)
		}
	}
}

func TestStreamErrors(t *testing.T) {
	text, streams := streamText()
	n := len(text)
	z, zs := streams[elfCompressZlib], streams[elfCompressZstd]
	badSum := bytes.Clone(z)
	badSum[len(badSum)-1] ^= 1
	for _, tt := range []struct {
		name, want string
		kind       uint32
		size       int
		stream     []byte
	}{
		{"zlib cut", "ends after", elfCompressZlib, n, z[:len(z)/2]},
		{"zstd cut", "ends after", elfCompressZstd, n, zs[:len(zs)/2]},
		{"size too small", "longer than the declared", elfCompressZlib, n - 1, z},
		{"zstd size too small", "longer than the declared", elfCompressZstd, n - 1, zs},
		{"size too large", "ends after", elfCompressZlib, n + 1, z},
		{"checksum", "checksum", elfCompressZlib, n, badSum},
		{"no zlib stream", "bad zlib stream", elfCompressZlib, n, zs},
	} {
		st := openStream(t, tt.kind, tt.size, tt.stream)
		var err error
		for off := 0; off < tt.size && err == nil; off += 1 << 20 {
			_, err = st.Need(1, uint64(off), 1<<20)
			st.Unpin(1)
			st.Drop(uint64(off))
		}
		var fe *FormatError
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
		if _, again := st.Need(2, uint64(tt.size-1), 1); again == nil {
			t.Errorf("%s: no error the second time", tt.name)
		}
	}
}

// TestStreamBeforeDamage: what comes before the damage is there for other readers
// when one has met it.
func TestStreamBeforeDamage(t *testing.T) {
	text, streams := streamText()
	z := streams[elfCompressZlib]
	st := openStream(t, elfCompressZlib, len(text), z[:len(z)/2])
	if _, err := st.Need(1, 0, uint64(len(text)-1)); err == nil {
		t.Fatal("no error")
	}
	const n = 1000
	if _, err := st.Need(2, 0, n); err != nil || !bytes.Equal(st.Bytes()[:n], text[:n]) {
		t.Errorf("the first %d bytes: %v", n, err)
	}
	st.mu.Lock()
	ready := uint64(st.ready)
	st.mu.Unlock()
	if _, err := st.Need(3, 0, ready); err != nil {
		t.Errorf("%d bytes, all that are good: %v", ready, err)
	}
	if _, err := st.Need(4, 0, ready+1); err == nil {
		t.Errorf("%d bytes, one more than are good: no error", ready+1)
	}
}

func TestStreamOfPlainSection(t *testing.T) {
	f := mustParse(t, sample(elftest.Little64))
	if st, err := f.Stream(f.Section(".text")); st != nil || err != nil {
		t.Errorf("%v, %v", st, err)
	}
}
