package unit

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
)

// A unit in two steps, for unit records: what is made when a unit is compiled, and
// what needs the options and the other units of a run.

// ReadLinked walks the unit at u, from p on, and settles its references, but for what
// depends on other units: Settle does that. It is the first step of Read, for units
// that do not refer to others.
func (in *Input) ReadLinked(u *Unit, p int) error {
	if err := in.walk(u, p); err != nil {
		return err
	}
	u.Hides = len(u.Types.Order.S) == 0 && u.hides(p)
	if err := u.CheckNames(); err != nil {
		return err
	}
	in.linkRefs(u)
	if err := u.linkOldBits(); err != nil {
		return err
	}
	u.oldBits.Reset()
	return u.Fail
}

// Settle is the second step of Read, for tables as ReadLinked leaves them.
func (in *Input) Settle(u *Unit) error {
	index := in.Index.Load() | dedup.Extern
	if index == dedup.Extern {
		index = u.FirstInt
	}
	if index&dedup.Extern != 0 && u.Arrays {
		for i := range u.Types.Nodes.S {
			if n := &u.Types.Nodes.S[i]; btf.InfoKind(n.Info) == btf.KindArray {
				n.First = index
			}
		}
	}
	return in.linkRest(u)
}

// Apart says why the unit that ReadLinked has read cannot be told without its DIEs or
// other units; "" if it can.
func (u *Unit) Apart() string {
	switch {
	case len(u.cross.S) > 0 || len(u.NeedTypes) > 0 || len(u.stubs) > 0 || len(u.imports.S) > 0:
		return "it refers to other units"
	case len(u.Unencodable.nodes) > 0 || u.Unencodable.voids && u.misplacedVoids():
		return "it has types that BTF has no kind for"
	}
	return ""
}

// Place sets the section of a variable at an address. It reports whether variables
// there are wanted.
func (in *Input) Place(v *Var, addr uint64) bool {
	sec := in.sectionOf(addr)
	if sec == nil {
		return false
	}
	v.Section, v.SecOff, v.Extra = sec.Index, addr-sec.Addr, sec.Extra
	return true
}
