package main

import (
	"encoding/json"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btfdiff"
)

// exitTrouble is the status of "btflite diff" if there is no answer, whatever
// the reason; exitFailure says that the files differ.
const exitTrouble = 2

// runDiff is "btflite diff".
func (c *cli) runDiff(args []string) error {
	cfg := newConfig()
	words, err := parse(diffOptions, args, cfg)
	switch {
	case err != nil:
	case cfg.action != doWork:
		return c.showAction(cfg.action, diffIntro, diffOptions)
	case len(words) != 2:
		err = usagef("diff takes two files")
	default:
		var same bool
		if same, err = c.diff(words[0].text, words[1].text, cfg); err == nil && !same {
			return verdict{exitFailure}
		}
	}
	if err == nil {
		return nil
	}
	c.report(err)
	return verdict{exitTrouble}
}

// diff prints how the files a and b differ.
func (c *cli) diff(a, b string, cfg *config) (same bool, err error) {
	basePaths := [2][]string{c.basePaths(cfg, []string{a}), cfg.basesB}
	if len(cfg.basesB) == 0 {
		basePaths[1] = c.basePaths(cfg, []string{b})
	}
	var bases [2]*btf.Blob
	for i, paths := range basePaths {
		if i == 1 && slices.Equal(paths, basePaths[0]) {
			bases[1] = bases[0]
		} else if bases[i], err = loadChain(paths); err != nil {
			return false, err
		}
	}
	var blobs [2]*btf.Blob
	for i, path := range []string{a, b} {
		if blobs[i], err = loadOver(path, bases[i]); err != nil {
			return false, err
		}
	}
	out := diffWriter(&diffText{cfg: cfg, w: newLineWriter(c.stdout)})
	if cfg.json {
		out = &diffJSON{cfg: cfg, w: newLineWriter(c.stdout), a: a, b: b}
	}
	out.begin()
	counts := btfdiff.Summary{}
	same = true
	err = btfdiff.Compare(blobs[0], blobs[1], btfdiff.Options{Functions: cfg.functions}, func(d *btfdiff.Difference) error {
		same = false
		counts.Add(d)
		if cfg.summary {
			return nil
		}
		return out.difference(d)
	})
	if err == nil {
		err = out.end(same, counts)
	}
	return same, stdoutError(err)
}

// diffWriter prints a report. An error is one of writing.
type diffWriter interface {
	begin()
	difference(*btfdiff.Difference) error
	end(same bool, counts btfdiff.Summary) error
}

// diffText prints for people, and nothing at all if there is no difference.
type diffText struct {
	cfg *config
	w   *lineWriter
}

func (t *diffText) begin() {}

func (t *diffText) difference(d *btfdiff.Difference) error {
	for _, l := range d.Lines() {
		t.w.line(oneLine(l))
	}
	return t.w.err
}

func (t *diffText) end(_ bool, counts btfdiff.Summary) error {
	if t.cfg.summary {
		for _, l := range counts.Lines() {
			t.w.line(l)
		}
	}
	return t.w.flush()
}

// diffJSON prints one JSON object, with a line for each difference.
type diffJSON struct {
	cfg  *config
	w    *lineWriter
	a, b string
	n    int // differences
}

func (j *diffJSON) begin() {
	j.w.line(`{"version":1,"a":` + jsonText(j.a) + `,"b":` + jsonText(j.b) + `,`)
	if !j.cfg.summary {
		j.w.text(`"differences":[`)
	}
}

func (j *diffJSON) difference(d *btfdiff.Difference) error {
	if j.n > 0 {
		j.w.text(",")
	}
	j.n++
	j.w.text("\n" + jsonText(d))
	return j.w.err
}

func (j *diffJSON) end(same bool, counts btfdiff.Summary) error {
	if !j.cfg.summary {
		j.w.line("],")
	}
	j.w.line(`"summary":` + jsonText(counts) + `,"same":` + jsonText(same) + `}`)
	return j.w.flush()
}

// jsonText is v, which holds nothing that JSON cannot say, as JSON.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
