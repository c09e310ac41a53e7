package main

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// TestReadmeHasTheFigures: BENCHMARKS.md, README and picture say what results.json says.
func TestReadmeHasTheFigures(t *testing.T) {
	r, err := read("results.json")
	if err != nil {
		t.Fatal(err)
	}
	readme := testfile.Read(t, "../README.md")
	main := r.kernel("v72-amd64")
	want, err := replaceFigures(string(readme), figures(r, main))
	if err != nil {
		t.Fatal(err)
	}
	if string(readme) != want {
		t.Error("README.md: other figures than in results.json; go run ./bench -render writes them")
	}
	benchmarks := testfile.Read(t, "../BENCHMARKS.md")
	if string(benchmarks) != report(r, main) {
		t.Error("BENCHMARKS.md: not what results.json says; go run ./bench -render writes it")
	}
	picture := testfile.Read(t, "plots/"+overviewFile)
	if string(picture) != overview(r) {
		t.Errorf("plots/%s: not what results.json says; go run ./bench -render draws it", overviewFile)
	}
}

func TestFiguresOfTheReadme(t *testing.T) {
	r := sampleResults()
	r.Kernels[0].Modules = []*ModuleSet{{Modules: 4230, Sampled: 10, Pahole: 511.2, Batch: []Sample{{CPU: 25.6}}}}
	got := figures(r, r.Kernels[0])
	for _, want := range []string{
		"](bench/plots/overview.svg)",
		"For Linux v1-test, pahole 1.32 takes 10 s of CPU time and 600 MiB of memory.",
		"btflite takes 1 s and 20 MiB, and with two workers it is done in 0.7 s.",
		"With one worker, a control group of 30 MiB",
		"All 4,230 modules of Linux v1-test take 26 s of CPU time in one `btflite modules` run. pahole, called for each, takes about 511 s.",
		"Medians of 3 runs on a shared machine with 2 cores",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("figures lack %q:\n%s", want, got)
		}
	}
	empty := &Results{}
	if got := figures(empty, empty.kernel("v1-test")); got != "" || overview(empty) != "" {
		t.Errorf("figures of nothing:\n%s", got)
	}
	if _, err := replaceFigures("no marks", "x"); err == nil {
		t.Error("no error without marks")
	}
	if got, err := replaceFigures("a\n"+figuresBegin+"old\n"+figuresEnd+"b\n", "new\n"); err != nil || got != "a\n"+figuresBegin+"new\n"+figuresEnd+"b\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestOverviewHasEveryValue(t *testing.T) {
	r := sampleResults()
	got := words(t, overview(r))
	for _, want := range []string{"CPU time, -j1", "peak memory, -j1", "pahole", "btflite", "10 s", "1 s", "600 MiB", "20 MiB", "v1-test"} {
		if !slices.Contains(got, want) {
			t.Errorf("the picture lacks %q: %q", want, got)
		}
	}
	for name, want := range map[string]string{"v612-amd64": "6.12 amd64", "v72-s390x": "7.2 s390x", "other": "other"} {
		if got := kernelTitle(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestOverviewColours: text and bars can be read on a white and on a dark page.
// The contrast is computed as in WCAG 2, which asks for 3 unless the text is small. A
// colour for both pages cannot have much more than 4.
func TestOverviewColours(t *testing.T) {
	for color, least := range map[string]float64{overviewText: 4, overviewPahole: 3, overviewBtflite: 3} {
		for _, page := range []string{"#ffffff", "#0d1117"} {
			if c := contrast(color, page); c < least {
				t.Errorf("%s on %s: contrast %.2f, want %.1f", color, page, c, least)
			}
		}
	}
	if c := contrast("#000000", "#ffffff"); math.Abs(c-21) > 0.01 {
		t.Errorf("black on white: %.2f, want 21", c)
	}
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(color string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		if err != nil {
			panic(err)
		}
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}
