package diff

import (
	"slices"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/message"
)

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

// part is the sort of a group, in the order of the report.
type part uint8

const (
	partStruct part = iota
	partUnion
	partEnum
	partTypedef
	partInt
	partFloat
	partFunction
	partVariable
	partSection
	noPart
)

var partNames = [noPart]string{"struct", "union", "enum", "typedef", "int", "float", "function", "variable", "section"}

// kindPart is the part that a kind belongs to, noPart for kinds that only say
// something where they are used. FWD may be a struct or a union.
var kindPart = [btf.NumKinds]part{
	btf.KindVoid: noPart, btf.KindPtr: noPart, btf.KindArray: noPart, btf.KindVolatile: noPart, btf.KindConst: noPart,
	btf.KindRestrict: noPart, btf.KindFuncProto: noPart, btf.KindDeclTag: noPart, btf.KindTypeTag: noPart,
	btf.KindLocParam: noPart, btf.KindLocProto: noPart, btf.KindLocsec: noPart,
	btf.KindStruct: partStruct, btf.KindUnion: partUnion, btf.KindEnum: partEnum, btf.KindEnum64: partEnum,
	btf.KindTypedef: partTypedef, btf.KindInt: partInt, btf.KindFloat: partFloat, btf.KindFwd: partStruct,
	btf.KindFunc: partFunction, btf.KindVar: partVariable, btf.KindDatasec: partSection,
}

// kindParts has the parts that types of a kind may belong to.
var kindParts = func() (list [btf.NumKinds]uint16) {
	for k, p := range kindPart {
		if p != noPart {
			list[k] = 1 << p
		}
	}
	list[btf.KindFwd] = 1<<partStruct | 1<<partUnion
	return list
}()

// Summary counts differences by part and change.
type Summary map[string]map[Change]int

// Add counts one difference.
func (s Summary) Add(d *Difference) {
	if s[d.Part] == nil {
		s[d.Part] = map[Change]int{}
	}
	s[d.Part][d.Change]++
}

// Total is how many differences were counted.
func (s Summary) Total() int {
	n := 0
	for _, counts := range s {
		for _, c := range counts {
			n += c
		}
	}
	return n
}

// changes are the columns of a summary, in their order.
var changes = []Change{Added, Removed, Changed, Moved, Defined, Declared}

// Lines returns the counts that are not 0, a line for each part, in the order
// of the report.
func (s Summary) Lines() []string {
	var lines []string
	for _, part := range partNames {
		var counts []string
		for _, c := range changes {
			if n := s[part][c]; n > 0 {
				counts = append(counts, message.Grouped(uint64(n))+" "+string(c))
			}
		}
		if len(counts) > 0 {
			lines = append(lines, part+": "+strings.Join(counts, ", "))
		}
	}
	return slices.Clip(lines)
}
