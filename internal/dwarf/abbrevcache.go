package dwarf

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// AbbrevCache keeps compiled abbreviations by what they declare. GCC writes a table for
// each unit and numbers it anew, but the 390,000 abbreviations of a kernel are only 2,600
// different ones once constants that the plan does not read (DW_AT_decl_file, _line and
// _column) are left out. It serves all units of a file, or of several files, in any number of
// goroutines.
//
// An entry stays for good: most units have the abbreviations that come first in a file, so
// a full cache misses one in forty. The whole declaration is the key. A hit is never a guess.
type AbbrevCache struct {
	plan     *Plan
	nameBase uint32
	entries  [cacheEntries]atomic.Pointer[cachedAbbrev]
}

const (
	cacheEntries = 1024 // at 176 bytes each
	cacheProbes  = 4    // how many places in the table an entry may have
	cachedOps    = 6    // an abbreviation with more ops is not kept
)

// NewAbbrevCache returns an empty cache. Only calls of Compile with this plan and nameBase use it.
func NewAbbrevCache(plan *Plan, nameBase uint32) *AbbrevCache {
	return &AbbrevCache{plan: plan, nameBase: nameBase}
}

// NameBase returns the base of names that the cache is for.
func (c *AbbrevCache) NameBase() uint32 { return c.nameBase }

// cachedAbbrev is an abbreviation with its program.
type cachedAbbrev struct {
	decl   declaration
	abbrev Abbrev // prog has only crossProg
	ops    [cachedOps]op
	n      uint8 // ops in use
	cross  bool  // see Abbrevs.Cross
}

// find returns the entry of declaration d, nil if there is none. end is the result of d.read.
func (c *AbbrevCache) find(d *declaration, end int) *cachedAbbrev {
	if end == 0 {
		return nil
	}
	for i, h := 0, d.hash(); i < cacheProbes; i++ {
		e := c.entries[(h+uint32(i))%cacheEntries].Load()
		if e == nil {
			return nil
		}
		if e.decl.equal(d) {
			return e
		}
	}
	return nil
}

// keep stores what a declaration was compiled to, if there is room: the abbreviation, the
// ops of its program, and whether it is Cross.
func (c *AbbrevCache) keep(d *declaration, a *Abbrev, ops []op, cross bool) {
	if len(ops) > cachedOps {
		return
	}
	for _, o := range ops {
		if o.code == opConst {
			return // it points into the table's own constants
		}
	}
	for i, h := 0, d.hash(); i < cacheProbes; i++ {
		place := &c.entries[(h+uint32(i))%cacheEntries]
		if place.Load() != nil {
			continue
		}
		e := &cachedAbbrev{decl: *d, abbrev: *a, n: uint8(len(ops)), cross: cross}
		e.abbrev.prog &= crossProg
		copy(e.ops[:], ops)
		place.CompareAndSwap(nil, e) // another unit may have been quicker
		return
	}
}

// reuse sets a from a cached abbreviation, and appends its program to the table's.
func (t *Abbrevs) reuse(a *Abbrev, e *cachedAbbrev) {
	*a = e.abbrev
	a.prog |= uint32(len(t.ops))
	t.ops = append(t.ops, e.ops[:e.n]...)
	t.cross = t.cross || e.cross
}

// declaration holds an abbreviation as .debug_abbrev has it, without its code and the constants
// that the plan does not read, and with the format of the unit. Equal declarations are compiled
// to the same Abbrev.
//
// The first word has the tag in bits 0 to 15, the children flag in bits 16 to 23, the number of the
// format from bit 24 on, and from usedShift on how many bytes the attributes take. The other words
// have these bytes, filled up with zeros.
type declaration [1 + attrWords]uint64

const (
	attrWords = 6
	attrBytes = 8 * attrWords
	usedShift = 56 // the bits from 24 to here are for unitFormat.number
)

// read reads eight bytes at once, which are mostly four attributes with their forms. With these
// constants it finds the first byte that needs a closer look.
const (
	eachByte      = 0x0101010101010101
	highBits      = 0x80 * eachByte
	implicitForms = 0x0100010001000100 * uint64(FormImplicitConst) // four attributes 0 with this form
)

// read reads the declaration at b[p:], after its code. It returns where the declaration ends, or
// 0 if it is damaged or too long, so that the cache cannot have it.
func (d *declaration) read(b []byte, p int, plan *Plan, format unitFormat) (end int) {
	if len(b)-p < 3 {
		return 0
	}
	tag := uint64(b[p])
	p++
	if tag >= 0x80 {
		tag = tag&0x7f | uint64(b[p])<<7
		p++
		if tag >= 1<<14 {
			return 0
		}
	}
	*d = declaration{tag | uint64(b[p])<<16 | format.number()<<24}
	p++
	uses := &plan.uses[plan.class(Tag(tag))]
	var attrs [attrBytes + 8]byte
	for n := uint(0); n <= attrBytes-8; {
		var w uint64
		if left := len(b) - p; left >= 8 {
			w = binary.LittleEndian.Uint64(b[p:])
		} else {
			var last [8]byte
			if p > len(b) || copy(last[:], b[p:]) == 0 {
				return 0
			}
			w = binary.LittleEndian.Uint64(last[:])
		}
		// A byte of t is 0 where an attribute is 0, as at the end, and where a form has a constant. The
		// lowest high bit of special is at the first such byte, or the first byte from 0x80 on.
		t := w ^ implicitForms
		special := ((t-eachByte)&^t | w) & highBits
		if special == 0 {
			binary.LittleEndian.PutUint64(attrs[n:], w)
			n += 8
			p += 8
			continue
		}
		k := uint(bits.TrailingZeros64(special)) / 8
		binary.LittleEndian.PutUint64(attrs[n:], w&(1<<(8*k)-1))
		n += k
		if p += int(k); p+1 >= len(b) {
			return 0
		}
		attr, form := uint64(b[p]), uint64(b[p+1])
		switch {
		case k%2 == 0 && attr == 0:
			if form != 0 {
				return 0
			}
			d[0] |= uint64(n) << usedShift
			for i := range (n + 7) / 8 {
				d[1+i] = binary.LittleEndian.Uint64(attrs[8*i:])
			}
			return p + 2
		case k%2 == 0: // an attribute of two bytes
			p += 2
			if form-1 >= 0x7f || p >= len(b) || b[p] >= 0x80 {
				return 0 // too large, or padded
			}
			n += uint(copy(attrs[n:], b[p-2:p+1]))
			attr, form = attr&0x7f|form<<7, uint64(b[p])
			p++
		case attr >= 0x80:
			return 0 // a form of two bytes
		default:
			attr, form = uint64(b[p-1]), attr
			attrs[n] = byte(form)
			n++
			p++
		}
		if form != uint64(FormImplicitConst) {
			continue
		}
		switch {
		case attr >= uint64(len(uses)) || p >= len(b):
			return 0
		case uses[attr].value >= 0:
			if b[p] >= 0x80 {
				return 0
			}
			attrs[n] = b[p]
			n++
			p++
		case b[p] < 0x80:
			p++
		default:
			if _, p = SLEB(b, p); p < 0 {
				return 0
			}
		}
	}
	return 0
}

// used returns the words of a declaration that are in use. The bound only spares a check of indexes.
func (d *declaration) used() []uint64 { return d[:1+min(d[0]>>usedShift+7, attrBytes)/8] }

// equal compares word by word, which costs a third of a call of the runtime's comparison. If the first
// words are equal, the same number of words is in use.
func (d *declaration) equal(o *declaration) bool {
	differ := d[0] ^ o[0]
	for i, w := range d.used() {
		differ |= w ^ o[i]
	}
	return differ == 0
}

// hash mixes the words of a declaration. Declarations that collide only miss the cache.
func (d *declaration) hash() uint32 {
	const m = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	h := uint64(0)
	for _, w := range d.used() {
		h = (h ^ h>>29 ^ w) * m
	}
	return uint32(h >> 40)
}
