package main

// The part "extra": what --extra_vars costs, and whether the main BTF with the
// extra one says what pahole's BTF with the feature global_var says.

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/btflite/btflite/btf"
)

const partExtra = "extra"

// extraKernels are those that the part is made for.
var extraKernels = []string{"v612-amd64", "v72-amd64"}

// ExtraResult is the outcome of the part on one kernel. Sizes are in bytes.
type ExtraResult struct {
	Kernel    string `json:"kernel"`
	SameMain  bool   `json:"main_same_bytes"` // with and without --extra_vars
	Variables int    `json:"variables"`       // of the extra BTF
	Main      int    `json:"main"`
	Extra     int    `json:"extra"`
	All       int    `json:"global_var"` // pahole's one file
	// Repeated is how many DATASEC entries of pahole's stand for variables that
	// another entry describes alike.
	Repeated int `json:"repeated"`
	// Types and variables (with section, offset, size and type) that only one
	// side has.
	TypesDiffer  int  `json:"types_differ"`
	PlacesDiffer int  `json:"places_differ"`
	Bpftool      bool `json:"bpftool_reads"` // all VARs of the extra BTF

	Without []Sample `json:"without"`
	With    []Sample `json:"with"`
}

func (b *bench) extra(ctx context.Context) error {
	b.results.Extra = nil
	for _, name := range extraKernels {
		if !slices.Contains(b.kernels, name) {
			continue
		}
		path, err := b.vmlinux(name)
		if err != nil {
			return err
		}
		r := &ExtraResult{Kernel: name}
		if err := b.extraOf(ctx, r, path); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b.results.Extra = append(b.results.Extra, r)
		say("%s: %d extra variables; %d types and %d places differ", name, r.Variables, r.TypesDiffer, r.PlacesDiffer)
	}
	return nil
}

func (b *bench) extraOf(ctx context.Context, r *ExtraResult, path string) error {
	extra := filepath.Join(b.runner.dir, "extra")
	var plain, main []byte
	for range b.n {
		without, data, err := b.encode(ctx, toolBtflite, 1, path)
		if err != nil {
			return err
		}
		plain = data
		with, data, err := b.encode(ctx, toolBtflite, 1, path, "--extra_vars="+extra)
		if err != nil {
			return err
		}
		main = data
		r.Without, r.With = append(r.Without, without.Sample), append(r.With, with.Sample)
	}
	r.SameMain = bytes.Equal(plain, main)
	more, err := os.ReadFile(extra)
	if err != nil {
		return err
	}
	_, all, err := b.encode(ctx, toolPahole, 1, path, "--btf_features=+global_var")
	if err != nil {
		return err
	}
	r.Main, r.Extra, r.All = len(main), len(more), len(all)
	base, err := btf.Parse(main, nil)
	if err != nil {
		return err
	}
	ours, err := btf.Parse(more, base)
	if err != nil {
		return err
	}
	one, err := btf.Parse(all, nil)
	if err != nil {
		return err
	}
	for id := ours.FirstID; id < ours.TypeCount(); id++ {
		if ours.Kind(id) == btf.KindVar {
			r.Variables++
		}
	}
	got, want := contentOf(ours), contentOf(one)
	r.TypesDiffer, r.PlacesDiffer = differing(got.types, want.types), differing(got.places, want.places)
	r.Repeated = want.entries - len(want.places)
	file := filepath.Join(b.runner.dir, "main")
	if err := os.WriteFile(file, main, 0o600); err != nil {
		return err
	}
	text, err := exec.CommandContext(ctx, filepath.Join(b.corpus, "bin", "bpftool"), "-B", file, "btf", "dump", "file", extra).Output()
	if err != nil {
		return fmt.Errorf("bpftool: %w", err)
	}
	r.Bpftool = bytes.Count(text, []byte("] VAR '")) == r.Variables
	return nil
}

// content is what BTF says, whatever its ids are and how often it says it: types
// as hashes of what they are to a depth of twelve references, and the entries of
// DATASECs, with the section's name and the hash of the VAR.
type content struct {
	types, places map[uint64]bool
	entries       int // of DATASECs
}

func contentOf(b *btf.Blob) content {
	const depth = 12
	var h maphash.Hash
	h.SetSeed(contentSeed)
	label, next := make([]uint64, b.TypeCount()), make([]uint64, b.TypeCount())
	c := content{map[uint64]bool{}, map[uint64]bool{}, 0}
	for round := range depth + 1 {
		for id := uint32(1); id < b.TypeCount(); id++ {
			if b.Kind(id) == btf.KindDatasec {
				continue
			}
			r := slices.Clone(b.Record(id))
			h.Reset()
			btf.EachName(r, func(off *uint32) { h.Write(b.NameBytes(*off)); h.WriteByte(0); *off = 0 })
			btf.EachRef(r, func(to *uint32) {
				if round > 0 {
					maphash.WriteComparable(&h, label[*to])
				}
				*to = 0
			})
			for _, w := range r {
				maphash.WriteComparable(&h, w)
			}
			next[id] = h.Sum64()
			if round == depth {
				c.types[next[id]] = true
			}
		}
		label, next = next, label
	}
	for id := uint32(1); id < b.TypeCount(); id++ {
		r := b.Record(id)
		if b.Kind(id) != btf.KindDatasec {
			continue
		}
		for e := r[3:]; len(e) > 0; e = e[3:] {
			h.Reset()
			h.Write(b.NameBytes(r[0]))
			maphash.WriteComparable(&h, [2]uint32(e[1:3]))
			maphash.WriteComparable(&h, label[e[0]])
			c.places[h.Sum64()] = true
			c.entries++
		}
	}
	return c
}

var contentSeed = maphash.MakeSeed()

// differing counts what only one of two sets has.
func differing(a, b map[uint64]bool) int {
	n := 0
	for k := range a {
		if !b[k] {
			n++
		}
	}
	for k := range b {
		if !a[k] {
			n++
		}
	}
	return n
}

func extraSection(b *strings.Builder, results []*ExtraResult) {
	if len(results) == 0 {
		return
	}
	n := 0
	for _, r := range results {
		n = max(n, len(r.With))
	}
	fmt.Fprint(b, "## Variables beside the BTF\n\n`--extra_vars` writes all other variables as split BTF in the same pass. Together the two files are compared "+
		"with pahole's one of `--btf_features=default,global_var`: types by what they are to a depth of twelve references, variables by section, "+
		"offset, size, name, linkage and type. What pahole describes twice alike is there once: kernels refuse the overlap.\n\n")
	fmt.Fprint(b, command(fmt.Sprintf("go run ./bench -only=%s -n=%d", partExtra, n)))
	table(b, "l|r|r|r|r|r|r|r|r|r", "kernel|main BTF same with and without|extra variables|main bytes|extra bytes|pahole's one file|repeated there|types that differ|variables that differ|bpftool -B reads it", func(row func(...any)) {
		for _, r := range results {
			row(r.Kernel, yesNo(&r.SameMain), r.Variables, r.Main, r.Extra, r.All, r.Repeated, r.TypesDiffer, r.PlacesDiffer, yesNo(&r.Bpftool))
		}
	})
	table(b, "l|r|r|r|r|r|r", "btflite -j1|CPU s without|with|÷|peak MiB without|with|more", func(row func(...any)) {
		for _, r := range results {
			p, e := summarize(r.Without), summarize(r.With)
			row(r.Kernel, seconds(p.CPU), seconds(e.CPU), fmt.Sprintf("%.2f", e.CPU/p.CPU), mib(p.Peak), mib(e.Peak), mib(e.Peak-p.Peak))
		}
	})
}
