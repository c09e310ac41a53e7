package main

import (
	"fmt"

	"github.com/btflite/btflite/btf/core"
	"github.com/btflite/btflite/internal/message"
)

// minResult is the result for one kernel of "btflite min".
type minResult struct {
	File    string       `json:"file"`
	Error   string       `json:"error,omitempty"`
	Outputs []minOutput  `json:"outputs,omitempty"`
	Relocs  int          `json:"relocations"`
	Missing []minMissing `json:"missing,omitempty"`
	lost    int          // relocations that find nothing
	err     error
}

// minOutput is a file that was written.
type minOutput struct {
	File  string `json:"file"`
	Types int    `json:"types"`
	Bytes int    `json:"bytes"`
}

// minMissing is a relocation that finds nothing, in one or more places.
type minMissing struct {
	Program string   `json:"program"`
	Kind    string   `json:"kind"`
	Of      string   `json:"of"` // as in C
	Access  string   `json:"access"`
	Places  []string `json:"places"`
	Asks    bool     `json:"asks"`
	Verdict string   `json:"verdict"`
	Why     string   `json:"why"`
}

// minVerdicts has the words for verdicts.
var minVerdicts = map[core.Verdict]string{core.Missing: "missing", core.Ambiguous: "ambiguous", core.Failed: "failed"}

// resolve resolves the relocations of a program, and adds what they need.
func (r *minResult) resolve(p *minProgram, target *core.Target, needs *core.Needs) {
	for _, x := range p.prog.Relocs {
		r.Relocs += len(x.Places)
		found := target.Resolve(x)
		needs.Add(x, &found)
		if found.Verdict == core.Found {
			continue
		}
		miss := minMissing{Program: p.path, Kind: x.Kind.String(), Of: x.String(), Access: x.Access,
			Asks: x.Kind.Asks(), Verdict: minVerdicts[found.Verdict], Why: found.Why}
		for _, place := range x.Places {
			miss.Places = append(miss.Places, fmt.Sprintf("%s+0x%x", place.Section, place.Offset))
		}
		if !miss.Asks {
			r.lost += len(x.Places)
		}
		r.Missing = append(r.Missing, miss)
	}
}

// missingText says how many relocations find nothing; "" for none. Those that ask whether
// something is there do not count.
func (r *minResult) missingText() string {
	if r.lost == 0 {
		return ""
	}
	return fmt.Sprintf("%s: note: %s of %s find nothing",
		message.OneLine(r.File), grouped(uint64(r.lost)), countOf(r.Relocs, "relocation"))
}

// minReport writes the report, one kernel after the other.
type minReport struct{ out *lineWriter }

// reportedProgram is a program in the report.
type reportedProgram struct {
	File   string `json:"file"`
	Error  string `json:"error,omitempty"`
	Relocs int    `json:"relocations"`
}

// begin opens the object and writes the programs.
func (r minReport) begin(programs []*minProgram) {
	r.out.line(`{"version":1,"programs":[`)
	for _, p := range programs {
		x := reportedProgram{File: p.path}
		if p.err != nil {
			x.Error = message.OneLine(p.err.Error())
		} else {
			x.Relocs = p.prog.Count()
		}
		r.out.element(x)
	}
	r.out.endArray(`],"kernels":[`)
}

// kernel writes what became of a kernel.
func (r minReport) kernel(done *minResult) {
	if done.err != nil {
		done.Error = message.OneLine(done.err.Error())
	}
	r.out.element(done)
}

// end closes the object.
func (r minReport) end() error {
	r.out.endArray("]}")
	return r.out.flush()
}
