package tree

import (
	"bytes"
	"go/format"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// TestMain runs the tests at the top of the tree, so that all names are as people write them.
func TestMain(m *testing.M) {
	if err := os.Chdir(filepath.Join("..", "..")); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

const (
	maxLines  = 700
	longLines = 500 // more only for the files of longFiles
)

// longFiles may have between longLines and maxLines lines: one subject each,
// which reads worse in two files.
var longFiles = []string{
	"internal/callconv/callconv_test.go",
}

// sources calls fn with every file of the tree that people write.
func sources(t *testing.T, fn func(name string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(p)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "build" || name == "vendor" || d.Name() == "fuzz" || d.Name() == "vectors"):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		switch ext := path.Ext(name); {
		case slices.Contains([]string{".go", ".md", ".sh", ".c", ".h", ".S", ".txt", ".json", ".svg", ".mod"}, ext),
			d.Name() == "Makefile", strings.HasPrefix(name, ".ci/"):
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fn(name, data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func goSources(t *testing.T, fn func(name string, data []byte)) {
	t.Helper()
	sources(t, func(name string, data []byte) {
		if path.Ext(name) == ".go" {
			fn(name, data)
		}
	})
}

// TestFormat: every file is as gofmt writes it.
func TestFormat(t *testing.T) {
	goSources(t, func(name string, data []byte) {
		want, err := format.Source(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !bytes.Equal(want, data) {
			t.Errorf("%s is not gofmt clean", name)
		}
	})
}

// TestFileLengths: one subject per file keeps files short.
func TestFileLengths(t *testing.T) {
	goSources(t, func(name string, data []byte) {
		n := bytes.Count(data, []byte("\n"))
		switch {
		case n > maxLines:
			t.Errorf("%s has %d lines, at most %d are allowed", name, n, maxLines)
		case n > longLines && !slices.Contains(longFiles, name):
			t.Errorf("%s has %d lines: split it or, with a reason, add it to longFiles", name, n)
		case n <= longLines && slices.Contains(longFiles, name):
			t.Logf("%s has %d lines and need not be in longFiles", name, n)
		}
	})
}

// machinePath is a path that only one machine has.
var machinePath = regexp.MustCompile(`(^|[^\w.})/-])/(` + `root|work|tmp|home` + `)/`)

// TestNoMachinePaths: nothing in the tree depends on where it was written.
func TestNoMachinePaths(t *testing.T) {
	for _, s := range []string{"cd /" + "root/x", "\"/" + "tmp/x"} {
		if !machinePath.MatchString(s) {
			t.Fatalf("the pattern does not find %q", s)
		}
	}
	sources(t, func(name string, data []byte) {
		for i, line := range bytes.Split(data, []byte("\n")) {
			if m := machinePath.Find(line); m != nil {
				t.Errorf("%s:%d: machine path %q", name, i+1, m)
			}
		}
	})
}

// TestReadmeLength: who wants to know more goes to docs or to the manual.
func TestReadmeLength(t *testing.T) {
	readme := testfile.Read(t, "README.md")
	if n := bytes.Count(readme, []byte("\n")); n > 120 {
		t.Errorf("README.md has %d lines, at most 120 are allowed", n)
	}
}
