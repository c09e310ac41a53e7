package dwarf

// Places is the plan for the places where DIEs are declared. It treats all tags alike.
var Places = newPlan(func(Tag) Class { return ClassSkip }).add([]attr{
	{at: atDeclFile, value: placeFile},
	{at: atDeclLine, value: placeLine},
	{at: atRanges, value: placeRanges},
	{at: atStmtList, value: placeLines},
}, row{ClassSkip, 0, bit(placeFile, placeLine, placeRanges, placeLines)})

// The values of Places.
const (
	placeFile = iota
	placeLine
	placeRanges
	placeLines
)

// Decl is where a DIE says that it is declared.
type Decl struct {
	Line    uint64 // DW_AT_decl_line; 0 if it does not say
	File    uint64 // DW_AT_decl_file, if HasFile
	HasFile bool
	Ranges  bool // DW_AT_ranges: its code is in several places
	// LineTable is DW_AT_stmt_list of a unit DIE, if HasLines.
	LineTable uint64
	HasLines  bool
}

// Decl returns where the DIE at offset off of unit b is declared. t must have been compiled by
// the plan Places. ok is false if the DIE cannot be read.
func (t *Abbrevs) Decl(b []byte, off int) (x Decl, ok bool) {
	var v Values
	e := Entries{Abbrevs: t, Vals: &v, Data: b}
	if off < 0 || !e.At(off) || e.Abbrev == nil || !e.Decode() {
		return x, false
	}
	has := func(value int) bool { return e.Have>>value&1 != 0 }
	if has(placeLine) {
		x.Line = v[placeLine].Numeric()
	}
	if x.HasFile = has(placeFile); x.HasFile {
		x.File = v[placeFile].Numeric()
	}
	if x.HasLines = has(placeLines); x.HasLines {
		x.LineTable = v[placeLines].U
	}
	x.Ranges = has(placeRanges)
	return x, true
}
