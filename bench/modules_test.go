package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/corpus"
)

func fakeModules(n int) []corpus.Module {
	var mods []corpus.Module
	for i := range n {
		mods = append(mods, corpus.Module{Name: fmt.Sprint(i), Size: int64(n - i)})
	}
	return mods
}

func TestFairSampleTakesTheLargestAndAnEvenPartOfTheRest(t *testing.T) {
	largest, rest := fairSample(fakeModules(4230), 200)
	if len(largest) != 10 || len(rest) != 190 || largest[9].Name != "9" {
		t.Fatalf("%d and %d modules", len(largest), len(rest))
	}
	seen := map[string]bool{}
	last := -1
	for i, m := range rest {
		var at int
		fmt.Sscan(m.Name, &at)
		if seen[m.Name] || at < 10 || at-last > 4220/190+2 && i > 0 {
			t.Errorf("module %d after %d", at, last)
		}
		seen[m.Name], last = true, at
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

func TestModuleReport(t *testing.T) {
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf("m%02d", i))
	}
	r := &Results{Kernels: []*KernelResult{{Name: "v1"}, {Name: "v2", Modules: []*ModuleSet{
		{Set: "default", Modules: 4230, VmlinuxSame: true, Compared: 4230, Different: names, Distilled: 200, DistilledDifferent: names[:1],
			Sampled: 200, Pahole: 400, Jobs: 2, Batch: []Sample{{CPU: 20, Wall: 10, Peak: 80 << 10}},
			Singles: []*Single{{"xfs", true, []Sample{{CPU: 0.7}}, []Sample{{CPU: 0.07, Peak: 30 << 10}}}},
			Floors:  []Floor{{"xfs -j1", 25, 1, Sample{Wall: 0.5}}}},
		{Set: "kernel", Modules: 4230, Compared: 200},
	}}}}
	var b strings.Builder
	moduleSections(&b, r)
	for _, want := range []string{
		"| v2 | default | yes | 4218 of 4230 | 199 of 200 | m00, m01, m02, m03, m04, m05, m06, m07, m08, m09, 2 more |",
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
