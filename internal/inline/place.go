package inline

// Place is the place of a value, or why it is unknown.
//
//	kind      value                            Reg         Reg2      Value
//	Const     Value                                                  the constant
//	Address   Value, moved with the program                          the address
//	Register  Reg                              register
//	Pair      Reg, then Reg2                   low part    high part
//	Sum       Reg + Value                      register              offset, signed
//	Memory    memory at Reg + Value            register              offset, signed
//
// Registers have DWARF's numbers for the machine. FrameBase is DW_OP_fbreg.
type Place struct {
	Value uint64
	Reg   uint32
	Reg2  uint32
	Kind  Kind
	Why   Reason // of Missing
	// Width is 0, or the size in bytes of what is at the place: parameters may not
	// be larger, and if Exact is set not smaller.
	Width uint8
	Exact bool
}

// Kind is a kind of place.
type Kind uint8

// The kinds of places.
const (
	Missing Kind = iota
	Const
	Address
	Register
	Pair
	Sum
	Memory
)

// FrameBase is the register number that stands for the frame base of the function
// around a site. DWARF's register numbers are ULEB128, but none comes near.
const FrameBase = ^uint32(0)

// Reason says why a parameter has no place.
type Reason uint8

// The reasons. NoPlace is for a place that is there.
const (
	NoPlace       Reason = iota
	NotListed            // the site has no DIE for the parameter
	NoLocation           // the DIE has neither a location nor a constant
	NotHere              // no entry of the location list holds at the site
	LaterView            // an entry of the list holds from a later view of the address on
	OptimizedOut         // the location is empty
	EntryValue           // what a register had when the function around was called
	ImplicitPtr          // a pointer to what is not in memory
	InPieces             // pieces that are not one register or two
	FixedMemory          // in memory at an address: BTF can say the address only
	Computed             // by more than a register and an offset
	Typed                // by operations with types
	BadExpression        // that cannot be decoded
	BadList              // the location list is unreadable
	WrongSize            // BTF or the place cannot have this size
	NoBase               // an address in a file that has none yet
	TooMany              // beyond the bounds of reading
	reasons
)

var reasonText = [reasons]string{
	"", "not described at the site", "no location", "not available at the address of the site",
	"not yet available where the function begins", "optimized out",
	"only as it was when the function around was called", "a pointer to what is not in memory", "in pieces",
	"in memory at a fixed address", "computed", "computed with types", "location expression damaged", "location list damaged",
	"size does not fit the place", "address of a relocatable file", "too many parameters or list entries",
}

// String says the reason in words.
func (r Reason) String() string {
	if r < reasons {
		return reasonText[r]
	}
	return "unknown"
}

// Reasons is how many reasons there are.
const Reasons = int(reasons)

// missing returns an unknown place.
func missing(why Reason) Place { return Place{Why: why} }

// Flags of LOC_PARAM records (include/uapi/linux/btf.h of bpf-next).
const (
	flagSigned = 1 << iota
	flagConst
	flagAddr
	flagReg
	flagDeref
	flagOffset
)

// Sizes that a LOC_PARAM may have, in bytes: kernels refuse others.
const (
	maxParam = 16
	maxConst = 8
)

// record returns the LOC_PARAM record of a parameter of size bytes at p: its flags, and its values,
// which it appends to dst. signed says that constants have a sign. If there is no such record, why
// is not NoPlace.
func (p *Place) record(dst []uint32, size uint32, signed bool) (flags uint32, values []uint32, why Reason) {
	switch {
	case p.Kind == Missing:
		return 0, nil, p.Why
	case size == 0 || size > maxParam, p.Width != 0 && size > uint32(p.Width), p.Exact && size != uint32(p.Width):
		return 0, nil, WrongSize
	case p.Kind == Pair && p.Width == 0:
		return 0, nil, WrongSize
	}
	values = dst[:0]
	switch p.Kind {
	case Const, Address:
		if size > maxConst {
			return 0, nil, WrongSize
		}
		flags = flagConst
		if p.Kind == Address {
			flags |= flagAddr
		}
		if signed && p.Kind == Const {
			flags |= flagSigned
		}
		v := p.Value & (^uint64(0) >> (64 - 8*size))
		if values = append(values, uint32(v)); size > 4 {
			values = append(values, uint32(v>>32))
		}
	case Register:
		flags, values = flagReg, append(values, p.Reg)
	case Pair:
		flags, values = flagReg, append(values, p.Reg, p.Reg2)
	case Sum, Memory:
		flags, values = flagReg, append(values, p.Reg)
		if p.Kind == Memory {
			flags |= flagDeref
		}
		if p.Value == 0 && (p.Kind == Memory || p.Reg != FrameBase) {
			break
		}
		flags |= flagOffset
		values = append(values, uint32(p.Value))
		if off := int64(p.Value); off < 0 {
			flags |= flagSigned
			if off < -1<<31 {
				values = append(values, uint32(p.Value>>32))
			}
		} else if off > 1<<31-1 {
			values = append(values, uint32(p.Value>>32))
		}
	}
	return flags, values, NoPlace
}
