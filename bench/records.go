package main

// The part "records": what unit records (btflite cc) save in a kernel build. It takes
// two build folders of one configuration, which scripts/records-convert.sh or
// scripts/kernel-test.sh leave: one with DWARF, one with records. Nothing is compiled.

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// RecordsResult is the outcome of the part on one configuration.
type RecordsResult struct {
	Name    string      `json:"name"` // of the configuration
	Same    bool        `json:"same_bytes"`
	CPU     string      `json:"cpu"`
	Load    string      `json:"load"` // load average when it began
	Dwarf   *TreeResult `json:"dwarf"`
	Records *TreeResult `json:"records"`
	Floors  []Floor     `json:"floors,omitempty"` // of linking and encoding a kernel
}

// TreeResult has the measurements of one build folder. Sizes are in bytes.
type TreeResult struct {
	Objects int                  `json:"objects"` // files
	Size    int64                `json:"objects_size"`
	Debug   int64                `json:"objects_debug"` // of them, debug sections and their relocations
	Tree    int64                `json:"tree"`
	Steps   map[string]*[]Sample `json:"steps"`
}

// samples are the costs of a step, none if it was not measured.
func (t *TreeResult) samples(step string) []Sample {
	if s := t.Steps[step]; s != nil {
		return *s
	}
	return nil
}

// sparing are options of GNU ld: it reads symbols and relocations again where it needs
// them again, and the hash tables that it makes for each object begin small. They grow by
// themselves. Kbuild does the same with LD="ld OPTIONS".
const sparing = "--no-keep-memory --hash-size=31"

// The steps of a build that are measured.
const (
	stepObject        = "ld -r, vmlinux.o"
	stepSparingObject = "ld -r, vmlinux.o, sparing"
	stepLLD           = "ld.lld -r, vmlinux.o"
	stepKernel        = "ld, vmlinux"
	stepSparingKernel = "ld, vmlinux, sparing"
	stepPahole        = "pahole -J -j1"
	stepBtflite       = "btflite -J -j1"
)

// What the links of a kernel for x86-64 have in common.
const (
	link   = "-m elf_x86_64 -z noexecstack --no-warn-rwx-segments "
	object = "-r -o OUT/vmlinux.o --whole-archive vmlinux.a --no-whole-archive"
	kernel = "-z max-page-size=0x200000 --build-id=sha1 --orphan-handling=warn --script=arch/x86/kernel/vmlinux.lds -o OUT/vmlinux " +
		"--whole-archive vmlinux.a .vmlinux.export.o init/version-timestamp.o --no-whole-archive .tmp_vmlinux2.kallsyms.o .tmp_vmlinux1.btf.o"
	encode = " -J -j1 " + features + " --btf_encode_detached=OUT/btf OUT/vmlinux"
)

type step struct{ name, script string }

// recordSteps are the steps in their order, as commands in a build folder. OUT stands for
// the folder that they write to, PAHOLE and BTFLITE for the programs.
var recordSteps = []step{
	{stepObject, "ld " + link + object},
	{stepSparingObject, "ld " + link + sparing + " " + object},
	{stepLLD, "ld.lld -m elf_x86_64 -z noexecstack " + object},
	{stepKernel, "ld " + link + kernel},
	{stepSparingKernel, "ld " + link + sparing + " " + kernel},
	{stepPahole, "PAHOLE" + encode},
	{stepBtflite, "BTFLITE" + encode},
}

// buildTree is a build folder.
type buildTree struct {
	path    string
	objects []string // that were compiled for the kernel
	out     string   // folder for what the steps write
	*TreeResult
}

// steps are the command line of steps, one after the other, and the BTF that the last one may write.
func (b *bench) steps(t *buildTree, names ...string) turn {
	script := `cd "$0"`
	for _, name := range names {
		i := slices.IndexFunc(recordSteps, func(s step) bool { return s.name == name })
		script += "\n" + recordSteps[i].script
	}
	script = strings.NewReplacer("OUT", t.out, "PAHOLE", b.pahole, "BTFLITE", b.btflite).Replace(script)
	return turn{args: []string{"/bin/sh", "-ec", script, t.path}, out: filepath.Join(t.out, "btf")}
}

// records measures the folders of -dwarf and -records.
func (b *bench) records(ctx context.Context) error {
	if b.dwarfTree == "" || b.recordTree == "" {
		return errors.New("-dwarf=DIR and -records=DIR are needed, two build folders of one kernel")
	}
	r := &RecordsResult{Name: b.configuration, Same: true, CPU: b.results.Machine.CPU}
	r.Load, _, _ = strings.Cut(firstLine("/proc/loadavg"), " ")
	dwarf, err := b.openTree(b.dwarfTree, "dwarf")
	if err != nil {
		return err
	}
	records, err := b.openTree(b.recordTree, "records")
	if err != nil {
		return err
	}
	r.Dwarf, r.Records = dwarf.TreeResult, records.TreeResult
	say("%s: sizes done", r.Name)
	measured := func(t *buildTree, name string) turn {
		made := b.steps(t, name)
		made.series = new([]Sample)
		t.Steps[name] = made.series
		return made
	}
	var turns []turn
	for _, s := range recordSteps {
		switch s.name {
		case stepPahole:
			turns = append(turns, measured(dwarf, s.name)) // the other folder has no DWARF to read
		case stepBtflite: // pahole repeats typedefs over an older libbpf, so that only these two are compared
			turns = append(turns, pair(measured(dwarf, s.name), measured(records, s.name), &r.Same)...)
		default:
			turns = append(turns, measured(dwarf, s.name), measured(records, s.name))
		}
	}
	if err := b.inTurns(ctx, r.Name, turns...); err != nil {
		return err
	}
	if err := b.recordFloors(ctx, r, dwarf, records); err != nil {
		return err
	}
	b.results.Records = slices.DeleteFunc(b.results.Records, func(old *RecordsResult) bool { return old.Name == r.Name })
	b.results.Records = append(b.results.Records, r)
	return nil
}

// recordFloors finds the smallest memory cgroups in which a kernel is linked and encoded.
func (b *bench) recordFloors(ctx context.Context, r *RecordsResult, dwarf, records *buildTree) error {
	var trials []trial
	for _, f := range []struct {
		way   string
		tree  *buildTree
		steps []string
		step  int
	}{
		{"DWARF, pahole", dwarf, []string{stepObject, stepKernel, stepPahole}, 16},
		{"DWARF, btflite", dwarf, []string{stepObject, stepKernel, stepBtflite}, 16},
		{"DWARF, btflite, sparing ld", dwarf, []string{stepSparingObject, stepSparingKernel, stepBtflite}, 16},
		{"btflite cc", records, []string{stepObject, stepKernel, stepBtflite}, 4},
		{"btflite cc, sparing ld", records, []string{stepSparingObject, stepSparingKernel, stepBtflite}, 4},
	} {
		trials = append(trials, trial{turn: b.steps(f.tree, f.steps...), what: f.way, inputs: f.tree.objects, step: f.step})
	}
	return b.smallest(ctx, r.Name, &r.Floors, trials...)
}

// openTree finds the objects of a build folder and sums sizes up.
func (b *bench) openTree(path, name string) (*buildTree, error) {
	t := &buildTree{out: filepath.Join(b.runner.dir, name), TreeResult: &TreeResult{Steps: map[string]*[]Sample{}}}
	var err error
	if t.path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	err = filepath.WalkDir(t.path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		t.Tree += info.Size()
		if !ofKernel(strings.TrimPrefix(path, t.path)) {
			return nil
		}
		t.objects = append(t.objects, path)
		return t.addObject(path, info.Size())
	})
	return t, errors.Join(err, os.MkdirAll(t.out, 0o755))
}

// ofKernel says whether a file of a build folder is an object that was compiled for the kernel.
func ofKernel(path string) bool {
	dir, name := filepath.Split(path)
	if filepath.Ext(name) != ".o" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "vmlinux") {
		return false
	}
	return !slices.ContainsFunc(strings.Split(dir, "/"), func(folder string) bool {
		return slices.Contains([]string{"scripts", "tools", "btflite", "guest", "source"}, folder)
	})
}

// addObject adds an object, whose file has a size.
func (t *TreeResult) addObject(path string, size int64) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	t.Objects++
	t.Size += size
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
			fmt.Sprintf("go run ./bench -only=records -dwarf=DWARF -records=RECORDS -configuration=%s -n=%d", r.Name, len(r.Dwarf.samples(stepObject)))))
		fmt.Fprintf(b, "Linux 7.2, %d objects, on a machine with %s. The same BTF from both: %s. The load average was %s when it began.\n\n", r.Dwarf.Objects, r.CPU, yesNo(&r.Same), r.Load)
		table(b, "l|r|r|r", "|with DWARF|with records|÷", r.rows)
		if len(r.Floors) == 0 {
			continue
		}
		table(b, "l|r|r", "way|MiB|step MiB", func(row func(...any)) {
			for _, f := range r.Floors {
				row(f.What, f.MiB, f.Step)
			}
		})
	}
}

// rows are the rows of the table of one configuration.
func (r *RecordsResult) rows(row func(...any)) {
	compare := func(what, format string, dwarf, records float64) {
		row(what, fmt.Sprintf(format, dwarf), fmt.Sprintf(format, records), fraction(dwarf, records))
	}
	compare("objects, MB", "%.1f", float64(r.Dwarf.Size)/1e6, float64(r.Records.Size)/1e6)
	compare("debug information in them, MB", "%.1f", float64(r.Dwarf.Debug)/1e6, float64(r.Records.Debug)/1e6)
	compare("build folder, MB", "%.1f", float64(r.Dwarf.Tree)/1e6, float64(r.Records.Tree)/1e6)
	for _, x := range recordSteps {
		dwarf, records := r.Dwarf.samples(x.name), r.Records.samples(x.name)
		if len(dwarf) == 0 {
			continue // not measured
		}
		d, s := summarize(dwarf), summarize(records)
		cpu, peak := "`"+x.name+"`, CPU s", "`"+x.name+"`, peak MiB"
		if len(records) == 0 {
			row(cpu, seconds(d.CPU), "", "")
			row(peak, mib(d.Peak), "", "")
			continue
		}
		compare(cpu, "%.3f", d.CPU, s.CPU)
		compare(peak, "%.1f", kib(d.Peak), kib(s.Peak))
	}
}
