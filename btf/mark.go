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

// MarkKind says what a mark is for. It is the byte after the first one.
type MarkKind byte

// The kinds of marks, each with the text that follows.
const (
	NoMark        MarkKind = 0
	MarkQualifier MarkKind = 'q' // before the type: the qualifier
	MarkReference MarkKind = '&' // after the type: "&" or "&&"
	MarkMember    MarkKind = 'm' // pointer to a member: of this class
	MarkName      MarkKind = 'n' // in place of the type: its name
	MarkBase      MarkKind = 'b' // of a member: it is the base class of this name
)

// AppendMark appends the name that is a mark.
func AppendMark(dst []byte, k MarkKind, text ...byte) []byte {
	return append(append(dst, markByte, byte(k)), text...)
}

// Mark is the kind of a mark and its text. A name that is not a mark comes back
// unchanged, with NoMark.
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

// MarkOf is the mark of r, which is of b: of a TYPE_TAG, if b has marks.
func (b *Blob) MarkOf(r Record) (k MarkKind, text []byte) {
	if !b.Marked || r == nil || r.Kind() != KindTypeTag {
		return NoMark, nil
	}
	return Mark(b.NameBytes(r.Name()))
}

// FloatAlign is the alignment that a FLOAT with marks has, 0 if its size tells it.
func FloatAlign(r Record) uint32 {
	if n := r.Vlen(); n > 0 && n <= 8 {
		return 1 << (n - 1)
	}
	return 0
}
