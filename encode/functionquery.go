package encode

// FunctionQuery asks whether functions are in the BTF, why not, and where they are
// defined. Without Tell, it is ignored.
type FunctionQuery struct {
	// Wanted reports whether a function is wanted, by its name without suffixes that the
	// compiler adds. nil stands for all functions that have a symbol, and for their
	// definitions that are not inline functions. Several goroutines call it at once.
	Wanted func(name []byte) bool
	// Tell receives the functions: first those that have a symbol, in the order of their
	// names, then the others that Wanted accepted. A name is repeated for each file that
	// has it. The Function is valid until Tell returns.
	Tell func(*Function)
}

// Function is one function and its fate.
type Function struct {
	Name string
	// Encoded reports whether the function is in the BTF. If not, Reason says why, in the
	// words of -V; it is "" for a function without a symbol.
	Encoded bool
	Reason  string
	// Mismatch is the first difference between its definitions, if that is the reason.
	// Parameters are counted from 1, as -V does.
	Mismatch string

	definitions func() ([]Definition, error) // it needs the run
}

// Definitions returns the definitions, in the order of units. It reads the names of files
// from the line tables. After Tell has returned it is an error.
func (x *Function) Definitions() ([]Definition, error) {
	if x.definitions == nil {
		return nil, nil
	}
	return x.definitions()
}

// Definition is one unit's description of a function.
type Definition struct {
	Unit string // DW_AT_name
	File string // of the declaration; "" if unknown
	Line int    // of the declaration; 0 if unknown
	// Code reports whether the unit has code for the function; otherwise it has only a
	// description that other functions inline. Address is where the code begins, for an
	// object as an offset in Section. It is 0 if the code is in several places.
	Code    bool
	Address uint64
	Section string
	Symbol  string // at Address; "" if there is none
	// Fault is the reason why this definition leaves the function out; "" if there is
	// none.
	Fault  string
	Params []Parameter
}

// Parameter is a parameter of a definition.
type Parameter struct {
	Name  string // "" if it has none
	Place Place
}

// PlaceKind says in what kind of place a parameter is.
type PlaceKind uint8

// The kinds of places.
const (
	PlaceNone     PlaceKind = iota // nowhere
	PlaceConstant                  // nowhere, because it always has the same value
	PlaceRegister
	PlaceStack
	PlaceFixed   // at a fixed address
	PlaceCompute // computed from other values
	PlaceList    // in a list that is unreadable, or that a unit record does not keep
)

// Place is where a parameter is when its function is entered.
type Place struct {
	Kind     PlaceKind
	Moves    bool // it moves elsewhere later
	Register uint16
}
