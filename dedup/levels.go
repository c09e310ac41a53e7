package dedup

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// maxLevel is how many names deep the hashes of families go, and hashSteps how many members and
// references a hash covers. Two types that may be equivalent have the same members and references in
// the same order, so their hashes end at the same place.
const (
	maxLevel  = 16
	hashSteps = 512
)

// levelHash returns the function that hashes operands to a level. Level 1 covers the type down to the
// next names, as far as mayBeEquivalent compares; each further level goes on behind one more name. A
// type has no hash if something in it may stand for several types, as a forward declaration stands
// for each definition. Two equivalent types that have a hash have the same one.
func (f finder) levelHash(u *Unit) levelHash {
	return func(x uint32, level int) (uint32, bool) {
		d := digest{find: f, unit: u, steps: hashSteps}
		return d.of(x, level), !d.open
	}
}

// digest is the hash of a type while it is computed.
type digest struct {
	find  finder
	unit  *Unit
	hash  uint64
	steps int  // how many members and references it may still cover
	open  bool // a part may stand for several types
	shape bool // leave out what is in enumerations, so that no part at level 1 stands for several types
}

// of returns the hash of operand x to a level.
func (d *digest) of(x uint32, level int) uint32 {
	var t typ
	t.read(d.find, d.unit, x)
	name, _ := d.find.head(d.unit, x)
	d.mix(t.info)
	d.mix(name)
	switch btf.InfoKind(t.info) {
	case btf.KindTypedef:
		d.reference(t.third, level-1)
	case btf.KindEnum, btf.KindEnum64:
		d.values(&t)
	default:
		d.aggregate(&t, level-1)
	}
	return uint32(d.hash >> 32)
}

func (d *digest) mix(x uint32) { d.hash = arena.Mix(d.hash, x) }

// aggregate adds the size and members of a struct or union.
func (d *digest) aggregate(t *typ, level int) {
	d.mix(t.third)
	for j := 0; j < int(btf.InfoVlen(t.info)) && d.steps > 0; j++ {
		name, to, val := t.member(j, 3)
		d.mix(name)
		d.mix(val)
		d.steps--
		d.reference(to, level)
	}
}

// values adds the size and values of an enumeration.
func (d *digest) values(t *typ) {
	d.mix(t.third)
	wide := btf.InfoKind(t.info) == btf.KindEnum64
	for j := 0; j < int(btf.InfoVlen(t.info)) && d.steps > 0; j++ {
		var name, low, high uint32
		switch {
		case t.record == nil:
			m := &t.members[j]
			name, low, high = m.Name, m.Type, m.Val
		case wide:
			name, low, high = t.record.Value64(j)
		default:
			name, low = t.record.Value(j)
		}
		d.mix(name)
		d.mix(low)
		if wide {
			d.mix(high)
		}
		d.steps--
	}
}

// reference adds what operand x leads to, and goes on behind level names.
func (d *digest) reference(x uint32, level int) {
	for x != 0 && d.steps > 0 {
		d.steps--
		var t typ
		t.read(d.find, d.unit, x)
		name, _ := d.find.head(d.unit, x)
		k := btf.InfoKind(t.info)
		d.mix(name)
		switch k {
		case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypeTag:
			d.mix(t.info)
		case btf.KindArray:
			d.mix(t.aux)
		case btf.KindTypedef:
			if level--; level < 0 {
				return
			}
		case btf.KindFuncProto:
			d.mix(t.info)
			for j := 0; j < int(btf.InfoVlen(t.info)) && d.steps > 0; j++ {
				name, to, _ := t.member(j, 2)
				d.mix(name)
				d.steps--
				d.reference(to, level)
			}
		case btf.KindStruct, btf.KindUnion:
			if name != 0 {
				level--
			}
			if level >= 0 || name == 0 {
				d.mix(t.info)
				d.aggregate(&t, level)
			}
			return
		case btf.KindFwd:
			d.open = d.open || level > 0
			return
		case btf.KindEnum, btf.KindEnum64:
			if (level > 0 || name == 0) && !d.shape {
				d.open = d.open || btf.InfoVlen(t.info) == 0
				d.mix(t.info)
				d.values(&t)
			}
			return
		default:
			return
		}
		x = t.third
	}
}
