package main

import (
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/funcs"
	"github.com/btflite/btflite/btf/view"
)

// funcJSON is a function in the output of "btflite funcs --json".
type funcJSON struct {
	ID        uint32      `json:"id"`
	Name      string      `json:"name"`
	Linkage   string      `json:"linkage"`
	Prototype string      `json:"prototype"`
	Result    paramJSON   `json:"result"`
	Params    []paramJSON `json:"params"`
	Variadic  bool        `json:"variadic,omitempty"`
	Tags      []string    `json:"tags,omitempty"`
}

// paramJSON is a parameter or a result. Size is in bytes, 0 for void and for types
// that are only declared.
type paramJSON struct {
	Name string   `json:"name,omitempty"`
	ID   uint32   `json:"type_id"`
	Type string   `json:"type"`
	Size uint64   `json:"size"`
	Tags []string `json:"tags,omitempty"`
}

// printJSON prints one object, with one function on each line.
func (f *funcsCommand) printJSON(out *lineWriter, list []funcs.Func) {
	out.line(`{"version":1,"functions":[`)
	for i, x := range list {
		comma := ","
		if i == len(list)-1 {
			comma = ""
		}
		out.line(jsonText(f.object(x)) + comma)
	}
	out.line("]}")
}

func (f *funcsCommand) object(x funcs.Func) *funcJSON {
	o := &funcJSON{
		ID: x.ID, Name: string(x.Name()), Linkage: btf.LinkageName(x.Linkage()),
		Prototype: string(f.style.AppendPrototype(nil, x)),
		Result:    f.param(x.Result()), Params: []paramJSON{},
		Variadic: x.Variadic(), Tags: tagTexts(x, -1),
	}
	for i, p := range x.Params() {
		j := f.param(p.Type())
		j.Name, j.Tags = string(p.Name()), tagTexts(x, i)
		o.Params = append(o.Params, j)
	}
	return o
}

func (f *funcsCommand) param(t view.Type) paramJSON {
	return paramJSON{ID: t.ID, Type: string(f.style.AppendType(nil, t)), Size: t.Size()}
}

func tagTexts(x funcs.Func, i int) (texts []string) {
	for _, tag := range slices.Collect(x.Tags(i)) {
		texts = append(texts, string(tag))
	}
	return texts
}
