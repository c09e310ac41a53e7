package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func fakeModules(n int) []kernelModule {
	var mods []kernelModule
	for i := range n {
		mods = append(mods, kernelModule{name: fmt.Sprint(i), size: int64(n - i)})
	}
	return mods
}

func TestFairSampleTakesTheLargestAndAnEvenPartOfTheRest(t *testing.T) {
	largest, rest := fairSample(fakeModules(4230), 200)
	if len(largest) != 10 || len(rest) != 190 || largest[9].name != "9" {
		t.Fatalf("%d and %d modules", len(largest), len(rest))
	}
	seen := map[string]bool{}
	last := -1
	for i, m := range rest {
		var at int
		fmt.Sscan(m.name, &at)
		if seen[m.name] || at < 10 || at-last > 4220/190+2 && i > 0 {
			t.Errorf("module %d after %d", at, last)
		}
		seen[m.name], last = true, at
	}
	if last < 4200 {
		t.Errorf("the smallest of the sample is %d", last)
	}
	if largest, rest = fairSample(fakeModules(7), 200); len(largest) != 7 || rest != nil {
		t.Errorf("%d and %d of 7 modules", len(largest), len(rest))
	}
	if largest, rest = fairSample(fakeModules(50), 5); len(largest) != 5 || rest != nil {
		t.Errorf("%d and %d for a sample of 5", len(largest), len(rest))
	}
}

func TestFindModulesLargestFirst(t *testing.T) {
	c := &config{corpus: t.TempDir()}
	for name, size := range map[string]int{"k/v/fs/a.ko": 10, "k/v/fs/b.ko": 30, "k/v/net/c.ko": 30, "k/v/vmlinux": 99} {
		path := filepath.Join(c.corpus, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mods, err := c.findModules("v")
	if err != nil {
		t.Fatal(err)
	}
	var names string
	for _, m := range mods {
		names += m.name
	}
	if names != "bca" {
		t.Errorf("order %s", names)
	}
	if mods, err := c.findModules("none"); err != nil || len(mods) != 0 {
		t.Errorf("%v, %v", mods, err)
	}
}

func TestModuleReport(t *testing.T) {
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprint("m", i))
	}
	r := &Results{Kernels: []*KernelResult{{Name: "v1"}, {Name: "v2", Modules: []*ModuleSet{
		{Set: "default", Modules: 4230, VmlinuxSame: true, Compared: 4230, Different: names, Distilled: 200, DistilledDifferent: names[:1],
			Sampled: 200, Pahole: 400, Jobs: 2, Batch: []Sample{{CPU: 20, Wall: 10, Peak: 80 << 10}},
			Singles: []Single{{"xfs", true, []Sample{{CPU: 0.7}}, []Sample{{CPU: 0.07, Peak: 30 << 10}}}},
			Floors:  []ModuleFloor{{"xfs -j1", 25, 1, Sample{Wall: 0.5}}}},
		{Set: "kernel", Modules: 4230, Compared: 200},
	}}}}
	var b strings.Builder
	moduleSections(&b, r)
	for _, want := range []string{
		"| v2 | default | yes | 4218 of 4230 | 199 of 200 | m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, 2 more |",
		"| v2 | kernel | **no** | 200 of 200 (4230 there are) | – |  |",
		"| btflite modules -j2 | 20.0 | 10.0 | 80.0 | 1/20.0 |",
		"| xfs | 0.700 | 0.0 | 0.070 | 30.0 | 1/10.0 | yes |",
		"| xfs -j1 | 25 | 1 | 0.500 | 0.000 |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no line %q in\n%s", want, &b)
		}
	}
	b.Reset()
	moduleSections(&b, &Results{Kernels: r.Kernels[:1]})
	if b.Len() != 0 {
		t.Errorf("without modules: %q", &b)
	}
}
