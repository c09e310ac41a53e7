package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/message"
)

// statsFormat is the argument of --stats.
type statsFormat uint8

const (
	statsNone statsFormat = iota
	statsText
	statsJSON
)

// runReport has the figures of --stats. --stats=json prints it as JSON.
type runReport struct {
	Inputs []string `json:"inputs"`
	Output string   `json:"output"` // the detached file, or the input that got .BTF
	Bytes  int64    `json:"btf_bytes"`
	WallNS int64    `json:"wall_ns"`
	// BaseBytes is the length of .BTF.base, 0 if there is none.
	BaseBytes int64 `json:"base_btf_bytes,omitempty"`
	// For the extra variables: the file and the length of their BTF.
	Extra      string `json:"extra_output,omitempty"`
	ExtraBytes int64  `json:"extra_btf_bytes,omitempty"`
	// For the inlined functions: the file and the length of their BTF.
	InlineTo    string `json:"inline_output,omitempty"`
	InlineBytes int64  `json:"inline_btf_bytes,omitempty"`
	encode.Stats
	place string // ", in FILE" or similar
}

// format is the report as text without a final newline.
func (r *runReport) format(f statsFormat) string {
	if f == statsJSON {
		if r.Skipped == nil {
			r.Skipped = map[string]int{}
		}
		if r.Unencodable == nil {
			r.Unencodable = map[string]int{}
		}
		b, _ := json.Marshal(r) // no field can cause an error
		return string(b)
	}
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	for i, p := range r.Inputs {
		row([]string{"input", ""}[min(i, 1)], "%s", message.OneLine(p))
	}
	units := grouped(uint64(r.CUs)) + " CUs"
	if r.CUsFiltered > 0 {
		units += fmt.Sprintf(", %s left out by language", grouped(uint64(r.CUsFiltered)))
	}
	row("units", "%s", units)
	row("DWARF", "%s DIEs, %s of .debug_info", grouped(r.DIEs), message.ByteSize(r.DebugInfo))
	row("types", "%s before deduplication, %s after", grouped(r.TypesIn), grouped(uint64(r.TypesOut)))
	if r.SlowCUs > 0 {
		row("", "%s CUs with conflicting names; only --dedup=exact has pahole's choice for certain", grouped(uint64(r.SlowCUs)))
	}
	if r.Disagree {
		row("", "units disagree about a type: chosen as by --dedup=exact")
	}
	row("functions", "%s encoded, from %s function DIEs", grouped(uint64(r.Funcs)), grouped(r.FuncStates))
	for _, reason := range slices.Sorted(maps.Keys(r.Skipped)) {
		row("", "%s left out: %s", grouped(uint64(r.Skipped[reason])), message.OneLine(reason))
	}
	row("variables", "%s encoded", grouped(uint64(r.Vars)))
	for i, what := range slices.Sorted(maps.Keys(r.Unencodable)) {
		row([]string{"left out", ""}[min(i, 1)], "%s %s", grouped(uint64(r.Unencodable[what])), message.OneLine(what))
	}
	row("BTF", "%s (%s types, %s strings), %s%s", message.ByteSize(uint64(r.Bytes)),
		message.ByteSize(uint64(r.TypeBytes)), message.ByteSize(uint64(r.StrBytes)), r.place, message.OneLine(r.Output))
	if r.BaseBytes > 0 {
		row("", "%s, section .BTF.base", message.ByteSize(uint64(r.BaseBytes)))
	}
	if r.Extra != "" {
		row("extra", "%s variables, %s, in %s", grouped(uint64(r.ExtraVars)), message.ByteSize(uint64(r.ExtraBytes)), message.OneLine(r.Extra))
	}
	if in := r.Inline; in != nil {
		row("inline", "%s sites of %s functions, %s of types, %s of names%s", grouped(uint64(in.Sites)), grouped(uint64(in.Funcs)),
			message.ByteSize(uint64(in.Types)), message.ByteSize(uint64(in.Names)), inlinePlace(r.InlineTo))
		row("", "%s with all parameters, %s with some, %s with none", grouped(uint64(in.All)), grouped(uint64(in.Some)), grouped(uint64(in.None)))
		row("", "%s LOC_PARAMs, %s LOC_PROTOs", grouped(uint64(in.Params)), grouped(uint64(in.Protos)))
		for _, why := range slices.Sorted(maps.Keys(in.Missing)) {
			row("", "%s parameters missing: %s", grouped(uint64(in.Missing[why])), why)
		}
		for _, why := range slices.Sorted(maps.Keys(in.Dropped)) {
			row("", "%s sites left out: %s", grouped(uint64(in.Dropped[why])), why)
		}
	}
	row("time", "%s in all", seconds(time.Duration(r.WallNS)))
	for _, p := range r.Phases {
		row("", "%s %s", seconds(p.Time), message.OneLine(p.Name))
	}
	if r.PeakRSS > 0 {
		row("memory", "%s peak", message.ByteSize(r.PeakRSS))
	} else {
		row("memory", "peak unknown on this system")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// inlinePlace says that the sites are in a separate file.
func inlinePlace(file string) string {
	if file == "" {
		return ""
	}
	return ", in " + message.OneLine(file)
}

// grouped formats n with commas between thousands.
func grouped(n uint64) string { return message.Grouped(n) }

func seconds(d time.Duration) string {
	return fmt.Sprintf("%.3f s", d.Seconds())
}

// readPeakRSS returns the peak resident memory of this process in bytes, 0 if the system
// does not have it.
func readPeakRSS() uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	return peakRSS(string(status))
}

// peakRSS finds VmHWM, in bytes, in the text of /proc/self/status.
func peakRSS(status string) uint64 {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			fields := strings.Fields(rest)
			if len(fields) == 2 && fields[1] == "kB" {
				n, _ := strconv.ParseUint(fields[0], 10, 54)
				return n << 10
			}
		}
	}
	return 0
}
