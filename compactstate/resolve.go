package compactstate

// Which functions are emitted, in which order, from which state.
//
//  1. Entries that have states are sorted by base name (bytes; equal names of
//     several files in file order).
//  2. The states of one *name* are put in order: those with an address first,
//     otherwise in the order of adding. Consecutive states of one entry are a
//     group. With one input file that is all states of the entry. With several
//     files that have the name, an entry can form two groups, one with and one
//     without addresses, and its function is emitted twice; pahole does that.
//  3. The states of a group are combined: flags are merged and prototypes
//     compared, see combine.
//  4. With true signatures, a state that belongs to a symbol with a suffix may
//     win at once, see trueSignature.
//  5. Otherwise there is a canonical state, see canonical, and a list of
//     reasons to skip the group, see reason.

import (
	"bytes"
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/internal/workers"
)

// Decide has the options and the type comparison that Resolve needs.
type Decide struct {
	// TrueSignature is the feature true_signature: emit functions with a
	// changed signature under the full name of their symbol.
	TrueSignature bool
	// ConsistentFunc is the feature consistent_func: skip functions whose
	// states have different prototypes.
	ConsistentFunc bool
	// Workers is how many goroutines may decide; less than 2 for none.
	Workers int
	// Match reports whether types x and y count as equal when prototypes are
	// compared. It is called only with x != y, both not void; x is of the
	// first state of the group. With Workers, several goroutines call it.
	Match func(x, y uint32) bool
	// Mismatch, if set, gets the first difference between the prototypes of two
	// states of an entry, before the decision about the entry. what is −1 for the
	// number of parameters, 0 for the return type, else the parameter, from 1 on.
	// a and b alternate names and types of parameters, and are valid during the
	// call only; a is the first state of the group. Not with Workers.
	Mismatch func(entry uint32, what int, a, b []uint32)
	// Hash, if set, hashes a function's name for Strings. With Workers, several
	// goroutines call it.
	Hash func(name []byte) uint32
	// Strings, if set, is called for each function to emit, in the same order but
	// before emit. With Workers, it runs on a goroutine of its own, mostly long
	// before emit. The Choice has no Token and Ret yet. It has Params and
	// Annotations for kfuncs and functions with annotations, and with AllParams
	// for all functions. The result becomes Token.
	Strings   func(c *Choice) (token uint32, err error)
	AllParams bool
	// Ahead, if set, gets the entries of functions that come next in Strings, and
	// the hashes of their names. It can load into the cache what Strings needs.
	// The slices are valid during the call only.
	Ahead func(entries, hashes []uint32)
	// AheadTypes, if set, gets the functions that come next in emit, all of them and in the
	// same order. It can load into the cache what emit needs. The slice is valid during
	// the call only.
	AheadTypes func(choices []Choice)
}

// Choice is one function to emit. It and its slices are valid during the call
// only, Name longer, see FuncTable.Name.
type Choice struct {
	Entry       uint32
	Place       uint32 // of the state, see States.Place
	Symbol      bool   // Name is the name of a symbol, not of the entry
	Name        []byte // name of the FUNC
	Hash        uint32 // of Name; for Strings only
	Token       uint32 // what Strings returned; not for Strings
	Ret         uint32
	Params      []Param
	Annotations []Annotation
	Kfunc       bool // add the kfunc tags
	KfuncFlags  uint32
}

// mergedFlags are the flags that states of a group pass on to each other.
const mergedFlags = Unexpected | Inconsistent | Uncertain | Reordered

// ResolveBytes is how many bytes Resolve may take for each entry that has states: a
// key and a decision.
const ResolveBytes = 16 + 16

// Resolve decides about every group of states, in the order in which functions
// are emitted. It calls emit for a function to emit and skip for one to leave out;
// skip may be nil. With Workers, another goroutine calls both. An error of emit or
// Decide.Strings ends Resolve, which returns it unchanged after it has called emit
// and skip for all earlier groups. s does not change, so Resolve can be called again.
func (s *States) Resolve(t *FuncTable, d Decide, emit func(*Choice) error, skip func(name []byte, reason Reason)) error {
	order := s.sorted(t)
	if d.Workers < 2 {
		r := resolver{s: s, t: t, d: d}
		c := carrier{s: s, t: t, d: d, emit: emit, skip: skip}
		for len(order) > 0 {
			r.made = r.made[:0]
			order = r.decide(order)
			if err := c.inTurns(r.made); err != nil {
				return err
			}
		}
		return nil
	}
	// All decisions come first, because emit may change what Match reads.
	pieces := pieces(t, order, min(d.Workers, len(order)/minParallel))
	made := make([][]decision, len(pieces))
	workers.Do(len(pieces), func(k int) {
		r := resolver{s: s, t: t, d: d, made: make([]decision, 0, len(pieces[k]))}
		for order := pieces[k]; len(order) > 0; {
			order = r.decide(order)
		}
		made[k] = r.made
	})
	return sideBySide(made, carrier{s: s, t: t, d: d, emit: emit, skip: skip})
}

// sameName returns how many entries at the start of order have the name of the first.
func sameName(t *FuncTable, order []sortKey) int {
	n := 1
	for n < len(order) && order[n].prefix == order[0].prefix &&
		bytes.Equal(t.Name(order[n].entry), t.Name(order[0].entry)) {
		n++
	}
	return n
}

// pieces cuts order into n pieces, or one if n is less than 2, with all entries
// of a name in one piece.
func pieces(t *FuncTable, order []sortKey, n int) (out [][]sortKey) {
	for ; n > 1; n-- {
		at := len(order) / n
		for at > 0 && at < len(order) && bytes.Equal(t.Name(order[at-1].entry), t.Name(order[at].entry)) {
			at++
		}
		out, order = append(out, order[:at]), order[at:]
	}
	return append(out, order)
}

// resolver is the working memory of a goroutine that decides.
type resolver struct {
	s *States
	t *FuncTable
	d Decide

	refs   []uint32 // all states of one name
	states []record // the same, in the order of the rules
	places []uint32 // their refs
	flags  []Flags  // combined flags of a group
	made   []decision

	touched arena.Touched
}

// blockSize is how many entries or decisions are read together, so that their cache
// misses overlap.
const blockSize = 64

// decide decides about a block of entries at the start of order, and returns the
// entries after them. A name is never divided, so it may decide about more than a block.
func (r *resolver) decide(order []sortKey) []sortKey {
	var last [blockSize]uint32
	block := order[:min(blockSize, len(order))]
	for i, k := range block {
		last[i] = r.s.heads[k.entry].last
	}
	for i, k := range block {
		r.touched.Read(r.s.blocks[last[i]>>blockBits][last[i]%blockWords])
		r.touched.ReadFirst(r.t.Name(k.entry))
	}
	for done := 0; done < len(block); {
		n := sameName(r.t, order)
		r.name(order[:n])
		order = order[n:]
		done += n
	}
	return order
}

// name decides about the groups of one name.
func (r *resolver) name(entries []sortKey) {
	r.refs, r.states, r.places = r.refs[:0], r.states[:0], r.places[:0]
	for _, k := range entries {
		for ref := r.s.heads[k.entry].last; ref != 0; ref = r.s.record(ref).prev {
			r.refs = append(r.refs, ref)
		}
	}
	slices.Sort(r.refs) // refs ascend in the order of adding
	for _, want := range [2]Flags{HasAddress, 0} {
		for _, ref := range r.refs {
			if rec := r.s.record(ref); rec.flags&HasAddress == want {
				r.states = append(r.states, rec)
				r.places = append(r.places, ref)
			}
		}
	}
	for from, to := 0, 0; from < len(r.states); from = to {
		for to = from + 1; to < len(r.states) && r.states[to].entry == r.states[from].entry; {
			to++
		}
		r.made = append(r.made, r.group(r.states[from:to], r.places[from:to]))
	}
}

// group decides about one group, the states at the refs.
func (r *resolver) group(states []record, refs []uint32) decision {
	e := states[0].entry
	r.combine(states)
	if r.d.TrueSignature {
		if i := r.trueSignature(states); i >= 0 {
			return decision{ref: refs[i], entry: e, symbol: true, tagged: len(states[i].ann) > 0, name: r.hash(r.t.SymbolName(states[i].sym))}
		}
	}
	canon := r.canonical(states)
	if reason, skip := r.reason(e, &states[canon]); skip {
		return decision{entry: e, reason: reason}
	}
	return decision{ref: refs[canon], entry: e, tagged: len(states[canon].ann) > 0, name: r.hash(r.t.Name(e))}
}

// hash is d.Hash.
func (r *resolver) hash(name []byte) uint32 {
	if r.d.Hash == nil {
		return 0
	}
	return r.d.Hash(name)
}

// combine sets r.flags. It merges each later state with the first in both directions.
// So the first state gets the flags of all, and each later state its own and the
// flags of all before it. If a pair shows no other defect, combine compares their
// prototypes. With true signatures, a state without an address may have another
// prototype than a first state with one.
func (r *resolver) combine(states []record) {
	r.flags = r.flags[:0]
	for i := range states {
		r.flags = append(r.flags, states[i].flags&inputFlags)
	}
	a, first := &states[0], r.flags[0]
	for i := 1; i < len(states); i++ {
		b := &states[i]
		merged := (first | r.flags[i]) & mergedFlags
		if merged&(Unexpected|Inconsistent|Reordered) == 0 &&
			!(r.d.TrueSignature && a.flags&HasAddress != 0 && b.flags&HasAddress == 0) &&
			!r.samePrototype(a, b) {
			merged |= Inconsistent
		}
		first |= merged
		r.flags[i] |= merged
	}
	r.flags[0] = first
}

// samePrototype compares return and parameter types, but not the names of parameters.
func (r *resolver) samePrototype(a, b *record) bool {
	what := 0
	switch {
	case len(a.params) != len(b.params):
		what = -1
	case r.sameType(a.ret, b.ret):
		for i := 1; ; i += 2 {
			if i >= len(a.params) {
				return true
			}
			if !r.sameType(a.params[i], b.params[i]) {
				what = i/2 + 1
				break
			}
		}
	}
	if r.d.Mismatch != nil {
		r.d.Mismatch(a.entry, what, a.params, b.params)
	}
	return false
}

// sameType compares two types, of which void equals only itself.
func (r *resolver) sameType(x, y uint32) bool {
	if x == y {
		return true
	}
	return x != 0 && y != 0 && r.d.Match != nil && r.d.Match(x, y)
}

// trueSignature returns the position of the first state that has a symbol of its
// own and whose parameters are where they should be, −1 if there is none. Such a
// state is emitted under the symbol's name, whatever its other defects.
func (r *resolver) trueSignature(states []record) int {
	for i := range states {
		if states[i].sym != 0 && r.flags[i]&(Unexpected|Uncertain) == 0 {
			return i
		}
	}
	return -1
}

// canonical returns the position of the state that stands for the group. Best is the first
// state at the address of a symbol that is not optimized, then the first at the address of
// a symbol, then the first.
func (r *resolver) canonical(states []record) int {
	match := -1
	for i := range states {
		if states[i].flags&AddressMatches == 0 {
			continue
		}
		if !r.optimized(states[i].flags) {
			return i
		}
		if match < 0 {
			match = i
		}
	}
	return max(match, 0)
}

// optimized reports whether a state with flags f lacks parameters of the source.
func (r *resolver) optimized(f Flags) bool {
	return !r.d.TrueSignature && f.Optimized()
}

// reason returns the reason to skip the group, the last one that holds.
func (r *resolver) reason(e uint32, canon *record) (reason Reason, skip bool) {
	set := func(cond bool, why Reason) {
		if cond {
			reason, skip = why, true
		}
	}
	f := r.flags[0]
	set(f&Unexpected != 0, ReasonUnexpected)
	set(r.d.ConsistentFunc && f&Inconsistent != 0, ReasonInconsistent)
	set(f&Uncertain != 0, ReasonUncertain)
	set(f&Reordered != 0, ReasonReordered)
	set(r.optimized(canon.flags), ReasonOptimized)
	set(r.t.Ambiguous(e), ReasonAmbiguous)
	return reason, skip
}
