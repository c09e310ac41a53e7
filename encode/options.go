package encode

import (
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/inline"
)

// Features is the set of BTF features to encode, one bit each.
type Features uint32

// The features of pahole 1.32, with their names there. EncodeForce, ReproducibleBuild and
// OptimizedFunc are accepted for compatibility: EncodeForce decides only what happens to
// variables that cannot be encoded, and the other two change nothing.
const (
	EncodeForce Features = 1 << iota
	Var
	Float
	DeclTag
	TypeTag
	Enum64
	OptimizedFunc
	ConsistentFunc
	DeclTagKfuncs
	ReproducibleBuild
	DistilledBase
	GlobalVar
	Attributes
	TrueSignature
	// Layout adds a section with the sizes of records to BTF that stands alone. With it,
	// a reader can skip kinds that it does not know. Linux accepts it since 7.1.
	Layout
	ForceCUMerging
	// Inline adds the sites of inlined functions. pahole has no such feature.
	Inline
)

// DefaultFeatures are the features of the list element "default".
const DefaultFeatures = EncodeForce | Var | Float | DeclTag | TypeTag | Enum64 |
	OptimizedFunc | ConsistentFunc | DeclTagKfuncs

// AllFeatures are the features of the list element "all" in pahole 1.32 over libbpf 1.8.
const AllFeatures = DefaultFeatures | ReproducibleBuild | GlobalVar | Attributes | TrueSignature | Layout

// KnownFeatures are all features that there are.
const KnownFeatures = Inline<<1 - 1

// BasicFeatures are the features without any features option.
const BasicFeatures = Var | DeclTag | TypeTag | Enum64

// Libbpf is a release of libbpf. pahole 1.32 writes different bytes with each. Any but
// LibbpfAny leaves out variables of files with unit records that pahole would not find in
// the DWARF: replaced.go.
type Libbpf uint8

// The releases.
const (
	// LibbpfAny follows no release. The header has 24 bytes, which every reader accepts,
	// unless there is a layout section. The base's typedefs are found, as they should be.
	LibbpfAny Libbpf = iota
	// Libbpf17 does not know the layout section: the feature Layout changes nothing. It
	// does not find typedefs of the base, so the output repeats those that it uses.
	Libbpf17
	// Libbpf18 writes headers of 32 bytes, and types with more than 65,535 elements,
	// which Linux accepts since 7.2.
	Libbpf18
)

// form returns the header and sections of the output, or of split BTF over it. Split BTF
// has no layout section.
func (opt *Options) form(split bool) btf.Form {
	switch {
	case opt.Libbpf == Libbpf17:
		return btf.Form{}
	case opt.Features&Layout != 0 && !split:
		return btf.WithLayout()
	case opt.Libbpf == Libbpf18:
		return btf.LongHeader
	}
	return btf.Form{}
}

// DebugFiles says where separate debug files are looked for.
type DebugFiles = debuginfo.DebugFiles

// Options say what to encode and how. The zero value of each field is pahole's behaviour
// without the option. The exception is Features: 0 means no feature, where pahole has
// BasicFeatures.
type Options struct {
	Features Features
	Jobs     int // workers; <= 1 is one
	// Lang and LangExclude filter units by DW_AT_language. At most one is set.
	Lang        []uint16
	LangExclude []uint16
	// CUExclude leaves out units whose DW_AT_name begins with it; "" leaves out none.
	CUExclude string
	// NamePrefix, if it is not empty, replaces every name of the DWARF that begins with
	// it: the rest of the name is cut off (pahole's --kabi_prefix).
	NamePrefix string
	// WholeBitfields turns bit-fields that are as wide and as aligned as their type into
	// ordinary members (pahole's --fixup_silly_bitfields).
	WholeBitfields bool
	// For is the purpose of the output.
	For Purpose
	// MemoryLimit is the largest memory in bytes that the process may take during the
	// run; 0 means no limit. A run that needs more ends with an error. Only memory that the
	// system cannot reclaim counts; with LimitResident, all resident memory counts,
	// including pages of files.
	MemoryLimit   uint64
	LimitResident bool
	// Sessions is how many sessions run at once; <= 1 is one. Each keeps a distance from
	// the limit that allows for the others.
	Sessions int
	// Dedup is the algorithm that finds equal types.
	Dedup Dedup
	// Base is the BTF that the output is split BTF over; nil for BTF that stands alone.
	Base *Base
	// ExtraVars makes Output.Extra: split BTF over the output with the variables that
	// Features leave out. The output itself does not change.
	ExtraVars bool
	// Inline makes Output.Inline: split BTF over the output with the sites of inlined
	// functions. The output itself does not change.
	Inline bool
	// InlineMissing receives each site, in the order of units, with the reasons why
	// parameters have no place: one string for each parameter, "" if it has a place. The
	// site is at an offset in section. The arguments are valid until it returns. It may
	// be nil.
	InlineMissing func(name []byte, section string, offset uint32, why []string)
	// Libbpf is the release of libbpf whose bytes are wanted.
	Libbpf Libbpf
	// DebugFiles says where separate debug files are, beside the usual places.
	DebugFiles DebugFiles
	// CULimit is how many units of each file are read, in file order; 0 reads all. It
	// serves to measure how cost grows with the input.
	CULimit int
	// UnitsRead is called after the last unit, before functions are chosen and the output
	// is made, when memory is at its peak. It may be nil.
	UnitsRead func()
	// Verbose receives what -V prints on standard output: a line for each type, variable
	// and function, and for everything that is left out. A call may have several lines,
	// without the last newline. It may be nil, which costs nothing. If it is set, units
	// are read one by one, in file order.
	Verbose func(lines string)
	// Warn receives what -V prints on standard error, one line a call. It may be nil.
	Warn func(line string)
	// FuncSkipped receives each function that has a symbol and no FUNC, in the order of
	// names, with the reason as -V prints it. It may be nil.
	FuncSkipped func(name, reason string)
	// Functions asks what happened to functions, and where they are defined. It may be
	// nil, which costs nothing.
	Functions *FunctionQuery
	// Progress receives the finished and all bytes of .debug_info. Any worker may call
	// it, at most once per unit. It may be nil.
	Progress func(done, total uint64)
}

// Purpose is the purpose of an output.
type Purpose uint8

const (
	// LikePahole writes all that pahole writes, even if kernels refuse it. It is for
	// comparisons.
	LikePahole Purpose = iota
	// ForKernel leaves out parts that pahole writes and kernels refuse, where the BTF is
	// valid without them: void where C does not allow it, and a second description of a
	// variable.
	ForKernel
	// ForReaders is for programs that print types, and not for files. It keeps what BTF
	// has no kind for as marks (btf.MarkKind), and adds functions that pahole leaves out.
	ForReaders
)

// Dedup is an algorithm that finds equal types.
type Dedup uint8

const (
	// DedupAuto is DedupStream, except for small inputs whose units disagree about a
	// type: these take DedupExact, because the algorithms may choose different types
	// there. See disagree.go.
	DedupAuto Dedup = iota
	// DedupStream merges unit by unit, even if units disagree.
	DedupStream
	// DedupExact is libbpf's algorithm, which needs all raw types at once. It is slower,
	// and its memory grows with the input.
	DedupExact
)

// Stats has the figures of a run. Those that are marked "of the output" describe the
// finished BTF without its base: see Count.
type Stats struct {
	CUs         int    `json:"cus"`
	CUsFiltered int    `json:"cus_filtered"` // by language or name
	DIEs        uint64 `json:"dies"`
	DebugInfo   uint64 `json:"debug_info_bytes"`
	TypesIn     uint64 `json:"types_before_dedup"` // raw BTF types of all units
	TypesOut    int    `json:"types"`              // of the output
	SlowCUs     int    `json:"cus_with_conflicting_names"`
	// Disagree reports that units disagree about a type, so that DedupAuto took libbpf's
	// algorithm.
	Disagree   bool   `json:"units_disagree,omitempty"`
	FuncStates uint64 `json:"function_dies"` // subprogram DIEs considered
	Funcs      int    `json:"functions"`     // FUNCs of the output
	// Skipped counts functions that have no FUNC, by the reason that -V prints.
	Skipped map[string]int `json:"functions_left_out"`
	// Unencodable counts what BTF has no kind for, by sort of type, and what is left out
	// with those types (types made of them, members, functions, variables). It counts
	// DIEs of all units, before deduplication.
	Unencodable map[string]int `json:"left_out"`
	// InFunctions are the ids of structs and unions that only functions declare, with
	// Options.For ForReaders. They are ascending, and those before the types are sorted.
	InFunctions []uint32 `json:"-"`
	// LeftOutMembers are members that are left out and leave gaps, as "struct.member",
	// each once, in the order of their names. There are at most unit.MaxMembers.
	LeftOutMembers []string `json:"left_out_members,omitempty"`
	Vars           int      `json:"variables"`                 // VARs of the output
	ExtraVars      int      `json:"extra_variables,omitempty"` // VARs of Output.Extra
	// Inline describes the sites in Output.Inline or of the feature Inline; nil without
	// sites.
	Inline    *inline.Stats `json:"inline,omitempty"`
	TypeBytes int           `json:"type_bytes"`   // of the output
	StrBytes  int           `json:"string_bytes"` // of the output
	Phases    []Phase       `json:"phases"`
	// PeakRSS is VmHWM in bytes, 0 if the system does not have it.
	PeakRSS uint64 `json:"peak_rss_bytes"`
}

// Count takes the figures of the output from data, which is finished BTF, or empty if
// nothing was written. Call it again after the output was sorted or distilled.
func (st *Stats) Count(data []byte) error {
	var c btf.Counts
	if len(data) > 0 {
		var err error
		if c, err = btf.Count(data); err != nil {
			return err
		}
	}
	st.TypesOut, st.TypeBytes, st.StrBytes = c.Types, c.TypeLen, c.StrLen
	st.Funcs, st.Vars = c.Kinds[btf.KindFunc], c.Kinds[btf.KindVar]
	return nil
}

// Phase is one timed part of a run. For phases that run in several workers, CPU is the
// sum of their wall times.
type Phase struct {
	Name string        `json:"name"`
	Time time.Duration `json:"ns"`
}
