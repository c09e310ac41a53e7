package encode

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// Name tokens.
//
// Dedup compares names ten million times for a kernel and reads few of them,
// so a name is a 32-bit token:
//
//	0                       no name
//	1 … 0x7fffffff          1 + offset in .debug_str (a linked file's, without a base)
//	0x40000000 | n          string at offset n of the base
//	0x80000000 | b0 b1 b2   an inline name of at most three bytes
//	0xc0000000 | n          number n of the pool: any other name
//
// Linkers merge .debug_str, so there equal offsets and equal names are the
// same thing. Where it is not so (a name under two offsets, or both inline and
// in .debug_str) the committer notices when it interns the second token, adds
// an alias, and the unit is read again; from then on the token is replaced
// when it is read. names is shared by all workers.
//
// With several input files the offsets of each file start behind those of the
// files before it.
type names struct {
	strs []strSection

	look     atomic.Bool // a name that is read is to be looked at: file.canonical
	hasAlias atomic.Bool // alias is not empty, or there is a prefix; then look is set
	filter   [aliasFilter / 64]atomic.Uint64
	mu       sync.RWMutex
	prefix   []byte     // Options.NamePrefix; set before units are read
	cut      dedup.Name // token of prefix
	alias    map[uint32]uint32
	pool     *pool
}

// aliasFilter is the number of bits of a filter over the aliases: aliases are
// few, and every name of a unit asks for them once there is one.
const aliasFilter = 1 << 14

// setPrefix makes every name that begins with prefix stand for the prefix
// alone. Each token is asked for as if it were an alias. It must be called
// before any other name is known.
func (n *names) setPrefix(prefix string) {
	if prefix == "" {
		return
	}
	n.cut = n.token([]byte(prefix))
	n.prefix = []byte(prefix)
	for i := range n.filter {
		n.filter[i].Store(1<<64 - 1)
	}
	n.hasAlias.Store(true)
	n.look.Store(true)
}

// mayBeAlias is false for almost all tokens that are no alias.
func (n *names) mayBeAlias(t dedup.Name) bool {
	h := t * 0x9e3779b1 >> 18
	return n.filter[h/64].Load()>>(h%64)&1 != 0
}

// strSection is the .debug_str of one input file.
type strSection struct {
	base uint32 // token of offset 0 is base + 1
	data []byte
}

const (
	tokInline = 0x80000000
	tokPool   = 0xc0000000
	tokLimit  = 1 << 31
)

// token turns the content of a name that is not in .debug_str into a token.
// It keeps no reference to b.
func (n *names) token(b []byte) dedup.Name {
	if n.prefix != nil && bytes.HasPrefix(b, n.prefix) {
		return n.cut
	}
	return n.literal(b)
}

// literal is token for a name that is not from the DWARF: the prefix of
// Options.NamePrefix does not apply.
func (n *names) literal(b []byte) dedup.Name {
	if t, ok := inlineToken(b); ok {
		return n.unalias(t)
	}
	return n.unalias(n.pool.token(n.pool.number(b)))
}

// inlineToken is the token of a name of at most three bytes, and says whether
// b is one.
func inlineToken(b []byte) (dedup.Name, bool) {
	if len(b) > 3 {
		return 0, false
	}
	if len(b) == 0 {
		return 0, true
	}
	t := dedup.Name(tokInline)
	for i, c := range b {
		t |= uint32(c) << (8 * i)
	}
	return t, true
}

// canonical replaces a token that is known to repeat another one, and one that
// begins with the prefix of Options.NamePrefix.
func (n *names) canonical(t dedup.Name) dedup.Name {
	if !n.hasAlias.Load() || !n.mayBeAlias(t) {
		return t
	}
	if n.prefix != nil {
		if b, _ := n.Bytes(t); bytes.HasPrefix(b, n.prefix) {
			return n.cut
		}
	}
	return n.unalias(t)
}

// unalias is canonical for a literal name.
func (n *names) unalias(t dedup.Name) dedup.Name {
	if !n.hasAlias.Load() || !n.mayBeAlias(t) {
		return t
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	if c, ok := n.alias[t]; ok {
		return c
	}
	return t
}

// Alias makes t stand for c from now on.
func (n *names) Alias(t, c dedup.Name) {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := t * 0x9e3779b1 >> 18
	n.filter[h/64].Or(1 << (h % 64))
	n.hasAlias.Store(true)
	n.look.Store(true)
	if n.alias == nil {
		n.alias = make(map[uint32]uint32)
	}
	n.alias[t] = c
}

// Bytes is the name behind a token. The slice is part of the mapped file or of
// the pool and must not be changed; an offset beyond .debug_str gives false.
func (n *names) Bytes(t dedup.Name) ([]byte, bool) {
	switch {
	case t == 0:
		return nil, true
	case t < tokInline:
		if n.pool.base != nil {
			return n.pool.base.Bytes(t), true // no file has other such tokens
		}
		b := n.inStr(t)
		k := bytes.IndexByte(b, 0)
		return b[:max(k, 0)], k >= 0
	case t < tokPool:
		b := []byte{byte(t), byte(t >> 8), byte(t >> 16)}
		if b[1] == 0 {
			return b[:1], true
		}
		if b[2] == 0 {
			return b[:2], true
		}
		return b, true
	}
	if t &^= tokPool; !n.pool.has(t) {
		return nil, false
	}
	return n.pool.name(t), true
}

// Touch is part of dedup.Names.
func (n *names) Touch(toks []dedup.Name) (sum byte) {
	if n.pool.base != nil {
		return 0
	}
	for _, t := range toks {
		if t == 0 || t >= tokInline {
			continue
		}
		if b := n.inStr(t); len(b) > 0 {
			sum += b[0]
		}
	}
	return sum
}

// inStr is .debug_str of the token's file from its offset on; empty if there is
// no such offset. The token must be one of an offset.
func (n *names) inStr(t dedup.Name) []byte {
	k := len(n.strs) - 1
	for k > 0 && t <= n.strs[k].base {
		k--
	}
	if k < 0 || int(t-1-n.strs[k].base) >= len(n.strs[k].data) {
		return nil
	}
	return n.strs[k].data[t-1-n.strs[k].base:]
}

// direct is the token of the direct name slot of the DIE with attributes at d.
func (f *file) direct(u *unit, a *dwarf.Abbrev, d []byte) dedup.Name {
	t := f.directPlace(u, a, d)
	if t != 0 && f.names.look.Load() && (f.byText || f.names.mayBeAlias(t)) {
		return f.canonical(u, t)
	}
	return t
}

// directPlace is direct for a name that is still to be looked at: the
// abbreviations are compiled so that strBase + 1 is added to the offset, and 0 is
// read where there is no name.
func (f *file) directPlace(u *unit, a *dwarf.Abbrev, d []byte) dedup.Name {
	t := load(d, &a.Slots[0], f.bigEndian) + a.NameBase
	if t-1 >= f.lastName && (t != 0 || a.Present&(1<<dwarf.VName) != 0) {
		u.badName = true
		return 0
	}
	return t
}

// placeNames gives the file's .debug_str its place among the tokens.
func (f *file) placeNames() error {
	if f.byText {
		// Tokens follow the content: canonical.
		f.names.look.Store(true)
		f.lastName = uint32(min(uint64(len(f.str)), tokLimit-1))
	} else {
		if uint64(f.run.strEnd)+uint64(len(f.str)) >= tokLimit-1 {
			return fmt.Errorf("%s: .debug_str: %d bytes are more than fit beside the other inputs (2 GiB in all)", f.path, len(f.str))
		}
		f.strBase = f.run.strEnd
		f.run.strEnd += uint32(len(f.str)) + 1
		f.lastName = f.strBase + uint32(len(f.str))
		f.names.strs = append(f.names.strs, strSection{f.strBase, f.str})
	}
	f.intName = f.names.literal([]byte("int"))
	f.fakeInt = f.names.literal([]byte("__SANITIZED_FAKE_INT__"))
	return nil
}

// canonical is the token to use for the name that t stands for where the file
// is read. The .debug_str of a relocatable file is that of its objects one
// behind the other, with nearly every name once for each: there the content
// counts, so that a name has one token and no aliases. So it does over a base,
// whose names are to have the same tokens.
func (f *file) canonical(u *unit, t dedup.Name) dedup.Name {
	if !f.byText {
		return f.names.canonical(t)
	}
	if t == 0 || t >= tokInline {
		return f.names.canonical(t)
	}
	if c, ok := u.trace.one(f.names.pool, f.str, t-1); ok {
		return f.names.canonical(c)
	}
	return f.names.canonical(f.textToken(u, t))
}

// nameTokens turns the names of m from those of directPlace into those of direct.
func (f *file) nameTokens(u *unit, m []dedup.Member) {
	switch {
	case !f.names.look.Load():
	case f.byText:
		f.textTokens(u, m)
	default:
		for i := range m {
			if f.names.mayBeAlias(m[i].Name) {
				m[i].Name = f.canonical(u, m[i].Name)
			}
		}
	}
}

// textTokens is nameTokens for a file where the content counts.
func (f *file) textTokens(u *unit, m []dedup.Member) {
	for {
		n := u.trace.follow(f.names.pool, f.str, m)
		if f.names.hasAlias.Load() {
			for i := range m[:n] {
				m[i].Name = f.names.canonical(m[i].Name)
			}
		}
		if n == len(m) {
			return
		}
		m[n].Name = f.names.canonical(f.textToken(u, m[n].Name))
		m = m[n+1:]
	}
}

// textToken is canonical for a name that was not foreseen: t is 1 + its place.
func (f *file) textToken(u *unit, t uint32) dedup.Name {
	u.strLow = min(u.strLow, t-1)
	b := f.str[t-1:]
	n := bytes.IndexByte(b, 0)
	if n <= 3 {
		u.badName = u.badName || n < 0
		return f.names.token(b[:max(n, 0)])
	}
	pool := f.names.pool
	k := pool.number(b[:n])
	u.trace.note(k, pool.rank(k), n)
	return pool.token(k)
}

// nameOf is the token of DW_AT_name.
func (f *file) nameOf(u *unit, have uint32) dedup.Name {
	if have&(1<<dwarf.VName) == 0 {
		return 0
	}
	return f.nameValue(u, &u.vals[dwarf.VName])
}

// nameValue is the token of a string value; 0 if it is not a string that can
// be read.
func (f *file) nameValue(u *unit, v *dwarf.Value) dedup.Name {
	switch v.Form {
	case dwarf.FormStrp:
		if v.U >= uint64(len(f.str)) {
			u.badName = true
			return 0
		}
		t := f.strBase + uint32(v.U) + 1
		if f.names.look.Load() {
			return f.canonical(u, t)
		}
		return t
	case dwarf.FormString:
		b := u.hdr.Data[v.U:]
		if len(b) > 3 {
			switch {
			case b[0] == 0:
				return 0
			case b[1] == 0:
				return f.names.canonical(tokInline | uint32(b[0]))
			case b[2] == 0:
				return f.names.canonical(tokInline | uint32(b[0]) | uint32(b[1])<<8)
			case b[3] == 0:
				return f.names.canonical(tokInline | uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16)
			}
		}
		return f.names.token(b[:max(bytes.IndexByte(b, 0), 0)])
	case dwarf.FormGNUStrpAlt, dwarf.FormStrpSup:
		return f.altName(u, v.U)
	case dwarf.FormLineStrp:
		if v.U >= uint64(len(f.lineStr)) {
			return 0
		}
		b := f.lineStr[v.U:]
		return f.names.token(b[:max(bytes.IndexByte(b, 0), 0)])
	case dwarf.FormStrx, dwarf.FormStrx1, dwarf.FormStrx2, dwarf.FormStrx3, dwarf.FormStrx4, dwarf.FormGNUStrIndex:
		osz := uint64(u.hdr.OffsetSize())
		if v.U > uint64(len(f.strOffsets)) {
			return 0
		}
		p := u.strBase + v.U*osz
		if p > uint64(len(f.strOffsets)) || uint64(len(f.strOffsets))-p < osz {
			return 0
		}
		s := dwarf.Value{Form: dwarf.FormStrp, U: f.relocated(u, relStrOffsets, f.strOffsets, p, osz)}
		return f.nameValue(u, &s)
	}
	return 0
}

// bytes is the content of a name; nil where it cannot be read.
func (f *file) bytes(t dedup.Name) []byte {
	b, _ := f.names.Bytes(t)
	return b
}

// isInt says whether a base type is called "int".
func (f *file) isInt(t dedup.Name) bool { return t == f.intName || string(f.bytes(t)) == "int" }

// nameAt is the name of the DIE at off, for typedefs with a specification.
func (f *file) nameAt(u *unit, off uint64) dedup.Name {
	if _, have, ok := f.decodeAt(u, off); ok {
		return f.nameOf(u, have)
	}
	return 0
}

// decodeAt reads the attributes of the DIE at an offset of the unit into
// u.vals. Its class and the bits of the values that the class captures come
// back.
func (f *file) decodeAt(u *unit, off uint64) (class dwarf.Class, have uint32, ok bool) {
	b := u.hdr.Data
	if off < uint64(u.hdr.First) || off >= uint64(len(b)) {
		return 0, 0, false
	}
	code, p := dwarf.ULEB(b, int(off))
	if p < 0 {
		return 0, 0, false
	}
	a := u.abbrevs.Lookup(code)
	if a == nil {
		return 0, 0, false
	}
	next, have := u.abbrevs.Decode(a, b, p, &u.vals)
	return a.Class, have, next >= 0
}

// maxChain bounds a chain of GNU annotations.
const maxChain = 1 << 12

// gnuChain calls fn for each annotation of the chain at off, as long as they
// have the name.
func (f *file) gnuChain(u *unit, off uint32, name string, fn func(value dedup.Name)) {
	saved := u.vals
	for range maxChain {
		_, have, ok := f.decodeAt(u, uint64(off))
		if !ok || string(f.bytes(f.nameOf(u, have))) != name || have&(1<<dwarf.VConst) == 0 {
			break
		}
		next := uint32(0)
		if have&(1<<dwarf.VAnnotation) != 0 {
			next = uint32(u.vals[dwarf.VAnnotation].U)
		}
		fn(f.nameValue(u, &u.vals[dwarf.VConst]))
		if next == 0 {
			break
		}
		off = next
	}
	u.vals = saved
}

// gnuTypeTags adds TYPE_TAGs for a pointer's GNU annotations and returns what
// the pointer refers to: pointer, first annotation, …, last one, target.
func (f *file) gnuTypeTags(u *unit, off, target uint32) uint32 {
	first, last := uint32(0), uint32(0)
	f.gnuChain(u, off, "btf_type_tag", func(value dedup.Name) {
		k := uint32(len(u.extra.S)) | extraRef
		u.extra.Append(dedup.Node{Info: infoTypeTag, Name: value, Third: target})
		u.types.Order.Append(k)
		if first == 0 {
			first = k
		} else {
			u.extra.S[last&^extraRef].Third = k
		}
		last = k
	})
	if first == 0 {
		return target
	}
	return first
}

// gnuDeclTags adds the declaration tags of a struct's or member's chain.
func (f *file) gnuDeclTags(u *unit, off, node uint32, component int32) {
	if f.opt.Features&DeclTag == 0 || off == 0 {
		return
	}
	f.gnuChain(u, off, "btf_decl_tag", func(value dedup.Name) {
		u.tags.Append(tagRec{node, value, component})
	})
}
