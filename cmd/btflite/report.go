package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/funcs"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/attach"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// reportFile is the JSON object that --report writes: the fields of --stats=json and
// these. A failed run has an error and no counts.
type reportFile struct {
	*runReport
	// Error is the line of a run that has failed, without the program's name.
	Error string `json:"error,omitempty"`
	// NothingWritten says why a run with status 0 wrote no BTF.
	NothingWritten string `json:"nothing_written,omitempty"`
	// SkippedFunctions are the functions that have a symbol and no FUNC, in the order of
	// names.
	SkippedFunctions []skippedFunction `json:"left_out_functions"`
	// Renamed are the functions of the BTF for which no symbol has exactly their name, in
	// the same order. fentry and fexit cannot attach to them.
	Renamed []renamedFunction `json:"functions_without_own_symbol,omitempty"`

	to      *target
	written bool
}

// skippedFunction is a function that was left out, and the reason in the words of -V.
type skippedFunction struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
	// Definitions are the definitions with code or, if there are none, all.
	Definitions []reportedDefinition `json:"definitions,omitempty"`
	reportedAdvice
}

// renamedFunction is a function that has only symbols of other names, or none.
type renamedFunction struct {
	Name string `json:"name"`
	reportedAdvice
}

// reportedAdvice says what tracers can attach to, like btflite why, and why the kernel
// refuses the rest.
type reportedAdvice struct {
	Attach  []string `json:"attach,omitempty"`
	Refused []string `json:"refused,omitempty"`
}

// reportedDefinition says where a function is defined. Unknown fields are left out.
type reportedDefinition struct {
	Unit    string `json:"unit"` // DW_AT_name
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Symbol  string `json:"symbol,omitempty"`
	Address string `json:"address,omitempty"` // 0x and digits; an offset in the section, if there is one
	Section string `json:"section,omitempty"`
}

func (r *reportFile) addFunction(name, reason string) {
	r.SkippedFunctions = append(r.SkippedFunctions, skippedFunction{Name: name, Reason: reason})
}

// addDefinitions adds the definitions of the function that was added last.
func (r *reportFile) addDefinitions(f *encode.Function) {
	if f.Reason == "" || len(r.SkippedFunctions) == 0 {
		return
	}
	last := &r.SkippedFunctions[len(r.SkippedFunctions)-1]
	defs, err := f.Definitions()
	if err != nil || last.Name != f.Name {
		return // no file has a name then
	}
	code := slices.ContainsFunc(defs, func(d encode.Definition) bool { return d.Code })
	for i := range defs {
		d := &defs[i]
		if d.Code != code {
			continue
		}
		x := reportedDefinition{Unit: d.Unit, File: d.File, Line: d.Line, Symbol: d.Symbol, Section: d.Section}
		if d.Symbol != "" {
			x.Address = fmt.Sprintf("%#x", d.Address)
		}
		last.Definitions = append(last.Definitions, x)
	}
}

// addAdvice says what tracers can attach to, for functions that are left out and for
// functions of the BTF b without a symbol in the inputs.
func (r *reportFile) addAdvice(paths []string, debug encode.DebugFiles, b *btf.Blob) {
	set := funcs.New(view.New(b))
	names := map[string]bool{}
	for i := range r.SkippedFunctions {
		names[r.SkippedFunctions[i].Name] = true
	}
	for f := range set.Own() {
		names[string(f.Name())] = true
	}
	wanted := func(name []byte) bool { return names[string(name)] }
	var inputs []*attach.Symbols
	for _, p := range paths {
		if s, err := readAttach(codeFile{mmapelf.Source{Path: p}, debug}, wanted); err == nil { // otherwise it has none
			inputs = append(inputs, s)
		}
	}
	for i := range r.SkippedFunctions {
		f := &r.SkippedFunctions[i]
		f.reportedAdvice = adviceOf(inputs, attach.Function{Name: f.Name})
	}
	if len(inputs) == 0 {
		return
	}
	for f := range set.Own() {
		name := string(f.Name())
		if slices.ContainsFunc(inputs, func(s *attach.Symbols) bool { return s.Has(name) }) {
			continue
		}
		fault, from := f.EntryFault()
		advice := adviceOf(inputs, attach.Function{Name: name, InBTF: true, Fault: fault, TakenFrom: from})
		r.Renamed = append(r.Renamed, renamedFunction{name, advice})
	}
	slices.SortFunc(r.Renamed, func(a, b renamedFunction) int { return strings.Compare(a.Name, b.Name) })
}

// adviceOf returns the advice from the first input that has something to attach to.
func adviceOf(inputs []*attach.Symbols, f attach.Function) (r reportedAdvice) {
	for i, s := range inputs {
		advice := s.Advise(f)
		if all := append(advice.All(), advice.Parts...); i == 0 || len(all) > 0 {
			r = reportedAdvice{all, advice.Reasons}
		}
		if len(r.Attach) > 0 {
			break
		}
	}
	return r
}

// write writes the report of a run that ended with err.
func (r *reportFile) write(g *guard, err error) error {
	if err != nil {
		r.runReport, r.Error = nil, message.OneLine(err.Error())
	}
	return r.to.write(g, r.encode)
}

// encode writes the object to w. If that is a stream, the object stays, whatever happens afterwards.
func (r *reportFile) encode(w io.Writer) error {
	r.written = r.to.file == ""
	_, err := w.Write(message.IndentedJSON(r, true))
	return err
}

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
	// BaseBytes is the length of the section .BTF.base, 0 if the run does not make one.
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
		return message.JSON(r)
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

func seconds(d time.Duration) string {
	return fmt.Sprintf("%.3f s", d.Seconds())
}
