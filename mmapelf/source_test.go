package mmapelf

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/elftest"
)

// steps is a reader that notes how much it is asked for at once, and says with
// the last byte that it was the last.
type steps struct {
	data []byte
	most int
	fail int // bytes before an error of the device; 0: none
}

var errDevice = errors.New("device gone")

func (s *steps) ReadAt(b []byte, off int64) (int, error) {
	s.most = max(s.most, len(b))
	n := copy(b, s.data[min(off, int64(len(s.data))):])
	if s.fail > 0 && int(off)+n > s.fail {
		return s.fail - int(off), errDevice
	}
	if int(off)+n == len(s.data) {
		return n, io.EOF
	}
	return n, nil
}

// TestSources: whatever a file comes from, its sections are the same.
func TestSources(t *testing.T) {
	image := elftest.Little64.Image(elftest.Section{Name: ".a", Data: bytes.Repeat([]byte("contents"), 300<<10)})
	path := write(t, image)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader := &steps{data: image}
	for name, c := range map[string]struct {
		source   Source
		inMemory bool
		mapped   bool
	}{
		"path":   {Source{Path: path}, false, true},
		"bytes":  {Source{Path: "x", Data: image}, true, false},
		"reader": {Source{Path: "x", Reader: reader, Size: int64(len(image))}, true, false},
		"file":   {Source{Path: "x", Reader: file}, true, true},
	} {
		if got := c.source.InMemory(); got != c.inMemory {
			t.Errorf("%s: in memory: %v", name, got)
		}
		f, err := c.source.Open()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(f.Bytes(), image) || f.Section(".a") == nil || f.Path != c.source.Path || (f.mapping != nil) != c.mapped {
			t.Errorf("%s: path %q, %d bytes, mapped %v", name, f.Path, len(f.Bytes()), f.mapping != nil)
		}
		if err := f.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !c.inMemory {
			continue
		}
		b, done, err := c.source.Bytes()
		if err != nil || !bytes.Equal(b, image) {
			t.Fatalf("%s: %d bytes, %v", name, len(b), err)
		}
		done()
		wasReader := c.source.Reader
		if done, err = c.source.Load(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if loaded := c.source.Reader == nil && bytes.Equal(c.source.Data, image); loaded == c.mapped || c.mapped && c.source.Reader != wasReader {
			t.Errorf("%s: loaded is %v", name, loaded)
		}
		done()
	}
	if reader.most != readStep {
		t.Errorf("%d bytes were asked for at once, want %d", reader.most, readStep)
	}
}

// TestSourcesRefused: a size that cannot be and a reader that fails are named, by
// Open and by Bytes.
func TestSourcesRefused(t *testing.T) {
	image := elftest.Little64.Image()
	n := int64(len(image))
	closed, err := os.Open(write(t, image))
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, c := range []struct {
		source Source
		want   string
	}{
		{Source{Path: "x", Reader: bytes.NewReader(image), Size: -1}, "x: -1 bytes cannot be in memory"},
		{Source{Path: "x", Reader: bytes.NewReader(image), Size: n + 1}, "x: cannot read byte "},
		{Source{Path: "x", Reader: &steps{data: image, fail: 10}, Size: n}, "x: cannot read byte 10 of "},
		{Source{Path: "x", Reader: &steps{data: image, fail: 10}, Size: n}, errDevice.Error()},
		{Source{Path: "x", Reader: closed}, "closed"},
	} {
		f, err := c.source.Open()
		if err == nil || f != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("open: %v, want %q", err, c.want)
		}
		if b, _, err := c.source.Bytes(); err == nil || b != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d bytes, %v, want %q", len(b), err, c.want)
		}
	}
	if _, err := (&Source{Path: filepath.Join(t.TempDir(), "none")}).Open(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if b, _, err := (&Source{Data: []byte{}}).Bytes(); err != nil || b == nil || len(b) != 0 {
		t.Errorf("no bytes: %v, %v", b, err)
	}
	if b, _, err := (&Source{Reader: bytes.NewReader(nil)}).Bytes(); err != nil || b == nil || len(b) != 0 {
		t.Errorf("nothing to read: %v, %v", b, err)
	}
}
