package tree

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

var update = flag.Bool("update", false, "write testdata/deps*.txt again")

// read returns a file of the tree.
func read(t *testing.T, name string) []byte {
	t.Helper()
	return testfile.Read(t, name)
}

// TestDependencies: whoever imports the library gets the modules of testdata/deps.txt
// with it, and the program has those of testdata/deps-program.txt beside them. A
// module more is seen, and CONTRIBUTING.md has a reason for each. go test -run
// Dependencies ./test/tree -update writes the files again.
func TestDependencies(t *testing.T) {
	reasons := string(read(t, "CONTRIBUTING.md"))
	library := modulesOf(t, ".")
	program := slices.DeleteFunc(modulesOf(t, "./cmd/btflite"), func(m string) bool { return slices.Contains(library, m) })
	for golden, got := range map[string][]string{"testdata/deps.txt": library, "testdata/deps-program.txt": program} {
		text := []byte(strings.Join(got, "\n") + "\n")
		if *update {
			testfile.Write(t, golden, text)
		}
		if want := read(t, golden); !bytes.Equal(text, want) {
			t.Errorf("the modules are not those of %s; they are\n%s", golden, text)
		}
		for _, m := range got {
			if name := nameOf(m); !strings.Contains(reasons, "**"+name+"**") {
				t.Errorf("%s has no reason in CONTRIBUTING.md, under **%s**", m, name)
			}
		}
	}
}

// nameOf is what people call a module: the last part of its path without a version.
func nameOf(module string) string {
	if dir, last := path.Split(module); strings.HasPrefix(last, "v") && strings.Trim(last[1:], "0123456789") == "" {
		module = strings.TrimSuffix(dir, "/")
	}
	if strings.HasPrefix(module, "golang.org/x/") || strings.HasPrefix(module, "github.com/klauspost/") || strings.HasPrefix(module, "github.com/mikelolasagasti/") || strings.HasPrefix(module, "github.com/ulikunitz/") {
		return module[strings.Index(module, "/")+1:]
	}
	return path.Base(module)
}

// modulesOf are the modules with packages that the package is made of, itself and
// the standard library apart.
func modulesOf(t *testing.T, pkg string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", pkg)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	return slices.Compact(modules)
}
