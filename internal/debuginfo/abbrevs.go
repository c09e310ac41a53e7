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
// GCC gives each unit a table of its own, so compiling into the slot's memory
// and forgetting is right for almost every kernel. Link-time optimization by
// clang, type units and Rust are different: there, all units of an object
// refer to one table, which may have thousands of entries. Tables of units
// lie one behind the other, so an offset above all others is new, and the
// highest one again is shared; a bitmap holds the lower offsets that units came
// back to. It stays empty, and costs no allocation, where every unit has a
// table of its own. A table is kept once it is known to be shared, in a cache
// with a byte budget, because a kernel of a thousand objects has as many of
// them and each is soon not needed any more.
type sharedAbbrevs struct {
	mu     sync.Mutex
	next   uint64          // above the highest offset asked for
	seen   *roaring.Bitmap // lower offsets in .debug_abbrev that were asked for again
	tables *ristretto.Cache[uint64, *dwarf.Abbrevs]
	// A table that would leave no room for others is kept beside the cache,
	// one at a time.
	large    *dwarf.Abbrevs
	largeKey uint64
	work     uint64 // bytes of tables read so far
}

// abbrevBudget is the memory that shared tables may take, in bytes.
const abbrevBudget = 4 << 20

// abbrevWork and abbrevRepeat bound how much of .debug_abbrev is read: so many
// bytes, and so many times its size. Units could each name a different place of
// one long table.
const (
	abbrevWork   = 256 << 20
	abbrevRepeat = 16
)

// abbrevCounters is how many tables the cache keeps statistics of.
const abbrevCounters = 1 << 10

// isShared says whether a table is known to be shared.
func (s *sharedAbbrevs) isShared(off uint64) bool {
	if off > 1<<32-1 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if off >= s.next {
		s.next = off + 1
		return false
	}
	if off+1 == s.next {
		return true
	}
	if s.seen == nil {
		s.seen = roaring.New()
	}
	return !s.seen.CheckedAdd(uint32(off))
}

// restart says that the units will be read once more from the first one on.
func (s *sharedAbbrevs) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next, s.seen, s.work = 0, nil, 0
}

// cache is the cache of tables, made when the first table is shared. It is nil
// if it cannot be made.
func (s *sharedAbbrevs) cache() *ristretto.Cache[uint64, *dwarf.Abbrevs] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tables == nil {
		c, err := ristretto.NewCache(&ristretto.Config[uint64, *dwarf.Abbrevs]{
			NumCounters: abbrevCounters, MaxCost: abbrevBudget, BufferItems: 64, IgnoreInternalCost: true,
		})
		if err != nil {
			return nil
		}
		s.tables = c
	}
	return s.tables
}

var errAbbrevWork = errors.New(".debug_abbrev: units use overlapping tables, so that too much of it is read again and again")

// charge counts n bytes of tables of a section of the given size that were
// read. It reports whether that was not too much.
func (s *sharedAbbrevs) charge(n, size uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work += n
	return s.work <= abbrevWork+abbrevRepeat*size
}

// largeTable is the table of a key that is kept beside the cache, or nil.
func (s *sharedAbbrevs) largeTable(key uint64) *dwarf.Abbrevs {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.largeKey != key {
		return nil
	}
	return s.large
}

func (s *sharedAbbrevs) keepLarge(key uint64, t *dwarf.Abbrevs) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.largeKey, s.large = key, t
}

func (s *sharedAbbrevs) close() {
	s.large = nil
	if s.tables != nil {
		s.tables.Close()
		s.tables = nil
	}
}
