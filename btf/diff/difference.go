package diff

// Change says how something differs in the second set.
type Change string

const (
	Added    Change = "added"    // only in the second set
	Removed  Change = "removed"  // only in the first set
	Changed  Change = "changed"  // in both, with other contents
	Moved    Change = "moved"    // a variable that only has another offset in its section
	Defined  Change = "defined"  // only forward declarations in the first set, a definition in the second
	Declared Change = "declared" // the reverse
)

// Difference is one difference: between the two sets, or, as a detail of
// another one, between two definitions.
type Difference struct {
	// Part names the thing that differs. Between sets: "struct", "union", "enum", "typedef",
	// "int", "float", "function", "variable" or "section". In details: "member",
	// "value" or "parameter", which have details of their own, or a property:
	// "size" and "offset" in bytes, "bit_offset" and "bits" (width) in bits,
	// "position" of a parameter from 0, "value", "members" and "values" (how
	// many), "type", "returns" and "prototype" in C, "kind", "signed",
	// "encoding", "linkage", "section", "name", "tag", "defined" (false for a
	// forward declaration). "content" stands for what is too deep to be told.
	Part string `json:"part"`
	// Name is "" for what has none. Names are cut at 1,024 bytes.
	Name   string `json:"name,omitempty"`
	Change Change `json:"change"`
	// Definitions is how many different definitions of the name the two sets
	// have, if one of them has more than one.
	Definitions []int `json:"definitions,omitempty"`
	// Before and After are the two values of a property: a string, a bool, an
	// int64 or a uint64, nil where a side has none.
	Before  any          `json:"before,omitempty"`
	After   any          `json:"after,omitempty"`
	Details []Difference `json:"details,omitempty"`
}
