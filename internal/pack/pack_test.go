package pack

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	at "github.com/btflite/btflite/internal/archive/archivetest"
)

// long is a file that compresses to a third and spans blocks.
var long = func() []byte {
	var b []byte
	for i := range 40_000 {
		b = fmt.Appendf(b, "%d ", i*i)
	}
	return b
}()

// entries are what packages of the tests have: two files, and what is none.
var entries = []at.Entry{
	{Name: "./", Type: tar.TypeDir},
	{Name: "./usr/lib/a", Data: []byte("first")},
	{Name: "./usr/lib/link", Type: tar.TypeSymlink, Link: "../../../etc/passwd"},
	{Name: "./usr/lib/hard", Type: tar.TypeLink, Link: "/etc/passwd"},
	{Name: "./usr/lib/pipe", Type: tar.TypeFifo},
	{Name: "./usr/lib/long", Data: long},
}

// write writes a file of the test.
func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// list reads all of a package.
func list(p *Package) (text string, err error) {
	err = p.Each(func(f *File) error {
		data, err := io.ReadAll(f)
		if err == nil && int64(len(data)) != f.Size {
			err = fmt.Errorf("%d bytes of %d", len(data), f.Size)
		}
		text += fmt.Sprintf("%s %d %x\n", f.Name, f.Size, data[:min(4, len(data))])
		return err
	})
	return text, err
}

var wanted = fmt.Sprintf("usr/lib/a 5 66697273\nusr/lib/long %d 30203120\n", len(long))

// formats are packages with entries, by what they are called.
func formats() map[string][]byte {
	all := map[string][]byte{}
	for _, format := range at.Compressions {
		all["x.deb "+format] = at.Deb(format, entries...)
		all["x.tar "+format] = at.Compress(format, at.Tar(entries...))
	}
	return all
}

// TestFormats: the files of a package are the same in every format, from a file and from a stream,
// and links are not among them.
func TestFormats(t *testing.T) {
	for name, data := range formats() {
		p, err := Open(write(t, "in", data), UsualLimits)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got, err := list(p); err != nil || got != wanted {
				t.Errorf("%s: %q, error %v", name, got, err)
			}
		}
		p.Close()
		format := name[2:5]
		if p.Format != format || (format == "deb") != (p.Info == Info{"linux-image-6.99-dbg", "6.99-1+deb12u1", "amd64", "Debian Kernel Team <a@b>"}) {
			t.Errorf("%s: it is %q with %+v", name, p.Format, p.Info)
		}
		s := Stream("stdin", bytes.NewReader(data), UsualLimits)
		if got, err := list(s); err != nil || got != wanted || s.Again() {
			t.Errorf("%s as a stream: %q, error %v", name, got, err)
		}
	}
}

// TestFolder: a folder has its regular files, and links are not followed.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	lib := filepath.Join(dir, "usr/lib")
	if err := errors.Join(os.MkdirAll(lib, 0o755), os.WriteFile(filepath.Join(lib, "a"), []byte("first"), 0o644), os.WriteFile(filepath.Join(lib, "long"), long, 0o644),
		os.Symlink("/etc/passwd", filepath.Join(lib, "link")), os.Symlink("/etc", filepath.Join(dir, "folder"))); err != nil {
		t.Fatal(err)
	}
	p, err := Open(dir, UsualLimits)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := list(p); err != nil || got != wanted || p.Format != "folder" {
		t.Errorf("%s, error %v", got, err)
	}
}

// TestBzip2: what bzip2 writes.
func TestBzip2(t *testing.T) {
	c := exec.Command("bzip2", "-c")
	c.Stdin = bytes.NewReader(at.Tar(entries...))
	data, err := c.Output()
	if err != nil {
		t.Skip("no bzip2:", err)
	}
	if got, err := list(Stream("in", bytes.NewReader(data), UsualLimits)); err != nil || got != wanted {
		t.Errorf("%q, error %v", got, err)
	}
}

// TestStop: a function that needs no more ends the reading, and its error is handed on as it is.
func TestStop(t *testing.T) {
	own := errors.New("mine")
	for _, want := range []error{ErrStop, own} {
		calls := 0
		err := Stream("in", bytes.NewReader(at.Deb("xz", entries...)), UsualLimits).Each(func(*File) error { calls++; return want })
		if calls != 1 || want == own && err != own || want == ErrStop && err != nil {
			t.Errorf("%v: %d calls, error %v", want, calls, err)
		}
	}
}

// TestElf: an ELF file is a package of one file.
func TestElf(t *testing.T) {
	data := at.Kernel("6.99")
	p, err := Open(write(t, "vmlinux", data), UsualLimits)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got, err := list(p); err != nil || !strings.HasPrefix(got, fmt.Sprintf("vmlinux %d 7f454c46", len(data))) || p.Format != "ELF file" {
		t.Errorf("%q, %s, error %v", got, p.Format, err)
	}
}
