package main

import (
	"strings"
	"testing"
)

// TestReadersSection: a row has medians, their ratio, and whether the texts are equal.
func TestReadersSection(t *testing.T) {
	var b strings.Builder
	if readersSection(&b, nil); b.Len() != 0 {
		t.Errorf("of nothing: %s", &b)
	}
	sample := func(cpu float64, peak int64) Sample { return Sample{CPU: cpu, Wall: cpu, Peak: peak} }
	readersSection(&b, []*ReaderResult{
		{"k", "raw", "bpftool", []Sample{sample(0.4, 20480), sample(0.2, 20480), sample(0.3, 20480)}, []Sample{sample(0.03, 10240), sample(0.02, 10240), sample(0.04, 10240)}, true},
		{"k", "json", "bpftool", []Sample{sample(1, 1024)}, []Sample{sample(2, 2048)}, false},
	})
	for _, want := range []string{"-only=readers -n=3", "| raw | bpftool | 0.300 | 0.030 | 0.100 | 20.0 | 10.0 | same |", "| json | bpftool | 1.000 | 2.000 | 2.000 | 1.0 | 2.0 | differs |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}
