package dwarf

import "sync/atomic"

// AbbrevCache keeps compiled abbreviations by what they declare. GCC writes a table for
// each unit and numbers it anew, but the 390,000 abbreviations of a kernel are only 2,600
// different ones once constants that the plan does not read (DW_AT_decl_file, _line and
// _column) are left out. It serves all units of a file, or of several files, in any number of
// goroutines.
//
// An entry stays for good: the first abbreviations of a file are those of most units, so
// a full cache misses one in forty. The whole declaration is the key. A hit is never a guess.
type AbbrevCache struct {
	plan     *Plan
	nameBase uint32
	entries  [cacheEntries]atomic.Pointer[cachedAbbrev]
}

const (
	cacheEntries = 1024 // at 176 bytes each
	cacheProbes  = 4    // places in which an entry may be
	cachedOps    = 6    // an abbreviation with more ops is not kept
)

// NewAbbrevCache returns a cache for tables that are compiled by a plan and a base of names.
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

// find returns the entry of a declaration that read found to end at end, nil if there is none.
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

// reuse makes a what a declaration was compiled to before.
func (t *Abbrevs) reuse(a *Abbrev, e *cachedAbbrev) {
	*a = e.abbrev
	a.prog |= uint32(len(t.ops))
	t.ops = append(t.ops, e.ops[:e.n]...)
	t.cross = t.cross || e.cross
}

// declaration holds an abbreviation as .debug_abbrev has it, but for its code and for the
// constants that the plan does not read, and the format of the unit. Two declarations with
// the same words are compiled to the same Abbrev.
//
// The first word has the tag, the children flag and the format. Each half of the others
// has an attribute in 16 bits, its form in 8, and its constant in 8.
type declaration [7]uint64

// read reads the declaration at b[p:], which is behind a code. It returns where it ends, or
// 0 if it is damaged or does not fit.
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
	for n := uint(2); p >= 0 && len(b)-p >= 3; n++ {
		attr, form := uint64(b[p]), uint64(b[p+1])
		p += 2
		if attr|form == 0 {
			return p
		}
		if attr >= 0x80 { // it has two bytes
			attr, form = attr&0x7f|form<<7, uint64(b[p])
			p++
			if attr < 0x80 {
				return 0 // padded: it could be the 0 of the end
			}
		}
		if attr >= 1<<14 || form >= 0x80 || n/2 >= uint(len(d)) {
			return 0
		}
		if form == uint64(FormImplicitConst) {
			switch {
			case attr >= uint64(len(uses)) || p >= len(b):
				return 0
			case uses[attr].value >= 0:
				if b[p] >= 0x80 {
					return 0
				}
				form |= uint64(b[p]) << 8
				p++
			case b[p] < 0x80:
				p++
			default:
				_, p = SLEB(b, p)
			}
		}
		d[n/2] |= (attr | form<<16) << (n % 2 * 32)
	}
	return 0
}

// equal compares word by word, which costs a third of a call of the runtime's comparison.
func (d *declaration) equal(o *declaration) bool {
	return (d[0]^o[0])|(d[1]^o[1])|(d[2]^o[2])|(d[3]^o[3])|(d[4]^o[4])|(d[5]^o[5])|(d[6]^o[6]) == 0
}

// hash mixes the words of a declaration. Declarations that collide only miss the cache.
func (d *declaration) hash() uint32 {
	const m = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	h := d[0] * m
	for _, w := range d[1:] {
		h = (h ^ h>>29 ^ w) * m
	}
	return uint32(h >> 40)
}
