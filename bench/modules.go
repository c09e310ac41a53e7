package main

// The modules of a kernel: are their bytes pahole's, and what do single ones and the
// whole set cost.
//
//	go run ./bench -only=modules,modulecosts -kernels=v612-amd64 -all_modules
//
// The part modules compares, with each set of features, the part modulecosts
// measures, with the first; each keeps what the other has found.
//
// Modules are the .ko files below modules/KERNEL or k/KERNEL of the corpus.
// pahole's outputs are kept in -refs, as KERNEL/SET/NAME.btf, since thousands of
// runs take long; vmlinux.btf there is the base. Cost is never taken from there.

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// featureSets are the sets that modules are compared with.
var featureSets = []featureSet{
	{"default", "--btf_features=default"},
	{"kernel", "--btf_features=encode_force,var,float,enum64,decl_tag,type_tag,optimized_func,consistent_func," +
		"decl_tag_kfuncs --btf_features=attributes --lang_exclude=rust"},
}

type featureSet struct{ name, options string }

// singles are the modules that are measured one by one.
var singles = []string{"amdgpu", "i915", "xfs", "veth"}

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

	// Pahole is the CPU time of all modules, from that of Sampled of them.
	Sampled int      `json:"pahole_sampled,omitempty"`
	Pahole  float64  `json:"pahole_cpu_s,omitempty"`
	Jobs    int      `json:"batch_jobs,omitempty"`
	Batch   []Sample `json:"batch,omitempty"`

	Singles []Single      `json:"singles,omitempty"`
	Floors  []ModuleFloor `json:"floors,omitempty"`
}

// Single is the cost of one module by itself, the loading of the base included.
type Single struct {
	Name    string   `json:"name"`
	Same    bool     `json:"same_bytes"`
	Pahole  []Sample `json:"pahole"`
	Btflite []Sample `json:"btflite"`
}

// ModuleFloor is the smallest memory cgroup that a run of btflite passes in.
type ModuleFloor struct {
	What string `json:"what"`
	MiB  int    `json:"mib"`
	Step int    `json:"step_mib"`
	At   Sample `json:"at_floor"`
}

// kernelModule is a module of the corpus.
type kernelModule struct {
	name string // without folder and suffix; unique in a kernel
	path string
	size int64
}

// modules is the part "modules".
func (b *bench) modules(ctx context.Context) error {
	return b.eachModuleSet(featureSets, func(m *moduleBench) error { return m.compare(ctx) })
}

// moduleCosts is the part "modulecosts".
func (b *bench) moduleCosts(ctx context.Context) error {
	return b.eachModuleSet(featureSets[:1], func(m *moduleBench) error { return m.measure(ctx) })
}

// eachModuleSet calls do for each kernel and set of features and keeps the
// results.
func (b *bench) eachModuleSet(sets []featureSet, do func(*moduleBench) error) error {
	for _, name := range b.kernels {
		mods, err := b.findModules(name)
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
			m := &moduleBench{bench: b, kernel: name, mods: mods, dir: filepath.Join(b.refs, name, f.name), set: set}
			err := os.MkdirAll(m.dir, 0o755)
			if err == nil {
				err = do(m)
			}
			if err != nil {
				err = fmt.Errorf("%s, %s: %w", name, f.name, err)
			}
			if err := errors.Join(err, b.results.save(b.config.results)); err != nil {
				return err
			}
		}
	}
	return nil
}

// moduleSet is what is known of a set of features, nothing at first.
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

// findModules lists the modules of a kernel, largest first.
func (c *config) findModules(kernel string) ([]kernelModule, error) {
	var mods []kernelModule
	for _, parent := range []string{"modules", "k"} {
		root := filepath.Join(c.corpus, parent, kernel)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".ko" {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Mode().IsRegular() {
				mods = append(mods, kernelModule{strings.TrimSuffix(d.Name(), ".ko"), path, info.Size()})
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if len(mods) > 0 {
			break
		}
	}
	slices.SortFunc(mods, func(a, b kernelModule) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.name, b.name))
	})
	return mods, nil
}

// fairSample picks n of mods, which are sorted by size: the ten largest, which
// are a good part of the whole cost, and every so many-th of the others.
func fairSample(mods []kernelModule, n int) (largest, rest []kernelModule) {
	const always = 10
	if n >= len(mods) {
		return mods, nil
	}
	largest = mods[:min(always, n)]
	others := mods[len(largest):]
	for i := range n - len(largest) {
		rest = append(rest, others[i*len(others)/(n-len(largest))])
	}
	return largest, rest
}

// moduleBench measures the modules of one kernel with one set.
type moduleBench struct {
	*bench
	kernel string
	mods   []kernelModule
	dir    string // of pahole's outputs
	set    *ModuleSet
}

func (m *moduleBench) base() string            { return m.paholes("vmlinux") }
func (m *moduleBench) paholes(n string) string { return filepath.Join(m.dir, n+".btf") }

// compare compares bytes.
func (m *moduleBench) compare(ctx context.Context) error {
	if err := m.compareVmlinux(ctx); err != nil {
		return err
	}
	largest, rest := fairSample(m.mods, m.sample)
	sampled := slices.Concat(largest, rest)
	if err := m.compareModules(ctx, sampled); err != nil {
		return err
	}
	return m.compareDistilled(ctx, sampled)
}

// measure measures costs, after compare.
func (m *moduleBench) measure(ctx context.Context) error {
	if m.set.Compared == 0 {
		return errors.New("no bytes have been compared: the part modules comes first")
	}
	if err := m.measureSingles(ctx); err != nil {
		return err
	}
	largest, rest := fairSample(m.mods, m.sample)
	if err := m.paholeCost(ctx, largest, rest); err != nil {
		return err
	}
	if err := m.measureBatch(ctx); err != nil {
		return err
	}
	return m.measureFloors(ctx, slices.Concat(largest, rest))
}

// paholeArgs is the command line of pahole for a module, over base, into out
// or, if that is "", into the module itself.
func (m *moduleBench) paholeArgs(base, out, module string, extra ...string) []string {
	args := append([]string{m.config.pahole, "-J", "-j1", "--btf_base=" + base}, strings.Fields(m.set.Options)...)
	args = append(args, extra...)
	if out != "" {
		args = append(args, "--btf_encode_detached="+out)
	}
	return append(args, module)
}

func (m *moduleBench) singleArgs(base, out, module string) []string {
	args := append([]string{m.config.btflite, "-J", "-j1", "--btf_base=" + base, compatOption}, strings.Fields(m.set.Options)...)
	return append(args, "--btf_encode_detached="+out, module)
}

func (m *moduleBench) batchArgs(jobs int, outDir, list string, extra ...string) []string {
	args := []string{m.config.btflite, "modules", "--stats=json", fmt.Sprintf("-j%d", jobs), "--btf_base=" + m.base()}
	args = append(args, strings.Fields(m.set.Options)...)
	args = append(args, extra...)
	if outDir != "" {
		args = append(args, "--btf_encode_detached_dir="+outDir)
	}
	return append(args, list)
}

// compareVmlinux makes the base with pahole, if need be, and compares it.
func (m *moduleBench) compareVmlinux(ctx context.Context) error {
	vmlinux, err := m.vmlinux(m.kernel)
	if err != nil {
		return err
	}
	args := append([]string{"-J", "-j2"}, strings.Fields(m.set.Options)...)
	if _, err := os.Stat(m.base()); err != nil {
		made := m.base() + ".part"
		_, err := m.runner.mustRun(ctx, slices.Concat([]string{m.config.pahole}, args, []string{"--btf_encode_detached=" + made, vmlinux}))
		if err == nil {
			err = os.Rename(made, m.base())
		}
		if err != nil {
			return err
		}
	}
	out := m.out(toolBtflite)
	if _, err := m.runner.mustRun(ctx, slices.Concat([]string{m.config.btflite}, args, []string{"--btf_encode_detached=" + out, vmlinux})); err != nil {
		return err
	}
	m.set.VmlinuxSame, err = sameFiles(out, m.base())
	return err
}

// paholeCost measures pahole on a sample and estimates the sum.
func (m *moduleBench) paholeCost(ctx context.Context, largest, rest []kernelModule) error {
	var of [2]float64
	for i, part := range [][]kernelModule{largest, rest} {
		for _, mod := range part {
			o, err := m.makeReference(ctx, mod)
			if err != nil {
				return err
			}
			of[i] += o.CPU
		}
	}
	m.set.Sampled = len(largest) + len(rest)
	m.set.Pahole = of[0]
	if len(rest) > 0 {
		m.set.Pahole += of[1] / float64(len(rest)) * float64(len(m.mods)-len(largest))
	}
	say("%s, %s: pahole needs %.1f s for all modules, from %d", m.kernel, m.set.Set, m.set.Pahole, m.set.Sampled)
	return nil
}

// makeReference runs pahole on a module and keeps the output.
func (m *moduleBench) makeReference(ctx context.Context, mod kernelModule) (*outcome, error) {
	made := m.paholes(mod.name) + ".part"
	o, err := m.runner.mustRun(ctx, m.paholeArgs(m.base(), made, mod.path))
	if err != nil {
		return nil, err
	}
	if err := os.Rename(made, m.paholes(mod.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // without types pahole writes no file
	}
	return o, nil
}

// compareModules encodes all modules in one batch and compares those that
// pahole has encoded. A module that a program fails on stops nothing: it is named.
func (m *moduleBench) compareModules(ctx context.Context, sampled []kernelModule) error {
	m.set.Compared, m.set.Different, m.set.NoReference = 0, nil, nil
	need := sampled
	if m.allModules {
		need = m.mods
	}
	for _, mod := range need {
		if _, err := os.Stat(m.paholes(mod.name)); err == nil {
			continue
		}
		if _, err := m.makeReference(ctx, mod); err != nil {
			if ctx.Err() != nil {
				return err
			}
			say("%v", err)
			m.set.NoReference = append(m.set.NoReference, mod.name)
		}
	}
	outDir, list, err := m.batchFiles("out", m.mods)
	if err != nil {
		return err
	}
	o, err := m.runner.run(ctx, 0, m.batchArgs(m.batchJobs(), outDir, list, compatOption))
	if err != nil {
		return err
	}
	if o.status != 0 {
		say("btflite modules: status %d: %s", o.status, tail(o.printed, 400))
	}
	for _, mod := range m.mods {
		want, err := os.ReadFile(m.paholes(mod.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		m.set.Compared++
		got, err := os.ReadFile(filepath.Join(outDir, mod.name+".ko.btf"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !bytes.Equal(got, want) {
			m.set.Different = append(m.set.Different, mod.name)
		}
	}
	say("%s, %s: %d of %d modules differ", m.kernel, m.set.Set, len(m.set.Different), m.set.Compared)
	return os.RemoveAll(outDir)
}

// batchJobs is how many workers a batch has.
func (m *moduleBench) batchJobs() int { return m.config.jobs[min(1, len(m.config.jobs)-1)] }

// measureBatch measures the batches of all modules.
func (m *moduleBench) measureBatch(ctx context.Context) error {
	outDir, list, err := m.batchFiles("out", m.mods)
	if err != nil {
		return err
	}
	m.set.Jobs, m.set.Batch = m.batchJobs(), nil
	for range m.n {
		o, err := m.runner.mustRun(ctx, m.batchArgs(m.set.Jobs, outDir, list, compatOption))
		if err != nil {
			return err
		}
		m.set.Batch = append(m.set.Batch, o.Sample)
	}
	return os.RemoveAll(outDir)
}

// batchFiles makes an empty folder for outputs and a list of modules.
func (m *moduleBench) batchFiles(name string, mods []kernelModule) (outDir, list string, err error) {
	outDir = filepath.Join(m.runner.dir, name)
	list = outDir + ".list"
	var text strings.Builder
	for _, mod := range mods {
		text.WriteString(mod.path + "\n")
	}
	err = errors.Join(os.RemoveAll(outDir), os.Mkdir(outDir, 0o755), os.WriteFile(list, []byte(text.String()), 0o644))
	return outDir, list, err
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
