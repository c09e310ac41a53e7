package btf

// Record is a type as words: the string offset of its name, the info word, the
// third word (a size or a type id), and the extra words of its kind. Packages may put
// their own numbers for names in place of string offsets.
type Record []uint32

// recordHead is the number of words before the extra words.
const recordHead = 3

// MakeRecord returns a record with these words.
func MakeRecord(name, info, third uint32, extra ...uint32) Record {
	return append(Record{name, info, third}, extra...)
}

// Name returns the string offset of the name.
func (r Record) Name() uint32 { return r[0] }

// Info returns the info word.
func (r Record) Info() uint32 { return r[1] }

// Third returns the third word: a size, or the id of a type that the record refers to.
func (r Record) Third() uint32 { return r[2] }

// Kind returns the kind.
func (r Record) Kind() Kind { return InfoKind(r[1]) }

// Vlen returns the number of elements.
func (r Record) Vlen() uint32 { return InfoVlen(r[1]) }

// Extra returns all words of r after the third one, even if r is longer than the record.
func (r Record) Extra() []uint32 { return r[recordHead:] }

// Len returns the number of words of the record. r may be longer, but not shorter.
func (r Record) Len() int { return recordHead + ExtraWords(r.Kind(), r.Vlen()) }

// Data returns the extra word of an INT, VAR or DECL_TAG.
func (r Record) Data() uint32 { return r[3] }

// Int returns the encoding of an INT, and the offset and the number of its bits.
func (r Record) Int() (encoding, offset, bits uint32) {
	return r.Data() >> 24 & 0xf, r.Data() >> 16 & 0xff, r.Data() & 0xff
}

// Array returns the element type, the index type and the number of elements of an
// ARRAY.
func (r Record) Array() (elem, index, n uint32) { return r[3], r[4], r[5] }

// Keyword returns the word of C before the name of a struct, union or enum, also of one that is
// only declared, with a blank; "" for other kinds.
func (r Record) Keyword() string {
	switch k := r.Kind(); {
	case k == KindUnion, k == KindFwd && InfoKflag(r.Info()):
		return "union "
	case k == KindStruct, k == KindFwd:
		return "struct "
	case Enums.Has(k):
		return "enum "
	}
	return ""
}

// The methods for elements take r[k : k+3 : k+3]. That costs one bounds check. r[k:][:3]
// would cost two, and an instruction that keeps the pointer inside r.

// Member returns the name, the type and the offset of member j of a STRUCT or UNION.
func (r Record) Member(j int) (name, typ, offset uint32) {
	k := recordHead + 3*j
	m := r[k : k+3 : k+3]
	return m[0], m[1], m[2]
}

// Field returns what Member does, with the offset in bits, and the number of bits of a bit-field:
// 0 for other members.
func (r Record) Field(j int) (name, typ, offset, bits uint32) {
	name, typ, offset = r.Member(j)
	if InfoKflag(r.Info()) {
		offset, bits = offset&0xffffff, offset>>24
	}
	return name, typ, offset, bits
}

// Param returns the name and the type of parameter j of a FUNC_PROTO.
func (r Record) Param(j int) (name, typ uint32) {
	k := recordHead + 2*j
	p := r[k : k+2 : k+2]
	return p[0], p[1]
}

// Value returns the name and the value of enumerator j of an ENUM.
func (r Record) Value(j int) (name, value uint32) {
	k := recordHead + 2*j
	v := r[k : k+2 : k+2]
	return v[0], v[1]
}

// Value64 returns the name of enumerator j of an ENUM64, and its value in two halves.
func (r Record) Value64(j int) (name, low, high uint32) {
	k := recordHead + 3*j
	v := r[k : k+3 : k+3]
	return v[0], v[1], v[2]
}

// Enumerator returns the name and the value of enumerator j of an ENUM or ENUM64. A signed value has
// its sign in all 64 bits.
func (r Record) Enumerator(j int) (name uint32, value uint64) {
	if r.Kind() == KindEnum64 {
		name, low, high := r.Value64(j)
		return name, uint64(high)<<32 | uint64(low)
	}
	name, low := r.Value(j)
	if InfoKflag(r.Info()) {
		return name, uint64(int32(low))
	}
	return name, uint64(low)
}

// Entry returns the VAR or FUNC of entry j of a DATASEC, its offset and its size.
func (r Record) Entry(j int) (id, offset, size uint32) {
	k := recordHead + 3*j
	e := r[k : k+3 : k+3]
	return e[0], e[1], e[2]
}

// Site returns entry j of a LOCSEC: a FUNC, the LOC_PROTO that says where its parameters
// are, and the offset in the section.
func (r Record) Site(j int) (fn, proto, offset uint32) { return r.Entry(j) }

// SetHead sets the first three words.
func (r Record) SetHead(name, info, third uint32) { r[0], r[1], r[2] = name, info, third }

// SetData sets the extra word of an INT, VAR or DECL_TAG.
func (r Record) SetData(data uint32) { r[3] = data }

// SetArray sets the three words that Array returns.
func (r Record) SetArray(elem, index, n uint32) { r[3], r[4], r[5] = elem, index, n }

// SetPair sets the two words of element j of an ENUM or FUNC_PROTO, in the order in which
// Value and Param return them.
func (r Record) SetPair(j int, a, b uint32) {
	k := recordHead + 2*j
	e := r[k : k+2 : k+2]
	e[0], e[1] = a, b
}

// SetTriple sets the three words of element j of a STRUCT, UNION, ENUM64 or DATASEC, in
// the order in which Member, Value64 and Entry return them.
func (r Record) SetTriple(j int, a, b, c uint32) {
	k := recordHead + 3*j
	e := r[k : k+3 : k+3]
	e[0], e[1], e[2] = a, b, c
}
