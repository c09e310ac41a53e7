package xzfile

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	at "github.com/btflite/btflite/internal/archive/archivetest"
)

// text has n bytes, which compress to a third.
func text(n int) []byte {
	var b []byte
	for i := 0; len(b) < n; i++ {
		b = fmt.Appendf(b, "%d ", i*i)
	}
	return b[:n]
}

const dict = 1 << 20

// files are xz files of several kinds, and what they expand to.
func files() map[string][2][]byte {
	long, short := text(300_000), text(1000)
	one, other := at.Compress("xz", long), at.Compress("xz", short)
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	zeros := make([]byte, 8)
	return map[string][2][]byte{
		"blocks":      {one, long},
		"one block":   {other, short},
		"nothing":     {at.Compress("xz", nil), nil},
		"two streams": {join(one, other), join(long, short)},
		"padding":     {join(one, zeros, other, zeros[:4]), join(long, short)},
	}
}

// expand reads all blocks in the order that pick gives.
func expand(f *File, backward bool) ([]byte, error) {
	all := make([]byte, f.Len)
	r := f.NewBlockReader(dict)
	for i := range f.Blocks {
		if backward {
			i = len(f.Blocks) - 1 - i
		}
		if err := r.Block(i); err != nil {
			return nil, err
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		copy(all[f.Blocks[i].From:], data)
	}
	return all, nil
}

// TestBlocks: blocks are read in any order, and give what the stream gives.
func TestBlocks(t *testing.T) {
	for name, c := range files() {
		f, err := Open(bytes.NewReader(c[0]), int64(len(c[0])))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, backward := range []bool{false, true} {
			if got, err := expand(f, backward); err != nil || !bytes.Equal(got, c[1]) {
				t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(c[1]), err)
			}
		}
		r, err := NewReader(bytes.NewReader(c[0]), dict)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, c[1]) {
			t.Errorf("%s as a stream: %d bytes of %d, %v", name, len(got), len(c[1]), err)
		}
	}
}

// TestXZ: what the xz program writes, with each check and a filter.
func TestXZ(t *testing.T) {
	long := text(200_000)
	for _, words := range []string{"-0 --block-size=50000", "-1 --check=none --block-size=64KiB", "-1 --check=sha256 --block-size=64KiB", "-1 --check=crc32 --block-size=70000 -T2", "--x86 --lzma2=dict=64KiB --block-size=64KiB"} {
		c := exec.Command("xz", append(strings.Fields(words), "-c")...)
		c.Stdin = bytes.NewReader(long)
		data, err := c.Output()
		if err != nil {
			t.Skip("no xz:", err)
		}
		f, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil || len(f.Blocks) < 3 {
			t.Errorf("%s: %v", words, err)
			continue
		}
		if got, err := expand(f, true); err != nil || !bytes.Equal(got, long) {
			t.Errorf("%s: %d bytes, %v", words, len(got), err)
		}
	}
}

// lying returns a file of one stream whose index says other sizes of block 2: d1 bytes more in the
// file, and d2 more of what it expands to. Its checksums fit.
func lying(file []byte, d1, d2 int64) []byte {
	f, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		panic(err)
	}
	last := f.Blocks[len(f.Blocks)-1]
	b := bytes.Clone(file[:last.At+(last.Size+3)&^3])
	f.Blocks[1].Size += d1
	f.Blocks[1].Len += d2
	return append(b, indexOf(f.Blocks)...)
}

// TestLies: an index that says other sizes than the blocks have is an error of the block, or of the
// index if the file cannot be so.
func TestLies(t *testing.T) {
	file := at.Compress("xz", text(300_000))
	if got := lying(file, 0, 0); !bytes.Equal(got, file) {
		t.Fatalf("%d bytes of %d are not the file itself", len(got), len(file))
	}
	for _, c := range []struct {
		d1, d2 int64
		want   string
	}{{0, 1, "block 2 of"}, {0, -1, "block 2 of"}, {1 << 40, 0, "larger than the file"}, {0, 1 << 59, "block 2 of"}, {4, 0, "index"}, {-4, 0, "index"}, {-1, 0, "block"}} {
		data := lying(file, c.d1, c.d2)
		f, err := Open(bytes.NewReader(data), int64(len(data)))
		if err == nil {
			r := f.NewBlockReader(dict)
			if err = r.Block(1); err == nil {
				_, err = io.Copy(io.Discard, r)
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d, %d: %v, want %q", c.d1, c.d2, err, c.want)
		}
	}
}

// TestDamage: no byte of a file that matters can be changed unseen, nor can it be cut. The first byte
// of compressed data in a chunk has no meaning.
func TestDamage(t *testing.T) {
	long := text(150_000)
	file := at.Compress("xz", long)
	for n := range len(file) {
		if n > 40 && n < len(file)-80 && n%997 != 0 {
			continue
		}
		bad := bytes.Clone(file)
		bad[n] ^= 0x10
		f, err := Open(bytes.NewReader(bad), int64(len(bad)))
		if err == nil {
			var got []byte
			if got, err = expand(f, false); err == nil && bytes.Equal(got, long) {
				continue
			}
		}
		if err == nil {
			t.Errorf("byte %d is changed, and no error", n)
		}
		if f, err := Open(bytes.NewReader(file), int64(n)); err == nil && n > 0 {
			t.Errorf("cut at %d: %d blocks", n, len(f.Blocks))
		}
	}
}

// TestDictionary: a dictionary that is too large is refused.
func TestDictionary(t *testing.T) {
	r, err := NewReader(bytes.NewReader(at.Compress("xz", text(100_000))), 4096)
	if err == nil {
		_, err = io.ReadAll(r)
	}
	if err == nil || !strings.Contains(err.Error(), "it needs a dictionary of more than 4.0 KiB") {
		t.Error(err)
	}
}

// FuzzOpen reads anything as an xz file with an index.
func FuzzOpen(f *testing.F) {
	for _, c := range files() {
		f.Add(c[0])
	}
	f.Add(lying(at.Compress("xz", text(150_000)), 0, 1<<40))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		from, r := int64(0), x.NewBlockReader(dict)
		for i, b := range x.Blocks {
			if b.From != from || b.At < headerLen || b.At+b.Size > int64(len(data)) {
				t.Fatalf("block %d is %+v in a file of %d bytes", i, b, len(data))
			}
			from += b.Len
			if r.Block(i) == nil {
				if n, err := io.Copy(io.Discard, io.LimitReader(r, 1<<20)); err == nil && n < min(b.Len, 1<<20) {
					t.Fatalf("block %d has %d bytes of %d", i, n, b.Len)
				}
			}
		}
	})
}
