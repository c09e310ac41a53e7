package dedup

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// Split BTF.
//
// A Set over a base starts with the base's types under their own type ids, so
// that units find them like types of earlier units; only what it lacks becomes
// a new id, and only that is numbered and written. The base's records never
// change, but a forward declaration of the base may be forwarded for the time
// of one output: own references to it then lead to an own definition.
//
// The reference deduplication does three things to a base that the Set must
// repeat:
//
//   - A type of the base does not take in a unit's type if that would give a
//     forward declaration of the base a body: the unit's type is kept as well,
//     and from then on the forward stands for that body. match.go sees such a
//     unit as one with conflicting names, and the walk in slow.go does as above.
//   - That rule looks at the base's own graph only. Where a comparison starts at
//     an own type, what lies behind it is the graph of that type's unit, even
//     where this one has been found to be the base's; and what was a copy of a
//     type of the base there is the copy, not the base's (copyOf).
//   - What a forward declaration of a unit stands for, the base's forward or an
//     own definition, is known at the end only. So it is an own type, the proxy
//     of the base's, and Finish merges those that were left.

// Base is BTF that other BTF is split from, ready for look-ups. It is immutable
// and may be shared by any number of Sets and goroutines.
type Base struct {
	blob    *btf.Blob
	chain   []*btf.Blob // root first
	types   uint32      // type ids are 1..types
	strEnd  uint32      // string offsets are below it
	longest int         // length of the longest string
	slots   arena.Vec[stringSlot]
	short   map[Name]uint32   // offsets of the texts whose token is their content
	aliases map[uint32]Name   // tokens of string offsets whose token is another one
	aliased arena.Vec[uint64] // bit per string offset: aliases has it
}

// Name tokens of a base's strings.
const (
	// BaseToken marks the token of a string of the base: the string offset is
	// in the bits below. Tokens up to BaseToken+MaxBaseStrings-1 are in use.
	BaseToken = 0x40000000
	// MaxBaseStrings is how many bytes the strings of a base may have.
	MaxBaseStrings = 0x20000000
)

// NewBase prepares blob, with its own bases, as a base. A Base holds on to
// blob, which must not be changed. Short gives the token of texts whose token
// is their content (see Token); it reports false for all others.
func NewBase(blob *btf.Blob, short func(text []byte) (Name, bool)) (*Base, error) {
	b := &Base{blob: blob, types: blob.TypeCount() - 1, strEnd: blob.StrEnd(),
		short: make(map[Name]uint32), aliases: make(map[uint32]Name)}
	if b.types >= MaxIDs || b.strEnd > MaxBaseStrings {
		return nil, fmt.Errorf("base has %d types and %d bytes of strings, more than can be built upon", b.types, b.strEnd)
	}
	for x := blob; x != nil; x = x.Base {
		b.chain = append([]*btf.Blob{x}, b.chain...)
	}
	n := 0
	for _, x := range b.chain {
		n += bytes.Count(x.Strings, []byte{0})
	}
	size := 1 << 10
	for size < 2*n {
		size *= 2
	}
	b.slots.Resize(size)
	b.aliased.Resize(int(b.strEnd)/64 + 1)
	for _, x := range b.chain {
		for s, off := x.Strings, x.StrBase; len(s) > 0; {
			n := bytes.IndexByte(s, 0)
			b.addText(s[:n], off, short)
			s, off = s[n+1:], off+uint32(n)+1
		}
	}
	return b, nil
}

func (b *Base) addText(text []byte, off uint32, short func([]byte) (Name, bool)) {
	if len(text) == 0 {
		if off != 0 {
			b.alias(off, 0)
		}
		return
	}
	if t, ok := short(text); ok {
		if _, again := b.short[t]; !again {
			b.short[t] = off
		}
		b.alias(off, t)
		return
	}
	h := TextHash(text)
	if t := b.Token(text, h); t != 0 {
		b.alias(off, t) // the first of equal strings counts
		return
	}
	b.longest = max(b.longest, len(text))
	mask := uint32(len(b.slots.S) - 1)
	i := h & mask
	for b.slots.S[i].token != 0 {
		i = (i + 1) & mask
	}
	b.slots.S[i] = stringSlot{token: BaseToken | off, off: h}
}

// alias gives the string at off the token t.
func (b *Base) alias(off uint32, t Name) {
	b.aliases[off] = t
	b.aliased.S[off/64] |= 1 << (off % 64)
}

// Token is the token of a text that is a string of the base and whose token is
// not its content; 0 if there is none. h is TextHash(text).
func (b *Base) Token(text []byte, h uint32) Name {
	mask := uint32(len(b.slots.S) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		e := b.slots.S[i]
		if e.token == 0 {
			return 0
		}
		if e.off != h {
			continue
		}
		if s := b.tail(e.token &^ BaseToken); len(s) > len(text) && s[len(text)] == 0 && string(s[:len(text)]) == string(text) {
			return e.token
		}
	}
}

// tail is the string section from a string offset on.
func (b *Base) tail(off uint32) []byte {
	x := b.blob
	for off < x.StrBase {
		x = x.Base
	}
	if off >= x.StrEnd() {
		return nil
	}
	return x.Strings[off-x.StrBase:]
}

// Bytes is the text of a token of the base. It is part of the base.
func (b *Base) Bytes(t Name) []byte { return b.blob.NameBytes(t &^ BaseToken) }

// Types is the number of types of the base, with those of its own bases.
func (b *Base) Types() int { return int(b.types) }

// StrEnd is the first string offset behind the base's strings.
func (b *Base) StrEnd() uint32 { return b.strEnd }

// BigEndian is the byte order of the base's target.
func (b *Base) BigEndian() bool { return b.blob.BigEndian }

// Blob is the BTF that the Base was made of.
func (b *Base) Blob() *btf.Blob { return b.blob }

// token is the token of a string offset.
func (b *Base) token(off uint32) Name {
	if off == 0 {
		return 0
	}
	if b.aliased.S[off/64]>>(off%64)&1 != 0 {
		return b.aliases[off]
	}
	return BaseToken | off
}

// offset is the string offset of a token's text; false if the base lacks it.
func (b *Base) offset(t Name) (uint32, bool) {
	if t >= BaseToken && t < BaseToken+MaxBaseStrings {
		return t &^ BaseToken, true
	}
	off, ok := b.short[t]
	return off, ok
}

// Free gives the memory back. No Set may use the Base any more.
func (b *Base) Free() {
	b.slots.Free()
	b.aliased.Free()
}

// baseState is what a Set remembers to become empty again over its base.
type baseState struct {
	*Base
	words, ents, entered int
	forward              map[forwardKey]uint32 // FWDs of the base
	redirected           []uint32              // forwards of the base that lead to own types
	pointed              []uint32              // types of the base with an own PTR or CONST
	crowded              []uint32              // types of the base that own types have taken lone from
	copies               map[uint32][]uint32   // own copies of types of the base, oldest first
	unitEnds             []uint32              // last id of each unit that brought new types
	// noTypedefs keeps units from finding TYPEDEFs of the base, as libbpf 1.7.0
	// does. Set it before the first unit.
	noTypedefs bool
}

// NewSplitSet makes a Set for types that build upon base; about types of them
// are expected. noTypedefs repeats a flaw of libbpf 1.7.0: typedefs of the base
// are never found.
func NewSplitSet(names Names, base *Base, types int, noTypedefs bool) (*Set, error) {
	s := NewSet(names, int(base.types)+types)
	s.base = &baseState{Base: base, forward: make(map[forwardKey]uint32), copies: make(map[uint32][]uint32), noTypedefs: noTypedefs}
	s.baseIDs = base.types
	s.strings.base = base
	s.strings.init()
	if err := s.loadBase(); err != nil {
		s.Free()
		return nil, err
	}
	return s, nil
}

// loadBase enters the types of the base under their type ids.
func (s *Set) loadBase() error {
	b := s.base
	words := 0
	for _, x := range b.chain {
		words += len(x.Words)
	}
	s.words.Grow(words + 3)
	if _, err := s.newIDs(int(b.types)); err != nil {
		return err
	}
	id := uint32(1)
	for _, x := range b.chain {
		for i, off := range x.Off {
			end := uint32(len(x.Words))
			if i+1 < len(x.Off) {
				end = x.Off[i+1]
			}
			r := x.Words[off:end]
			w, err := s.add(id, len(r))
			if err != nil {
				return err
			}
			copy(w, r)
			w[0], w[1] = r[1], b.token(r[0])
			k, vlen := btf.InfoKind(r[1]), btf.InfoVlen(r[1])
			stride, n := btf.NameWords(k, vlen)
			for j := 0; j < n; j++ {
				w[3+j*stride] = b.token(w[3+j*stride])
			}
			if !irregular(r) {
				s.indexBase(id, k, w)
			}
			id++
		}
	}
	b.words, b.ents, b.entered = len(s.words.S), len(s.ents.S), s.entered
	b.crowded = b.crowded[:0]
	s.conflicts = 0
	return nil
}

// indexBase is index for a type of the base.
func (s *Set) indexBase(id uint32, k btf.Kind, w []uint32) {
	switch k {
	case btf.KindFwd:
		s.addEntity(w[1])
		s.base.forward[forwardKey{w[1], fwdAggregate(w[0])}] = id
	case btf.KindEnum, btf.KindEnum64:
		if w[1] != 0 && btf.InfoVlen(w[0]) == 0 {
			s.addEntity(w[1])
			s.base.forward[forwardKey{w[1], entEnum}] = id
			break
		}
		s.index(id)
	case btf.KindFunc, btf.KindFuncProto:
		s.insert(id, contentHash(w))
	default:
		s.index(id)
	}
}

// forwardKey is a name and entStruct, entUnion or entEnum.
type forwardKey struct {
	name Name
	kind int
}

// baseForward is the forward declaration of the base that own forwards of the
// name and kind are proxies of; 0 if there is none.
func (s *Set) baseForward(name Name, kind int) uint32 {
	if s.base == nil {
		return 0
	}
	return s.base.forward[forwardKey{name, kind}]
}

// setForward makes f lead to d. If f is a forward of the base, or a proxy of
// one, both do.
func (s *Set) setForward(f, d uint32) {
	s.redirect(f, d)
	if s.base == nil {
		return
	}
	w := s.record(f)
	if btf.InfoKind(w[0]) != btf.KindFwd {
		return
	}
	e, k := s.entity(w[1]), fwdAggregate(w[0])
	if o := e.fwds[k]; o != 0 && o != f && s.fwd.S[o] == o {
		s.redirect(o, d)
	}
	if o := s.baseForward(w[1], k); o != 0 && o != f && s.fwd.S[o] == o {
		s.redirect(o, d)
	}
}

func (s *Set) redirect(f, d uint32) {
	s.fwd.S[f] = d
	if f <= s.baseIDs {
		s.base.redirected = append(s.base.redirected, f)
	}
}

// setPtrTo and setConstTo enter id as the PTR to, or the CONST of, target.
func (s *Set) setPtrTo(target, id uint32) {
	s.ptrTo.S[target] = id
	if s.base != nil && target <= s.baseIDs && id > s.baseIDs {
		s.base.pointed = append(s.base.pointed, target)
	}
}

func (s *Set) setConstTo(target, id uint32) {
	s.constTo.S[target] = id
	if s.base != nil && target <= s.baseIDs && id > s.baseIDs {
		s.base.pointed = append(s.base.pointed, target)
	}
}

// noteCopies keeps which new types of u are copies of types of the base.
func (s *Set) noteCopies(u *Unit) {
	b := s.base
	for _, p := range u.slow.copies {
		if id := u.ID.S[p.def]; id > s.baseIDs {
			if c := b.copies[p.fwd]; len(c) == 0 || c[len(c)-1] < id {
				b.copies[p.fwd] = append(c, id)
			}
		}
	}
	if len(u.news.S) > 0 {
		b.unitEnds = append(b.unitEnds, uint32(len(s.off.S))-1)
	}
}

// copyOf is the type that stood for y, a type of the base, in the unit that
// ends with id end: the base's or the newest copy of it.
func (s *Set) copyOf(y, end uint32) uint32 {
	c := s.base.copies[y]
	for k := len(c) - 1; k >= 0; k-- {
		if c[k] <= end {
			return c[k]
		}
	}
	return y
}

// unitEnd is the last id of the unit that brought id.
func (s *Set) unitEnd(id uint32) uint32 {
	ends := s.base.unitEnds
	i, _ := slices.BinarySearch(ends, id)
	if i == len(ends) {
		return id
	}
	return ends[i]
}

// errNoBase is the error of Restart for a Set without a base.
var errNoBase = errors.New("dedup: Set has no base")

// Restart forgets all own types and strings, so that other units can be merged
// over the same base, with other names. The time it takes follows what is
// forgotten, not the base.
func (s *Set) Restart(names Names) error {
	b := s.base
	if b == nil {
		return errNoBase
	}
	s.tried = 0
	own := func(id uint32) bool { return id > s.baseIDs }
	mask := uint32(len(s.table.S) - 1)
	for id := uint32(len(s.off.S)) - 1; own(id); id-- {
		if s.hash.S[id]&inTable != 0 {
			// Own types stand before those of the base in every chain.
			p := &s.table.S[s.hash.S[id]&mask]
			for own(*p) {
				*p = s.next.S[*p]
			}
		}
	}
	for id := uint32(len(s.off.S)) - 1; own(id); id-- {
		w := s.record(id)
		switch btf.InfoKind(w[0]) {
		case btf.KindStruct, btf.KindUnion, btf.KindTypedef, btf.KindFwd, btf.KindEnum, btf.KindEnum64:
			if e := s.entity(w[1]); w[1] != 0 && e != nil {
				s.restoreEntity(e)
			}
		}
	}
	for k := len(s.ents.S) - 1; k >= b.ents; k-- {
		// The last in goes first: no chain of slots is cut.
		s.entTab.S[s.entitySlot(s.ents.S[k].name)] = 0
	}
	s.ents.S = s.ents.S[:b.ents]
	for _, f := range b.redirected {
		s.fwd.S[f] = f
	}
	for _, t := range b.pointed {
		if own(s.ptrTo.S[t]) {
			s.ptrTo.S[t] = 0
		}
		if own(s.constTo.S[t]) {
			s.constTo.S[t] = 0
		}
	}
	for _, id := range b.crowded {
		s.hash.S[id] |= lone
	}
	b.crowded = b.crowded[:0]
	b.redirected, b.pointed, b.unitEnds = b.redirected[:0], b.pointed[:0], b.unitEnds[:0]
	clear(b.copies)
	n := int(s.baseIDs) + 1
	for _, v := range []*arena.Vec[uint32]{&s.off, &s.fwd, &s.next, &s.hash, &s.ptrTo, &s.constTo} {
		v.S = v.S[:n]
	}
	s.words.S = s.words.S[:b.words]
	s.entered, s.conflicts, s.Slow, s.Walks = b.entered, 0, 0, 0
	s.visited.Reset()
	s.forwards.Reset()
	s.strings.restart()
	s.names = names
	return nil
}

// restoreEntity makes e know the base's types only.
func (s *Set) restoreEntity(e *entity) {
	pop := func(id uint32) uint32 {
		for id > s.baseIDs {
			id = s.next.S[id]
		}
		return id
	}
	for k := range e.defs {
		e.defs[k] = pop(e.defs[k])
	}
	e.typedefs = pop(e.typedefs)
	for k, f := range e.fwds {
		if f > s.baseIDs {
			e.fwds[k] = 0
		}
	}
	e.likely = [2]uint32{}
}
