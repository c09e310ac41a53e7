// Package scan is the yardstick of the benchmarks: a bare pass over all DIEs
// of a file with compiled abbreviations, which keeps nothing. It uses the
// readers of the encoder (mmapelf, dwarf), so that it shows what everything
// beyond reading costs.
package scan

import (
	"errors"
	"fmt"

	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/mmapelf"
)

// releaseStep is how many consumed bytes are given back at a time.
const releaseStep = 1 << 20

// Scan goes over every DIE of .debug_info in the file at path and returns how
// many there are. Nothing is skipped by sibling references.
func Scan(path string) (dies uint64, err error) {
	f, err := mmapelf.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	infoSec, abbrevSec := f.Section(".debug_info"), f.Section(".debug_abbrev")
	if infoSec == nil || abbrevSec == nil {
		return 0, errors.New(path + ": no DWARF debug information")
	}
	info, err := f.Data(infoSec)
	if err != nil {
		return 0, err
	}
	abbrev, err := f.Data(abbrevSec)
	if err != nil {
		return 0, err
	}
	var u dwarf.Unit
	var t dwarf.Abbrevs
	var released, releasedAbbrev uint64
	for off := uint64(0); off < uint64(len(info)); off = u.End() {
		if err := dwarf.ReadUnit(info, off, f.BigEndian, &u); err != nil {
			return dies, err
		}
		if err := t.Compile(abbrev, &u, dwarf.Types, 0); err != nil {
			return dies, err
		}
		n, err := scanUnit(&u, &t)
		dies += n
		if err != nil {
			return dies, err
		}
		if u.End()-released >= releaseStep && infoSec.Size == uint64(len(info)) {
			f.ReleaseRange(infoSec.Offset+released, u.End()-released)
			released = u.End()
			if u.AbbrevOff > releasedAbbrev {
				f.ReleaseRange(abbrevSec.Offset+releasedAbbrev, u.AbbrevOff-releasedAbbrev)
				releasedAbbrev = u.AbbrevOff
			}
		}
	}
	return dies, nil
}

// scanUnit counts the DIEs of one unit.
func scanUnit(u *dwarf.Unit, t *dwarf.Abbrevs) (dies uint64, err error) {
	var vals dwarf.Values
	b := u.Data
	tab := t.Dense()
	depth := 0
	for p := u.First; p < len(b); {
		off := p
		code := uint64(b[p])
		p++
		if code == 0 {
			if depth--; depth <= 0 {
				break
			}
			continue
		}
		if code >= 0x80 {
			if code, p = dwarf.ULEB(b, off); p < 0 {
				return dies, fmt.Errorf(".debug_info: DIE %#x: code cut off", u.Off+uint64(off))
			}
		}
		var a *dwarf.Abbrev
		if code < uint64(len(tab)) {
			a = &tab[code]
		}
		if a == nil || a.Tag == 0 {
			if a = t.Lookup(code); a == nil {
				return dies, fmt.Errorf(".debug_info: DIE %#x: no abbreviation has its code", u.Off+uint64(off))
			}
		}
		dies++
		if a.Fixed {
			p += int(a.Size)
		} else if p, _ = t.Decode(a, b, p, &vals); p < 0 {
			return dies, fmt.Errorf(".debug_info: DIE %#x goes beyond its unit", u.Off+uint64(off))
		}
		if a.Children {
			depth++
		} else if depth == 0 {
			break
		}
	}
	return dies, nil
}
