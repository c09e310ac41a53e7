package lower

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/btf/verify/releasetest"
)

var update = flag.Bool("update", false, "write the table of docs/results/kernel-releases.md again")

const (
	docCommand = "go test ./btf/lower -run TestRuleDoc -update"
	docBegin   = "<!-- table: " + docCommand + " -->\n"
	docEnd     = "<!-- end of rules -->\n"
)

// TestRuleDoc: each row of the table of releases has a rule, and the documentation has them.
func TestRuleDoc(t *testing.T) {
	var table strings.Builder
	table.WriteString("| before Linux | of | kernels get | programs get |\n|---|---|---|---|\n")
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
	releasetest.CheckTable(t, docBegin, table.String(), docEnd, *update, docCommand)
}
