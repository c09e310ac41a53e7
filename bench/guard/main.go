// Command guard counts the instructions of fixed runs with valgrind and fails if one takes more than
// numbers.json says, by more than 2 %. No clock is involved, so a busy machine gives the same answer.
//
//	make bench-guard
//	go run ./bench/guard [-update] [-run=REGEXP] [-corpus=FOLDER]
//
// The runs are the first 400 units of a kernel, a file of units after one with other definitions of the
// same names, two of the kernel's modules over its BTF, one of them from unit records, three readers of
// that BTF, and a run that does nothing. The yardstick, a frozen program, goes over the DIEs of the same
// 400 units: if it takes another number of instructions, the compiler or the kernel is another one, and
// the other numbers say nothing. After a change that is to take more instructions, or takes fewer,
// -update writes the numbers again. Commit them with the change.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"

	"github.com/btflite/btflite/internal/ccobject"
	"github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/cachegrind"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/gobuild"
)

const (
	kernel      = "v612-amd64"
	numbersFile = "bench/guard/numbers.json"
	most        = 1.02 // times the number in numbersFile
	// sameYardstick is how much the yardstick may differ: as much as three counts of a run do.
	sameYardstick = 0.002
)

// numbers are the instructions of the runs, by name, and what they were counted with.
type numbers struct {
	Go   string            `json:"go"`
	Runs map[string]uint64 `json:"runs"`
}

const yardstick = "yardstick"

// run is a fixed run: a program of the folder and its arguments.
type run struct {
	name, program string
	args          []string
}

func encoding(args ...string) []string {
	return append([]string{"-J", "-q", "-j1", "--btf_features=default", "--btf_encode_detached=out"}, args...)
}

// runs are made in a folder with the names that prepare gives to programs and files.
var runs = []run{
	{yardstick, "yardstick", []string{"vmlinux", "400"}},
	{"400 units", "btflite", encoding("--cu_limit=400", "vmlinux")},
	{"definitions", "btflite", encoding("definitions.elf")},
	{"xfs", "btflite", encoding("--btf_base=base", "xfs")},
	{"veth", "btflite", encoding("--btf_base=base", "veth")},
	{"unit records", "btflite", encoding("--btf_base=base", "xfs.records")},
	{"dump", "btflite", []string{"dump", "--format=c", "base"}},
	{"show", "btflite", []string{"show", "base"}},
	{"verify", "btflite", []string{"verify", "base"}},
	{"start-up", "btflite", []string{"version"}},
}

func main() {
	update := flag.Bool("update", false, "write the numbers again")
	only := flag.String("run", "", "count only runs whose name matches `REGEXP`, and the yardstick")
	folder := flag.String("corpus", corpus.Dir(), "`folder` of kernels")
	flag.Parse()
	if missing := cachegrind.Missing(); missing != "" {
		fmt.Println("bench-guard: left out:", missing)
		return
	}
	switch err := guard(*folder, *only, *update); {
	case errors.Is(err, errOther):
		fmt.Println("bench-guard: left out:", err)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench-guard:", err)
		os.Exit(1)
	}
}

func guard(folder, only string, update bool) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "btflite-guard-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := prepare(dir, folder); err != nil {
		return err
	}
	var before numbers
	data, err := os.ReadFile(numbersFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &before); err != nil {
		return fmt.Errorf("%s: %w", numbersFile, err)
	}
	now := numbers{runtime.Version(), map[string]uint64{}}
	for _, r := range runs {
		if r.name != yardstick && !wanted.MatchString(r.name) {
			continue
		}
		count, err := cachegrind.Count(dir, filepath.Join(dir, r.program), r.args...)
		if err != nil {
			return err
		}
		now.Runs[r.name] = count
		fmt.Println(describe(r.name, count, before.Runs[r.name], now.Runs[yardstick]))
	}
	if update {
		if only != "" {
			maps.Copy(before.Runs, now.Runs)
			now.Runs = before.Runs
		}
		if data, err = json.MarshalIndent(now, "", "\t"); err != nil {
			return err
		}
		return os.WriteFile(numbersFile, append(data, '\n'), 0o644)
	}
	return compare(before, now)
}

// describe is a line about a run.
func describe(name string, count, before, yard uint64) string {
	line := fmt.Sprintf("%-14s %8.1f M instructions, %5.2f times the yardstick", name, float64(count)/1e6, float64(count)/float64(yard))
	if before != 0 {
		line += fmt.Sprintf(", %+.2f %%", 100*(float64(count)/float64(before)-1))
	}
	return line
}

// errOther is the reason why numbers cannot be compared.
var errOther = errors.New("the numbers are of another compiler or kernel: write the numbers of main with -update, then count your change")

// compare returns an error that names the runs that take too many instructions.
func compare(before, now numbers) error {
	was, is := float64(before.Runs[yardstick]), float64(now.Runs[yardstick])
	if before.Go != now.Go || is > was*(1+sameYardstick) || is < was*(1-sameYardstick) {
		return fmt.Errorf("%w (numbers: %s, yardstick %.0f; here: %s, %.0f)", errOther, before.Go, was, now.Go, is)
	}
	var slower []error
	for _, r := range runs {
		count, counted := now.Runs[r.name]
		was := before.Runs[r.name]
		switch {
		case !counted:
		case was == 0:
			slower = append(slower, fmt.Errorf("%s is not in %s", r.name, numbersFile))
		case float64(count) > most*float64(was):
			slower = append(slower, fmt.Errorf("%s takes %d instructions, %.1f %% more than %d", r.name, count, 100*(float64(count)/float64(was)-1), was))
		}
	}
	return errors.Join(slower...)
}

// prepare puts the programs and inputs of the runs into dir.
func prepare(dir, folder string) error {
	if err := gobuild.Command(filepath.Join(dir, "btflite"), "cmd/btflite", "-trimpath", "-pgo=cmd/btflite/btflite.pgo"); err != nil {
		return err
	}
	if err := gobuild.Command(filepath.Join(dir, yardstick), "bench/yardstick", "-trimpath", "-pgo=off"); err != nil {
		return err
	}
	for name, file := range map[string]string{
		"vmlinux": kernel,
		"xfs":     filepath.Join("some-modules", kernel, "xfs.ko"),
		"veth":    filepath.Join("some-modules", kernel, "veth.ko"),
	} {
		path, err := filepath.Abs(filepath.Join(folder, file))
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return fmt.Errorf("%w: run scripts/kernels.sh %s", err, kernel)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	definitions := dwarftest.OtherDefinitions(400)
	if err := os.WriteFile(filepath.Join(dir, "definitions.elf"), definitions.Bytes(), 0o644); err != nil {
		return err
	}
	records, err := ccobject.Convert(mmapelf.Source{Path: filepath.Join(dir, "xfs")}, "guard", nil)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "xfs.records"), records, 0o644); err != nil {
		return err
	}
	base := exec.Command(filepath.Join(dir, "btflite"), "-J", "--btf_features=default", "--btf_encode_detached=base", "vmlinux")
	base.Dir = dir
	if out, err := base.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
