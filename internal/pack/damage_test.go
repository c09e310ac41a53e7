package pack

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	at "github.com/btflite/btflite/internal/archive/archivetest"
	"github.com/btflite/btflite/test/testfile"
)

// noise does not shrink, so that compressed forms have it as it is, and a bit that flips in it damages
// nothing else.
func noise(n int) []byte {
	b, x := make([]byte, n), uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// contents reads the files of a package, up to the one called last.
func contents(p *Package, last string) (text string, err error) {
	err = p.Each(func(f *File) error {
		data, err := io.ReadAll(f)
		text += fmt.Sprintf("%s %x\n", f.Name, data)
		if err == nil && f.Name == last {
			err = ErrStop
		}
		return err
	})
	return text, err
}

// TestFlippedBits: a format with a checksum gives the contents that were packed, or an error, whatever bit
// has flipped and in whatever way the package is read: to its end, or up to a file if xz has blocks or if
// little follows.
func TestFlippedBits(t *testing.T) {
	files := []at.Entry{{Name: "a", Data: noise(1500)}, {Name: "b", Data: noise(70_000)[69_000:]}}
	blocks := []at.Entry{{Name: "a", Data: noise(150_000)}, {Name: "b", Data: noise(60_000)}} // "a" ends within the third one
	for name, c := range map[string]struct {
		data []byte
		last string // ends the reading of a file
		step int
	}{
		"deb gz": {at.Deb("gz", files...), "", 11}, "deb xz": {at.Deb("xz", files...), "", 11}, "deb zst": {at.Deb("zst", files...), "", 11},
		"rpm gz": {at.RPM(at.Compress("gz", at.Cpio(files...))), "", 11}, "rpm xz": {at.RPM(at.Compress("xz", at.Cpio(files...))), "", 11},
		"rpm zst": {at.RPM(at.Compress("zst", at.Cpio(files...))), "", 11},
		"tar gz":  {at.Compress("gz", at.Tar(files...)), "", 11}, "tar xz": {at.Compress("xz", at.Tar(files...)), "", 11}, "tar zst": {at.Compress("zst", at.Tar(files...)), "", 11},
		"deb of blocks": {at.Deb("xz", blocks...), "a", 2999}, "tar of blocks": {at.Compress("xz", at.Tar(blocks...)), "a", 2999},
		"deb up to the last": {at.Deb("gz", files...), "b", 11}, "rpm up to the last": {at.RPM(at.Compress("gz", at.Cpio(files...))), "b", 11},
		"rpm of blocks": {at.RPM(at.Compress("xz", at.Cpio(blocks...))), "a", 2999},
	} {
		ways := map[string]func(data []byte, last string) (string, error){
			"file": func(data []byte, last string) (string, error) {
				p := mustOpen(t, testfile.New(t, "in", data))
				defer p.Close()
				p.Temp = temp(t)
				return contents(p, last)
			},
			"stream": func(data []byte, _ string) (string, error) {
				return contents(Stream("in", bytes.NewReader(data), UsualLimits), "")
			},
		}
		for way, read := range ways {
			want, err := read(c.data, c.last)
			if err != nil {
				t.Fatal(name, way, err)
			}
			wrong := 0
			for i := 0; i < len(c.data); i += c.step {
				data := bytes.Clone(c.data)
				data[i] ^= 1 << (i / c.step % 8)
				if got, err := read(data, c.last); err == nil && got != want {
					wrong++
				}
			}
			if wrong > 0 {
				t.Errorf("%s, as a %s: %d flipped bits give other contents", name, way, wrong)
			}
		}
	}
}
