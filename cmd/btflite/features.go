package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/message"
)

// feature is one name of --btf_features.
type feature struct {
	name string
	bit  encode.Features
}

// features is in the order in which pahole 1.32 prints them. Over libbpf 1.7, pahole
// knows layout too, but does not print it.
var features = []feature{
	{"encode_force", encode.EncodeForce},
	{"var", encode.Var},
	{"float", encode.Float},
	{"decl_tag", encode.DeclTag},
	{"type_tag", encode.TypeTag},
	{"enum64", encode.Enum64},
	{"optimized_func", encode.OptimizedFunc},
	{"consistent_func", encode.ConsistentFunc},
	{"decl_tag_kfuncs", encode.DeclTagKfuncs},
	{"reproducible_build", encode.ReproducibleBuild},
	{"distilled_base", encode.DistilledBase},
	{"global_var", encode.GlobalVar},
	{"attributes", encode.Attributes},
	{"true_signature", encode.TrueSignature},
	{"layout", encode.Layout},
	{"force_cu_merging", encode.ForceCUMerging},
}

// laterFeatures are features that no release of pahole has. --supported_btf_features does
// not print them, because builds use its list to identify the release.
var laterFeatures = []feature{{"inline", encode.Inline}}

// warn prints a line for each kind of options and names that have no effect.
func (e *encoding) warn(c *cli) {
	for _, name := range e.unsupported {
		fmt.Fprintf(c.stderr, "Ignoring unsupported feature '%s'\n", message.OneLine(name)) // pahole's words
	}
	if len(e.printing) > 0 {
		c.warn("warning: no effect here, only for printing types: " + strings.Join(e.printing, ", "))
	}
	if len(e.unknown) == 0 {
		return
	}
	for i, name := range e.unknown {
		e.unknown[i] = fmt.Sprintf("%q", message.OneLine(name))
		if meant := closest(featureWords(), name); meant != "" {
			e.unknown[i] += fmt.Sprintf(" (did you mean %q?)", meant)
		}
	}
	c.warn("warning: unknown names in --btf_features, ignored: " + strings.Join(e.unknown, ", "))
}

// maxFeatureList is the length in bytes to which pahole cuts a list.
const maxFeatureList = 1024

// featureNames returns the list that --supported_btf_features prints.
func featureNames() string { return strings.Join(featureWords()[2:2+len(features)], ",") }

// featureWords are all words that may be in a list of features.
func featureWords() []string {
	words := []string{"default", "all"}
	for _, f := range slices.Concat(features, laterFeatures) {
		words = append(words, f.name)
	}
	return words
}

// addFeatures applies one features list to e by the rules of pahole 1.32:
//
//   - the first features option of a command line turns everything off first,
//     what earlier options such as --btf_gen_floats did included; later lists
//     add to it;
//   - the list is cut to 1024 bytes;
//   - a leading "+" adds the default set, as the element "default" does;
//   - empty elements mean nothing;
//   - an unknown name is an error if strict, else it is ignored.
//
// Nothing changes on an error except the reset.
func (e *encoding) addFeatures(list string, strict bool) error {
	if !e.featuresGiven {
		e.featuresGiven = true
		e.opt.Encode.Features = 0
	}
	if len(list) > maxFeatureList {
		list = list[:maxFeatureList]
	}
	var set encode.Features
	if rest, ok := strings.CutPrefix(list, "+"); ok {
		set |= encode.DefaultFeatures
		list = rest
	}
	for name := range strings.SplitSeq(list, ",") {
		bits, ok := featureBits(name)
		if !ok && strict {
			return verbatimError(fmt.Sprintf("Feature '%s' in '%s' is not supported.  Supported BTF features are:\n%s",
				message.OneLine(name), message.OneLine(list), featureNames()))
		}
		if !ok && e.verbose {
			e.unsupported = append(e.unsupported, name)
		}
		if !ok {
			e.unknown = append(e.unknown, name)
		}
		set |= bits
	}
	e.opt.Encode.Features |= set
	return nil
}

// featureBits returns the features that a list element stands for.
func featureBits(name string) (encode.Features, bool) {
	switch name {
	case "":
		return 0, true
	case "default":
		return encode.DefaultFeatures, true
	case "all":
		return encode.AllFeatures, true
	}
	for _, f := range slices.Concat(features, laterFeatures) {
		if f.name == name {
			return f.bit, true
		}
	}
	return 0, false
}
