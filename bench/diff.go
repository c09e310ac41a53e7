package main

// The part "diff": what btflite diff costs on two kernels, that it finds nothing
// between a kernel and itself in another order, and that pahole and btflite leave
// out the same functions.

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/btflite/btflite/btf"
)

const partDiff = "diff"

// DiffResult is the outcome of the part.
type DiffResult struct {
	Costs     []*DiffCost    `json:"costs"`
	Functions []FunctionDiff `json:"functions"`
}

// DiffCost is the cost of one comparison.
type DiffCost struct {
	Files   string   `json:"files"`
	Status  int      `json:"status"`
	Lines   int      `json:"lines"` // printed
	Samples []Sample `json:"samples"`
}

// FunctionDiff compares the functions that pahole and btflite encode.
type FunctionDiff struct {
	Kernel  string `json:"kernel"`
	Encoded int    `json:"encoded"`
	LeftOut int    `json:"left_out"` // by btflite, with a reason
	Status  int    `json:"status"`   // of diff --functions
}

func (b *bench) diff(ctx context.Context) error {
	r := &DiffResult{}
	b.results.Diff = r
	if err := b.diffCosts(ctx, r); err != nil {
		return err
	}
	for _, name := range b.kernels {
		path, err := b.vmlinux(name)
		if err != nil {
			return err
		}
		if _, _, err := b.encode(ctx, toolPahole, 1, path); err != nil {
			return err
		}
		report := filepath.Join(b.runner.dir, "report.json")
		_, ours, err := b.encode(ctx, toolBtflite, 1, path, "--report="+report)
		if err != nil {
			return err
		}
		f := FunctionDiff{Kernel: name}
		if f.Encoded, err = functionsOf(ours); err != nil {
			return err
		}
		if f.LeftOut, err = leftOutOf(report); err != nil {
			return err
		}
		o, err := b.runner.run(ctx, 0, []string{b.btflite, "diff", "--functions", b.out(toolPahole), b.out(toolBtflite)})
		if err != nil {
			return err
		}
		f.Status = o.status
		r.Functions = append(r.Functions, f)
		say("%s: %d functions, status %d", name, f.Encoded, f.Status)
	}
	return nil
}

// diffCosts measures comparisons of the kernels of the part "order", in turns.
func (b *bench) diffCosts(ctx context.Context, r *DiffResult) error {
	older, newer, shuffled := filepath.Join(b.runner.dir, "older"), filepath.Join(b.runner.dir, "newer"), filepath.Join(b.runner.dir, "shuffled")
	for name, file := range map[string]string{orderOld: older, orderNew: newer} {
		path, err := b.vmlinux(name)
		if err != nil {
			return err
		}
		_, data, err := b.encode(ctx, toolBtflite, 1, path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return err
		}
		if name != orderOld {
			continue
		}
		blob, err := btf.Parse(data, nil)
		if err != nil {
			return err
		}
		if blob, err = shuffledTypes(blob, rand.New(rand.NewPCG(1, 0))); err != nil {
			return err
		}
		if err := os.WriteFile(shuffled, blob.Encode(), 0o600); err != nil {
			return err
		}
	}
	r.Costs = []*DiffCost{{Files: orderOld + ", " + orderNew}, {Files: orderOld + ", itself"}, {Files: orderOld + ", its types and strings in random order"}}
	for range b.n {
		for i, other := range []string{newer, older, shuffled} {
			o, err := b.runner.run(ctx, 0, []string{b.btflite, "diff", "--no-summary", older, other})
			if err != nil {
				return err
			}
			c := r.Costs[i]
			c.Status, c.Lines = o.status, strings.Count(string(o.printed), "\n")
			c.Samples = append(c.Samples, o.Sample)
		}
	}
	return nil
}

// functionsOf counts the FUNCs of BTF.
func functionsOf(data []byte) (int, error) {
	b, err := btf.Parse(data, nil)
	if err != nil {
		return 0, err
	}
	n := 0
	for id := b.FirstID; id < b.TypeCount(); id++ {
		if b.Kind(id) == btf.KindFunc {
			n++
		}
	}
	return n, nil
}

// leftOutOf counts the functions that a report of btflite says are left out.
func leftOutOf(report string) (int, error) {
	text, err := os.ReadFile(report)
	if err != nil {
		return 0, err
	}
	var r struct {
		LeftOut []struct{} `json:"left_out_functions"`
	}
	err = json.Unmarshal(text, &r)
	return len(r.LeftOut), err
}

func diffSection(b *strings.Builder, r *DiffResult) {
	if r == nil {
		return
	}
	n := 0
	for _, c := range r.Costs {
		n = max(n, len(c.Samples))
	}
	fmt.Fprint(b, "## Differences\n\nWhat `btflite diff` says of two files, and what that costs. Status 0: no difference, 1: some.\n\n")
	fmt.Fprint(b, command(fmt.Sprintf("go run ./bench -only=%s -n=%d", partDiff, n)))
	table(b, "l|r|r|r|r|r", "files|status|lines|CPU s|range|peak MiB", func(row func(...any)) {
		for _, c := range r.Costs {
			m := summarize(c.Samples)
			row(c.Files, c.Status, c.Lines, seconds(m.CPU), span(m), mib(m.Peak))
		}
	})
	fmt.Fprint(b, "The functions that pahole encodes, compared with btflite's by `btflite diff --functions`:\n\n")
	table(b, "l|r|r|r", "kernel|functions|left out with a reason|status", func(row func(...any)) {
		for _, f := range r.Functions {
			row(f.Kernel, f.Encoded, f.LeftOut, f.Status)
		}
	})
}
