package main

// What was measured, as it is kept in results.json: raw samples, so that the
// report can be written again without measuring again.

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// Results is the content of results.json.
type Results struct {
	Machine Machine          `json:"machine"`
	Kernels []*KernelResult  `json:"kernels"`
	Readers []*ReaderResult  `json:"readers,omitempty"`
	Records []*RecordsResult `json:"records,omitempty"`
}

// Machine describes where the numbers come from.
type Machine struct {
	CPU     string `json:"cpu"`
	Cores   int    `json:"cores"`
	Memory  int64  `json:"memory_mib"`
	System  string `json:"system"`
	Kernel  string `json:"kernel"`
	Go      string `json:"go"`
	Pahole  string `json:"pahole"`
	Options string `json:"options"` // what both programs were asked to encode
}

// thisMachine fills in what the system tells; unknown parts stay empty.
func thisMachine() Machine {
	var memory int64 // KiB
	fmt.Sscan(field("/proc/meminfo", "MemTotal", ":"), &memory)
	kernel, _, _ := strings.Cut(firstLine("/proc/sys/kernel/osrelease"), "-") // without the builder's suffix
	return Machine{
		CPU:    processor(),
		Cores:  runtime.NumCPU(),
		Memory: memory >> 10,
		System: strings.Trim(field("/etc/os-release", "PRETTY_NAME", "="), `"`),
		Kernel: kernel,
		Go:     runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// processor names the CPU. Some clouds give generations that differ by a half in speed one name, and tell
// them apart only by numbers and by the size of the cache.
func processor() string {
	of := func(key string) string { return field("/proc/cpuinfo", key, ":") }
	name := of("model name")
	if family, model, cache := of("cpu family"), of("model"), of("cache size"); family != "" && model != "" && cache != "" {
		name += fmt.Sprintf(" (family %s, model %s, %s of cache)", family, model, cache)
	}
	return name
}

// field is the value of the first line "key<separator>value" of a file.
func field(path, key, separator string) string {
	b, _ := os.ReadFile(path)
	for line := range strings.Lines(string(b)) {
		k, v, _ := strings.Cut(line, separator)
		if strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func firstLine(path string) string {
	b, _ := os.ReadFile(path)
	line, _, _ := strings.Cut(string(b), "\n")
	return line
}

// KernelResult holds everything measured on one kernel.
type KernelResult struct {
	Name      string       `json:"name"`
	FileBytes int64        `json:"file_bytes"`
	DebugInfo uint64       `json:"debug_info_bytes"`
	Same      *bool        `json:"same_bytes,omitempty"` // btflite's output and pahole's
	Stats     *encodeStats `json:"stats,omitempty"`      // of one full run
	Runs      []*RunResult `json:"runs,omitempty"`
	Floors    []Floor      `json:"floors,omitempty"`
	Phases    []Phase      `json:"phases,omitempty"`
	Growth    []Growth     `json:"growth,omitempty"`
	Modules   []*ModuleSet `json:"modules,omitempty"`
}

// RunResult holds the samples of one program with one number of workers.
type RunResult struct {
	Tool    string   `json:"tool"`
	Jobs    int      `json:"jobs"` // 0: the program has no workers
	Samples []Sample `json:"samples"`
}

// Floor is the smallest memory cgroup that a run passes in.
type Floor struct {
	What string `json:"what"`
	MiB  int    `json:"mib"`
	Step int    `json:"step_mib"`
	At   Sample `json:"at_floor,omitzero"`
}

// Phase is the time of one phase of btflite -j1, in seconds, one per run.
type Phase struct {
	Name    string    `json:"name"`
	Seconds []float64 `json:"seconds"`
}

// Growth is the cost of btflite -j1 on the first CUs of a kernel.
type Growth struct {
	CUs     int      `json:"cus"`
	DIEs    uint64   `json:"dies"`
	Types   int      `json:"types"`
	Samples []Sample `json:"samples"`
}

// kernel returns the results of a kernel, new if there are none.
func (r *Results) kernel(name string) *KernelResult {
	for _, k := range r.Kernels {
		if k.Name == name {
			return k
		}
	}
	k := &KernelResult{Name: name}
	r.Kernels = append(r.Kernels, k)
	slices.SortFunc(r.Kernels, func(a, b *KernelResult) int { return strings.Compare(a.Name, b.Name) })
	return k
}

// series is where the samples of a program and number of workers go, new if there are
// none.
func (k *KernelResult) series(tool string, jobs int) *[]Sample {
	r := k.run(tool, jobs)
	if r == nil {
		r = &RunResult{Tool: tool, Jobs: jobs}
		k.Runs = append(k.Runs, r)
	}
	return &r.Samples
}

// run returns the series of a program and number of workers, nil if it has none.
func (k *KernelResult) run(tool string, jobs int) *RunResult {
	for _, r := range k.Runs {
		if r.Tool == tool && r.Jobs == jobs {
			return r
		}
	}
	return nil
}

// jobs lists the numbers of workers that a program was measured with, sorted.
func (k *KernelResult) jobs(tool string) []int {
	var js []int
	for _, r := range k.Runs {
		if r.Tool == tool {
			js = append(js, r.Jobs)
		}
	}
	slices.Sort(js)
	return js
}

// summary is the middle of a series: medians, and the range of CPU time.
type summary struct {
	Sample
	minCPU, maxCPU float64
}

func summarize(samples []Sample) summary {
	var cpu, wall, peak []float64
	for _, s := range samples {
		cpu = append(cpu, s.CPU)
		wall = append(wall, s.Wall)
		peak = append(peak, float64(s.Peak))
	}
	if len(samples) == 0 {
		return summary{}
	}
	return summary{Sample{median(cpu), median(wall), int64(median(peak))}, slices.Min(cpu), slices.Max(cpu)}
}

// median is the middle value, or the mean of the two middle ones; 0 of none.
func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	if n == 0 {
		return 0
	}
	return (v[(n-1)/2] + v[n/2]) / 2
}

// read reads results.json.
func read(path string) (*Results, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(Results)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// load reads results.json to add to it. Without the file, or with results of
// another machine or other options, which must not be mixed with new ones, it
// starts afresh. It keeps the results of the part records, which name their machine:
// not every machine has the build folders of a kernel.
func load(path string, now Machine) (*Results, error) {
	old, err := read(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &Results{Machine: now}, nil
	case err == nil && old.Machine != now:
		return &Results{Machine: now, Records: old.Records}, nil
	}
	return old, err
}

// save writes results.json.
func (r *Results) save(path string) error {
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
