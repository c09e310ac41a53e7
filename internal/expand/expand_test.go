package expand

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// expandAll returns what a file expands to.
func expandAll(packed []byte) ([]byte, error) {
	f := Of(packed)
	if f == nil {
		return nil, errors.New("not compressed")
	}
	r, err := f.Open(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// TestPrograms: files of the usual programs are known by their first bytes and expand to what was
// packed, and a file that is cut anywhere is an error.
func TestPrograms(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var content []byte
	for len(content) < 9<<20 { // more than a block of LZ4
		part := make([]byte, 1+random.IntN(500))
		for i := range part {
			part[i] = byte(random.IntN(40))
		}
		content = append(content, part...)
		content = append(content, content[random.IntN(len(content)):]...)
	}
	content = content[:9<<20]
	for _, x := range []struct{ command, format string }{
		{"xz -0", "xz"}, {"xz -0 --check=crc32 --x86 --lzma2=dict=1MiB", "xz"}, {"gzip -1", "gzip"}, {"zstd -1", "zstd"}, {"bzip2 -1", "bzip2"},
		{"xz -0 --format=lzma", "lzma"}, {"lz4 -l -1", "LZ4"}, {"lz4 -l -9", "LZ4"},
	} {
		words := strings.Fields(x.command)
		for _, size := range []int{0, 1, 1000, len(content)} {
			cmd := exec.Command(words[0], append(words[1:], "-c")...)
			cmd.Stdin = bytes.NewReader(content[:size])
			packed, err := cmd.Output()
			if err != nil {
				t.Logf("%s: not tried: %v", x.command, err)
				break
			}
			if f := Of(packed); f == nil || f.Name != x.format {
				t.Errorf("%s: taken for %v", x.command, f)
				continue
			}
			if got, err := expandAll(packed); err != nil || !bytes.Equal(got, content[:size]) {
				t.Errorf("%s, %d bytes: %d bytes, %v", x.command, size, len(got), err)
			}
			if got, err := expandAll(packed[:len(packed)-1-len(packed)/4]); err == nil && size > 0 && Of(packed) != nil {
				t.Errorf("%s, %d bytes, cut: %d bytes without an error", x.command, size, len(got))
			}
		}
	}
}

// TestPlainErrors: errors do not name the format, as who prints them does.
func TestPlainErrors(t *testing.T) {
	for _, command := range []string{"xz", "gzip", "zstd", "bzip2", "xz --format=lzma"} {
		words := strings.Fields(command)
		cmd := exec.Command(words[0], append(words[1:], "-c")...)
		cmd.Stdin = strings.NewReader(strings.Repeat("some text, and the same again\n", 30))
		packed, err := cmd.Output()
		if err != nil {
			t.Logf("%s: not tried: %v", command, err)
			continue
		}
		damaged := 0
		for i := HeadSize; i < len(packed); i++ {
			data := bytes.Clone(packed)
			data[i] ^= 1 << (i % 8)
			if _, err := expandAll(data); err != nil {
				if damaged++; strings.Contains(err.Error(), Of(packed).Name) {
					t.Errorf("%s, byte %d: %v", command, i, err)
				}
			}
		}
		if damaged < 10 {
			t.Errorf("%s: %d errors", command, damaged)
		}
	}
}

// TestSkippedFrames: zstd that begins with a frame that readers have to skip, as pzstd writes it.
func TestSkippedFrames(t *testing.T) {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err == nil {
		_, err = z.Write([]byte("text"))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	for _, first := range []byte{0x50, 0x5f} {
		skipped := string([]byte{first}) + "\x2a\x4d\x18\x04\x00\x00\x00abcd"
		for _, packed := range []string{skipped + b.String(), skipped + skipped + b.String() + skipped + b.String()} {
			if got, err := expandAll([]byte(packed)); err != nil || strings.ReplaceAll(string(got), "text", "") != "" || len(got) < 4 {
				t.Errorf("%q: %q, %v", packed, got, err)
			}
		}
	}
	if f := Of([]byte("\x60\x2a\x4d\x18\x04\x00")); f != nil {
		t.Errorf("taken for %s", f.Name)
	}
}

// TestLZO: the format is known, and not read.
func TestLZO(t *testing.T) {
	if _, err := expandAll([]byte("\x89LZO\x00\r\n\x1a\n")); !errors.Is(err, ErrUnread) {
		t.Error(err)
	}
}

// TestLZ4: what the blocks of LZ4's legacy form expand to, and what is wrong with them.
func TestLZ4(t *testing.T) {
	block := func(b string) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(len(b)))) + b }
	for _, x := range []struct{ blocks, want, err string }{
		{"", "", ""},
		{block("\x50hello"), "hello", ""},
		{block("\x50hello") + block("\x10!"), "hello!", ""},
		{block("\x50hello") + lz4Magic + block("\x10!"), "hello!", ""},
		{block("\x30abc\x03\x00\x10!"), "abcabca!", ""},                            // 4 bytes, 3 back
		{block("\x14a\x01\x00\x10!"), "aaaaaaaaa!", ""},                            // they overlap
		{block("\x1fa\x01\x00\x02\x10!"), "a" + strings.Repeat("a", 21) + "!", ""}, // 15 + 2 + 4
		{block("\xf0\x01" + "0123456789abcdef"), "0123456789abcdef", ""},
		{block("\x50hello") + block("\x50hell"), "hello", "block at 0xe: it is cut off"},
		{block("\xf0"), "", "cut off"},
		{block("\xf0\xff\xff"), "", "cut off"},
		{block("\x10a\x01"), "", "cut off"},
		{block("\x1fa\x01\x00"), "", "cut off"},
		{block("\x10a\x00\x00"), "", "0 bytes back"},
		{block("\x10a\x02\x00"), "", "2 bytes back"},
		{block("\x10a") + block("\x00\x01\x00"), "a", "1 bytes back"}, // blocks do not refer to others
		{block("\x50hello")[:8], "", "cut off"},
		{block("\x50hello")[:2], "", "cut off"},
		{"\x00\x00\x00\x00hello", "", "0 bytes are not the length of a block"},
		{"\xff\xff\xff\xffhello", "", "4294967295 bytes are not the length"},
		{block("\x1fa\x01\x00" + strings.Repeat("\xff", 33000) + "\x00"), "", "more than 8 MiB"},
	} {
		got, err := expandAll([]byte(lz4Magic + x.blocks))
		if string(got) != x.want || (err == nil) != (x.err == "") || err != nil && !strings.Contains(err.Error(), x.err) {
			t.Errorf("%.40q: %q, %v; want %q, %q", x.blocks, got, err, x.want, x.err)
		}
	}
}

// FuzzExpand reads anything as a file of each format. A reader gives an error or ends.
func FuzzExpand(f *testing.F) {
	for _, format := range formats {
		f.Add([]byte(format.magic + "\x08\x00\x00\x00\x30abc\x03\x00\x10!size"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		format := Of(data)
		if format == nil {
			return
		}
		r, err := format.Open(bytes.NewReader(data))
		if err != nil {
			return
		}
		defer r.Close()
		if _, err := io.Copy(io.Discard, io.LimitReader(r, 16<<20)); errors.Is(err, io.ErrNoProgress) {
			t.Error(err)
		}
	})
}
