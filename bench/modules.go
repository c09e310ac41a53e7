package main

// The modules of a kernel: are their bytes pahole's, and what do single ones and the
// whole set cost.
//
//	go run ./bench -only=modules,modulecosts -kernels=v612-amd64 -all_modules
//
// The part modules compares, with each set of features, the part modulecosts
// measures, with the first; each keeps what the other has found.
//
// pahole's outputs are kept in the folder refs of the corpus, as KERNEL/SET/NAME.btf,
// since thousands of runs take long; vmlinux.btf there is the base. Cost is never taken
// from there.

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/btflite/btflite/test/corpus"
)

// featureSets are the sets that modules are compared with.
var featureSets = []featureSet{
	{"default", features},
	{"kernel", "--btf_features=encode_force,var,float,enum64,decl_tag,type_tag,optimized_func,consistent_func," +
		"decl_tag_kfuncs --btf_features=attributes --lang_exclude=rust"},
}

type featureSet struct{ name, options string }

// compatOption makes btflite write what pahole 1.32 with libbpf 1.7 writes.
const compatOption = "--btf_compat=libbpf-1.7"

// ModuleSet holds what was measured on the modules of a kernel with one set of
// features.
type ModuleSet struct {
	Set         string `json:"set"`
	Options     string `json:"options"`
	Modules     int    `json:"modules"`
	VmlinuxSame bool   `json:"vmlinux_same"`
	Compared    int    `json:"compared"`
	// NoReference names the modules on which pahole failed.
	NoReference []string `json:"no_reference,omitempty"`
	// Different names the modules whose bytes are not pahole's.
	Different []string `json:"different,omitempty"`
	// Distilled is the same for distilled_base in place, on the sample.
	Distilled          int      `json:"distilled_compared,omitempty"`
	DistilledDifferent []string `json:"distilled_different,omitempty"`

	// Pahole is the CPU time of all modules, estimated from Sampled of them.
	Sampled int      `json:"pahole_sampled,omitempty"`
	Pahole  float64  `json:"pahole_cpu_s,omitempty"`
	Jobs    int      `json:"batch_jobs,omitempty"`
	Batch   []Sample `json:"batch,omitempty"`

	Singles []*Single `json:"singles,omitempty"`
	Floors  []Floor   `json:"floors,omitempty"`
}

// Single is the cost of one module by itself, the loading of the base included.
type Single struct {
	Name    string   `json:"name"`
	Same    bool     `json:"same_bytes"`
	Pahole  []Sample `json:"pahole"`
	Btflite []Sample `json:"btflite"`
}

// eachModuleSet calls do for each kernel and the first sets of features, and keeps the
// results.
func (b *bench) eachModuleSet(sets []featureSet, do func(*moduleBench) error) error {
	for _, name := range b.kernels {
		mods, err := corpus.Modules(name)
		if err != nil {
			return err
		}
		if len(mods) == 0 {
			say("%s: no modules in the corpus", name)
			continue
		}
		for _, f := range sets {
			set := b.results.kernel(name).moduleSet(f.name)
			set.Options, set.Modules = f.options, len(mods)
			m := &moduleBench{bench: b, kernel: name, mods: mods, dir: filepath.Join(b.corpus, "refs", name, f.name), set: set}
			m.largest, m.others = fairSample(mods, b.sample)
			err := do(m)
			if err != nil {
				err = fmt.Errorf("%s, %s: %w", name, f.name, err)
			}
			if err := errors.Join(err, b.results.save(b.resultsFile())); err != nil {
				return err
			}
		}
	}
	return nil
}

// moduleSet returns the results for a set of features, which are empty at first.
func (k *KernelResult) moduleSet(name string) *ModuleSet {
	for _, m := range k.Modules {
		if m.Set == name {
			return m
		}
	}
	m := &ModuleSet{Set: name}
	k.Modules = append(k.Modules, m)
	return m
}

// fairSample picks n of mods, which are sorted by size: the ten largest, which
// are a good part of the whole cost, and every so many-th of the others.
func fairSample(mods []corpus.Module, n int) (largest, others []corpus.Module) {
	const always = 10
	if n >= len(mods) {
		return mods, nil
	}
	largest = mods[:min(always, n)]
	rest := mods[len(largest):]
	for i := range n - len(largest) {
		others = append(others, rest[i*len(rest)/(n-len(largest))])
	}
	return largest, others
}

// moduleBench measures the modules of one kernel with one set.
type moduleBench struct {
	*bench
	kernel          string
	mods            []corpus.Module
	largest, others []corpus.Module // the sample
	dir             string          // of pahole's outputs
	set             *ModuleSet
}

func (m *moduleBench) base() string             { return m.paholes("vmlinux") }
func (m *moduleBench) paholes(n string) string  { return filepath.Join(m.dir, n+".btf") }
func (m *moduleBench) sampled() []corpus.Module { return slices.Concat(m.largest, m.others) }

// over is a turn of pahole or btflite for a module over the base.
func (m *moduleBench) over(tool, module string, series *[]Sample) turn {
	options := []string{"--btf_base=" + m.base(), m.set.Options}
	if tool == toolBtflite {
		options = append(options, compatOption)
	}
	return m.encoding(tool, 1, module, series, options...)
}

// batch is a turn of btflite for many modules at once, with the folder that it writes.
func (m *moduleBench) batch(jobs int, mods []corpus.Module) (turn, error) {
	t := turn{out: filepath.Join(m.runner.dir, "out")}
	list := t.out + ".list"
	var text strings.Builder
	for _, mod := range mods {
		text.WriteString(mod.Path + "\n")
	}
	t.args = []string{m.btflite, "modules", "--stats=json", fmt.Sprintf("-j%d", jobs), "--btf_base=" + m.base()}
	t.args = append(t.args, strings.Fields(m.set.Options)...)
	t.args = append(t.args, compatOption, "--btf_encode_detached_dir="+t.out, list)
	return t, os.WriteFile(list, []byte(text.String()), 0o644)
}

// batchJobs is how many workers a batch has.
func (m *moduleBench) batchJobs() int { return m.jobs[min(1, len(m.jobs)-1)] }

// modules is the part "modules", which compares bytes.
func (b *bench) modules(ctx context.Context) error {
	return b.eachModuleSet(featureSets, func(m *moduleBench) error {
		if err := m.compareVmlinux(ctx); err != nil {
			return err
		}
		if err := m.makeReferences(ctx); err != nil {
			return err
		}
		if err := m.compareModules(ctx); err != nil {
			return err
		}
		return m.compareDistilled(ctx)
	})
}

// compareVmlinux makes the base with pahole, if need be, and compares it.
func (m *moduleBench) compareVmlinux(ctx context.Context) error {
	vmlinux := m.vmlinux(m.kernel)
	if _, err := os.Stat(m.base()); err != nil {
		if _, err := m.makeReference(ctx, "vmlinux", m.encoding(toolPahole, 2, vmlinux, nil, m.set.Options)); err != nil {
			return err
		}
	}
	ours := m.encoding(toolBtflite, 2, vmlinux, nil, m.set.Options)
	if _, err := m.runner.mustRun(ctx, ours.args); err != nil {
		return err
	}
	var err error
	m.set.VmlinuxSame, err = sameFiles(ours.out, m.base())
	return err
}

// makeReference runs pahole and keeps its output under a name.
func (m *moduleBench) makeReference(ctx context.Context, name string, t turn) (*outcome, error) {
	if err := os.RemoveAll(t.out); err != nil {
		return nil, err
	}
	o, err := m.runner.mustRun(ctx, t.args)
	if err != nil {
		return nil, err
	}
	// Without types pahole writes no file.
	if _, err := os.Stat(t.out); errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	made := m.paholes(name) + ".part" // on the same disk, so that no half a file is taken for a whole one
	if err := errors.Join(os.MkdirAll(m.dir, 0o755), copyTo(t.out, made)); err != nil {
		return nil, err
	}
	return o, os.Rename(made, m.paholes(name))
}

// makeReferences makes the outputs of pahole that are missing, of the sample or of all
// modules. A module that pahole fails on stops nothing: it is named.
func (m *moduleBench) makeReferences(ctx context.Context) error {
	m.set.NoReference = nil
	need := m.sampled()
	if m.allModules {
		need = m.mods
	}
	for _, mod := range need {
		if _, err := os.Stat(m.paholes(mod.Name)); err == nil {
			continue
		}
		if _, err := m.makeReference(ctx, mod.Name, m.over(toolPahole, mod.Path, nil)); err != nil {
			if ctx.Err() != nil {
				return err
			}
			say("%v", err)
			m.set.NoReference = append(m.set.NoReference, mod.Name)
		}
	}
	return nil
}

// compareModules encodes all modules in one batch and compares those that pahole has
// encoded.
func (m *moduleBench) compareModules(ctx context.Context) error {
	m.set.Compared, m.set.Different = 0, nil
	t, err := m.batch(m.batchJobs(), m.mods)
	if err != nil {
		return err
	}
	if err := m.runner.remove(t.out); err != nil {
		return err
	}
	o, err := m.runner.run(ctx, 0, t.args)
	if err != nil {
		return err
	}
	if o.status != 0 {
		say("%v", o.failure(t.args))
	}
	for _, mod := range m.mods {
		if _, err := os.Stat(m.paholes(mod.Name)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		same, err := sameFiles(m.paholes(mod.Name), filepath.Join(t.out, mod.Name+".ko.btf"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		m.set.Compared++
		if !same {
			m.set.Different = append(m.set.Different, mod.Name)
		}
	}
	say("%s, %s: %d of %d modules differ", m.kernel, m.set.Set, len(m.set.Different), m.set.Compared)
	return m.runner.remove(t.out)
}

// compareDistilled compares .BTF and .BTF.base of the sample with the feature
// distilled_base. A module that pahole fails on is left out.
func (m *moduleBench) compareDistilled(ctx context.Context) error {
	m.set.Distilled, m.set.DistilledDifferent = 0, nil
	for _, mod := range m.sampled() {
		want, failed := m.distilled(ctx, toolPahole, mod)
		var got [2]string
		if failed == nil {
			m.set.Distilled++
			got, failed = m.distilled(ctx, toolBtflite, mod)
			if got != want {
				m.set.DistilledDifferent = append(m.set.DistilledDifferent, mod.Name)
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if failed != nil {
			say("%s, distilled base: %v", mod.Name, failed)
		}
	}
	say("%s, %s: %d of %d modules differ with a distilled base", m.kernel, m.set.Set, len(m.set.DistilledDifferent), m.set.Distilled)
	return nil
}

// distilled encodes a copy of a module in place with a distilled base, and returns its
// .BTF and .BTF.base.
func (m *moduleBench) distilled(ctx context.Context, tool string, mod corpus.Module) ([2]string, error) {
	module := filepath.Join(m.runner.dir, tool+".ko")
	if err := copyTo(mod.Path, module); err != nil {
		return [2]string{}, err
	}
	t := m.over(tool, module, nil)
	t.args[len(t.args)-2] = "--btf_features=distilled_base" // where the detached output is named
	if _, err := m.runner.mustRun(ctx, t.args); err != nil {
		return [2]string{}, err
	}
	return sections(module)
}

// sections returns .BTF and .BTF.base of an ELF file, "" for one that it has not.
func sections(path string) (data [2]string, err error) {
	f, err := elf.Open(path)
	if err != nil {
		return data, err
	}
	defer f.Close()
	for i, name := range []string{".BTF", ".BTF.base"} {
		if s := f.Section(name); s != nil {
			b, err := s.Data()
			if err != nil {
				return data, err
			}
			data[i] = string(b)
		}
	}
	return data, nil
}

// sameFiles compares two files.
func sameFiles(a, b string) (bool, error) {
	x, err := os.ReadFile(a)
	if err != nil {
		return false, err
	}
	y, err := os.ReadFile(b)
	return bytes.Equal(x, y), err
}
