// Package verify checks BTF by the rules of the kernel's BTF verifier, so that
// nothing is written that a kernel would refuse.
//
// The rules are those of Linux 7.2 (kernel/bpf/btf.c), learnt from their
// description and by loading blobs into kernels; what older releases do not take
// of it is in a table (release.go). They come in levels.
// Boot: header, strings and each record by itself; a kernel applies these to
// its own BTF and to that of modules. Load: references are followed as well,
// as BPF_BTF_LOAD does. Two rules are our own and belong to every level: a
// reference to a type that does not exist is refused (kernels do not look for
// it at boot and fail later), and so are more types than a kernel has ids for.
// Readable is what is left when a record may say what it likes.
//
// The work is linear in the size of the data and nothing here recurses. Beside
// the data a check holds 14 bytes per type and one bit per byte of strings;
// several goroutines share these tables.
// Not checked: the special types of BPF programs (bpf_spin_lock and others),
// what kfuncs demand of their prototypes, and the 16 MiB limit of BPF_BTF_LOAD.
//
// header.go finds the sections, record.go judges records, name.go says what a
// legal name is. References are first judged in any order, by several workers
// (proof.go): sizes do not depend on the order, and where depths are far enough
// from the limits, nothing else does. If that finds no proof that all is well,
// resolve.go follows them in the kernel's order and says what is wrong, if
// anything is. needs.go finds what older kernels refuse. share.go divides the work.
package verify

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/btflite/btflite/btf"
)

// Limits of Linux 7.2; its name for each is given.
const (
	maxTypes      = 0xfffff  // BTF_MAX_TYPE: highest type id
	maxNameOffset = 0xffffff // BTF_MAX_NAME_OFFSET
	maxName       = 512      // KSYM_NAME_LEN: bytes of an identifier or section name
	maxOldName    = 128      // the same before 6.1
	maxDepth      = 32       // MAX_RESOLVE_DEPTH
	maxOldVlen    = 0xffff   // BTF_MAX_VLEN before 7.2
)

// Level says which of a kernel's rules apply.
type Level uint8

const (
	// Load is all rules, as for BPF_BTF_LOAD.
	Load Level = iota
	// Boot is the part that is applied to vmlinux at boot and to modules.
	Boot
	// Readable is what any reader needs: sections, records, names and
	// references are there. It is for types of languages other than C, whose
	// names and layouts a kernel refuses.
	Readable
)

// Rules says by which rules to check. The zero value is all rules of the newest
// release known.
type Rules struct {
	Level Level
	// Kernel is the release by which to judge; the zero value is the newest one.
	Kernel Release
	// PointerSize is the size of a pointer in bytes, 4 or 8; 0 takes that of
	// the INT for C's long. If there is none, or one of each size, then one of the
	// sizes has to fit.
	PointerSize int
	// Loaded tells that the BTF is that of a BPF object, which a loader such as
	// libbpf completes first: it fills in sections, resolves what is extern, and
	// rewrites what the kernel does not know.
	Loaded bool
	// Distilled tells that the base is a distilled one, of section .BTF.base.
	Distilled bool
	// Workers is how many goroutines share the work; 0 is one. The verdict does
	// not depend on it.
	Workers int
}

// Fault is the first thing in a blob that a kernel refuses.
type Fault struct {
	ID    uint32   // type id, 0 if the header or the strings are at fault
	Kind  btf.Kind // of the type
	Name  string   // of the type, as in the blob; "" for none
	Rule  string   // what is wrong, including member or parameter
	Level Level    // the weakest level whose rules refuse it
	Needs Release  // the release that takes it, or zero: none does

	bare bool // Rule says something of the kind
}

// Overlaps tells whether entries of a DATASEC overlap: variables of one section
// that are, in part, at the same addresses.
func (f *Fault) Overlaps() bool {
	return f.Kind == btf.KindDatasec && strings.Contains(f.Rule, overlap)
}

// Error implements error. Names are quoted, and cut if they are long.
func (f *Fault) Error() string {
	if f.ID == 0 {
		return "BTF " + f.Rule
	}
	name, colon := "(anon)", ":"
	if f.Name != "" {
		name = quote(f.Name)
	}
	if f.bare {
		colon = ""
	}
	return fmt.Sprintf("BTF type [%d] %s %s%s %s", f.ID, f.Kind, name, colon, f.Rule)
}

// maxQuoted is how much of a name a message shows.
const maxQuoted = 128

func quote(s string) string {
	if len(s) > maxQuoted {
		return strconv.QuoteToASCII(s[:maxQuoted]) + fmt.Sprintf("... (%d bytes)", len(s))
	}
	return strconv.QuoteToASCII(s)
}

// Check judges data, over base if it is split BTF; the base itself is taken as
// it is. It returns the number of types in data. A non-nil error is a *Fault.
func Check(data []byte, base *btf.Blob, rules Rules) (types int, err error) {
	c, err := enter(data, base, rules)
	if err != nil {
		return 0, err
	}
	if fault := c.judge(); fault != nil {
		return 0, fault
	}
	return len(c.kinds), nil
}

// Verdict is what is known of BTF that is not refused.
type Verdict struct {
	Types int     // number of own types
	Since Release // the first release from which on all take it
	Why   *Fault  // what Since is needed for; nil where all releases known take it
}

// Judge is Check with a verdict that also tells of older releases.
func Judge(data []byte, base *btf.Blob, rules Rules) (v Verdict, err error) {
	c, err := enter(data, base, rules)
	if err != nil {
		return v, err
	}
	if fault := c.judge(); fault != nil {
		return v, fault
	}
	v.Types = len(c.kinds)
	v.Since, v.Why = c.oldest()
	return v, nil
}

// CheckBoth is Check and, if that refuses data, also Check by level Readable.
func CheckBoth(data []byte, base *btf.Blob, rules Rules) (refused, unreadable error) {
	c, err := enter(data, base, rules)
	if err != nil {
		return err, err
	}
	fault := c.judge()
	if fault == nil {
		return nil, nil
	}
	c.rules.Level = Readable
	if worse := c.judge(); worse != nil {
		return fault, worse
	}
	return fault, nil
}

// checker is one run of Check or CheckBoth.
type checker struct {
	sections
	rules    Rules
	base     *btf.Blob // or nil
	first    uint32    // id of the first own type
	strStart uint32    // string offset of strings[0]
	ptrSize  uint32

	// By own type, in order of ids.
	off   []uint32 // offset of the record in types, and at last the end of all
	kinds []btf.Kind
	final []uint32 // of modifiers: the type behind them; see proof.go
	size  []uint32 // in bytes: of variables that of their type; 0 for none
	state []uint8

	last   *Fault   // of what comes behind these types, or nil
	maxRef uint32   // highest type id referred to
	idents []uint64 // by string offset, a bit: a string begins here, an identifier

	// The walk of resolve.go.
	stack [maxDepth]frame
	depth int
	mode  mode

	// What workers find.
	found *Fault // the first that they came upon
	reach
	needs needs

	asked set // the features that needs is about
}

// enter makes the checker of data, with all records that fit.
func enter(data []byte, base *btf.Blob, rules Rules) (*checker, error) {
	s, err := parseSections(data, base)
	if err != nil {
		return nil, err
	}
	c := &checker{sections: s, rules: rules, base: base, first: 1}
	if base != nil {
		c.first = base.TypeCount()
		c.strStart = base.StrEnd()
	}
	// Records take 12 bytes or more, most of them more.
	n := len(c.types)/24 + 2
	c.off = make([]uint32, 0, n)
	c.kinds = make([]btf.Kind, 0, n)
	if c.rules.Level == Readable {
		c.enterAll()
	} else {
		c.both(c.enterAll, c.findIdentifiers)
	}
	c.state = make([]uint8, len(c.kinds))
	return c, nil
}

// judge applies the rules of the level.
func (c *checker) judge() *Fault {
	if fault := c.withoutSizes(); fault != nil || c.rules.Level == Readable {
		return fault
	}
	if fault := c.lackingFeature(); fault != nil || c.rules.Level != Load {
		return fault
	}
	var first *Fault
	for _, c.ptrSize = range c.pointerSizes() {
		fault := c.references()
		if fault == nil {
			return nil
		}
		if first == nil {
			first = fault
		}
		c.forgetWalk()
	}
	return first
}

// forgetWalk makes references begin anew.
func (c *checker) forgetWalk() {
	c.reach = reach{}
	for i, s := range c.state {
		if s != unnamed {
			c.state[i] = untouched
		}
	}
}

// references applies the rules about what types refer to.
func (c *checker) references() *Fault {
	if c.proven() {
		return nil
	}
	return c.resolveAll()
}

// withoutSizes applies all rules but those of level Load.
func (c *checker) withoutSizes() *Fault {
	c.found = nil
	if !c.inChunks((*checker).records) {
		return c.found
	}
	if c.last != nil {
		return c.last
	}
	if fault := c.dangling(); fault != nil || c.rules.Level == Readable {
		return fault
	}
	if len(c.kinds) == 0 && c.base == nil && c.rules.Level == Load {
		return &Fault{Rule: "header: no types", Level: Load}
	}
	return c.chains()
}

// enterAll enters all records, up to one that does not fit, which is c.last.
func (c *checker) enterAll() {
	at := 0
	for at < len(c.types) && c.last == nil {
		at += c.enterRecord(at)
	}
	c.off = append(c.off, uint32(at))
}

// enterRecord adds the record at offset at of the types to the tables and returns
// its length.
func (c *checker) enterRecord(at int) int {
	fault := func(rule string) int {
		c.last = &Fault{ID: c.count(), Rule: rule, Level: Readable}
		return 0
	}
	if len(c.types)-at < 12 {
		return fault("record goes beyond the type section")
	}
	if c.count() > maxTypes {
		return fault(fmt.Sprintf("more than %d types", maxTypes))
	}
	info := c.word(at + 4)
	k := btf.InfoKind(info)
	if k == btf.KindVoid || k > btf.KindEnum64 {
		return fault(fmt.Sprintf("unknown kind %d", k))
	}
	n := 12 + 4*btf.ExtraWords(k, btf.InfoVlen(info))
	if n > len(c.types)-at {
		return fault("record goes beyond the type section")
	}
	c.off = append(c.off, uint32(at))
	c.kinds = append(c.kinds, k)
	return n
}

// fault describes what is wrong with an own type.
func (c *checker) fault(id uint32, level Level, rule string) *Fault {
	return &Fault{ID: id, Kind: c.kind(id), Name: string(c.name(c.get(id, 0))), Rule: rule, Level: level}
}

// count is the number of types, void and those of the base included: the
// first id that does not exist.
func (c *checker) count() uint32 { return c.first + uint32(len(c.kinds)) }

// kind is the kind of a type that exists.
func (c *checker) kind(id uint32) btf.Kind {
	if id >= c.first {
		return c.kinds[id-c.first]
	}
	if c.base == nil {
		return btf.KindVoid
	}
	return c.base.Kind(id)
}

// get is the i-th word of the record of a type that exists and is not void.
func (c *checker) get(id uint32, i int) uint32 {
	if id >= c.first {
		return c.word(int(c.off[id-c.first]) + 4*i)
	}
	return c.base.Record(id)[i]
}

// pointerSizes are the sizes that pointers may have: that of the rules, or that of
// C's long, or any if nothing tells or if there are longs of both sizes.
func (c *checker) pointerSizes() []uint32 {
	if c.rules.PointerSize != 0 {
		return []uint32{uint32(c.rules.PointerSize)}
	}
	found := uint32(0)
	for id := uint32(1); id < c.count(); id++ {
		if c.kind(id) != btf.KindInt {
			continue
		}
		switch string(c.name(c.get(id, 0))) {
		case "long", "long int", "unsigned long", "long unsigned int":
			size := c.get(id, 2)
			switch {
			case size != 4 && size != 8 || size == found:
			case found == 0:
				found = size
			default:
				return []uint32{8, 4}
			}
		}
	}
	if found != 0 {
		return []uint32{found}
	}
	return []uint32{8, 4}
}
