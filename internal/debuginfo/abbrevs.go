package debuginfo

import (
	"errors"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/dgraph-io/ristretto/v2"

	"github.com/btflite/btflite/internal/dwarf"
)

// sharedAbbrevs keeps compiled abbreviation tables that several units use.
//
// GCC gives each unit its own table. So for almost every kernel it is right to compile a
// table into the slot's memory and forget it. Link-time optimization by clang, type units
// and Rust are different: all units of an object refer to one table, which may have
// thousands of entries.
//
// Tables of units lie one after another. So an offset above all earlier ones is a new
// table, and the highest offset again is a shared one. A bitmap holds the lower offsets
// that were asked for again; it stays empty, without any allocation, if every unit has
// its own table. A table that is known to be shared is kept in a cache with a byte
// budget: a kernel of a thousand objects has a thousand tables, and each is needed for a
// short time.
type sharedAbbrevs struct {
	mu     sync.Mutex
	next   uint64          // above the highest offset that was asked for
	seen   *roaring.Bitmap // lower offsets in .debug_abbrev that were asked for again
	tables *ristretto.Cache[uint64, *dwarf.Abbrevs]
	// A table that would leave no room for others is kept outside the cache, one at a
	// time.
	large    *dwarf.Abbrevs
	largeKey uint64
	// declared has abbreviations that the tables of many units repeat.
	declared *dwarf.AbbrevCache
	work     uint64 // bytes of tables read so far
}

// abbrevBudget is how many bytes shared tables may take.
const abbrevBudget = 4 << 20

// abbrevWork and abbrevRepeat bound how many bytes of .debug_abbrev are read: abbrevWork,
// or abbrevRepeat times its size. In a crafted file, each unit could start at a different
// place of one long table.
const (
	abbrevWork   = 256 << 20
	abbrevRepeat = 16
)

// abbrevCounters is the number of tables for which the cache keeps statistics.
const abbrevCounters = 1 << 10

// isShared reports whether a table is known to be shared.
func (sa *sharedAbbrevs) isShared(off uint64) bool {
	if off > 1<<32-1 {
		return false
	}
	sa.mu.Lock()
	defer sa.mu.Unlock()
	if off >= sa.next {
		sa.next = off + 1
		return false
	}
	if off+1 == sa.next {
		return true
	}
	if sa.seen == nil {
		sa.seen = roaring.New()
	}
	return !sa.seen.CheckedAdd(uint32(off))
}

// restart prepares to read the units again from the first one on.
func (sa *sharedAbbrevs) restart() {
	sa.mu.Lock()
	defer sa.mu.Unlock()
	sa.next, sa.seen, sa.work = 0, nil, 0
}

// cache returns the cache of tables, and makes it when the first table is shared. It is
// nil if it cannot be made.
func (sa *sharedAbbrevs) cache() *ristretto.Cache[uint64, *dwarf.Abbrevs] {
	sa.mu.Lock()
	defer sa.mu.Unlock()
	if sa.tables == nil {
		c, err := ristretto.NewCache(&ristretto.Config[uint64, *dwarf.Abbrevs]{
			NumCounters: abbrevCounters, MaxCost: abbrevBudget, BufferItems: 64, IgnoreInternalCost: true,
		})
		if err != nil {
			return nil
		}
		sa.tables = c
	}
	return sa.tables
}

var errAbbrevWork = errors.New(".debug_abbrev: units use overlapping tables, so that too much of it is read again and again")

// charge counts n bytes of tables that were read from a section of the given size. It
// returns false if that is too much.
func (sa *sharedAbbrevs) charge(n, size uint64) bool {
	sa.mu.Lock()
	defer sa.mu.Unlock()
	sa.work += n
	return sa.work <= abbrevWork+abbrevRepeat*size
}

// largeTable returns the table of a key that is kept outside the cache, or nil.
func (sa *sharedAbbrevs) largeTable(key uint64) *dwarf.Abbrevs {
	sa.mu.Lock()
	defer sa.mu.Unlock()
	if sa.largeKey != key {
		return nil
	}
	return sa.large
}

func (sa *sharedAbbrevs) keepLarge(key uint64, t *dwarf.Abbrevs) {
	sa.mu.Lock()
	defer sa.mu.Unlock()
	sa.largeKey, sa.large = key, t
}

func (sa *sharedAbbrevs) close() {
	sa.large = nil
	if sa.tables != nil {
		sa.tables.Close()
		sa.tables = nil
	}
}
