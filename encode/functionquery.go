package encode

// FunctionQuery asks what has become of functions, and where they are defined.
type FunctionQuery struct {
	// Wanted says which functions are asked for, by the name without what the
	// compiler has added; nil for all that have a symbol, and their definitions that
	// are no inline functions. Several goroutines call it at once.
	Wanted func(name []byte) bool
	// Tell receives the functions: those that have a symbol in the order of their
	// names, then the others that Wanted has named. A name comes again for each file
	// that has it. The Function is valid until Tell returns. Without Tell, the query
	// is none.
	Tell func(*Function)
}

// Function is what has become of a function.
type Function struct {
	Name string
	// Encoded says that the BTF has it. If not, Reason is why, in the words of -V;
	// it is "" for one without a symbol.
	Encoded bool
	Reason  string
	// Mismatch is the first difference between its definitions, if that is the reason.
	// It counts parameters from 1, as the lines of -V do.
	Mismatch string

	r    *run
	defs []uint32
}

// Definition is what one unit says of a function.
type Definition struct {
	Unit string // DW_AT_name
	File string // of the declaration; "" if it is not told
	Line int    // likewise; 0 if it is not told
	// Code says that the unit has code for it, and not a description only that
	// other functions have taken in. Address is where that begins, in an object in
	// its Section; it is 0 if the code is in several places.
	Code    bool
	Address uint64
	Section string
	Symbol  string // at Address; "" for none
	// Fault is what of this definition leaves the function out; "" for nothing.
	Fault  string
	Params []Parameter
}

// Parameter is a parameter of a definition.
type Parameter struct {
	Name  string // "" for none
	Place Place
}

// PlaceKind says where a parameter is.
type PlaceKind uint8

// The kinds of places.
const (
	PlaceNone     PlaceKind = iota // nowhere
	PlaceConstant                  // nowhere, as it has always the same value
	PlaceRegister
	PlaceStack
	PlaceFixed   // at an address that does not change
	PlaceCompute // what the value is computed from
	PlaceList    // in a list that cannot be read, or that a unit record has not kept
)

// Place is where a parameter is when its function is entered.
type Place struct {
	Kind     PlaceKind
	Moves    bool // it is there at first, and elsewhere later
	Register uint16
}
