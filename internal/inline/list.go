package inline

import (
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
)

// Location lists with their addresses (DWARF 5, section 2.6.2 and 7.7.3). Of a list,
// the entry counts that holds at the site.
//
// GCC has several states of the program at one address: views, which it counts from 0
// at each (DW_AT_GNU_locviews, DW_AT_GNU_entry_view). The machine is the same in all of
// them, but a variable may have one value in the first and another one in the last. An
// entry counts if it holds in the view in which the function begins.

// point is an address and a view there.
type point struct{ addr, view uint64 }

func (p point) before(q point) bool { return p.addr < q.addr || p.addr == q.addr && p.view < q.view }

// maxEntries is how many entries of a list are looked at.
const maxEntries = 1 << 14

// margin is how much of a compressed section is asked for behind the start of a list,
// in bytes.
const margin = 16 << 10

// lists reads the location lists of a unit.
type lists struct {
	c      *debuginfo.Cursor
	base   uint64 // address that offsets count from at first
	budget int    // entries that may still be looked at in the unit
	plain  bool   // there are no relocations
	moved  bool   // see debuginfo.MovedNumbers
	b      []byte // the section, or as much of it as there is
	p      uint64
	bad    bool
}

// at is the place that the list at offset off gives for a site. views is the offset of
// its view numbers, or 0.
func (l *lists) at(env *Env, off, views uint64, site point) Place {
	for n := uint64(margin); ; n *= 4 {
		b, err := l.c.ListBytes(off, n)
		if err != nil {
			return missing(BadList)
		}
		more := uint64(len(b)) > off && uint64(len(b))-off >= n
		l.b, l.p, l.bad = b, off, false
		p := l.find(env, views, site)
		if !l.bad || !more || n > 1<<30 {
			return p
		}
	}
}

// find is at once the section is there. bad is set if it ends too soon.
func (l *lists) find(env *Env, views uint64, site point) Place {
	if views == 0 {
		site.view = 0
	}
	e := entry{base: l.base}
	result, found := missing(NotHere), false
	for range maxEntries {
		if l.budget--; l.budget < 0 {
			return missing(TooMany)
		}
		e.expr, e.located = nil, false
		if !l.next(env, &e) {
			if l.bad {
				return missing(BadList)
			}
			return result
		}
		if !e.located {
			continue
		}
		from, to := point{addr: e.from}, point{addr: e.to}
		if views != 0 {
			var ok bool
			if from.view, to.view, views, ok = l.viewPair(views); !ok {
				return missing(BadList)
			}
		}
		if e.viewed {
			from.view, to.view, e.viewed = e.views[0], e.views[1], false
		}
		holds := e.always && !found || !site.before(from) && site.before(to)
		if !holds {
			if from.addr == site.addr && site.before(from) && result.Why == NotHere {
				result.Why = LaterView
			}
			continue
		}
		p := env.Place(e.expr)
		if p.Kind != Missing && !e.always {
			return p
		}
		result, found = p, !e.always
	}
	return missing(TooMany)
}

// next reads an entry; false at the end of the list.
func (l *lists) next(env *Env, e *entry) bool {
	switch {
	case env.Format.Version >= 5:
		return l.next5(e)
	case env.Format.Split:
		return l.nextSplit(e)
	}
	return l.next2(e)
}

// entry is one of a list.
type entry struct {
	base     uint64
	from, to uint64 // addresses
	expr     []byte
	located  bool // it has an expression
	always   bool // it holds where no other does
	viewed   bool
	views    [2]uint64
}

// viewPair reads the views of an entry, and where the next ones are.
func (l *lists) viewPair(at uint64) (from, to, next uint64, ok bool) {
	if at >= uint64(len(l.b)) {
		return 0, 0, 0, false
	}
	from, p := dwarf.ULEB(l.b, int(at))
	if p < 0 {
		return 0, 0, 0, false
	}
	to, p = dwarf.ULEB(l.b, p)
	return from, to, uint64(p), p >= 0
}

// stop ends the list for good.
func (l *lists) stop() bool {
	l.bad = true
	return false
}

func (l *lists) uleb() uint64 {
	if l.p >= uint64(len(l.b)) {
		l.bad = true
		return 0
	}
	if x := l.b[l.p]; x < 0x80 {
		l.p++
		return uint64(x)
	}
	v, p := dwarf.ULEB(l.b, int(l.p))
	if p < 0 {
		l.bad = true
		return 0
	}
	l.p = uint64(p)
	return v
}

// distance is a number of bytes of code.
func (l *lists) distance() uint64 {
	if !l.moved {
		return l.uleb()
	}
	v, p := debuginfo.ListULEB(l.c, l.b, int(min(l.p, uint64(len(l.b)))))
	if p < 0 {
		l.bad = true
		return 0
	}
	l.p = uint64(p)
	return v
}

func (l *lists) address() uint64 {
	if l.plain {
		return l.fixed(uint64(l.c.Hdr.AddrSize))
	}
	v, ok := l.c.ListAddress(l.b, l.p)
	l.bad = l.bad || !ok
	l.p += uint64(l.c.Hdr.AddrSize)
	return v
}

// fixed reads a number of n bytes that no relocation belongs to.
func (l *lists) fixed(n uint64) (v uint64) {
	if l.p > uint64(len(l.b)) || uint64(len(l.b))-l.p < n {
		l.bad = true
		return 0
	}
	b := l.b[l.p:][:n]
	l.p += n
	return number(b, l.c.File.BigEndian)
}

// expression reads the n bytes that follow as the expression of e.
func (l *lists) expression(e *entry, n uint64) bool {
	if l.bad || l.p > uint64(len(l.b)) || uint64(len(l.b))-l.p < n {
		return l.stop()
	}
	e.expr, e.located = l.b[l.p:][:n:n], true
	l.p += n
	return true
}

// The kinds of entries of DWARF 5.
const (
	lleEnd = iota
	lleBasex
	lleStartxEndx
	lleStartxLength
	lleOffsetPair
	lleDefault
	lleBase
	lleStartEnd
	lleStartLength
	lleViewPair // GNU
)

// next5 reads an entry of .debug_loclists; false at the end of the list.
func (l *lists) next5(e *entry) bool {
	e.always = false
	kind := l.fixed(1)
	if l.bad {
		return false
	}
	switch kind {
	case lleEnd:
		return false
	case lleBasex:
		e.base = l.c.AddressAt(l.uleb())
		return !l.bad
	case lleBase:
		e.base = l.address()
		return !l.bad
	case lleViewPair:
		e.views, e.viewed = [2]uint64{l.uleb(), l.uleb()}, true
		return !l.bad
	case lleStartxEndx:
		e.from, e.to = l.c.AddressAt(l.uleb()), l.c.AddressAt(l.uleb())
	case lleStartxLength:
		e.from = l.c.AddressAt(l.uleb())
		e.to = e.from + l.distance()
	case lleOffsetPair:
		e.from, e.to = e.base+l.distance(), e.base+l.distance()
	case lleDefault:
		e.always = true
	case lleStartEnd:
		e.from, e.to = l.address(), l.address()
	case lleStartLength:
		e.from = l.address()
		e.to = e.from + l.distance()
	default:
		return l.stop()
	}
	return l.expression(e, l.uleb())
}

// next2 reads an entry of .debug_loc.
func (l *lists) next2(e *entry) bool {
	ones := ^uint64(0) >> (64 - 8*uint(l.c.Hdr.AddrSize&15))
	from, to := l.address(), l.address()
	switch {
	case l.bad, from == 0 && to == 0:
		return false
	case from == ones:
		e.base = to
		return true
	}
	e.from, e.to = e.base+from, e.base+to
	return l.expression(e, l.fixed(2))
}

// nextSplit reads an entry of .debug_loc.dwo before DWARF 5.
func (l *lists) nextSplit(e *entry) bool {
	kind := l.fixed(1)
	if l.bad {
		return false
	}
	switch kind {
	case lleEnd:
		return false
	case lleBasex:
		e.base = l.c.AddressAt(l.uleb())
		return !l.bad
	case lleStartxEndx:
		e.from, e.to = l.c.AddressAt(l.uleb()), l.c.AddressAt(l.uleb())
	case lleStartxLength:
		e.from = l.c.AddressAt(l.uleb())
		e.to = e.from + l.fixed(4)
	case lleOffsetPair:
		e.from, e.to = e.base+l.fixed(4), e.base+l.fixed(4)
	default:
		return l.stop()
	}
	return l.expression(e, l.fixed(2))
}
