package btf

// Record is a type as words: the string offset of its name, the info word, the
// third word (size or type) and the kind's extra words. Callers may put other numbers
// in place of string offsets.
type Record []uint32

// recordHead is how many words come before the extra ones.
const recordHead = 3

// MakeRecord is the record of a type.
func MakeRecord(name, info, third uint32, extra ...uint32) Record {
	return append(Record{name, info, third}, extra...)
}

// Name is the name's string offset.
func (r Record) Name() uint32 { return r[0] }

// Info is the info word.
func (r Record) Info() uint32 { return r[1] }

// Third is the size or the type that the record refers to.
func (r Record) Third() uint32 { return r[2] }

// Kind is the kind.
func (r Record) Kind() Kind { return InfoKind(r[1]) }

// Vlen is the number of elements.
func (r Record) Vlen() uint32 { return InfoVlen(r[1]) }

// Extra returns the words after the third one, and all further words that r has.
func (r Record) Extra() []uint32 { return r[recordHead:] }

// Len is the number of words of the record. r may be longer, but not shorter.
func (r Record) Len() int { return recordHead + ExtraWords(r.Kind(), r.Vlen()) }

// Data is the extra word of an INT, VAR or DECL_TAG.
func (r Record) Data() uint32 { return r[3] }

// Array is the element type, the index type and the number of elements of an
// ARRAY.
func (r Record) Array() (elem, index, n uint32) { return r[3], r[4], r[5] }

// The accessors of elements cut out what they read in one step, with its capacity:
// that takes one check, where r[k:][:3] takes two and clamps a pointer.

// Member is the name, the type and the offset of member j of a STRUCT or UNION.
func (r Record) Member(j int) (name, typ, offset uint32) {
	k := recordHead + 3*j
	m := r[k : k+3 : k+3]
	return m[0], m[1], m[2]
}

// Param is the name and the type of parameter j of a FUNC_PROTO.
func (r Record) Param(j int) (name, typ uint32) {
	k := recordHead + 2*j
	p := r[k : k+2 : k+2]
	return p[0], p[1]
}

// Value is the name and the value of value j of an ENUM.
func (r Record) Value(j int) (name, value uint32) {
	k := recordHead + 2*j
	v := r[k : k+2 : k+2]
	return v[0], v[1]
}

// Value64 is the name of value j of an ENUM64, and the value in two halves.
func (r Record) Value64(j int) (name, low, high uint32) {
	k := recordHead + 3*j
	v := r[k : k+3 : k+3]
	return v[0], v[1], v[2]
}

// Entry is the VAR or FUNC of entry j of a DATASEC, its offset and size.
func (r Record) Entry(j int) (id, offset, size uint32) {
	k := recordHead + 3*j
	e := r[k : k+3 : k+3]
	return e[0], e[1], e[2]
}

// Site is entry j of a LOCSEC: a FUNC, the LOC_PROTO with its parameters' places, and
// the offset in the section.
func (r Record) Site(j int) (fn, proto, offset uint32) { return r.Entry(j) }

// SetHead sets the first three words.
func (r Record) SetHead(name, info, third uint32) { r[0], r[1], r[2] = name, info, third }

// SetData sets the extra word of an INT, VAR or DECL_TAG.
func (r Record) SetData(data uint32) { r[3] = data }

// SetArray sets what Array returns.
func (r Record) SetArray(elem, index, n uint32) { r[3], r[4], r[5] = elem, index, n }

// SetPair sets the two words of element j of a kind with two, an ENUM or
// FUNC_PROTO, in the order in which Value and Param return them.
func (r Record) SetPair(j int, a, b uint32) {
	k := recordHead + 2*j
	e := r[k : k+2 : k+2]
	e[0], e[1] = a, b
}

// SetTriple sets the three words of element j of a kind with three, a STRUCT,
// UNION, ENUM64 or DATASEC, in the order in which Member, Value64 and Entry return
// them.
func (r Record) SetTriple(j int, a, b, c uint32) {
	k := recordHead + 3*j
	e := r[k : k+3 : k+3]
	e[0], e[1], e[2] = a, b, c
}
