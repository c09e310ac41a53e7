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
	"slices"
	"strings"
	"testing"

	at "github.com/btflite/btflite/internal/archive/archivetest"
	"github.com/btflite/btflite/test/testfile"
)

// long is a file that compresses to a third and spans blocks.
var long = func() []byte {
	var b []byte
	for i := range 40_000 {
		b = fmt.Appendf(b, "%d ", i*i)
	}
	return b
}()

// entries are the entries of packages in tests: two files, and some that are not files.
var entries = []at.Entry{
	{Name: "./", Type: tar.TypeDir},
	{Name: "./usr/lib/a", Data: []byte("first")},
	{Name: "./usr/lib/link", Type: tar.TypeSymlink, Link: "../../../etc/passwd"},
	{Name: "./usr/lib/hard", Type: tar.TypeLink, Link: "/etc/passwd"},
	{Name: "./usr/lib/pipe", Type: tar.TypeFifo},
	{Name: "./usr/lib/long", Data: long},
}

// mustOpen opens a package that is not damaged.
func mustOpen(t *testing.T, path string) *Package {
	t.Helper()
	p, err := Open(path, UsualLimits)
	if err != nil {
		t.Fatal(err)
	}
	return p
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
		all["x.rpm "+format] = at.RPM(at.Compress(format, at.Cpio(entries...)))
		all["x.tar "+format] = at.Compress(format, at.Tar(entries...))
	}
	return all
}

// TestFormats: the files of a package are the same in every format, from a file and from a stream,
// and links are not among them.
func TestFormats(t *testing.T) {
	for name, data := range formats() {
		p := mustOpen(t, testfile.New(t, "in", data))
		for range 2 {
			if got, err := list(p); err != nil || got != wanted {
				t.Errorf("%s: %q, error %v", name, got, err)
			}
		}
		p.Close()
		format := name[2:5]
		info := map[string]Info{"deb": {"linux-image-6.99-dbg", "6.99-1+deb12u1", "amd64", "Debian Kernel Team <a@b>"}, "rpm": {"kernel-debuginfo", "6.99-1.fc39", "x86_64", "Fedora Project"}}
		if p.Format != format || p.Info != info[format] {
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
	p := mustOpen(t, dir)
	if got, err := list(p); err != nil || got != wanted || p.Format != "folder" {
		t.Errorf("%s, error %v", got, err)
	}
}

// TestNamesOfBytes: files and folders are found although their names are not UTF-8.
func TestNamesOfBytes(t *testing.T) {
	const name = "caf\xe9/\xff"
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
		t.Skip("the file system takes no such names:", err)
	}
	testfile.Write(t, filepath.Join(dir, name), "text")
	files := []at.Entry{{Name: name, Data: []byte("text")}}
	for what, path := range map[string]string{"folder": dir, "tar": testfile.New(t, "x.tar", at.Tar(files...)), "deb": testfile.New(t, "x.deb", at.Deb("xz", files...)),
		"rpm": testfile.New(t, "x.rpm", at.RPM(at.Cpio(files...)))} {
		p := mustOpen(t, path)
		if got, err := list(p); err != nil || got != name+" 4 74657874\n" {
			t.Errorf("%s: %q, %v", what, got, err)
		}
		p.Close()
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
	p := mustOpen(t, testfile.New(t, "vmlinux", data))
	defer p.Close()
	if got, err := list(p); err != nil || !strings.HasPrefix(got, fmt.Sprintf("vmlinux %d 7f454c46", len(data))) || p.Format != "ELF file" {
		t.Errorf("%q, %s, error %v", got, p.Format, err)
	}
}

// temp makes a file without a name.
func temp(t testing.TB) func() (*os.File, error) {
	dir := t.TempDir()
	return func() (*os.File, error) {
		f, err := os.CreateTemp(dir, "")
		if err == nil {
			err = os.Remove(f.Name())
		}
		return f, err
	}
}

// TestParallel: blocks that are expanded side by side give the same files, for any number of
// workers, and a function that needs no more ends them.
func TestParallel(t *testing.T) {
	many := slices.Clone(entries)
	for i := range 30 {
		many = append(many, at.Entry{Name: fmt.Sprintf("more/%d", i), Data: long[:1000*i]})
	}
	for name, data := range map[string][]byte{"deb": at.Deb("xz", many...), "tar": at.Compress("xz", at.Tar(many...))} {
		path := testfile.New(t, "in", data)
		want := ""
		for _, jobs := range []int{1, 2, 3, 8, 100} {
			p := mustOpen(t, path)
			p.Jobs, p.Temp, p.Sparing = jobs, temp(t), jobs < 3
			got, err := list(p)
			if want == "" {
				want = got
			}
			if err != nil || got != want || !strings.Contains(got, "more/29 29000") {
				t.Errorf("%s, %d workers: %v, %q", name, jobs, err, got)
			}
			for stop := range 3 {
				files := 0
				if err := p.Each(func(*File) error {
					if files++; files > stop {
						return ErrStop
					}
					return nil
				}); err != nil || files != stop+1 {
					t.Errorf("%s, %d workers: %d files, %v", name, jobs, files, err)
				}
			}
			p.Close()
		}
	}
}

// filler are files that come before or after the one that is looked for, larger than blocks.
func filler(from, to int) (list []at.Entry) {
	for i := from; i < to; i++ {
		list = append(list, at.Entry{Name: fmt.Sprintf("kernel/%04d.ko", i), Data: long[i*1000%50_000:][:15_000]})
	}
	return list
}

// TestLast: a file near the end is found from there, with all that follows it, whatever the sizes
// around it; a file at the beginning, and one that is not there, are left to Each.
func TestLast(t *testing.T) {
	wanted := at.Entry{Name: "./lib/vmlinux", Data: append([]byte("\x7fELF"), long[:100_000]...)}
	nested := at.Entry{Name: "nested.tar", Data: append(at.Tar(at.Entry{Name: "vmlinux-inner", Data: []byte("\x7fELF")}, at.Entry{Name: "y", Data: long[:200_000]}), make([]byte, 30_000)...)}
	join := func(lists ...[]at.Entry) []at.Entry { return slices.Concat(lists...) }
	one := []at.Entry{wanted}
	deep := strings.Repeat("d/", 45) + "vmlinux-" + strings.Repeat("6", 20)
	for name, c := range map[string]struct {
		entries []at.Entry
		want    string // the files that are visited, in order
	}{
		"last":              {join(filler(0, 100), one), "lib/vmlinux"},
		"before others":     {join(filler(0, 100), one, filler(100, 103)), "lib/vmlinux kernel/0100.ko kernel/0101.ko kernel/0102.ko"},
		"before small ones": {join(filler(0, 100), one, []at.Entry{{Name: "a", Data: []byte("a")}, {Name: "l", Type: tar.TypeSymlink, Link: "x"}, {Name: "b"}}), "lib/vmlinux a b"},
		"first":             {join(one, filler(0, 100)), ""},
		"in the middle":     {join(filler(0, 50), one, filler(50, 100)), ""},
		"missing":           {filler(0, 100), ""},
		"in long folders":   {join(filler(0, 100), []at.Entry{{Name: deep, Data: wanted.Data}}), deep},
		"two":               {join(filler(0, 100), one, one, filler(100, 101)), "lib/vmlinux kernel/0100.ko"},
		"inside of another": {join(filler(0, 100), one, []at.Entry{nested}), "lib/vmlinux nested.tar"},
		"only inside":       {join(filler(0, 100), []at.Entry{nested}), ""},
	} {
		for _, kind := range []string{"deb", "rpm"} {
			data := at.Deb("xz", c.entries...)
			if kind == "rpm" {
				data = at.RPM(at.Compress("xz", at.Cpio(c.entries...)))
			}
			p := mustOpen(t, testfile.New(t, "in", data))
			p.Jobs, p.Temp = 1+2*len(c.want)%3, temp(t)
			var got []string
			found, err := p.Last(func(name string, size int64, head []byte) bool {
				return strings.Contains(name, "vmlinux") && bytes.HasPrefix(head, []byte("\x7fELF"))
			}, func(f *File) error {
				data, err := io.ReadAll(f)
				if int64(len(data)) != f.Size || f.Name == "lib/vmlinux" && !bytes.Equal(data, wanted.Data) {
					t.Errorf("%s: %s has %d bytes of %d", name, f.Name, len(data), f.Size)
				}
				got = append(got, f.Name)
				return err
			})
			want := c.want
			if kind == "deb" && want == deep { // the whole name is in another header
				want = ""
			}
			if err != nil || found != (want != "") || strings.Join(got, " ") != want {
				t.Errorf("%s, %s, %d workers: found %v, %q, %v", kind, name, p.Jobs, found, got, err)
			}
			p.Close()
		}
	}
	for name, data := range formats() {
		p := mustOpen(t, testfile.New(t, "in", data))
		p.Temp = temp(t)
		if found, err := p.Last(func(string, int64, []byte) bool { return false }, func(*File) error { return nil }); found || err != nil {
			t.Errorf("%s: %v, %v", name, found, err)
		}
		p.Close()
	}
}

// TestLastChains: files that look like a kernel, and lead to no end, do not make the search long.
func TestLastChains(t *testing.T) {
	var list []at.Entry
	for range 500 {
		list = append(list, at.Entry{Name: "vmlinux", Data: []byte("\x7fELF")})
	}
	for name, c := range map[string]struct {
		format tailFormat
		data   []byte
	}{"tar": {tailOfTar, at.Tar(list...)[:500*2*tarBlock]}, "cpio": {tailOfCpio, bytes.TrimSuffix(at.Cpio(list...), at.Cpio())}} {
		data := append(bytes.Clone(c.data), "no header"...)
		f, err := temp(t)()
		if err == nil {
			_, err = f.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
		headers := 0
		look := c.format.header
		c.format.header = func(b []byte, more int64) (tailHeader, bool) {
			h, ok := look(b, more)
			if ok {
				headers++
			}
			return h, ok
		}
		x := tail{tailFormat: c.format, file: f, end: int64(len(data)), begin: int64(len(data)), left: 1000, likely: func(string, int64, []byte) bool { return true }}
		if at, err := x.search(0); at >= 0 || err != nil || headers < 500 || headers > 1500 {
			t.Errorf("%s: found at %d, %d headers, %v", name, at, headers, err)
		}
		f.Close()
	}
}

// FuzzTail looks for files from the end of anything.
func FuzzTail(f *testing.F) {
	f.Add(at.Tar(entries...), true)
	f.Add(at.Cpio(entries...), false)
	f.Fuzz(func(t *testing.T, data []byte, isTar bool) {
		file, err := temp(t)()
		if err == nil {
			_, err = file.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		format := tailOfCpio
		if isTar {
			format = tailOfTar
		}
		x := tail{tailFormat: format, file: file, end: int64(len(data)), begin: int64(len(data)), left: 1000, likely: func(string, int64, []byte) bool { return true }}
		if at, err := x.search(0); err != nil || at >= int64(len(data)) || at >= 0 && at%format.align != 0 {
			t.Errorf("found at %d of %d, %v", at, len(data), err)
		}
	})
}
