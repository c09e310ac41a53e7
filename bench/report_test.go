package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// add puts a sample into the series of a program.
func add(k *KernelResult, tool string, jobs int, s Sample) {
	series := k.series(tool, jobs)
	*series = append(*series, s)
}

// sampleResults has every part measured, with round numbers.
func sampleResults() *Results {
	r := &Results{Machine: Machine{CPU: "Model X", Cores: 2, Go: "go1.26", Pahole: "1.32", Options: "--btf_features=default"}}
	k := r.kernel("v1-test")
	same := true
	k.FileBytes, k.DebugInfo, k.Same = 400<<20, 200<<20, &same
	k.Stats = &encodeStats{CUs: 2500, DIEs: 20_000_000}
	add(k, toolScan, 0, Sample{CPU: 0.25, Wall: 0.25, Peak: 8 << 10})
	for i := range 3 {
		d := float64(i-1) / 10
		add(k, toolPahole, 1, Sample{10 + d, 10, 600 << 10})
		add(k, toolPahole, 2, Sample{11 + d, 6, 620 << 10})
		add(k, toolBtflite, 1, Sample{1 + d, 1, 20 << 10})
		add(k, toolBtflite, 2, Sample{1.2 + d, 0.7, 23 << 10})
	}
	k.Floors = []Floor{{"btflite -j1", 30, 1, Sample{Wall: 1.5}}, {"btflite -j4", 70, 1, Sample{}}, {"pahole -j1", 456, 8, Sample{}}}
	k.Phases = []Phase{{"scan", []float64{0.3, 0.1, 0.2}}, {"commit", []float64{0.6}}}
	k.Growth = []Growth{{CUs: 100, DIEs: 1_000_000, Types: 500, Samples: []Sample{{CPU: 0.05, Peak: 10 << 10}}}}
	return r
}

func TestReportShowsMediansRatiosAndCommands(t *testing.T) {
	r := sampleResults()
	text := report(r, r.Kernels[0])
	for _, want := range []string{
		"Model X, 2 cores",
		"| v1-test | 400 | 200 | 2500 | 20.00 M | yes |",
		"go run ./bench -only=time -kernels=v1-test -n=3 -j=1,2",
		"| bare scan | 0.250 | 0.250–0.250 | 0.250 | 8.0 |  |  |  |",
		"| pahole -j1 | 10.000 | 9.900–10.100 | 10.000 | 600.0 |  |  |  |",
		"| btflite -j1 | 1.000 | 0.900–1.100 | 1.000 | 20.0 | 1/10.0 | 1/10.0 | 1/30.0 |",
		"go run ./bench -only=floor -main=v1-test",
		"| pahole -j1 | 456 | 8 |",
		"go run ./bench -only=phases -main=v1-test -n=3",
		"| scan | 200.0 | 25 % |",
		"| sum | 800.0 |  |",
		"| 100 | 1.00 M | 500 | 0.050 | 50.0 | 10.0 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("report lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestReportSaysWhatIsMissing(t *testing.T) {
	r := &Results{}
	text := report(r, r.kernel("v1-test"))
	if !strings.Contains(text, "Left out: not measured") {
		t.Errorf("cgroup floor not measured, and the report does not say so:\n%s", text)
	}
	if strings.Contains(text, ".svg") || strings.Contains(text, "NaN") {
		t.Errorf("report of nothing:\n%s", text)
	}
}

// TestReportKeepsMainKernel: a run over other kernels leaves the main kernel's floors, phases and growth
// in the report.
func TestReportKeepsMainKernel(t *testing.T) {
	c := &config{main: "v1-test", to: t.TempDir()}
	if err := c.findCorpus("a-other,b-other"); err != nil {
		t.Fatal(err)
	}
	if c.main != "v1-test" || c.measured != "a-other" {
		t.Errorf("the report is about %s, and %s is measured", c.main, c.measured)
	}
	for in, want := range map[string]string{"v1-test": "v1-test", "none": "a-other"} {
		r := sampleResults()
		r.kernel("a-other").Floors = []Floor{{"btflite -j1", 99, 1, Sample{}}}
		r.kernel("b-other")
		c.main = in
		testfile.Write(t, filepath.Join(c.to, "README.md"), figuresBegin+figuresEnd)
		if err := writeReport(r, c); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(c.to, "BENCHMARKS.md")); err != nil || !strings.Contains(string(text), "-only=floor -main="+want) {
			t.Errorf("main kernel %s: %v, %s", in, err, text)
		}
	}
}

func TestWriteReportWritesThePicture(t *testing.T) {
	c := &config{main: "other", to: t.TempDir()}
	testfile.Write(t, filepath.Join(c.to, "README.md"), figuresBegin+figuresEnd)
	if err := writeReport(sampleResults(), c); err != nil {
		t.Fatal(err)
	}
	words(t, string(testfile.Read(t, filepath.Join(c.to, plotsFolder, overviewFile))))
	if err := writeReport(&Results{}, c); err == nil {
		t.Error("no error for no results")
	}
}
