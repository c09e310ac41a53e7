package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

func sampleRecords() *RecordsResult {
	steps := func(cpu float64, peak int64) map[string]*[]Sample {
		m := map[string]*[]Sample{}
		for _, s := range recordSteps {
			m[s.name] = &[]Sample{{CPU: cpu, Peak: peak << 10}}
		}
		return m
	}
	r := &RecordsResult{
		Name: "small", Same: true, CPU: "Model X", Load: "0.5",
		Dwarf:   &TreeResult{Objects: 1300, Size: 300e6, Debug: 250e6, Tree: 900e6, Steps: steps(4, 300)},
		Records: &TreeResult{Objects: 1300, Size: 60e6, Debug: 10e6, Tree: 300e6, Steps: steps(1, 50)},
		Floors:  []Floor{{What: "DWARF, pahole", MiB: 800, Step: 16}, {What: "btflite cc", MiB: 40, Step: 4}, {What: "btflite cc, sparing ld", MiB: 30, Step: 4}},
	}
	delete(r.Records.Steps, stepPahole)
	return r
}

func TestRecordsSection(t *testing.T) {
	var b strings.Builder
	recordsSection(&b, []*RecordsResult{sampleRecords()})
	for _, want := range []string{
		"-configuration=small -n=1", "1300 objects, on a machine with Model X. The same BTF from both: yes. The load average was 0.5",
		"| debug information in them, MB | 250.0 | 10.0 | 1/25.0 |",
		"| `ld, vmlinux`, peak MiB | 300.0 | 50.0 | 1/6.0 |",
		"| `pahole -J -j1`, CPU s | 4.000 |  |  |",
		"| btflite cc | 40 | 4 |", "| btflite cc, sparing ld | 30 | 4 |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// TestSteps: the commands of steps, one a line, with the folder and the programs in them.
func TestSteps(t *testing.T) {
	b := &bench{config: &config{btflite: "/b", pahole: "/p"}}
	got := b.steps(&buildTree{path: "/tree", out: "/o"}, stepSparingObject, stepBtflite)
	want := `cd "$0"
ld -m elf_x86_64 -z noexecstack --no-warn-rwx-segments --no-keep-memory --hash-size=31 -r -o /o/vmlinux.o --whole-archive vmlinux.a --no-whole-archive
/b -J -j1 --btf_features=default --btf_encode_detached=/o/btf /o/vmlinux`
	if got.args[2] != want || got.args[3] != "/tree" || got.out != "/o/btf" {
		t.Errorf("%q, %s", got.args, got.out)
	}
}

// TestMeasureTree: a build folder with one object, and files that do not count as objects.
func TestMeasureTree(t *testing.T) {
	object := testfile.Read(t, "../testdata/split/x86.module.o")
	dir := t.TempDir()
	for _, name := range []string{"fs/a.o", "scripts/b.o", "vmlinux.o", ".c.o"} {
		path := filepath.Join(dir, name)
		testfile.Write(t, path, object)
	}
	b := &bench{runner: runner{dir: t.TempDir()}}
	r, err := b.openTree(dir, "dwarf")
	if err != nil {
		t.Fatal(err)
	}
	size := int64(len(object))
	if r.Objects != 1 || r.Size != size || r.Tree != 4*size || r.Debug <= 0 || r.Debug >= size {
		t.Errorf("%+v, with objects of %d bytes", r.TreeResult, size)
	}
}
