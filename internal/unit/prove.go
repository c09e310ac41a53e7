package unit

import (
	"encoding/binary"
	"math/bits"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// Nine of ten types of a unit are in the set already, and mostly the reader can foresee which
// one comes: the id after the last one. So it compares a type's DIE with the record of that
// type while it reads, and leaves the type out if they agree (dedup.Known). Then it needs no
// node, no members, no links and no look-up. A type that does not agree, or is rare, becomes
// a node. Nothing is left out that was not compared:
//
//   - Name, size, values, and the names and offsets of members are compared word by word.
//   - A record's reference to type t agrees with a reference to the DIE at offset o if the
//     DIE at o has got the id t. met has pairs of t and o, so one load proves this.
//   - If the DIE comes later, the pair is noted in assumed, and proved at the end of the unit
//     (settle). If the DIE has become a node, whose id is not known yet, the pair is noted in
//     unproved, and Commit proves it.

// MayProve reports whether types of the unit that Start has found can be proved while they are
// read.
func MayProve(r *Reader) bool { return r.Unit.Facts.Language != langRust }

// ReadKnown is Read for a unit whose types set may know. It leaves out those that it knows.
// done is false if the unit must be read as a whole: it has something that proofs do not cover, or
// an assumption was wrong. Then err may be set, and reading the whole unit gives the right error.
func ReadKnown(r *Reader, p int, set *dedup.Set) (done bool, err error) {
	x := &r.proofs
	x.begin(set, len(r.Cursor.Hdr.Data))
	defer func() {
		x.on = false
		x.known.End()
	}()
	if x.index = r.Unit.ArrayIndex; x.index == 0 {
		// The first unit with an array tells. Mostly its int is the one of the base.
		if x.index = x.known.Int(r.Cursor.File.Names.Int); x.index == 0 {
			return false, nil
		}
	}
	if err := r.walk(p); err != nil || !x.settled || x.arrays && r.Unit.ArrayIndex == 0 && r.Unit.FirstInt != x.index|dedup.Extern {
		return false, err
	}
	if len(r.NeedTypes) > 0 || len(r.cross.S) > 0 || len(r.stubs) > 0 || len(r.specs) > 0 || len(r.Unit.Unencodable.nodes) > 0 || needSizes(r.oldBits.S) {
		return false, nil
	}
	r.Unit.Facts.LacksTypes = len(x.refs.S) == 0 && lacksTypes(&r.Cursor, p)
	if err := r.inlined(); err != nil {
		return false, err
	}
	r.linkRefs()
	if r.Cursor.Err != nil || r.Unit.Unencodable.voids && r.In.Options.ForKernel {
		return false, nil
	}
	own := len(r.Unit.Types.Nodes.S) - len(r.extra.S)
	leftOut := len(x.refs.S) - own + x.inner
	if leftOut == 0 && x.moved {
		return false, nil
	}
	if leftOut > 0 {
		x.known.LeaveOut(&r.Unit.Types, dedup.LeftOut{Types: leftOut, Refs: x.refs.S, Forwards: x.forwards.S, Unproved: x.unproved.S, Moved: x.moved, Older: x.older.S})
	}
	return true, r.Settle()
}

// Proved returns the types of the unit that ReadKnown has read, in the order of their DIEs. Those
// that it left out are Extern, the others nodes. It is valid until the next unit.
func Proved(r *Reader) []dedup.Ref { return r.proofs.refs.S }

// settle proves the assumptions about DIEs that came later, now that all DIEs have been read. It
// leaves assumptions about nodes to Commit. If one is wrong, the struct or union that relied on it
// becomes a node. ok is false if the unit must be read as a whole.
func (w *walker) settle() (ok bool, err error) {
	x := w.prover
	x.on = false
	met, stamp := x.met, x.stamp
	for _, a := range x.assumed.S {
		if met[a.id&metMask] == metPair(a.id, stamp+a.ref) {
			continue
		}
		if to := x.refAt(a.ref); to != a.id|dedup.Extern {
			if ok, err := settleAssumption(w, a, to); !ok || err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// settleAssumption handles an assumption a that settle cannot confirm at once: the DIE at a.ref has
// become to, a node or another type than a.id, or no type if to is 0. An equivalent type may do. Of a
// node, Commit decides. Otherwise the type that relied on a must become a node. ok is false if
// the unit must be read as a whole.
//
//go:noinline
func settleAssumption(w *walker, a assumption, to dedup.Ref) (ok bool, err error) {
	x := w.prover
	member, strict := false, x.known.Strict() // member: a struct or union relies on a
	if strict || to&dedup.Extern == 0 {
		owner, _, _ := x.at(int(a.owner))
		member = owner != nil && owner.Class == dwarf.ClassAggregate
	}
	alike := member || !strict
	switch {
	case to == 0:
		return false, nil
	case to&dedup.Extern != 0:
		if alike && x.isSame(a.ref, to&^dedup.Extern, a.id) {
			return true, nil
		}
	default:
		p := dedup.Unproved{Ref: to, ID: a.id, Exact: !alike, Member: member}
		if x.isNoted(p) {
			return true, nil
		}
		if x.plausible(a.ref, a.id, alike, 0) {
			x.note(p)
			return true, nil
		}
	}
	return w.takeBack(int(a.owner))
}

// takeBack makes a node of the struct or union at off, which was left out. References to it
// were proved by its id, so it adds the assumption that the node gets this id. ok is false if the
// DIE is another type.
func (w *walker) takeBack(off int) (ok bool, err error) {
	x := w.prover
	k := startRef(x.starts, uint32(off)) - 1
	id := x.refs.S[k]
	if id&dedup.Extern == 0 {
		return true, nil
	}
	a, _, p := x.at(off)
	if a == nil || a.Class != dwarf.ClassAggregate {
		return false, nil
	}
	x.refs.S[k] = dedup.Ref(x.r.Unit.nodes()) + 1
	x.moved = true
	x.unproved.Append(dedup.Unproved{Ref: x.refs.S[k], ID: id &^ dedup.Extern})
	x.r.push(inUnit, 0)
	dies := x.r.Unit.Facts.DIEs
	if p, err = w.aggregate(die{a, off, p, a.Direct}, &x.r.frames.S[0]); err == nil && len(x.r.frames.S) > 1 {
		_, err = w.read(p, 1)
	}
	x.r.Unit.Facts.DIEs = dies
	x.r.frames.S = x.r.frames.S[:0]
	return err == nil, err
}

// start prepares for the walk over the unit of r.
func (x *prover) start(r *Reader) {
	x.r, x.b, x.tab = r, r.Cursor.Hdr.Data, r.Cursor.Abbrevs.Dense()
	x.met, x.starts, x.be = (*[metSize]uint64)(x.proofs.met.S), r.starts.S, r.Cursor.File.BigEndian
	x.text.begin(&r.Cursor)
	if x.mostGuesses = 0; x.text.byText {
		x.mostGuesses = maxGuesses
	}
	if x.maxDepth = plausibleDepth; x.known.Strict() {
		x.maxDepth = strictDepth
	}
	if len(x.tab) >= lowCodes {
		x.lowTab = (*[lowCodes]dwarf.Abbrev)(x.tab)
		return
	}
	if x.ownLowTab == nil {
		x.ownLowTab = new([lowCodes]dwarf.Abbrev)
	}
	x.lowTab = x.ownLowTab
	clear(x.lowTab[copy(x.lowTab[:], x.tab):])
}

// run proves the types from the DIE at off on. It returns the offset of the first DIE that is
// not a type or is not proved, and how many DIEs came before it.
func (x *prover) run(off int) (next int, dies uint64) {
	x.known.Yield()
	for {
		a, d, p := x.at(off)
		if a == nil {
			return off, dies
		}
		end, n := 0, 0
		switch a.Class {
		case dwarf.ClassRef:
			end = x.reference(a, d, off, p)
		case dwarf.ClassAggregate:
			x.known.Yield() // not only before the run: all other workers wait with the Commit
			if end, n = x.aggregate(a, d, off, p); end != 0 && a.Tag == dwarf.TagClassType {
				x.r.classes.Append(uint32(off))
			}
		case dwarf.ClassProto:
			end, n = x.proto(a, d, off, p)
		case dwarf.ClassArray:
			end, n = x.array(a, d, off, p)
		case dwarf.ClassEnum:
			end, n = x.enum(a, d, off, p)
		case dwarf.ClassBase:
			end = x.base(a, off, p)
		}
		if end == 0 {
			return off, dies
		}
		off = end
		dies += uint64(n) + 1
	}
}

// window is how many bytes after a code are read without a check for each value.
const window = 64 + 4

// at returns the abbreviation of the DIE at off, and where its attributes start, with the bytes
// there. The abbreviation is nil if the walk has to read the DIE: near the end of the unit, or if its
// code is not in the dense table, or its attributes may be long. For a closing zero, the class of the
// abbreviation is ClassSkip.
func (x *prover) at(off int) (a *dwarf.Abbrev, d *[window]byte, p int) {
	b, tab := x.b, x.tab
	if off >= len(b)-window-2 {
		return nil, nil, 0
	}
	code, p := uint(b[off]), off+1
	d = (*[window]byte)(b[off+1 : off+1+window])
	if code >= 0x80 {
		code = code&0x7f | uint(d[0])<<7
		p++
		d = (*[window]byte)(b[off+2 : off+2+window])
	}
	if code >= uint(len(tab)) {
		return nil, nil, 0
	}
	if a = &tab[code]; a.Size > maxProved {
		return nil, nil, 0
	}
	return a, d, p
}

// maxProved is the largest Size of an abbreviation that is read through a window, so that there is
// room for an inline name of up to three bytes.
const maxProved = 56

// load reads a direct value from the attributes d, as attrs.load does. skip is the size of an inline
// name before them.
func (x *prover) load(d *[window]byte, a *dwarf.Abbrev, slot, skip int) uint32 {
	s := &a.Slots[slot]
	v := binary.LittleEndian.Uint32(d[(int(s.Off)+skip)&63:])
	if x.be {
		v = bits.ReverseBytes32(v) >> bits.LeadingZeros32(s.Mask)
	}
	return v&s.Mask + uint32(s.Const)
}

// name reads the name of the DIE with attributes d: a token, or a place if names stand for their
// text. skip is the size of an inline name, after which the slots count. ok is false if the DIE
// is neither Direct nor Inline.
func (x *prover) name(a *dwarf.Abbrev, d *[window]byte) (name dedup.Name, skip int, ok bool) {
	switch {
	case a.Direct:
		return x.load(d, a, dwarf.SlotName, 0) + a.NameBase, 0, true
	case a.Inline:
		name, skip = inlineName(binary.LittleEndian.Uint32(d[:]))
		return name, skip, skip != 0
	}
	return 0, 0, false
}

// proved leaves out the type at off, which is the type id.
func (x *prover) proved(off int, id uint32) {
	n := len(x.refs.S)
	if n == cap(x.refs.S) {
		x.refs.Grow(n + 1)
	}
	x.refs.S = x.refs.S[:n+1]
	x.refs.S[n] = id | dedup.Extern
	m := &x.starts[uint(off)>>6]
	if m.bits == 0 {
		m.ref = dedup.Ref(n + 1)
	}
	m.bits |= 1 << (uint(off) & 63)
	if slot := id & metMask; slot != 0 {
		x.met[slot] = metPair(id, x.stamp+uint32(off))
	}
	x.guess = id + 1
}

// has reports whether the reference to the DIE at ref is known to lead to the type id.
func (x *prover) has(ref, id uint32) bool {
	return x.met[id&metMask] == metPair(id, x.stamp+ref)
}

// refAt returns the type whose DIE is at ref, 0 if there is none yet.
func (x *prover) refAt(ref uint32) dedup.Ref {
	if k := startRef(x.starts, ref); k != 0 {
		return x.refs.S[k-1]
	}
	return 0
}

// leads reports whether the reference from the DIE at off to the DIE at ref leads to the type id. If
// it cannot know yet but that is plausible, it notes the assumption and reports true. With alike, an
// equivalent type will do.
//
//go:noinline
func (x *prover) leads(ref, id uint32, off int, alike bool) bool {
	if ref == 0 || id == 0 {
		return ref == id
	}
	if ref < uint32(off) {
		to := x.refAt(ref)
		if to&dedup.Extern != 0 {
			to &^= dedup.Extern
			return to == id || alike && x.isSame(ref, to, id)
		}
		p := dedup.Unproved{Ref: to, ID: id, Exact: !alike && x.known.Strict(), Member: alike}
		if x.isNoted(p) {
			return true
		}
		if to == 0 || !x.plausible(ref, id, alike, 0) {
			return false
		}
		x.note(p)
		return true
	}
	if !(alike && x.named) && !x.plausible(ref, id, alike, 0) {
		return false
	}
	x.follow(ref, id, off)
	return true
}

// forget removes the assumptions that were added since x.assumed and x.unproved had so many elements.
func (x *prover) forget(assumed, unproved int) {
	x.assumed.S, x.unproved.S = x.assumed.S[:assumed], x.unproved.S[:unproved]
}

// signEnum is Unit.signEnum for a type that was left out.
func (x *proofs) signEnum(n *dedup.Node, r dedup.Ref) {
	w := x.known.Record(r &^ dedup.Extern)
	if btf.InfoKind(n.Info) == btf.KindEnum64 && w.Kind() == btf.KindInt && w.Data()>>24 == 1 {
		n.Info = btf.Info(btf.KindEnum64, btf.InfoVlen(n.Info), true)
	}
}
