package btf

// Readers of DWARF have more to print than BTF can say: atomic types, references, base
// classes. For them the encoder writes marks: names that begin with a byte that no
// compiler writes. BTF with marks is read in the memory where it was made. It is never
// written to a file, and Blob.Marked says that it has any.
//
// A mark is the name of a TYPE_TAG or of a member. The TYPE_TAG refers to the nearest
// type of C, so that readers that ignore marks still get sizes, alignment and C right:
//
//	atomic type            the type
//	reference              a pointer to the type
//	pointer to a member    a pointer to the type; of a function an array of two pointers
//	type with a name only  void, a pointer for nullptr_t, or bytes
//
// A FLOAT stands for every number that BTF cannot have as an INT. Its vlen encodes the
// alignment: 0 if it follows from the size, otherwise the exponent of 2, plus 1.
const markByte = 1

// MarkKind says what a mark means. It is the second byte of the mark; a text follows.
type MarkKind byte

// The kinds of marks, and what their texts are.
const (
	NoMark        MarkKind = 0
	MarkQualifier MarkKind = 'q' // a qualifier, printed before the type
	MarkReference MarkKind = '&' // "&" or "&&", printed after the type
	MarkMember    MarkKind = 'm' // the class whose member a pointer points to
	MarkName      MarkKind = 'n' // a name, printed in place of the type
	MarkBase      MarkKind = 'b' // the base class that this member stands for
)

// AppendMark appends a mark to dst.
func AppendMark(dst []byte, k MarkKind, text ...byte) []byte {
	return append(append(dst, markByte, byte(k)), text...)
}

// Mark returns the kind of a mark and its text. If name is not a mark, it returns NoMark
// and name.
func Mark(name []byte) (k MarkKind, text []byte) {
	if len(name) < 2 || name[0] != markByte {
		return NoMark, name
	}
	switch k = MarkKind(name[1]); k {
	case MarkQualifier, MarkReference, MarkMember, MarkName, MarkBase:
		return k, name[2:]
	}
	return NoMark, name
}

// MarkOf returns the mark of the record r of b. Only a TYPE_TAG of a Blob with marks has one.
func (b *Blob) MarkOf(r Record) (k MarkKind, text []byte) {
	if !b.Marked || r == nil || r.Kind() != KindTypeTag {
		return NoMark, nil
	}
	return Mark(b.NameBytes(r.Name()))
}

// FloatAlign returns the alignment in bytes that a FLOAT has in BTF with marks, or 0 if the
// alignment follows from the size.
func FloatAlign(r Record) uint32 {
	if n := r.Vlen(); n > 0 && n <= 8 {
		return 1 << (n - 1)
	}
	return 0
}
