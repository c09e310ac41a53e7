// Package corpus finds the kernels and the programs to compare with, for tests and benchmarks.
package corpus

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Dir is the folder where scripts/kernels.sh puts kernels, modules and programs: BTFLITE_CORPUS, else
// btflite-corpus in the user's cache folder. It need not be there.
func Dir() string {
	if dir := os.Getenv("BTFLITE_CORPUS"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "btflite-corpus"
	}
	return filepath.Join(cache, "btflite-corpus")
}

// Program is the path of pahole, pfunct or bpftool: BTFLITE_PAHOLE or BTFLITE_PFUNCT, else the one in
// Dir. It need not be there.
func Program(name string) string {
	if path := os.Getenv("BTFLITE_" + strings.ToUpper(name)); path != "" {
		return path
	}
	return filepath.Join(Dir(), "bin", name)
}

// Pahole is the path of pahole 1.32, or "" if it is not there.
func Pahole() string {
	path := Program("pahole")
	if out, err := exec.Command(path, "--version").Output(); err != nil || string(out) != "v1.32\n" {
		return ""
	}
	return path
}

// Need is Program for a test, which is skipped if the program is not there.
func Need(t testing.TB, name string) string {
	t.Helper()
	path := Program(name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not there: scripts/kernels.sh pahole gets it", name)
	}
	return path
}

// Installed skips the test where one of the programs is not installed.
func Installed(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}

// Kernels returns the paths of the kernels in Dir, sorted. It returns an error if Dir has none.
func Kernels() ([]string, error) {
	kernels, err := filepath.Glob(filepath.Join(Dir(), "v*-*"))
	if err == nil && len(kernels) == 0 {
		err = fmt.Errorf("no kernels in %s; get some with: scripts/kernels.sh pahole v72-amd64", Dir())
	}
	return kernels, err
}

// KernelNames returns the names of the kernels in Dir, sorted. It returns an error if Dir has none.
func KernelNames() (names []string, err error) {
	kernels, err := Kernels()
	for _, path := range kernels {
		names = append(names, filepath.Base(path))
	}
	return names, err
}

// Names is KernelNames for a test. A test without kernels is skipped.
func Names(t testing.TB) []string {
	t.Helper()
	names, err := KernelNames()
	if err != nil {
		t.Skip(err)
	}
	return names
}

// Module is a kernel module.
type Module struct {
	Name string // without folder and suffix; unique in a kernel
	Path string
	Size int64 // of the file, in bytes
}

// Modules returns the modules of a kernel of Dir, largest first. If Dir has only the six of
// scripts/kernels.sh some-modules:NAME, it returns these. It returns none if Dir has none.
func Modules(kernel string) ([]Module, error) {
	var mods []Module
	for _, folder := range []string{"modules", "some-modules"} {
		err := filepath.WalkDir(filepath.Join(Dir(), folder, kernel), func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".ko" {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Mode().IsRegular() {
				mods = append(mods, Module{strings.TrimSuffix(d.Name(), ".ko"), path, info.Size()})
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if len(mods) > 0 {
			break
		}
	}
	slices.SortFunc(mods, func(a, b Module) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.Name, b.Name))
	})
	return mods, nil
}
