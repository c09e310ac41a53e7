package verify

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/btflite/btflite/btf"
)

// Fault is the first thing in a blob that a kernel refuses.
type Fault struct {
	ID    uint32   // type id, 0 if the header or the strings are at fault
	Kind  btf.Kind // of the type; void if there is no record of a known kind
	Name  string   // of the type, as in the blob; "" for none
	Rule  string   // what is wrong, including member or parameter
	Level Level    // the weakest level whose rules refuse it
	Needs Release  // the release that takes it, or zero: none does

	bare bool // Rule says something of the kind
}

// overlap is the text by which Overlaps recognises such faults.
const overlap = "overlaps the entry before it"

// Overlaps reports whether entries of a DATASEC overlap: variables of one section
// that are, in part, at the same addresses.
func (f *Fault) Overlaps() bool {
	return f.Kind == btf.KindDatasec && strings.Contains(f.Rule, overlap)
}

// Error implements error. Names are quoted, and cut if they are long.
func (f *Fault) Error() string {
	if f.ID == 0 && strings.Contains(f.Rule, "BTF") {
		return f.Rule
	}
	if f.ID == 0 {
		return "BTF " + f.Rule
	}
	if f.Kind == btf.KindVoid { // no record
		return fmt.Sprintf("BTF type [%d]: %s", f.ID, f.Rule)
	}
	name, colon := "(anon)", ":"
	if f.Name != "" {
		name = quote(f.Name)
	}
	if f.bare {
		colon = ""
	}
	return fmt.Sprintf("BTF type [%d] %s %s%s %s", f.ID, f.Kind, name, colon, f.Rule)
}

// maxQuoted is how much of a name a message shows.
const maxQuoted = 128

func quote(s string) string {
	if len(s) > maxQuoted {
		return strconv.QuoteToASCII(s[:maxQuoted]) + fmt.Sprintf("... (%d bytes)", len(s))
	}
	return strconv.QuoteToASCII(s)
}
