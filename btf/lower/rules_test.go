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
	features, rules := verify.Features(), documented()
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

// rule says what becomes of what a release does not take.
type rule struct {
	Feature verify.FeatureID
	// Kernel is for kernels and Reader for programs that read BTF: what comes in its place,
	// or refused. "" stands for no change.
	Kernel, Reader string
}

// refused is the rule of what nothing can take the place of.
const refused = "refused"

// documented returns the rules of the documentation, in the order of verify.Features.
func documented() []rule {
	const (
		oneByte  = "an INT of 1 byte with its name"
		location = "an INT of 1 byte"
	)
	return []rule{
		{verify.EnumSize, "an INT of its size", ""},
		{verify.ManyTypes, refused, ""},
		{verify.ManyNames, refused, ""},
		{verify.GlobalFunc, "linkage static", ""},
		{verify.SplitBTF, refused, refused},
		{verify.EmptySection, "a STRUCT of its size without name and members", ""},
		{verify.Float, "an INT of its size, as pahole without the feature float writes", "the same"},
		{verify.DeclTag, oneByte, "the same"},
		{verify.TypeTag, "a CONST that no type of the file refers to: references lead to what is behind it", "the same"},
		{verify.Enum64, "an ENUM of its size with the lower 32 bits of the values, as pahole without the feature enum64 writes", "the same; with --enum64=union a UNION if a value does not fit"},
		{verify.LocParam, location, "the same"},
		{verify.LocProto, location, "the same"},
		{verify.Locsec, oneByte, "the same"},
		{verify.SignedEnum, "an ENUM without it", "the same"},
		{verify.LongName, "the first 128 bytes", ""},
		{verify.DottedName, "'_' in place of '.'", ""},
		{verify.SectionName, "'_' in place of what an identifier cannot have", ""},
		{verify.DistilledBase, refused, refused},
		{verify.Attribute, "as a tag that the release does not know", "the same"},
		{verify.LayoutSection, "left out, with the longer header", "the same"},
		{verify.LongVlen, refused, refused},
		{verify.TagBehindModifier, "the modifier leads to what is behind the tag", ""},
	}
}
