package main

// The part "order": what --btf_sort does to the C headers of two kernels, what
// it costs, and whether the canonical order forgets the order it comes from.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/order"
)

const partOrder = "order"

// The kernels that are compared, and how often one is shuffled.
const (
	orderOld = "v612-amd64"
	orderNew = "v72-amd64"
	shuffles = 10
)

// orderFlags are the orders, the first being that of the encoder; orderUnits is
// which units are encoded.
var (
	orderFlags = []struct{ name, flag string }{{"as encoded", ""}, {"name", "--btf_sort=name"}, {"canonical", "--btf_sort=canonical"}}
	orderUnits = []struct{ name, flag string }{{"all units", ""}, {"without Rust", "--lang_exclude=rust"}}
)

// OrderResult is the outcome of the part.
type OrderResult struct {
	Headers  []HeaderDiff `json:"headers"`
	Costs    []*OrderCost `json:"costs"`
	Shuffles int          `json:"shuffles"` // of orderOld
	Same     int          `json:"shuffles_same_bytes"`
	Jobs     []int        `json:"jobs_same_bytes"`
}

// HeaderDiff counts the lines that differ between the headers of two kernels.
type HeaderDiff struct {
	Units    string `json:"units"`
	Order    string `json:"order"`
	Unsorted int    `json:"unsorted"` // bpftool … format c unsorted
	Sorted   int    `json:"sorted"`   // bpftool … format c
}

// OrderCost is the cost of encoding orderNew in an order.
type OrderCost struct {
	Order   string   `json:"order"`
	Samples []Sample `json:"samples"`
}

func (b *bench) order(ctx context.Context) error {
	r := &OrderResult{}
	for _, u := range orderUnits {
		for _, o := range orderFlags {
			d, err := b.headers(ctx, nonEmpty(u.flag, o.flag))
			if err != nil {
				return err
			}
			d.Units, d.Order = u.name, o.name
			r.Headers = append(r.Headers, *d)
			say("%s, %s: %d and %d lines differ", d.Units, d.Order, d.Unsorted, d.Sorted)
		}
	}
	if err := b.orderCosts(ctx, r); err != nil {
		return err
	}
	b.results.Order = r
	return b.forgets(ctx, r)
}

func nonEmpty(words ...string) []string {
	return slices.DeleteFunc(words, func(s string) bool { return s == "" })
}

// headers encodes both kernels with the flags and compares their C headers.
func (b *bench) headers(ctx context.Context, flags []string) (*HeaderDiff, error) {
	bpftool := filepath.Join(b.corpus, "bin", "bpftool")
	var sorted, unsorted []string
	for _, name := range []string{orderOld, orderNew} {
		path, err := b.vmlinux(name)
		if err != nil {
			return nil, err
		}
		if _, _, err := b.encode(ctx, toolBtflite, 1, path, flags...); err != nil {
			return nil, err
		}
		for list, words := range map[*[]string][]string{&sorted: nil, &unsorted: {"unsorted"}} {
			header := filepath.Join(b.runner.dir, name+strings.Join(words, "")+".h")
			text, err := exec.CommandContext(ctx, bpftool, append([]string{"btf", "dump", "file", b.out(toolBtflite), "format", "c"}, words...)...).Output()
			if err == nil {
				err = os.WriteFile(header, text, 0o600)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: bpftool: %w", name, err)
			}
			*list = append(*list, header)
		}
	}
	d := new(HeaderDiff)
	var err, err2 error
	d.Sorted, err = changedLines(ctx, sorted)
	d.Unsorted, err2 = changedLines(ctx, unsorted)
	return d, errors.Join(err, err2)
}

// changedLines counts the lines that diff prints of two files.
func changedLines(ctx context.Context, files []string) (int, error) {
	text, err := exec.CommandContext(ctx, "diff", files...).Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return 0, err
	}
	n := 0
	for line := range bytes.Lines(text) {
		if line[0] == '<' || line[0] == '>' {
			n++
		}
	}
	return n, nil
}

// orderCosts measures encoding with each order, in turns.
func (b *bench) orderCosts(ctx context.Context, r *OrderResult) error {
	path, err := b.vmlinux(orderNew)
	if err != nil {
		return err
	}
	for range b.n {
		for i, o := range orderFlags {
			sample, _, err := b.encode(ctx, toolBtflite, 1, path, nonEmpty(o.flag)...)
			if err != nil {
				return err
			}
			if i == len(r.Costs) {
				r.Costs = append(r.Costs, &OrderCost{Order: o.name})
			}
			r.Costs[i].Samples = append(r.Costs[i].Samples, sample.Sample)
		}
	}
	return nil
}

// forgets encodes orderOld with 1 to 8 workers, and sorts it from random orders.
func (b *bench) forgets(ctx context.Context, r *OrderResult) error {
	path, err := b.vmlinux(orderOld)
	if err != nil {
		return err
	}
	var want []byte
	for jobs := 1; jobs <= 8; jobs++ {
		_, got, err := b.encode(ctx, toolBtflite, jobs, path, "--btf_sort=canonical")
		if err != nil {
			return err
		}
		if want == nil {
			want = got
		}
		if bytes.Equal(got, want) {
			r.Jobs = append(r.Jobs, jobs)
		}
	}
	_, plain, err := b.encode(ctx, toolBtflite, 1, path)
	if err != nil {
		return err
	}
	blob, err := btf.Parse(plain, nil)
	if err != nil {
		return err
	}
	for seed := range uint64(shuffles) {
		other, err := shuffledTypes(blob, rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			return err
		}
		if other, err = order.Canonical(other); err != nil {
			return err
		}
		r.Shuffles++
		if bytes.Equal(other.Encode(), want) {
			r.Same++
		}
	}
	return nil
}

// shuffledTypes is b, which has no base, with its types in a random order and
// its strings in the order of their use.
func shuffledTypes(b *btf.Blob, rnd *rand.Rand) (*btf.Blob, error) {
	order := rnd.Perm(len(b.Off)) // by new place, the old one
	ids := make([]uint32, len(order)+1)
	for to, from := range order {
		ids[from+1] = uint32(to) + 1
	}
	out := btf.NewBuilder(b.BigEndian, nil)
	for _, from := range order {
		r := slices.Clone(b.Record(uint32(from) + 1))
		btf.EachRef(r, func(id *uint32) { *id = ids[*id] })
		name := b.Name(r[0])
		btf.EachName(r, func(off *uint32) { *off = out.Str(b.Name(*off)) })
		out.Add(name, r[1], r[2], r[3:]...)
	}
	return out.Blob()
}

func orderSection(b *strings.Builder, r *OrderResult) {
	if r == nil {
		return
	}
	n := 0
	for _, c := range r.Costs {
		n = max(n, len(c.Samples))
	}
	fmt.Fprintf(b, "## Order of types\n\nLines that `diff` prints between the C headers of %s and %s, made by bpftool with `unsorted`, "+
		"which keeps the order of the BTF as far as C allows, and without, where bpftool sorts by names itself.\n\n", orderOld, orderNew)
	fmt.Fprint(b, command(fmt.Sprintf("go run ./bench -only=%s -n=%d", partOrder, n)))
	table(b, "l|l|r|r", "units|order|format c unsorted|format c", func(row func(...any)) {
		for _, h := range r.Headers {
			row(h.Units, h.Order, h.Unsorted, h.Sorted)
		}
	})
	table(b, "l|r|r|r", "encoding "+orderNew+" -j1|CPU s|range|peak MiB", func(row func(...any)) {
		for _, c := range r.Costs {
			m := summarize(c.Samples)
			row(c.Order, seconds(m.CPU), span(m), mib(m.Peak))
		}
	})
	fmt.Fprintf(b, "Canonical BTF of %s: the same bytes with %s of -j1 to -j8, and from %d of %d random orders of its types and strings.\n\n",
		orderOld, fmt.Sprint(len(r.Jobs)), r.Same, r.Shuffles)
}
