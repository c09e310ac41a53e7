package encode

import (
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/inline"
)

// Features is the set of BTF features to encode, one bit each.
type Features uint32

// The features of pahole 1.32 under their own names. EncodeForce,
// ReproducibleBuild and OptimizedFunc are accepted for compatibility:
// EncodeForce decides only what happens to variables that cannot be encoded,
// the other two change nothing.
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
	// Layout adds a section with the sizes of records, by which readers skip kinds
	// that they do not know, to BTF that stands alone. Linux takes it since 7.1.
	Layout
	ForceCUMerging
	// Inline adds the sites of inlined functions. No release of pahole knows it.
	Inline
)

// DefaultFeatures is what the list element "default" stands for.
const DefaultFeatures = EncodeForce | Var | Float | DeclTag | TypeTag | Enum64 |
	OptimizedFunc | ConsistentFunc | DeclTagKfuncs

// AllFeatures is what the list element "all" stands for in pahole 1.32 over libbpf 1.8.
const AllFeatures = DefaultFeatures | ReproducibleBuild | GlobalVar | Attributes | TrueSignature | Layout

// BasicFeatures is in force when no features option is given at all.
const BasicFeatures = Var | DeclTag | TypeTag | Enum64

// Libbpf is a release of libbpf: over each, pahole 1.32 writes other bytes.
type Libbpf uint8

// The releases.
const (
	// LibbpfAny is none of them: the header of 24 bytes that every reader takes,
	// unless there is a layout section, and the right rule for typedefs of the base.
	LibbpfAny Libbpf = iota
	// Libbpf17 knows no layout section, and the feature Layout changes nothing. It
	// does not find typedefs of the base, so that the output repeats those it uses.
	Libbpf17
	// Libbpf18 writes headers of 32 bytes, and types with more than 65,535 elements,
	// which Linux takes since 7.2.
	Libbpf18
)

// form is what is around types and strings of the output, or of split BTF over it.
// BTF over another has no layout section.
func (o *Options) form(split bool) btf.Form {
	switch {
	case o.Libbpf == Libbpf17:
		return btf.Form{}
	case o.Features&Layout != 0 && !split:
		return btf.WithLayout()
	case o.Libbpf == Libbpf18:
		return btf.LongHeader
	}
	return btf.Form{}
}

// Options say what to encode and how. The zero value of each field but Features is
// pahole's behaviour without the option; no Features are no feature at all, where
// pahole has BasicFeatures.
type Options struct {
	Features Features
	Jobs     int // workers; <= 1 is one
	// Lang, LangExclude filter units by DW_AT_language. At most one is set.
	Lang        []uint16
	LangExclude []uint16
	// CUExclude leaves out the units whose DW_AT_name begins with it; "" none.
	CUExclude string
	// NamePrefix, if not empty, replaces every name of the DWARF that begins
	// with it: what follows the prefix is cut off (pahole's --kabi_prefix).
	NamePrefix string
	// WholeBitfields makes members of bit-fields that are as wide and as
	// aligned as their type (pahole's --fixup_silly_bitfields).
	WholeBitfields bool
	// For is what the output is for.
	For Purpose
	// MemoryLimit is how many bytes the process may take while the run goes on: a run
	// that cannot go on below it ends with an error, and others go on. 0 is no limit. What counts is what the
	// system cannot take back, or with LimitResident all that is resident, pages
	// of files among it.
	MemoryLimit   uint64
	LimitResident bool
	// Sessions is how many sessions run at once, each of which may come near the
	// limit unseen; <= 1 is one.
	Sessions int
	// Dedup is how equal types are found.
	Dedup Dedup
	// Base is what the output builds upon; nil for BTF that stands alone.
	Base *Base
	// ExtraVars makes Output.Extra: split BTF over the output with the
	// variables that Features leave out. The output itself stays what it is.
	ExtraVars bool
	// Inline makes Output.Inline: split BTF over the output with the sites of inlined
	// functions. The output itself stays what it is.
	Inline bool
	// InlineMissing receives of each site, in the order of units, why parameters have no
	// place: a line each, "" for those that have one. The function is in section at an
	// offset. What it is given is valid until it returns. nil is for none.
	InlineMissing func(name []byte, section string, offset uint32, why []string)
	// Libbpf is the release of libbpf that the output is to be pahole's over.
	Libbpf Libbpf
	// DebugDir is a folder of separate debug files, asked before
	// /usr/lib/debug; "" for none.
	DebugDir string
	// CULimit is how many units of each file are read, in file order; the rest
	// is ignored. 0 reads all. It is for measuring how cost grows with input.
	CULimit int
	// UnitsRead is called when all units have been read, before functions are chosen and
	// the output is made: the memory of a run is at its peak then. nil is for none.
	UnitsRead func()
	// Verbose receives what -V reports on standard output: a line for each type,
	// variable and function, and for what is left out. A call may have several
	// lines; the newline of the last one is not there. nil is for none, which
	// costs nothing. Otherwise units are read one by one, in file order.
	Verbose func(lines string)
	// Warn receives what -V reports on standard error, one line a call; nil for
	// none.
	Warn func(line string)
	// FuncSkipped receives each function that has no FUNC, though it has a symbol, and the reason, as -V
	// prints it, in the order of names; nil for none.
	FuncSkipped func(name, reason string)
	// Functions asks what has become of functions, and where they are defined; nil for
	// nobody, which costs nothing.
	Functions *FunctionQuery
	// Progress receives bytes of .debug_info done and in all; nil for none.
	// It is called from any worker, at most once per unit.
	Progress func(done, total uint64)
}

// Purpose is what an output is for.
type Purpose uint8

const (
	// LikePahole is for comparisons: all that pahole writes, also where no kernel takes it.
	LikePahole Purpose = iota
	// ForKernel leaves out what pahole writes and no kernel takes, where BTF is valid without
	// it: what is void where C allows no void, and the second description of a variable.
	ForKernel
	// ForReaders has what BTF cannot say written by marks, see btf.MarkKind, and adds functions
	// that pahole leaves out. It is for programs that print types, not for a file.
	ForReaders
)

// Dedup is a way to find equal types.
type Dedup uint8

const (
	// DedupAuto merges unit by unit, and takes DedupExact for small inputs whose units
	// disagree about a type: there the two may choose different types, and pahole's
	// bytes are those of DedupExact. See disagree.go.
	DedupAuto Dedup = iota
	// DedupStream merges unit by unit, whatever the units say.
	DedupStream
	// DedupExact is libbpf's algorithm, which takes all raw types at once. It is slower,
	// and its memory grows with the input.
	DedupExact
)

// Stats says what a run did. What is marked as of the output are the numbers of
// the finished BTF, without its base: see Count.
type Stats struct {
	CUs         int    `json:"cus"`
	CUsFiltered int    `json:"cus_filtered"` // by language or name
	DIEs        uint64 `json:"dies"`
	DebugInfo   uint64 `json:"debug_info_bytes"`
	TypesIn     uint64 `json:"types_before_dedup"` // raw BTF types of all units
	TypesOut    int    `json:"types"`              // of the output
	SlowCUs     int    `json:"cus_with_conflicting_names"`
	// Disagree says that units disagree about a type, and that libbpf's algorithm chose: DedupAuto.
	Disagree   bool   `json:"units_disagree,omitempty"`
	FuncStates uint64 `json:"function_dies"` // subprogram DIEs considered
	Funcs      int    `json:"functions"`     // FUNCs of the output
	// Skipped counts functions that have no FUNC, by the reason that -V prints.
	Skipped map[string]int `json:"functions_left_out"`
	// Unencodable counts what BTF has no kind for, by sort of type, and what is left
	// out with those types (types made of them, members, functions, variables).
	// Counts are of DIEs of all units, before deduplication.
	Unencodable map[string]int `json:"left_out"`
	// LeftOutMembers are members that are left out, "struct.member", each once, in the
	// order of their names: no more than unit.MaxMembers. They leave gaps.
	LeftOutMembers []string `json:"left_out_members,omitempty"`
	Vars           int      `json:"variables"`                 // VARs of the output
	ExtraVars      int      `json:"extra_variables,omitempty"` // VARs of Output.Extra
	// Inline is what Output.Inline has, or the feature Inline adds; nil without.
	Inline    *inline.Stats `json:"inline,omitempty"`
	TypeBytes int           `json:"type_bytes"`   // of the output
	StrBytes  int           `json:"string_bytes"` // of the output
	Phases    []Phase       `json:"phases"`
	// PeakRSS is VmHWM in bytes, 0 where the system does not tell.
	PeakRSS uint64 `json:"peak_rss_bytes"`
}

// Count sets the numbers that are those of the output to those of data, which is
// finished BTF or, for none, empty. Whoever sorts or distils an output counts anew.
func (s *Stats) Count(data []byte) error {
	var c btf.Counts
	if len(data) > 0 {
		var err error
		if c, err = btf.Count(data); err != nil {
			return err
		}
	}
	s.TypesOut, s.TypeBytes, s.StrBytes = c.Types, c.TypeLen, c.StrLen
	s.Funcs, s.Vars = c.Kinds[btf.KindFunc], c.Kinds[btf.KindVar]
	return nil
}

// Phase is one timed part of a run. CPU is summed over workers for phases
// that run side by side, and is wall time of that part in each worker.
type Phase struct {
	Name string        `json:"name"`
	Time time.Duration `json:"ns"`
}
