package lower

import "github.com/btflite/btflite/btf/verify"

// Rule says what becomes of what a release does not take.
type Rule struct {
	Feature verify.FeatureID
	// Kernel is for kernels and Reader for programs that read BTF: what comes in its place,
	// or Refused. "" stands for no change.
	Kernel, Reader string
}

// Refused is the rule of what nothing can take the place of.
const Refused = "refused"

// Rules are the rules, in the order of verify.Features. The documentation has them
// (docs/results/kernel-releases.md).
func Rules() []Rule {
	const (
		oneByte  = "an INT of 1 byte with its name"
		location = "an INT of 1 byte"
	)
	list := []Rule{
		{verify.EnumSize, "an INT of its size", ""},
		{verify.ManyTypes, Refused, ""},
		{verify.ManyNames, Refused, ""},
		{verify.GlobalFunc, "linkage static", ""},
		{verify.SplitBTF, Refused, Refused},
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
		{verify.DistilledBase, Refused, Refused},
		{verify.Attribute, "as a tag that the release does not know", "the same"},
		{verify.LayoutSection, "left out, with the longer header", "the same"},
		{verify.LongVlen, Refused, Refused},
		{verify.TagBehindModifier, "the modifier leads to what is behind the tag", ""},
	}
	return list
}
