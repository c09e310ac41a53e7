package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/message"
)

// reportFile is what --report writes: one JSON object with what --stats=json
// prints and these fields. A failed run has an error and no counts.
type reportFile struct {
	*runReport
	// Error is the line of a run that has failed, without the program's name.
	Error string `json:"error,omitempty"`
	// NothingWritten says why a run with status 0 has written no BTF.
	NothingWritten string `json:"nothing_written,omitempty"`
	// SkippedFunctions are the functions that have no FUNC though they have a
	// symbol, in the order of names.
	SkippedFunctions []skippedFunction `json:"left_out_functions"`

	to *target
}

// skippedFunction is a function and why it was left out, in the words of -V.
type skippedFunction struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
	// Definitions are those with code, or of a function without any all there are.
	Definitions []reportedDefinition `json:"definitions,omitempty"`
}

// reportedDefinition is where a function is defined. What is not known is missing.
type reportedDefinition struct {
	Unit    string `json:"unit"` // DW_AT_name
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Symbol  string `json:"symbol,omitempty"`
	Address string `json:"address,omitempty"` // 0x and digits; in the section, if there is one
	Section string `json:"section,omitempty"`
}

// openReport finds the place of the report, which must be neither an input nor
// an output; those may be nil.
func (c *cli) openReport(path string, inputs []string, outs ...*target) (*reportFile, error) {
	to, err := c.resolveTarget(path)
	if err != nil {
		return nil, err
	}
	if err := to.refuseInputs(inputs); err != nil {
		return nil, err
	}
	for _, out := range outs {
		if out != nil && (to.file != "" || to.stream != nil) && out.sameFile(to) {
			return nil, fmt.Errorf("%s: the report would replace the output", message.OneLine(path))
		}
	}
	return &reportFile{to: to, SkippedFunctions: []skippedFunction{}}, nil
}

func (r *reportFile) addFunction(name, reason string) {
	r.SkippedFunctions = append(r.SkippedFunctions, skippedFunction{Name: name, Reason: reason})
}

// addDefinitions adds where the function is defined that was added last.
func (r *reportFile) addDefinitions(f *encode.Function) {
	if f.Reason == "" || len(r.SkippedFunctions) == 0 {
		return
	}
	last := &r.SkippedFunctions[len(r.SkippedFunctions)-1]
	defs, err := f.Definitions()
	if err != nil || last.Name != f.Name {
		return // files have no names then
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

// write writes the report of a run that has ended with err.
func (r *reportFile) write(g *guard, err error) error {
	if err != nil {
		r.runReport, r.Error = nil, message.OneLine(err.Error())
	}
	return r.to.write(g, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(r)
	})
}
