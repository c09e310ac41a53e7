package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

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

// reportTarget finds the place of a report, which must be neither an input nor an output. outs
// may be nil.
func (c *cli) reportTarget(path string, inputs []string, outs ...*target) (*target, error) {
	to, err := c.resolveTarget(path, inputs)
	if err == nil && slices.ContainsFunc(outs, to.replaces) {
		err = fmt.Errorf("%s: the report would replace the output", message.OneLine(to.path))
	}
	return to, err
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
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}
