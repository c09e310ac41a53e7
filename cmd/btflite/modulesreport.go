package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/btflite/btflite/btf/lower"
	"github.com/btflite/btflite/internal/memlimit"
	"github.com/btflite/btflite/internal/message"
)

// moduleResult is the result for one module.
type moduleResult struct {
	Path   string `json:"module"`
	Output string `json:"output"` // the detached file, or the module itself
	Bytes  int64  `json:"btf_bytes"`
	Full   int64  `json:"full_btf_bytes,omitempty"` // without the base, with --full_sizes
	Base   int64  `json:"base_btf_bytes,omitempty"` // of the distilled base
	Extra  int64  `json:"extra_btf_bytes,omitempty"`
	Inline int64  `json:"inline_btf_bytes,omitempty"`
	Types  int    `json:"types"`
	NS     int64  `json:"wall_ns"`
	Empty  bool   `json:"nothing_to_encode,omitempty"`
	Error  string `json:"error,omitempty"`
	// Warning says why a kernel would refuse the BTF.
	Warning string `json:"warning,omitempty"`
	// Mismatch says why the base belongs to another kernel, if there are signs of that.
	Mismatch string `json:"base_mismatch,omitempty"`

	internal    bool           // failed because of a fault of this program
	unencodable map[string]int // see encode.Stats
	lost        lower.Report   // see finish.Encoded.Lowered
}

// batchReport is the summary of "btflite modules"; --stats=json is its JSON
// form.
type batchReport struct {
	Base        string         `json:"base"` // files of a chain are joined by " + "
	Count       int            `json:"modules"`
	Failed      int            `json:"failed"`
	Empty       int            `json:"nothing_to_encode"`
	Bytes       int64          `json:"btf_bytes"`
	Full        int64          `json:"full_btf_bytes,omitempty"`
	BaseLen     int64          `json:"base_btf_bytes,omitempty"` // of the distilled bases
	Extra       int64          `json:"extra_btf_bytes,omitempty"`
	WallNS      int64          `json:"wall_ns"`
	PeakRSS     uint64         `json:"peak_rss_bytes"` // VmHWM, 0 if the system does not have it
	Unencodable map[string]int `json:"left_out"`       // see encode.Stats
	Modules     []moduleResult `json:"results"`        // by path

	internal bool
}

// newBatchReport adds up the results.
func newBatchReport(base string, results []moduleResult, wall time.Duration) *batchReport {
	slices.SortFunc(results, func(a, b moduleResult) int { return cmp.Compare(a.Path, b.Path) })
	r := &batchReport{Base: base, Count: len(results), WallNS: int64(wall), PeakRSS: memlimit.Peak(), Unencodable: map[string]int{}, Modules: results}
	for _, m := range results {
		for what, n := range m.unencodable {
			r.Unencodable[what] += n
		}
		r.internal = r.internal || m.internal
		switch {
		case m.Error != "":
			r.Failed++
			continue
		case m.Empty:
			r.Empty++
		}
		r.Bytes += m.Bytes
		r.Full += m.Full
		r.BaseLen += m.Base
		r.Extra += m.Extra
	}
	return r
}

// mismatchText is the warning about modules whose base belongs to another kernel. It
// counts them and names the first. It is "" if there are none.
func (r *batchReport) mismatchText() string {
	var first *moduleResult
	n := 0
	for i := range r.Modules {
		if m := &r.Modules[i]; m.Mismatch != "" {
			n++
			first = cmp.Or(first, m)
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return mismatchText(first.Path, first.Mismatch)
	}
	return fmt.Sprintf("warning: %s of %s modules are not of the base's kernel: %s: %s: the BTF fits neither kernel",
		grouped(uint64(n)), grouped(uint64(r.Count)), message.OneLine(first.Path), first.Mismatch)
}

// format is the report as text without a final newline.
func (r *batchReport) format(f statsFormat) string {
	if f == statsJSON {
		return message.JSON(r)
	}
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	count := grouped(uint64(r.Count))
	if r.Empty > 0 {
		count += fmt.Sprintf(", %s without types to encode", grouped(uint64(r.Empty)))
	}
	if r.Failed > 0 {
		count += fmt.Sprintf(", %s failed", grouped(uint64(r.Failed)))
	}
	row("modules", "%s", count)
	row("base", "%s", message.OneLine(r.Base))
	size := message.ByteSize(uint64(r.Bytes))
	if r.Full > 0 {
		size += fmt.Sprintf(", %s without the base", message.ByteSize(uint64(r.Full)))
	}
	if r.BaseLen > 0 {
		size += fmt.Sprintf(", %s of distilled bases", message.ByteSize(uint64(r.BaseLen)))
	}
	if r.Extra > 0 {
		size += fmt.Sprintf(", %s of extra variables", message.ByteSize(uint64(r.Extra)))
	}
	row("BTF", "%s", size)
	row("time", "%s", seconds(time.Duration(r.WallNS)))
	if r.PeakRSS > 0 {
		row("memory", "%s peak", message.ByteSize(r.PeakRSS))
	}
	if f == statsText {
		r.largest(&b)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// largest adds a table of the modules with the most BTF.
func (r *batchReport) largest(b *strings.Builder) {
	const most = 10
	mods := slices.Clone(r.Modules)
	slices.SortStableFunc(mods, func(x, y moduleResult) int { return cmp.Compare(y.Bytes, x.Bytes) })
	mods = slices.DeleteFunc(mods, func(m moduleResult) bool { return m.Bytes == 0 || m.Error != "" })
	fmt.Fprintf(b, "\n%12s %12s %8s  %s\n", "BTF", "full", "time", "largest")
	for _, m := range mods[:min(most, len(mods))] {
		full := "-"
		if m.Full > 0 {
			full = grouped(uint64(m.Full))
		}
		fmt.Fprintf(b, "%12s %12s %8s  %s\n", grouped(uint64(m.Bytes)), full, seconds(time.Duration(m.NS)), message.OneLine(m.Path))
	}
}
