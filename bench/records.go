package main

// The part "records": what unit records (btflite cc) save in a kernel build. It takes
// two build folders of one configuration, which scripts/records-convert.sh or
// scripts/kernel-test.sh leave: one with DWARF, one with records. Nothing is compiled.

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const partRecords = "records"

// RecordsResult is the outcome of the part on one configuration.
type RecordsResult struct {
	Name    string        `json:"name"` // of the configuration
	Same    bool          `json:"same_bytes"`
	Load    string        `json:"load"` // load average when it began
	Dwarf   *TreeResult   `json:"dwarf"`
	Records *TreeResult   `json:"records"`
	Floors  []RecordsTool `json:"floors,omitempty"`
}

// TreeResult is what was measured in one build folder. Sizes are in bytes.
type TreeResult struct {
	Objects int                 `json:"objects"` // files
	Size    int64               `json:"objects_size"`
	Debug   int64               `json:"objects_debug"` // of them, debug sections and their relocations
	Tree    int64               `json:"tree"`
	Steps   map[string][]Sample `json:"steps"`
}

// RecordsTool is the smallest memory cgroup in which a kernel is linked and encoded.
type RecordsTool struct {
	Tool string `json:"tool"`
	MiB  int    `json:"mib"`
	Step int    `json:"step_mib"`
}

// The steps of a build that are measured. The sparing ones are what Kbuild does with
// LD="ld OPTIONS" for the options of sparing.
const (
	stepObject        = "ld -r, vmlinux.o"
	stepSparingObject = "ld -r, vmlinux.o, sparing"
	stepKernel        = "ld, vmlinux"
	stepSparingKernel = "ld, vmlinux, sparing"
	stepLLD           = "ld.lld -r, vmlinux.o"
	stepPahole        = "pahole -J -j1"
	stepBtflite       = "btflite -J -j1"
)

var recordSteps = []string{stepObject, stepSparingObject, stepLLD, stepKernel, stepSparingKernel, stepPahole, stepBtflite}

// link is what every link of a kernel for x86-64 begins with.
const link = "-m elf_x86_64 -z noexecstack --no-warn-rwx-segments"

// sparing are options of GNU ld: it reads symbols and relocations again where it needs
// them again, and the hash tables that it makes for each object begin small. They grow by
// themselves.
const sparing = "--no-keep-memory --hash-size=31"

// step is the command line of a step in a build folder, whose outputs go to the folder
// dir. It is run by a shell in the build folder.
func (b *bench) step(name, dir string) string {
	const script = "arch/x86/kernel/vmlinux.lds"
	ld := "exec ld " + link
	if name == stepSparingObject || name == stepSparingKernel {
		ld += " " + sparing
	}
	whole := fmt.Sprintf("-r -o %s/vmlinux.o --whole-archive vmlinux.a --no-whole-archive", dir)
	encode := fmt.Sprintf("-J -j1 %s --btf_encode_detached=%s/btf %[2]s/vmlinux", strings.Join(b.features, " "), dir)
	switch name {
	case stepObject, stepSparingObject:
		return ld + " " + whole
	case stepLLD:
		return "exec ld.lld -m elf_x86_64 -z noexecstack " + whole
	case stepKernel, stepSparingKernel:
		return fmt.Sprintf("%s -z max-page-size=0x200000 --build-id=sha1 --orphan-handling=warn --script=%s -o %s/vmlinux "+
			"--whole-archive vmlinux.a .vmlinux.export.o init/version-timestamp.o --no-whole-archive .tmp_vmlinux2.kallsyms.o .tmp_vmlinux1.btf.o", ld, script, dir)
	case stepPahole:
		return "exec " + b.pahole + " " + encode
	}
	return "exec " + b.btflite + " " + encode
}

// inTree is the command line that runs a shell command in a build folder.
func inTree(tree string, commands ...string) []string {
	return []string{"/bin/sh", "-ec", `cd "$0"` + "\n" + strings.Join(commands, "\n"), tree}
}

// records measures the folders of -dwarf and -records.
func (b *bench) records(ctx context.Context) error {
	if b.dwarfTree == "" || b.recordTree == "" {
		return errors.New("-dwarf=DIR and -records=DIR are needed, two build folders of one kernel")
	}
	dwarf, err := filepath.Abs(b.dwarfTree)
	if err != nil {
		return err
	}
	records, err := filepath.Abs(b.recordTree)
	if err != nil {
		return err
	}
	if b.pahole, err = filepath.Abs(b.pahole); err != nil {
		return err
	}
	r := &RecordsResult{Name: b.configuration, Dwarf: new(TreeResult), Records: new(TreeResult)}
	r.Load, _, _ = strings.Cut(firstLine("/proc/loadavg"), " ")
	for tree, t := range map[string]*TreeResult{dwarf: r.Dwarf, records: r.Records} {
		if err := t.measure(tree); err != nil {
			return err
		}
	}
	say("%s: sizes done", r.Name)
	for round := range b.n {
		if err := b.recordsRound(ctx, r, dwarf, records); err != nil {
			return err
		}
		say("%s: round %d of %d done", r.Name, round+1, b.n)
	}
	if err := b.recordFloors(ctx, r, dwarf, records); err != nil {
		return err
	}
	b.results.Records = slices.DeleteFunc(b.results.Records, func(old *RecordsResult) bool { return old.Name == r.Name })
	b.results.Records = append(b.results.Records, r)
	return nil
}

// recordsRound runs every step once in each folder.
func (b *bench) recordsRound(ctx context.Context, r *RecordsResult, dwarf, records string) error {
	var made [][]byte
	for _, name := range recordSteps {
		for _, t := range []struct {
			folder string
			result *TreeResult
		}{{dwarf, r.Dwarf}, {records, r.Records}} {
			out := filepath.Join(b.runner.dir, filepath.Base(t.folder))
			if err := os.MkdirAll(out, 0o755); err != nil {
				return err
			}
			if name == stepPahole && t.folder == records {
				continue // it has no DWARF to read
			}
			o, err := b.runner.mustRun(ctx, inTree(t.folder, b.step(name, out)))
			if err != nil {
				return err
			}
			if t.result.Steps == nil {
				t.result.Steps = map[string][]Sample{}
			}
			t.result.Steps[name] = append(t.result.Steps[name], o.Sample)
			if name != stepPahole && name != stepBtflite {
				continue
			}
			btf, err := os.ReadFile(filepath.Join(out, "btf"))
			if err != nil {
				return err
			}
			made = append(made, btf)
		}
	}
	// pahole repeats typedefs over an older libbpf, so that only btflite's are compared.
	r.Same = bytes.Equal(made[1], made[2])
	return nil
}

// The ways to a kernel with BTF.
const (
	wayPahole  = "DWARF, pahole"
	wayBtflite = "DWARF, btflite"
	wayRecords = "btflite cc"
	waySparing = ", sparing ld"
)

// recordFloors finds the smallest memory cgroups.
func (b *bench) recordFloors(ctx context.Context, r *RecordsResult, dwarf, records string) error {
	g, err := findCgroups()
	if err != nil {
		say("the cgroup floor is left out: %v", err)
		return nil
	}
	usual, spare := [2]string{stepObject, stepKernel}, [2]string{stepSparingObject, stepSparingKernel}
	for _, f := range []struct {
		tool   string
		links  [2]string
		encode string
		tree   string
		result *TreeResult
		step   int
	}{
		{wayPahole, usual, stepPahole, dwarf, r.Dwarf, 16},
		{wayBtflite, usual, stepBtflite, dwarf, r.Dwarf, 16},
		{wayBtflite + waySparing, spare, stepBtflite, dwarf, r.Dwarf, 16},
		{wayRecords, usual, stepBtflite, records, r.Records, 4},
		{wayRecords + waySparing, spare, stepBtflite, records, r.Records, 4},
	} {
		out := filepath.Join(b.runner.dir, filepath.Base(f.tree))
		steps := append(f.links[:], f.encode)
		args := inTree(f.tree, "("+b.step(steps[0], out)+")", "("+b.step(steps[1], out)+")", b.step(steps[2], out))
		o, err := b.runner.mustRun(ctx, args)
		if err != nil {
			return err
		}
		want, err := os.ReadFile(filepath.Join(out, "btf"))
		if err != nil {
			return err
		}
		t := &trial{args: args, timeout: 5*time.Second + time.Duration(5*o.Wall*float64(time.Second))}
		if t.inputs, err = kernelObjects(f.tree); err != nil {
			return err
		}
		t.expectFile(filepath.Join(out, "btf"), want)
		guess := int64(0)
		for _, name := range steps {
			guess = max(guess, summarize(f.result.Steps[name]).Peak>>10)
		}
		mib, _, err := t.floor(ctx, &b.runner, g, int(guess), f.step)
		if err != nil {
			return fmt.Errorf("%s: %w", f.tool, err)
		}
		r.Floors = append(r.Floors, RecordsTool{f.tool, mib, f.step})
		say("%s: %s passes in %d MiB", r.Name, f.tool, mib)
	}
	return nil
}

// kernelObjects lists the objects below a build folder that were compiled for the kernel.
func kernelObjects(tree string) ([]string, error) {
	var all []string
	err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir() && path != tree && slices.Contains([]string{"scripts", "tools", "btflite", "guest", "source"}, name):
			return filepath.SkipDir
		case !d.Type().IsRegular() || filepath.Ext(name) != ".o" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "vmlinux"):
			return nil
		}
		all = append(all, path)
		return nil
	})
	return all, err
}

// measure sums sizes up.
func (t *TreeResult) measure(tree string) error {
	objects, err := kernelObjects(tree)
	if err != nil {
		return err
	}
	for _, path := range objects {
		if err := t.object(path); err != nil {
			return err
		}
	}
	return filepath.WalkDir(tree, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			t.Tree += info.Size()
		}
		return err
	})
}

// object adds an object.
func (t *TreeResult) object(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	t.Objects++
	t.Size += info.Size()
	for _, s := range f.Sections {
		if strings.HasPrefix(strings.TrimPrefix(strings.TrimPrefix(s.Name, ".rela"), ".rel"), ".debug_") {
			t.Debug += int64(s.FileSize)
		}
	}
	return nil
}

// recordsSection reports the part.
func recordsSection(b *strings.Builder, all []*RecordsResult) {
	if len(all) == 0 {
		return
	}
	fmt.Fprint(b, "## Unit records\n\nA kernel that is built with `btflite cc`, compared with the same objects with DWARF "+
		"([docs/unit-records.md](docs/unit-records.md)). The steps run in turns; figures are medians. "+
		"A *sparing* `ld` has the options `"+sparing+"`. The second table has the smallest memory cgroup in which `ld` links vmlinux.o and vmlinux, and the encoder "+
		"writes the same BTF, twice, with the objects out of the page cache.\n\n")
	for _, r := range all {
		fmt.Fprintf(b, "### The %s configuration\n\n", r.Name)
		fmt.Fprint(b, command("scripts/records-convert.sh DWARF RECORDS",
			fmt.Sprintf("go run ./bench -only=records -dwarf=DWARF -records=RECORDS -configuration=%s -n=%d", r.Name, len(r.Dwarf.Steps[stepObject]))))
		fmt.Fprintf(b, "Linux 7.2, %d objects. The same BTF from both: %s. The load average was %s when it began.\n\n", r.Dwarf.Objects, yesNo(&r.Same), r.Load)
		table(b, "l|r|r|r", "|with DWARF|with records|÷", r.rows)
		if len(r.Floors) == 0 {
			continue
		}
		table(b, "l|r|r", "way|MiB|step MiB", func(row func(...any)) {
			for _, f := range r.Floors {
				row(f.Tool, f.MiB, f.Step)
			}
		})
	}
}

// rows are the rows of the table of one configuration.
func (r *RecordsResult) rows(row func(...any)) {
	mb := func(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }
	for _, x := range []struct {
		what             string
		with, withRecord int64
	}{
		{"objects, MB", r.Dwarf.Size, r.Records.Size},
		{"debug information in them, MB", r.Dwarf.Debug, r.Records.Debug},
		{"build folder, MB", r.Dwarf.Tree, r.Records.Tree},
	} {
		row(x.what, mb(x.with), mb(x.withRecord), fraction(float64(x.with), float64(x.withRecord)))
	}
	for _, name := range recordSteps {
		d, s := summarize(r.Dwarf.Steps[name]), summarize(r.Records.Steps[name])
		if len(r.Dwarf.Steps[name]) == 0 {
			continue // not measured
		}
		if len(r.Records.Steps[name]) == 0 {
			row("`"+name+"`, CPU s", seconds(d.CPU), "", "")
			row("`"+name+"`, peak MiB", mib(d.Peak), "", "")
			continue
		}
		row("`"+name+"`, CPU s", seconds(d.CPU), seconds(s.CPU), fraction(d.CPU, s.CPU))
		row("`"+name+"`, peak MiB", mib(d.Peak), mib(s.Peak), fraction(float64(d.Peak), float64(s.Peak)))
	}
}
