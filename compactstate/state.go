package compactstate

// The records of function states.
//
// A record is a run of 32-bit words in a log of blocks:
//
//	previous record of the entry (ref, 0 if none)
//	entry
//	flags << 16 | number of parameters, or manyParams
//	return type
//	[symbol]                 if recSym
//	[number of annotations]  if recAnn
//	[number of parameters]   if manyParams
//	name, type               of each parameter
//	value, component         of each annotation
//
// A ref is block << blockBits | offset of the record in the block. Refs ascend
// in the order of adding. A record never crosses the end of a block; one that
// is larger than a block gets a block of its own. The first word of the first
// block is not used, so that 0 can stand for no record.

import (
	"math/rand/v2"

	"github.com/btflite/btflite/arena"
)

// Flags describe the function of a state. The names in parentheses are pahole's.
type Flags uint16

const (
	// Unexpected: a parameter is not in the register where the calling
	// convention puts it (unexpected_reg).
	Unexpected Flags = 1 << iota
	// OptimizedParms: a parameter is optimized away or has no location
	// (optimized_parms).
	OptimizedParms
	// Reordered: the parameters are in another order than in the abstract
	// function (reordered_parm).
	Reordered
	// Uncertain: a packed structure is passed on the stack
	// (uncertain_parm_loc).
	Uncertain
	// Changed: the compiler changed the signature (signature_changed).
	Changed
	// OptimizedSymbol: FuncTable.Symbol said optimized.
	OptimizedSymbol
	// HasAddress: the DIE has a non-zero address.
	HasAddress
	// AddressMatches: FuncTable.Symbol said match. Possible without
	// HasAddress, see there.
	AddressMatches
	// Inconsistent: the states of a group have different prototypes. Set by
	// Resolve; Has and Add ignore it.
	Inconsistent

	inputFlags = Inconsistent - 1

	// Layout of a record; not visible outside.
	recSym   Flags = 1 << 13 // has a symbol
	recAnn   Flags = 1 << 14 // has annotations
	recTwice Flags = 1 << 15 // an equal record follows, see States

	manyParams = 1<<16 - 1
)

// Optimized reports whether the function lacks parameters of the source: one has no place, and
// the compiler, or the symbol's name, says that this is more than an unused parameter.
func (f Flags) Optimized() bool { return f&OptimizedParms != 0 && f&(Changed|OptimizedSymbol) != 0 }

// Param is one parameter of a state. Name is an opaque token and Type an opaque
// type id, 0 for void. The caller gives a variadic function a last parameter
// {0, 0}, as in BTF.
type Param struct{ Name, Type uint32 }

// Annotation is one declaration tag of a function. Value is an opaque token;
// Component is the parameter index or −1 for the function itself.
type Annotation struct {
	Value     uint32
	Component int32
}

// States keeps the states of functions. Of equal states of an entry only the
// first is kept, or the first two, see below: a kernel's 190 000 states are
// mostly repeats, from functions of header files.
//
// Why leaving out a repeat changes nothing. Let b be a state and b' a later
// repeat of it in the same group; both have HasAddress or both do not, so they
// keep their order when Resolve sorts by that.
//
//   - Combining: the flags that b' adds have been added by b. If b' would be
//     compared with the first state, b was compared before with the same
//     result. If b is the first state, b' equals it.
//   - Canonical state: it is the first state with some property that depends on
//     the state alone, so never b'.
//   - True signature: it is the first state that has a symbol and neither
//     Unexpected nor Uncertain, where each state has the flags of itself and of
//     those before it. That makes b at least as good as b', with one exception:
//     the first state of the group takes the flags of all states, later ones
//     too. Then its first repeat can be chosen where it cannot be itself.
//     Therefore two copies are kept of states that have a symbol and neither of
//     the two flags. The second repeat is never better than the first.
//
// Has may be called by several goroutines at once while Add and Resolve do not
// run. The memory of Params and Annotations passed in is not kept.
type States struct {
	blocks [][]uint32 // the log of records
	spare  []uint32   // memory for blocks to come: none, or whole blocks
	heads  []head     // by entry
	recs   index      // by content: refs of the records of entries with more than maxChain
	seed   uint64     // of recs
	counts Counts
}

// head is the list of an entry's records. Nearly all entries have one or two, so
// find searches the list.
type head struct {
	last uint32 // the last record, 0 if none
	n    uint32 // number of records
}

// maxChain is how many records an entry may have before the index takes them.
const maxChain = 8

// Counts says how many states were added and kept.
type Counts struct {
	Added   int // calls of Add
	Kept    int // records
	Entries int // entries that have a record
}

const (
	blockBits  = 14
	blockWords = 1 << blockBits

	// firstWords is the size of the first block until more is needed: most modules
	// have few functions.
	firstWords = 1 << 10
)

// NewStates returns an empty States.
func NewStates() *States {
	s := &States{recs: newIndex(0, nil), seed: rand.Uint64()}
	s.blocks = append(s.blocks, make([]uint32, 1, firstWords))
	return s
}

// EntryBytes is how many bytes of a block Reserve takes for each entry: a head, and half of what
// a kernel needs for records.
const EntryBytes = 8 + recordBytes

const recordBytes = 16

// Reserve makes room for entries up to n. It takes all memory of b, and more if b is too small.
// Do not use s after b was freed.
func (s *States) Reserve(n int, b *arena.Block) {
	if n >= len(s.heads) {
		heads := arena.Carve[head](b, n+1)
		copy(heads, s.heads)
		s.heads = heads
	}
	if words := b.Room() / 4 / blockWords * blockWords; words > 0 {
		s.spare = arena.Carve[uint32](b, words)
	}
}

// Has reports whether Add with the same arguments would keep nothing.
func (s *States) Has(entry uint32, f Flags, sym, ret uint32, params []Param, ann []Annotation) bool {
	if entry == 0 {
		return true
	}
	f &= inputFlags
	ref := s.find(entry, f, sym, ret, params, ann)
	return ref != 0 && (!keepTwo(f, sym) || s.record(ref).flags&recTwice != 0)
}

// Add adds a state of an entry of a FuncTable. It reports false for a repeat, which it
// does not keep, and for entry 0. sym comes from FuncTable.Symbol, and must be 0
// without true signatures. Calls for one entry must be in CU order and, within a CU,
// in DIE order.
func (s *States) Add(entry uint32, f Flags, sym, ret uint32, params []Param, ann []Annotation) bool {
	if entry == 0 {
		return false
	}
	s.counts.Added++
	f &= inputFlags
	if ref := s.find(entry, f, sym, ret, params, ann); ref != 0 {
		if !keepTwo(f, sym) || s.record(ref).flags&recTwice != 0 {
			return false
		}
		s.blocks[ref>>blockBits][ref%blockWords+2] |= uint32(recTwice) << 16
	}
	ref := s.write(entry, f, sym, ret, params, ann)
	switch n := s.heads[entry].n; {
	case n == maxChain+1: // the index takes all records of the entry
		for r := ref; r != 0; r = s.record(r).prev {
			s.recs.insert(s.hashOf(r), r, s.hashOf)
		}
	case n > maxChain:
		s.recs.insert(s.hashOf(ref), ref, s.hashOf)
	}
	return true
}

// Place returns the number of the state that Add has last kept for an entry: see Choice.Place.
func (s *States) Place(entry uint32) uint32 {
	return s.heads[entry].last
}

// Count returns how much has been added and kept.
func (s *States) Count() Counts {
	return s.counts
}

// keepTwo reports whether two copies of a state are kept, see States.
func keepTwo(f Flags, sym uint32) bool {
	return sym != 0 && f&(Unexpected|Uncertain) == 0
}

// record is a view of one record.
type record struct {
	prev, entry, sym, ret uint32
	flags                 Flags
	params, ann           []uint32 // two words each
}

// record returns the record at ref.
func (s *States) record(ref uint32) record {
	w := s.blocks[ref>>blockBits][ref%blockWords:]
	r := record{prev: w[0], entry: w[1], flags: Flags(w[2] >> 16), ret: w[3]}
	params, ann := w[2]&manyParams, uint32(0)
	w = w[4:]
	if r.flags&recSym != 0 {
		r.sym, w = w[0], w[1:]
	}
	if r.flags&recAnn != 0 {
		ann, w = w[0], w[1:]
	}
	if params == manyParams {
		params, w = w[0], w[1:]
	}
	r.params, r.ann = w[:2*params], w[2*params:2*params+2*ann]
	return r
}

// write appends a record and makes it the last one of its entry.
func (s *States) write(entry uint32, f Flags, sym, ret uint32, params []Param, ann []Annotation) uint32 {
	for len(s.heads) <= int(entry) {
		s.heads = append(s.heads, head{})
	}
	prev := s.heads[entry].last
	if prev == 0 {
		s.counts.Entries++
	}
	s.counts.Kept++
	few := min(uint32(len(params)), manyParams)
	if sym != 0 {
		f |= recSym
	}
	if len(ann) != 0 {
		f |= recAnn
	}
	ref, w := s.block(7 + 2*len(params) + 2*len(ann))
	w = append(w, prev, entry, uint32(f)<<16|few, ret)
	if sym != 0 {
		w = append(w, sym)
	}
	if len(ann) != 0 {
		w = append(w, uint32(len(ann)))
	}
	if few == manyParams {
		w = append(w, uint32(len(params)))
	}
	for _, p := range params {
		w = append(w, p.Name, p.Type)
	}
	for _, a := range ann {
		w = append(w, a.Value, uint32(a.Component))
	}
	s.blocks[len(s.blocks)-1] = w
	s.heads[entry].last = ref
	s.heads[entry].n++
	return ref
}

// block returns the last block, made so that it has room for n more words. ref is the ref of a record
// that begins with the next word. The caller stores the extended block.
func (s *States) block(n int) (ref uint32, w []uint32) {
	w = s.blocks[len(s.blocks)-1]
	if len(s.blocks) == 1 && cap(w)-len(w) < n && len(w)+n <= blockWords {
		w = append(make([]uint32, 0, min(2*(len(w)+n), blockWords)), w...)
		s.blocks[0] = w
	}
	if cap(w)-len(w) < n || len(w) >= blockWords {
		if n <= blockWords && len(s.spare) > 0 {
			w, s.spare = s.spare[:0:blockWords], s.spare[blockWords:]
		} else {
			w = make([]uint32, 0, max(n, blockWords))
		}
		s.blocks = append(s.blocks, w)
	}
	return uint32(len(s.blocks)-1)<<blockBits | uint32(len(w)), w
}

// find returns the first record with this content, or 0.
func (s *States) find(entry uint32, f Flags, sym, ret uint32, params []Param, ann []Annotation) uint32 {
	if int(entry) >= len(s.heads) {
		return 0
	}
	hd := s.heads[entry]
	if hd.n > maxChain {
		return s.findIndexed(entry, f, sym, ret, params, ann)
	}
	first := uint32(0)
	for ref := hd.last; ref != 0; {
		r := s.record(ref)
		if r.same(f, sym, ret, params, ann) {
			first = ref
		}
		ref = r.prev
	}
	return first
}

// findIndexed is find for an entry whose records are in the index.
func (s *States) findIndexed(entry uint32, f Flags, sym, ret uint32, params []Param, ann []Annotation) uint32 {
	h := s.hash(entry, f, sym, ret, params, ann)
	x, tag := &s.recs, tagOf(h)
	first := uint32(0)
	for pos := x.home(h); x.tags[pos] != 0; pos = x.next(pos) {
		ref := x.refs[pos]
		if x.tags[pos] != tag || first != 0 && ref > first {
			continue
		}
		if r := s.record(ref); r.entry == entry && r.same(f, sym, ret, params, ann) {
			first = ref
		}
	}
	return first
}

// same reports whether r, a record of the right entry, has this content.
func (r *record) same(f Flags, sym, ret uint32, params []Param, ann []Annotation) bool {
	return r.flags&inputFlags == f && r.sym == sym && r.ret == ret && sameParams(r.params, params) && sameAnnotations(r.ann, ann)
}

func sameParams(w []uint32, params []Param) bool {
	if len(w) != 2*len(params) {
		return false
	}
	for i, p := range params {
		if w[2*i] != p.Name || w[2*i+1] != p.Type {
			return false
		}
	}
	return true
}

func sameAnnotations(w []uint32, ann []Annotation) bool {
	if len(w) != 2*len(ann) {
		return false
	}
	for i, a := range ann {
		if w[2*i] != a.Value || w[2*i+1] != uint32(a.Component) {
			return false
		}
	}
	return true
}

// hash hashes the content of a state. The seed differs from run to run, so an
// input file cannot be made to collide; no result depends on it.
func (s *States) hash(entry uint32, f Flags, sym, ret uint32, params []Param, ann []Annotation) uint64 {
	h := s.mix(s.seed, entry, uint32(f))
	h = s.mix(h, sym, ret)
	h = s.mix(h, uint32(len(params)), uint32(len(ann)))
	for _, p := range params {
		h = s.mix(h, p.Name, p.Type)
	}
	for _, a := range ann {
		h = s.mix(h, a.Value, uint32(a.Component))
	}
	return h
}

// hashOf is hash for the record at ref.
func (s *States) hashOf(ref uint32) uint64 {
	r := s.record(ref)
	h := s.mix(s.seed, r.entry, uint32(r.flags&inputFlags))
	h = s.mix(h, r.sym, r.ret)
	h = s.mix(h, uint32(len(r.params)/2), uint32(len(r.ann)/2))
	for i := 0; i < len(r.params); i += 2 {
		h = s.mix(h, r.params[i], r.params[i+1])
	}
	for i := 0; i < len(r.ann); i += 2 {
		h = s.mix(h, r.ann[i], r.ann[i+1])
	}
	return h
}

// mix adds two words to a hash.
func (s *States) mix(h uint64, a, b uint32) uint64 {
	return arena.MixSeeded(h, uint64(a)|uint64(b)<<32, s.seed)
}
