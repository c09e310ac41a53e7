package dump

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/btflite/btflite/btf"
)

// C that compilers take without a warning is made from a copy of the types, in which
// everything has a name that C allows, and from which is left out what C cannot say:
// members that overlap, lie outside of their struct, or have a type without a size.
// Their place stays free.

// strictCopy makes the copy. Types of b and its bases keep their ids; new types get the
// next ones.
type strictCopy struct {
	b     *btf.Blob
	ptr   uint32 // size of a pointer
	out   *btf.Builder
	extra []btf.Record      // added after the others
	void  uint32            // id of a pointer to void, 0 before it is needed
	num   uint32            // id of an unsigned int, 0 until needed
	byte  uint32            // id of an unsigned char, 0 until needed
	again bool              // see COptions
	words map[string]bool   // names that are reserved in some dialects
	named map[uint32]uint32 // prototypes of functions, by id: one with names for all parameters
	tags  map[uint32]bool   // structs and unions without a name, by id, that get one
	lost  int               // members that are left out
	depth int               // of structs whose members are being repeated
}

// strictTypes makes the copy of b with all bases, which is out. The structs and unions tagged, which
// have no name, get one.
func strictTypes(b *btf.Blob, o *COptions, tagged []uint32) (*strictCopy, *btf.Blob, error) {
	s := &strictCopy{b: b, ptr: uint32(o.PointerSize), out: btf.NewBuilder(b.BigEndian, nil), again: o.Again, words: map[string]bool{}, named: map[uint32]uint32{}, tags: map[uint32]bool{}}
	for _, id := range tagged {
		s.tags[id] = true
	}
	for id := uint32(1); id < b.TypeCount(); id++ {
		s.add(id)
	}
	for i := 0; i < len(s.extra); i++ {
		r, name := s.extra[i], ""
		if r.Kind() == btf.KindInt {
			name = "unsigned char"
		} else if id := b.TypeCount() + uint32(i); s.tags[id] {
			name = unnamed(id)
		}
		s.out.Add(name, r[1], r[2], r[3:]...)
	}
	copied, err := s.out.Blob()
	return s, copied, err
}

// reserved are the names that some dialects reserve, in their order.
func (s *strictCopy) reserved() []string { return slices.Sorted(maps.Keys(s.words)) }

// identifier is a name as C allows it, which is noted if it is one in some dialects only.
func (s *strictCopy) identifier(name string) string {
	name = Identifier(name)
	if sometimes()[name] != "" {
		s.words[name] = true
	}
	return name
}

// more adds a type without a name after the others and returns its id.
func (s *strictCopy) more(r btf.Record) uint32 {
	s.extra = append(s.extra, r)
	return s.b.TypeCount() + uint32(len(s.extra)) - 1
}

// add copies a type.
func (s *strictCopy) add(id uint32) {
	rec := slices.Clone(s.b.Record(id))
	name := string(s.b.NameBytes(rec.Name()))
	switch k := rec.Kind(); k {
	case btf.KindInt, btf.KindFloat:
		elem, n := s.stands(rec, name)
		if n != 0 {
			s.out.Add("", btf.Info(btf.KindArray, 0, false), 0, elem, elem, n)
			return
		}
		if k == btf.KindInt {
			name = intName(name, rec, s.ptr)
		} else {
			name = floatName(name, rec.Third(), s.again)
		}
	case btf.KindArray:
		if elem, _, _ := rec.Array(); !s.isSized(elem) { // as for DWARF of C++ and Rust
			rec[3] = s.oneByte()
		}
	case btf.KindStruct, btf.KindUnion:
		if name = s.identifier(name); s.tags[id] {
			name = unnamed(id)
		}
		rec = s.members(rec)
	case btf.KindEnum, btf.KindEnum64:
		name = s.identifier(name)
		rec = s.values(name, rec)
	case btf.KindFuncProto:
		s.prototype(rec)
	case btf.KindFunc:
		name = s.identifier(name)
		rec[2] = s.withNames(rec[2])
	case btf.KindConst, btf.KindVolatile, btf.KindRestrict:
		if to := s.b.Behind(rec[2], 1<<k); to != 0 || s.b.Kind(rec[2]) != k { // const const; a cycle stays one
			rec[2] = to
		}
		if s.says(rec[2], k) || !s.takes(k, rec[2]) {
			rec[1] = btf.Info(btf.KindTypeTag, 0, true) // which is not written
		}
	case btf.KindTypeTag:
		if name == "" || Identifier(name) != name { // it would be in a string; as an attribute, it is not written
			rec[1] |= btf.Info(0, 0, true)
		}
	case btf.KindDatasec, btf.KindDeclTag:
	default:
		name = s.identifier(name)
		if name == "" && (rec.Kind() == btf.KindTypedef || rec.Kind() == btf.KindFwd) {
			name = unnamed(id)
		}
	}
	s.out.Add(name, rec[1], rec[2], rec[3:]...)
}

// unnamed is the name of a type without one.
func unnamed(id uint32) string { return "__unnamed_" + strconv.Itoa(int(id)) }

// stands is the array of n elements that stands for a number which C does not have; n is 0 if it
// has the number.
func (s *strictCopy) stands(rec btf.Record, name string) (elem, n uint32) {
	size := rec.Third()
	switch {
	case rec.Kind() == btf.KindFloat && floatName(name, size, s.again) != "":
		return 0, 0
	case rec.Kind() == btf.KindInt && size == 16 && s.ptr == 4 && !s.again && s.number() != 0: // a machine that has none
		return s.number(), 4
	case rec.Kind() == btf.KindFloat || size != 0 && size&(size-1) != 0 || size > 16: // as some of _BitInt
		return s.oneByte(), size
	}
	return 0, 0
}

// cannotBeGiven reports whether C has an array in place of the type id, or a function, which cannot
// be the result of a function.
func (s *strictCopy) cannotBeGiven(id uint32) bool {
	rec := s.resolved(id)
	switch {
	case rec == nil:
		return false
	case rec.Kind() == btf.KindInt || rec.Kind() == btf.KindFloat:
		_, n := s.stands(rec, string(s.b.NameBytes(rec.Name())))
		return n != 0
	}
	return rec.Kind() == btf.KindArray || rec.Kind() == btf.KindFuncProto
}

// members copies a struct or union with the members that C can have.
func (s *strictCopy) members(rec btf.Record) btf.Record {
	kept := btf.Record{0, 0, rec.Third()}
	union := rec.Kind() == btf.KindUnion
	end, size := uint64(0), 8*uint64(rec.Third())
	used := usedNames{}
	n := uint32(0)
	for j := range int(rec.Vlen()) {
		nameOff, typ, off, bits := rec.Field(j)
		width := uint64(bits)
		if bits == 0 {
			width = 8 * sizeOf(s.b, typ, s.ptr)
		}
		flexible := width == 0 && bits == 0 && s.isArray(typ)
		if uint64(off)+width > size || union && off != 0 || !union && uint64(off) < end ||
			width == 0 && !flexible && !s.isEmpty(typ) || bits != 0 && !s.isWhole(typ, bits) {
			s.lost++
			continue
		}
		end = max(end, uint64(off)+width)
		name := s.identifier(string(s.b.NameBytes(nameOff)))
		if name == "" && bits == 0 {
			name, typ = s.unnamed(typ, j)
		}
		if bits != 0 && !s.again && !s.holds(typ, bits) && s.number() != 0 {
			typ = s.number()
		}
		if bits > 1 && s.isBool(typ) { // in C++
			typ = s.oneByte()
		}
		name = used.take(name)
		kept = append(kept, s.out.Str(name), typ, rec.Extra()[3*j+2])
		n++
	}
	kept[1] = btf.Info(rec.Kind(), n, btf.InfoKflag(rec.Info()))
	return kept
}

// usedNames are the names of the members of a struct, or of the parameters of a function. A name
// that others were made of has how many.
type usedNames map[string]int

// maxUnderscores is how many underscores are appended to a name before it gets a number.
const maxUnderscores = 8

// take takes a name or, if it is used, one with a suffix. "" may be taken often.
func (u usedNames) take(name string) string {
	if name == "" {
		return ""
	}
	free := name
	for u[free] != 0 || Identifier(free) != free { // __asm_ becomes a word of C
		if n := u[name]; n <= maxUnderscores {
			free = name + strings.Repeat("_", n)
		} else {
			free = name + "_" + strconv.Itoa(n)
		}
		u[name]++
	}
	u[free]++
	return free
}

// says reports whether the qualifiers of the type id have k among them.
func (s *strictCopy) says(id uint32, k btf.Kind) bool {
	for range maxLinks {
		of := s.b.Kind(id)
		if of == k {
			return true
		}
		if !isModifier(of) {
			break
		}
		id = s.b.Record(id).Third()
	}
	return false
}

// takes reports whether C has a type with the qualifier k. GCC has "const" and "volatile" of a function
// for attributes, and takes them back as such.
func (s *strictCopy) takes(k btf.Kind, id uint32) bool {
	of := s.resolved(id)
	switch {
	case of == nil:
		return k != btf.KindRestrict
	case of.Kind() == btf.KindFuncProto:
		return s.again && k != btf.KindRestrict
	case k != btf.KindRestrict:
		return true
	}
	to := s.resolved(of.Third())
	return of.Kind() == btf.KindPtr && (to == nil || to.Kind() != btf.KindFuncProto)
}

// isArray reports whether a member is an array, as one without elements at the end is.
func (s *strictCopy) isArray(id uint32) bool {
	rec := s.resolved(id)
	return rec != nil && rec.Kind() == btf.KindArray && s.b.Kind(id) != btf.KindFwd && s.isSized(rec.Extra()[0])
}

// isEmpty reports whether a type is a struct or union of 0 bytes.
func (s *strictCopy) isEmpty(id uint32) bool {
	rec := s.resolved(id)
	return rec != nil && isComposite(rec.Kind())
}

// isSized reports whether C allows an array of the type.
func (s *strictCopy) isSized(id uint32) bool {
	rec := s.b.Record(s.b.Behind(id, btf.Modifiers|btf.Typedefs|btf.Arrays))
	switch {
	case rec == nil:
		return false
	case rec.Kind() == btf.KindInt || rec.Kind() == btf.KindFloat:
		return rec.Third() != 0
	}
	return rec.Kind() != btf.KindFwd && rec.Kind() != btf.KindFuncProto
}

// isWhole reports whether a bit-field can have the type.
func (s *strictCopy) isWhole(id, bits uint32) bool {
	rec := s.resolved(id)
	if rec == nil {
		return false
	}
	k := rec.Kind()
	return (k == btf.KindInt || k == btf.KindEnum || k == btf.KindEnum64) && bits <= 8*rec.Third() && rec.Third() <= 8
}

// isBool reports whether a type is _Bool in C. A bit-field of that type has one bit.
func (s *strictCopy) isBool(id uint32) bool {
	rec := s.resolved(id)
	return rec != nil && rec.Kind() == btf.KindInt && intName(string(s.b.NameBytes(rec.Name())), rec, s.ptr) == "_Bool"
}

// holds reports whether a bit-field has room for all values of an enum, as compilers
// require. Other types always fit.
func (s *strictCopy) holds(id, bits uint32) bool {
	rec := s.resolved(id)
	if rec == nil || rec.Kind() != btf.KindEnum {
		return true
	}
	signed := btf.InfoKflag(rec.Info())
	for j := range int(rec.Vlen()) {
		v := rec.Extra()[2*j+1]
		if signed && (int32(v) < -1<<(bits-1) || int32(v) >= 1<<(bits-1)) || !signed && uint64(v) >= 1<<bits {
			return false
		}
	}
	return true
}

// resolved is the record of a type without modifiers and typedefs, nil for void.
func (s *strictCopy) resolved(id uint32) btf.Record {
	return s.b.Record(s.b.Behind(id, btf.Modifiers|btf.Typedefs))
}

// maxRepeated is how deep members are repeated; a struct may contain itself.
const maxRepeated = 8

// unnamed gives the name and type of a member that has no name. C allows that only for
// structs and unions: other members get a name. The members of a struct that has a name
// itself are repeated in its place, unless s.again asks to keep it for compilers that take
// such a member.
func (s *strictCopy) unnamed(typ uint32, j int) (string, uint32) {
	of := s.b.Behind(typ, btf.Modifiers|btf.Typedefs)
	rec := s.b.Record(of)
	switch {
	case rec == nil || !isComposite(rec.Kind()):
		return "__unnamed_" + strconv.Itoa(j), typ
	case s.again:
		return "", typ
	case rec.Name() == 0:
		return "", of
	case s.depth == maxRepeated || len(s.extra) > len(s.b.Off):
		return "__unnamed_" + strconv.Itoa(j), typ
	}
	s.depth++
	defer func() { s.depth-- }()
	return "", s.more(s.members(slices.Clone(rec)))
}

// values copies an enum; one without values gets one, because C has none without.
func (s *strictCopy) values(name string, rec btf.Record) btf.Record {
	stride, n := btf.NameWords(rec.Kind(), rec.Vlen())
	for i := range n {
		e := rec.Extra()[i*stride:]
		name := s.identifier(string(s.b.NameBytes(e[0])))
		if name == "" {
			name = "__unnamed_" + strconv.Itoa(i)
		}
		e[0] = s.out.Str(name)
	}
	if n > 0 || name == "" || s.again {
		return rec
	}
	kept := btf.MakeRecord(0, btf.Info(rec.Kind(), 1, btf.InfoKflag(rec.Info())), rec.Third(), s.out.Str(name+"__none"), 0)
	if rec.Kind() == btf.KindEnum64 {
		kept = append(kept, 0)
	}
	return kept
}

// prototype makes what a function takes and gives nameable: a type without a name in
// a list of parameters would be another type than every other one. Functions of other
// languages may give arrays and take nothing as a parameter; a pointer stands for that.
func (s *strictCopy) prototype(rec btf.Record) {
	if !s.again { // a qualifier of a result says nothing, also in a typedef
		rec[2] = s.b.Behind(rec[2], btf.Modifiers)
		if k := s.b.Kind(s.b.Behind(rec[2], btf.Typedefs)); isModifier(k) && k != btf.KindTypeTag {
			rec[2] = s.b.Behind(rec[2], btf.Modifiers|btf.Typedefs)
		}
	}
	rec[2] = s.nameable(rec[2])
	if s.cannotBeGiven(rec[2]) {
		rec[2] = s.voidPointer()
	}
	used := usedNames{}
	n := int(rec.Vlen())
	for j := range n {
		p := rec[3+2*j:]
		name := s.identifier(string(s.b.NameBytes(p[0])))
		p[0] = s.out.Str(used.take(name)) // names of Rust can become equal
		if p[1] = s.nameable(p[1]); (p[1] != 0 || j < n-1) && s.resolved(p[1]) == nil {
			p[1] = s.voidPointer()
		}
	}
}

// withNames is the prototype of a function that has a body: its parameters have names in C.
func (s *strictCopy) withNames(id uint32) uint32 {
	rec := s.b.Record(id)
	if s.again || rec == nil || rec.Kind() != btf.KindFuncProto {
		return id
	}
	if s.named[id] == 0 {
		s.named[id] = id
		rec = slices.Clone(rec)
		n, added := int(rec.Vlen()), false
		s.prototype(rec)
		for j := range n {
			if p := rec[3+2*j:]; p[0] == 0 && (p[1] != 0 || j < n-1) {
				p[0] = s.out.Str("__unnamed_" + strconv.Itoa(j))
				added = true
			}
		}
		if added {
			s.named[id] = s.more(rec)
		}
	}
	return s.named[id]
}

// nameable is a type in place of one that leads to a struct, union or enum without a
// name.
func (s *strictCopy) nameable(id uint32) uint32 {
	pointer := false
	at := id
	for range maxLinks {
		rec := s.b.Record(at)
		if rec == nil {
			return id
		}
		switch k := rec.Kind(); {
		case k == btf.KindPtr || isModifier(k):
			pointer = pointer || k == btf.KindPtr
			at = rec.Third()
		case k == btf.KindArray:
			at = rec.Extra()[0]
		case rec.Name() != 0 || k == btf.KindFuncProto:
			return id
		case pointer || isComposite(k):
			return s.voidPointer()
		default:
			return s.number()
		}
	}
	return id
}

func (s *strictCopy) voidPointer() uint32 {
	if s.void == 0 {
		s.void = s.more(btf.Record{0, btf.Info(btf.KindPtr, 0, false), 0})
	}
	return s.void
}

// number is the id of an integer.
func (s *strictCopy) number() uint32 {
	for id := uint32(1); s.num == 0 && id < s.b.TypeCount(); id++ {
		if rec := s.b.Record(id); rec.Kind() == btf.KindInt && rec.Third() == 4 {
			s.num = id
		}
	}
	return s.num
}

// oneByte is the id of an unsigned char.
func (s *strictCopy) oneByte() uint32 {
	if s.byte == 0 {
		s.byte = s.more(btf.Record{0, btf.Info(btf.KindInt, 0, false), 1, 8})
	}
	return s.byte
}
