package lower

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/verify"
)

var update = flag.Bool("update", false, "write the table of docs/results/kernel-releases.md again")

const (
	docFile  = "../../docs/results/kernel-releases.md"
	docBegin = "<!-- table: go test ./btf/lower -run TestRuleDoc -update -->\n"
	docEnd   = "<!-- end of rules -->\n"
)

// TestRuleDoc: each row of the table of releases has a rule, and the documentation has them.
func TestRuleDoc(t *testing.T) {
	var table strings.Builder
	table.WriteString(docBegin + "| before Linux | of | kernels get | programs get |\n|---|---|---|---|\n")
	features, rules := verify.Features(), Rules()
	if len(rules) != len(features) {
		t.Fatalf("%d rules for %d features", len(rules), len(features))
	}
	for i, r := range rules {
		if int(r.Feature) != i || r.Kernel == "" || (r.Reader != "") != r.Feature.Form() {
			t.Errorf("rule %d: %+v", i, r)
		}
		f := &features[i]
		what := f.What
		if f.Kind != btf.KindVoid {
			what = "kind " + f.Kind.String()
		}
		reader := r.Reader
		if reader == "" {
			reader = "what there is"
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", f.Since, what, r.Kernel, reader)
	}
	table.WriteString(docEnd)
	data, err := os.ReadFile(docFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), docBegin)
	_, after, ok2 := strings.Cut(rest, docEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", docFile)
	}
	if want := before + table.String() + after; want != string(data) {
		if !*update {
			t.Fatalf("%s does not have the table of rules.go; go test ./btf/lower -run TestRuleDoc -update", docFile)
		}
		if err := os.WriteFile(docFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
