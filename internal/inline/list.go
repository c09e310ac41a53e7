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

// margin is how many bytes of a compressed section are asked for after the start of a
// list.
const margin = 16 << 10

// lists reads the location lists of a unit.
type lists struct {
	c      *debuginfo.Cursor
	how    dwarf.ListAddresses
	budget int    // entries that may still be looked at in the unit
	b      []byte // the section, or as much of it as there is
}

// start prepares to read the lists of the unit at c.
func (l *lists) start(c *debuginfo.Cursor) {
	l.c, l.budget = c, len(c.Hdr.Data)+unitEntries
	l.how = dwarf.ListAddresses{Indexed: c.AddressAt}
	if c.File.Relocatable() {
		l.how.Address = func(at int) (uint64, bool) { return c.ListAddress(l.b, uint64(at)) }
	}
	if debuginfo.MovedNumbers(c.File) {
		l.how.Number = func(at int) (uint64, int) { return debuginfo.ListULEB(c, l.b, at) }
	}
}

// at returns the place that the list at offset off gives for a site. views is the offset of
// the list's view numbers, or 0. It reads more of a compressed section until the list ends.
func (l *lists) at(env *Env, off, views uint64, site point) Place {
	for n := uint64(margin); ; n *= 4 {
		b, err := l.c.ListBytes(off, n)
		if err != nil || off >= uint64(len(b)) {
			return missing(BadList)
		}
		l.b = b
		p := l.find(env, off, views, site)
		if p.Why != BadList || uint64(len(b))-off < n || n > 1<<30 {
			return p
		}
	}
}

// find returns the place that the list gives for a site, from the part of the section in l.b. It is
// missing with BadList if that part ends inside the list.
func (l *lists) find(env *Env, off, views uint64, site point) Place {
	if views == 0 {
		site.view = 0
	}
	list := dwarf.NewLocList(l.b, off, env.Format)
	list.UseAddresses(&l.how)
	result, found := missing(NotHere), false
	for range maxEntries {
		if l.budget--; l.budget < 0 {
			return missing(TooMany)
		}
		expr, ok := list.Next()
		if !ok {
			if list.Err() != nil {
				return missing(BadList)
			}
			return result
		}
		from, to := point{addr: list.From}, point{addr: list.To}
		if views != 0 {
			var ok bool
			if from.view, to.view, views, ok = l.viewPair(views); !ok {
				return missing(BadList)
			}
		}
		if list.Viewed {
			from.view, to.view = list.Views[0], list.Views[1]
		}
		holds := list.Always && !found || !site.before(from) && site.before(to)
		if !holds {
			if from.addr == site.addr && site.before(from) && result.Why == NotHere {
				result.Why = LaterView
			}
			continue
		}
		p := env.Place(expr)
		if p.Kind != Missing && !list.Always {
			return p
		}
		result, found = p, !list.Always
	}
	return missing(TooMany)
}

// viewPair reads the two view numbers of an entry at offset at. next is the offset of the next entry's
// view numbers.
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
