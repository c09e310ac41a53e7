// Package sourcetree gives tests a copy of the project's source tree, in which
// they can run the Makefile without changing the tree that they belong to.
package sourcetree

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// placeholders is cmd/btflite/version.txt as it is in a checkout.
const placeholders = "$Format:%(describe:tags=true,match=v[0-9]*)$\n$Format:%H$\n$Format:%ct$\n"

// Copy copies the source tree to a folder that is removed after the test, and
// returns its path. What git and the Makefile made is left out, and the version
// file is that of a checkout. The caller's package must be two folders below the
// top.
func Copy(t *testing.T) string {
	t.Helper()
	to := t.TempDir()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case name == ".git" || name == "build" || name == "btflite" || d.IsDir() && d.Name() == "fuzz":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, info.Mode().Perm())
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(to, "cmd/btflite/version.txt"), []byte(placeholders), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// Environment is that of the test without what "make test" hands down, and with
// what git needs to commit.
func Environment() []string {
	return append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return regexp.MustCompile(`^(MAKE.*|MFLAGS|DESTDIR|PREFIX|VERSION|GIT_.*)=`).MatchString(kv)
	}), "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@example.org", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@example.org",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES="+os.TempDir())
}

// Try runs a command in dir and returns all that it prints.
func Try(dir string, args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, Environment()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Run is Try for commands that must not fail.
func Run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := Try(dir, args...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}
