package exact

import (
	"fmt"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// strings rebuilds the string section in order of first use by own types: a
// type's name, then the names of its elements. Strings that the base has are
// taken from there. It rewrites all own names and returns the new section.
func (d *state) strings() ([]byte, error) {
	table := btf.NewStringTable(d.in.Base)
	start := d.in.StrBase
	memo := arena.Make[uint32](len(d.in.Strings)) // new offset, or 0: not seen yet
	intern := func(w *uint32) {
		if *w == 0 || *w < start {
			return
		}
		m := &memo[*w-start]
		if *m == 0 {
			*m = table.Intern(d.in.NameBytes(*w))
		}
		*w = *m
	}
	for id := d.first; id < d.count(); id++ {
		btf.EachName(d.rec(id), intern)
	}
	if n := uint64(start) + uint64(len(table.Bytes())); n > btf.MaxStrOff {
		return nil, fmt.Errorf("btf: strings: %d bytes exceed the limit", n)
	}
	return table.Bytes(), nil
}
