package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// TestAnonymize: nothing of the machine is left, and what the compiler reads is.
func TestAnonymize(t *testing.T) {
	place := filepath.Join(t.TempDir(), "secret")
	m := &profile.Mapping{ID: 1, File: place + "/profile", BuildID: "secret"}
	f := &profile.Function{ID: 1, Name: "encode.(*unit).walk", SystemName: "encode.(*unit).walk", Filename: place + "/walk.go", StartLine: 40}
	l := &profile.Location{ID: 1, Mapping: m, Line: []profile.Line{{Function: f, Line: 70}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}},
		Sample:     []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{3}, Label: map[string][]string{"host": {"secret"}}}},
		Mapping:    []*profile.Mapping{m}, Function: []*profile.Function{f}, Location: []*profile.Location{l},
		Comments: []string{"secret"}, TimeNanos: 1,
	}
	anonymize(p)
	var b bytes.Buffer
	if err := p.WriteUncompressed(&b); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b.Bytes(), []byte("secret")) || p.TimeNanos != 0 {
		t.Errorf("a path or a time is left: %v", p)
	}
	q, err := profile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	if g := q.Function[0]; g.Name != f.Name || g.StartLine != 40 || g.Filename != "walk.go" || q.Sample[0].Location[0].Line[0].Line != 70 {
		t.Errorf("what the compiler reads has changed: %v", q)
	}
}

// TestCommitted: the profile in the tree has no paths of a machine, and names
// functions of this module.
func TestCommitted(t *testing.T) {
	f, err := os.Open("../../cmd/btflite/btflite.pgo")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	own := 0
	for _, fn := range p.Function {
		if filepath.IsAbs(fn.Filename) {
			t.Errorf("%s is in %s", fn.Name, fn.Filename)
		}
		if strings.HasPrefix(fn.Name, "github.com/btflite/btflite/") {
			own++
		}
	}
	for _, m := range p.Mapping {
		if filepath.IsAbs(m.File) {
			t.Errorf("mapping of %s", m.File)
		}
	}
	if own < 100 {
		t.Errorf("only %d functions of this module", own)
	}
}
