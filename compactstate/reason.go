package compactstate

// Reason says why the function of a group is not emitted. The values
// are in the order of pahole's checks: if several hold, the greatest is reported.
type Reason uint8

const (
	ReasonUnexpected   Reason = iota // Unexpected in any state
	ReasonInconsistent               // prototypes differ
	ReasonUncertain                  // Uncertain in any state
	ReasonReordered                  // Reordered in any state
	ReasonOptimized                  // the canonical state is optimized
	ReasonAmbiguous                  // the entry is ambiguous

	// NumReasons is the number of reasons.
	NumReasons
)

// String returns the text that pahole 1.32 -V prints, misspelling included.
func (r Reason) String() string {
	switch r {
	case ReasonUnexpected:
		return "unexpected register usage for parameter"
	case ReasonInconsistent:
		return "inconsistet prototype"
	case ReasonUncertain:
		return "uncertain parameter location"
	case ReasonReordered:
		return "reordered parameters"
	case ReasonOptimized:
		return "optimized parameters"
	case ReasonAmbiguous:
		return "ambiguous address"
	}
	return "unknown reason"
}
