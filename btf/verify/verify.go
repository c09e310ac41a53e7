// Package verify checks BTF by the rules of the kernel's BTF verifier, so that
// nothing is written that a kernel would refuse.
//
// The rules come from Linux 7.2 (kernel/bpf/btf.c). They were learnt from their
// description and by loading blobs into kernels. A table lists what older releases
// refuse (release.go). There are three levels. Boot: header, strings and each record by
// itself; a kernel applies these to its own BTF and to modules' BTF. Load: references
// are followed as well, as BPF_BTF_LOAD does. Readable: only what every reader needs.
// Two rules are our own and belong to every level: a reference to a type that does not
// exist is refused (kernels do not check it at boot and fail later), and so are more
// types than a kernel has ids for.
//
// The work is linear in the size of the data, and nothing here recurses. A check takes
// 14 bytes per type and one bit per byte of strings in addition to the data; several
// goroutines share these tables. Not checked: the special types of BPF programs
// (bpf_spin_lock and others), the rules for prototypes of kfuncs, and the 16 MiB limit
// of BPF_BTF_LOAD.
//
// header.go finds the sections, input.go the records. record.go judges each by
// itself; name.go says what a legal name is. step.go and layout.go have what a type
// demands of those that it refers to. That is first judged in any order, by several
// workers (proof.go): sizes do not depend on the order, and where depths are far
// enough from the limits, nothing else does. If that finds no proof that all is
// well, resolve.go follows references in the kernel's order and says what is wrong,
// if anything is. needs.go finds what older kernels refuse. share.go divides the work.
//
// The stable API is package btflite. What it does not use of this package may change.
package verify

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// Check judges data, over base if it is split BTF; the base itself is taken as
// it is. It returns the number of types in data. A non-nil error is a *Fault, or
// comes from Rules.Stop.
func Check(data []byte, base *btf.Blob, rules Rules) (types int, err error) {
	c, err := begin(data, base, rules)
	if err != nil {
		return 0, err
	}
	fault := c.judge(rules.Level)
	if err := c.ended(); err != nil {
		return 0, err
	}
	if fault != nil {
		return 0, fault
	}
	return len(c.kinds), nil
}

// Verdict describes BTF that is not refused.
type Verdict struct {
	Types int     // number of own types
	Since Release // the first release from which on all take it
	Why   *Fault  // the type for which Since is needed; nil if all known releases accept the BTF
	// Skipped are types of kinds that no known release takes. They were skipped with
	// the help of the layout section and not judged. Since is about the other types.
	Skipped []btf.Skipped
}

// Judge is Check with a verdict that also tells of older releases.
func Judge(data []byte, base *btf.Blob, rules Rules) (v Verdict, err error) {
	c, err := begin(data, base, rules)
	if err != nil {
		return v, err
	}
	fault := c.judge(rules.Level)
	if err := c.ended(); err != nil {
		return v, err
	}
	if fault != nil {
		return v, fault
	}
	v.Types, v.Skipped = len(c.kinds), c.skipped
	v.Since, v.Why = c.oldest(rules)
	return v, c.ended()
}

// CheckBoth is Check and, if that refuses data, also Check by level Readable. If
// Rules.Stop ends it, both errors are that.
func CheckBoth(data []byte, base *btf.Blob, rules Rules) (refused, unreadable error) {
	c, err := begin(data, base, rules)
	if err != nil {
		return err, err
	}
	fault := c.judge(rules.Level)
	var worse *Fault
	if fault != nil {
		worse = c.judge(Readable)
	}
	if err := c.ended(); err != nil {
		return err, err
	}
	switch {
	case fault == nil:
		return nil, nil
	case worse == nil:
		return fault, nil
	}
	return fault, worse
}

// check is one run of Check, Judge or CheckBoth.
type check struct {
	input
	rules Rules
	state []uint8 // by own type: see links
}

// begin makes the check of data, with all records that fit.
func begin(data []byte, base *btf.Blob, rules Rules) (*check, error) {
	x, err := enter(data, base, rules)
	if err != nil {
		return nil, err
	}
	return &check{x, rules, make([]uint8, len(x.kinds))}, nil
}

// judge applies the rules of the level. Each step relies on what the ones before it
// have found out about all types, so none begins when the check is to end.
func (c *check) judge(level Level) *Fault {
	if fault := c.withoutSizes(level); fault != nil || level == Readable || c.ended() != nil {
		return fault
	}
	if fault := c.lackingFeature(c.rules); fault != nil || level != Load || c.ended() != nil {
		return fault
	}
	sizes := []uint32{uint32(c.rules.PointerSize)}
	if sizes[0] == 0 {
		sizes = c.pointerSizes()
	}
	var first *Fault
	for _, n := range sizes {
		fault := c.references(n)
		if c.ended() != nil {
			return nil
		}
		if fault == nil {
			return c.sites()
		}
		if first == nil {
			first = fault
		}
	}
	return first
}

// withoutSizes applies all rules except the ones of level Load.
func (c *check) withoutSizes(level Level) *Fault {
	r := recordCheck{input: c.input, level: level, loaded: c.rules.Loaded, state: c.state}
	if fault := r.all(c.rules.Workers); fault != nil || c.ended() != nil {
		return fault
	}
	if c.behindLast != nil {
		return c.behindLast
	}
	if fault := c.dangling(r.maxRef); fault != nil || level == Readable || c.ended() != nil {
		return fault
	}
	if len(c.kinds) == 0 && c.base == nil && level == Load {
		return &Fault{Rule: "header: no types", Level: Load}
	}
	return c.chains()
}

// references applies the rules about what types refer to.
func (c *check) references(ptrSize uint32) *Fault {
	l := c.links(ptrSize)
	if p := (proof{links: l}); p.proven(c.rules.Workers) || c.ended() != nil {
		return nil // without a proof sizes may be missing only if the check is to end
	}
	w := walk{links: l}
	return w.resolveAll()
}

// links are the references of own types; none has been followed yet.
func (c *check) links(ptrSize uint32) links {
	for i, s := range c.state {
		if s != unnamed {
			c.state[i] = untouched
		}
	}
	n := len(c.kinds)
	return links{input: c.input, loaded: c.rules.Loaded, ptrSize: ptrSize,
		final: arena.Make[uint32](n), size: arena.Make[uint32](n), state: c.state}
}
