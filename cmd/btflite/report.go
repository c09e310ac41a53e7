package main

import (
	"encoding/json"
	"fmt"
	"io"

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
	// LeftOutFunctions are the functions that have no FUNC though they have a
	// symbol, in the order of names.
	LeftOutFunctions []leftOutFunction `json:"left_out_functions"`

	to *target
}

// leftOutFunction is a function and why it was left out, in the words of -V.
type leftOutFunction struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
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
	return &reportFile{to: to, LeftOutFunctions: []leftOutFunction{}}, nil
}

func (r *reportFile) addFunction(name, reason string) {
	r.LeftOutFunctions = append(r.LeftOutFunctions, leftOutFunction{name, reason})
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
