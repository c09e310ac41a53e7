package inline

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
)

// listsOf reads location lists in b of units of a version, whose code begins at base.
func listsOf(version uint16, bigEndian bool, base uint64, b []byte) (*lists, *Env) {
	f := &debuginfo.File{BigEndian: bigEndian}
	f.Loc, f.Loclists = b, b
	c := &debuginfo.Cursor{Position: debuginfo.Position{File: f, Hdr: dwarf.Unit{Version: version, AddrSize: 8}}}
	l := &lists{c: c, budget: unitEntries, how: dwarf.ListAddresses{Base: base, Indexed: c.AddressAt}}
	return l, &Env{Format: dwarf.ExprFormat{Version: version, AddrSize: 8, BigEndian: bigEndian}, AddressAt: c.AddressAt}
}

// TestLists: which entry of a list holds at 0x1010, in the forms of DWARF 4 and 5.
func TestLists(t *testing.T) {
	addr := func(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
	old := func(from, to uint64, expr ...byte) []byte {
		return append(append(append(addr(from), addr(to)...), byte(len(expr)), 0), expr...)
	}
	end := append(addr(0), addr(0)...)
	pair := func(from, to byte, expr ...byte) []byte {
		return append([]byte{dwarf.LLEOffsetPair, from, to, byte(len(expr))}, expr...)
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	reg := func(n uint32) Place { return Place{Kind: Register, Reg: n} }
	for _, c := range []struct {
		name    string
		version uint16
		list    []byte
		views   []byte // before the list
		view    uint64 // of the site
		want    Place
	}{
		{"old: holds", 4, join(old(0, 0x10, reg3), old(0x10, 0x20, reg5), end), nil, 0, reg(5)},
		{"old: ends where the site is", 4, join(old(0, 0x10, reg3), end), nil, 0, missing(NotHere)},
		{"old: another base", 4, join(old(^uint64(0), 0x2000), nil, end), nil, 0, missing(NotHere)},
		{"old: base of zero", 4, join(addr(^uint64(0)), addr(0), old(0x1010, 0x1011, reg5), end), nil, 0, reg(5)},
		{"old: no end", 4, old(0, 0x10, reg3), nil, 0, missing(BadList)},
		{"old: expression cut off", 4, join(old(0, 0x10, reg3)[:18]), nil, 0, missing(BadList)},
		{"holds", 5, join(pair(0, 0x10, reg3), pair(0x10, 0x20, reg5), []byte{dwarf.LLEEndOfList}), nil, 0, reg(5)},
		{"backwards", 5, join(pair(0x20, 0x10, reg3), []byte{dwarf.LLEEndOfList}), nil, 0, missing(NotHere)},
		{"first of two that hold", 5, join(pair(0, 0x20, reg3), pair(0x10, 0x20, reg5), []byte{dwarf.LLEEndOfList}), nil, 0, reg(3)},
		{"no place, then one", 5, join(pair(0, 0x20), pair(0x10, 0x20, reg5), []byte{dwarf.LLEEndOfList}), nil, 0, reg(5)},
		{"optimized out", 5, join(pair(0, 0x20), []byte{dwarf.LLEEndOfList}), nil, 0, missing(OptimizedOut)},
		{"default", 5, join([]byte{dwarf.LLEDefaultLocation, 1, reg3}, pair(0, 0x10, reg5), []byte{dwarf.LLEEndOfList}), nil, 0, reg(3)},
		{"not the default", 5, join([]byte{dwarf.LLEDefaultLocation, 1, reg3}, pair(0, 0x20, reg5), []byte{dwarf.LLEEndOfList}), nil, 0, reg(5)},
		{"base", 5, join([]byte{dwarf.LLEBaseAddress}, addr(0x1010), pair(0, 1, reg5), []byte{dwarf.LLEEndOfList}), nil, 0, reg(5)},
		{"start and end", 5, join([]byte{dwarf.LLEStartEnd}, addr(0x1010), addr(0x1011), []byte{1, reg5, dwarf.LLEEndOfList}), nil, 0, reg(5)},
		{"start and length", 5, join([]byte{dwarf.LLEStartLength}, addr(0x1008), []byte{9, 1, reg5, dwarf.LLEEndOfList}), nil, 0, reg(5)},
		{"unknown kind", 5, []byte{0x20, 0}, nil, 0, missing(BadList)},
		{"number without end", 5, []byte{dwarf.LLEOffsetPair, 0x80}, nil, 0, missing(BadList)},
		{"longer than the section", 5, []byte{dwarf.LLEOffsetPair, 0, 0x20, 0xff, 0xff, 0x7f, reg5}, nil, 0, missing(BadList)},
		// GCC's views: view 1 of the address begins where the entry does.
		{"in its view", 5, join(pair(0x10, 0x20, reg5), []byte{dwarf.LLEEndOfList}), []byte{1, 0}, 1, reg(5)},
		{"in an earlier view", 5, join(pair(0x10, 0x20, reg5), []byte{dwarf.LLEEndOfList}), []byte{2, 0}, 1, missing(LaterView)},
		{"until its view", 5, join(pair(0x10, 0x10, reg5), pair(0x10, 0x20, reg3), []byte{dwarf.LLEEndOfList}), []byte{0, 1, 1, 0}, 1, reg(3)},
		{"before its view", 5, join(pair(0x10, 0x10, reg5), pair(0x10, 0x20, reg3), []byte{dwarf.LLEEndOfList}), []byte{0, 1, 1, 0}, 0, reg(5)},
		{"old: in its view", 4, join(old(0x10, 0x10, reg5), old(0x10, 0x20, reg3), end), []byte{0, 1, 1, 0}, 1, reg(3)},
		{"no entries at the site, without views", 5, join(pair(0x10, 0x10, reg5), pair(0x10, 0x20, reg3), []byte{dwarf.LLEEndOfList}), nil, 1, reg(3)},
	} {
		// The first byte makes 0 no offset of views, as in a section with a header.
		l, env := listsOf(c.version, false, 0x1000, join([]byte{0}, c.views, c.list))
		views := uint64(0)
		if c.views != nil {
			views = 1
		}
		if got := l.at(env, uint64(1+len(c.views)), views, point{addr: 0x1010, view: c.view}); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// FuzzLists: whatever a list is, there is a place or a reason, and reading ends within the
// budget of the unit.
func FuzzLists(f *testing.F) {
	f.Add([]byte{0, dwarf.LLEOffsetPair, 0, 0x20, 1, reg5, dwarf.LLEEndOfList}, uint16(1), uint16(0), uint8(0))
	f.Add([]byte{0, 1, 0, dwarf.LLEOffsetPair, 0x10, 0x20, 1, reg5, dwarf.LLEEndOfList}, uint16(3), uint16(1), uint8(3))
	f.Add([]byte{dwarf.LLEBaseAddressx, 0, dwarf.LLEStartxEndx, 0, 1, 1, reg5, dwarf.LLEDefaultLocation, 1, reg3, dwarf.LLEGNUViewPair, 0, 1, dwarf.LLEEndOfList}, uint16(0), uint16(0), uint8(1))
	f.Add(bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, reg5}, 3), uint16(0), uint16(0), uint8(4))
	f.Add([]byte{4, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, reg5, 0}, uint16(0), uint16(0), uint8(8))
	f.Fuzz(func(t *testing.T, b []byte, off, views uint16, how uint8) {
		version := uint16(5)
		if how&0xc != 0 {
			version = 4
		}
		l, env := listsOf(version, how&1 != 0, 0x1000, b)
		env.Format.Split = how&8 != 0
		site := point{addr: 0x1000 + uint64(how>>4), view: uint64(how & 2)}
		budget := l.budget
		p := l.at(env, uint64(off), uint64(views), site)
		if (p.Kind == Missing) != (p.Why != NoPlace) {
			t.Fatalf("%+v", p)
		}
		if used := budget - l.budget; used > len(b)+1 {
			t.Fatalf("%d entries of %d bytes were looked at", used, len(b))
		}
		if again := l.at(env, uint64(off), uint64(views), site); again != p && again.Why != TooMany {
			t.Fatalf("%+v, then %+v", p, again)
		}
	})
}
