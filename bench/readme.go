package main

// The figures of the README. They stand between two marks, and are written from
// the same samples as BENCHMARKS.md, so that the two cannot disagree.

import (
	"fmt"
	"os"
	"strings"
)

const (
	figuresBegin = "<!-- figures: written by make bench -->\n"
	figuresEnd   = "<!-- end of figures -->\n"
)

// writeReadme replaces the figures in a file.
func writeReadme(path string, r *Results, main *KernelResult) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := replaceFigures(string(data), figures(r, main))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// replaceFigures puts figures between the marks of a text.
func replaceFigures(text, figures string) (string, error) {
	head, rest, ok := strings.Cut(text, figuresBegin)
	_, tail, found := strings.Cut(rest, figuresEnd)
	if !ok || !found {
		return "", fmt.Errorf("there is no %q with %q behind it", strings.TrimSpace(figuresBegin), strings.TrimSpace(figuresEnd))
	}
	return head + figuresBegin + figures + figuresEnd + tail, nil
}

// figures returns the part of the README about the samples: the picture and a few
// sentences.
func figures(r *Results, main *KernelResult) string {
	var b strings.Builder
	if len(compared(r)) > 0 {
		fmt.Fprintf(&b, "![CPU time and peak memory of pahole and btflite; BENCHMARKS.md has the same as tables](%s/%s)\n\n", plotsFolder, overviewFile)
	}
	n := 0
	if p, o := main.run(toolPahole, 1), main.run(toolBtflite, 1); p != nil && o != nil {
		pahole, btflite := summarize(p.Samples), summarize(o.Samples)
		n = len(o.Samples)
		fmt.Fprintf(&b, "For Linux %s, pahole %s takes %s s of CPU time and %.0f MiB of memory.\nbtflite takes %s s and %.0f MiB",
			kernelTitle(main.Name), r.Machine.Pahole, number(pahole.CPU), kib(pahole.Peak), number(btflite.CPU), kib(btflite.Peak))
		if two := main.run(toolBtflite, 2); two != nil {
			fmt.Fprintf(&b, ", and with two workers it is done in %s s", number(summarize(two.Samples).Wall))
		}
		b.WriteString(".\n")
	}
	for _, f := range main.Floors {
		if f.What == toolBtflite+" -j1" {
			fmt.Fprintf(&b, "With one worker, a control group of %d MiB is enough, including the file's pages but not the program's.\n", f.MiB)
		}
	}
	for _, k := range r.Kernels {
		for _, m := range k.Modules {
			if m.Sampled > 0 {
				fmt.Fprintf(&b, "All %s modules of Linux %s take %.0f s of CPU time in one `btflite modules` run. pahole, called for each, takes about %.0f s.\n",
					thousands(m.Modules), kernelTitle(k.Name), summarize(m.Batch).CPU, m.Pahole)
			}
		}
	}
	if n > 0 {
		fmt.Fprintf(&b, "Medians of %d runs on a shared machine with %d cores: [BENCHMARKS.md](BENCHMARKS.md).\n", n, r.Machine.Cores)
	}
	return b.String()
}

func kib(n int64) float64 { return float64(n) / 1024 }

// thousands is 4,230 for 4230.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
