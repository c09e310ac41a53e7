// Package dwarftest builds ELF files with DWARF from literals, for tests.
//
// A test writes the DIEs that it is about:
//
//	i := dwarftest.N(dwarftest.TagBaseType, dwarftest.Name("int"), dwarftest.Size(4), dwarftest.Encoding(5))
//	f := dwarftest.File{Units: []*dwarftest.Unit{dwarftest.CU(i)}}
//	os.WriteFile(path, f.Bytes(), 0o644)
//
// The package knows the encodings by the DWARF standard (versions 2 to 5) and
// shares no code with the readers that it tests.
package dwarftest

// Tags (DWARF 5, section 7.5.3) that tests need.
const (
	TagArrayType         = 0x01
	TagClassType         = 0x02
	TagEnumerationType   = 0x04
	TagFormalParameter   = 0x05
	TagLexicalBlock      = 0x0b
	TagMember            = 0x0d
	TagPointerType       = 0x0f
	TagReferenceType     = 0x10
	TagCompileUnit       = 0x11
	TagStructureType     = 0x13
	TagSubroutineType    = 0x15
	TagTypedef           = 0x16
	TagUnionType         = 0x17
	TagUnspecifiedParams = 0x18
	TagInheritance       = 0x1c
	TagInlinedSubroutine = 0x1d
	TagSubrangeType      = 0x21
	TagBaseType          = 0x24
	TagConstType         = 0x26
	TagEnumerator        = 0x28
	TagSubprogram        = 0x2e
	TagVariable          = 0x34
	TagVolatileType      = 0x35
	TagRestrictType      = 0x37
	TagNamespace         = 0x39
	TagUnspecifiedType   = 0x3b
	TagPartialUnit       = 0x3c
	TagImportedUnit      = 0x3d
	TagAtomicType        = 0x47
	TagCallSite          = 0x48
	TagSkeletonUnit      = 0x4a
	TagLLVMAnnotation    = 0x6000
	TagGNUAnnotation     = 0x6001
)

// Attributes (DWARF 5, section 7.5.4) that tests need.
const (
	AtSibling           = 0x01
	AtLocation          = 0x02
	AtName              = 0x03
	AtByteSize          = 0x0b
	AtBitOffset         = 0x0c
	AtBitSize           = 0x0d
	AtLowPC             = 0x11
	AtLanguage          = 0x13
	AtImport            = 0x18
	AtConstValue        = 0x1c
	AtInline            = 0x20
	AtProducer          = 0x25
	AtUpperBound        = 0x2f
	AtAbstractOrigin    = 0x31
	AtArtificial        = 0x34
	AtCallingConvention = 0x36
	AtCount             = 0x37
	AtMemberLocation    = 0x38
	AtDeclFile          = 0x3a
	AtDeclaration       = 0x3c
	AtEncoding          = 0x3e
	AtExternal          = 0x3f
	AtSpecification     = 0x47
	AtType              = 0x49
	AtDataBitOffset     = 0x6b
	AtStrOffsetsBase    = 0x72
	AtAddrBase          = 0x73
	AtLoclistsBase      = 0x8c
	AtGNUAnnotation     = 0x2139
)

// Forms (DWARF 5, section 7.5.6) that can be written.
const (
	FormAddr          = 0x01
	FormBlock2        = 0x03
	FormBlock4        = 0x04
	FormData2         = 0x05
	FormData4         = 0x06
	FormData8         = 0x07
	FormString        = 0x08
	FormBlock         = 0x09
	FormBlock1        = 0x0a
	FormData1         = 0x0b
	FormFlag          = 0x0c
	FormSdata         = 0x0d
	FormStrp          = 0x0e
	FormUdata         = 0x0f
	FormRefAddr       = 0x10
	FormRef1          = 0x11
	FormRef2          = 0x12
	FormRef4          = 0x13
	FormRef8          = 0x14
	FormRefUdata      = 0x15
	FormIndirect      = 0x16 // the value's own default form follows in the data
	FormSecOffset     = 0x17
	FormExprloc       = 0x18
	FormFlagPresent   = 0x19
	FormStrx          = 0x1a
	FormAddrx         = 0x1b
	FormData16        = 0x1e
	FormLineStrp      = 0x1f
	FormRefSig8       = 0x20
	FormImplicitConst = 0x21
	FormLoclistx      = 0x22
	FormStrx1         = 0x25
	FormStrx2         = 0x26
	FormStrx3         = 0x27
	FormStrx4         = 0x28
	FormAddrx1        = 0x29
	FormLLVMAddrxOff  = 0x2001
)

// DIE is a debugging information entry. A nil DIE in a list of children is an
// extra terminating zero.
type DIE struct {
	Tag      int
	Attrs    []Attr
	Children []*DIE
	// KeepChildren says that the abbreviation announces children even if
	// there are none.
	KeepChildren bool

	off  int // in the unit, once laid out
	end  int // after the DIE and its children
	unit *Unit
}

// Attr is an attribute: what is written depends on the dynamic type of Val.
//
//	int, int64, uint64  a number
//	bool                a flag
//	string              a string
//	*DIE                a reference
//	[]byte              a block or expression
//	Addr                an address
//	List                a location list
//	Raw                 these bytes, whatever the form
//
// Form 0 is the usual form for the type and the unit's version.
type Attr struct {
	At   int
	Form int
	Val  any
}

// Addr is an address of the program.
type Addr uint64

// List is a location list, one expression per entry.
type List [][]byte

// Raw is written as it is.
type Raw []byte

// sibling is the value of an automatic DW_AT_sibling.
type sibling struct{}

// N makes a DIE of a tag from its parts, each an Attr or a *DIE (a child).
func N(tag int, parts ...any) *DIE {
	d := &DIE{Tag: tag}
	d.Add(parts...)
	return d
}

// Add adds attributes and children. It returns d.
func (d *DIE) Add(parts ...any) *DIE {
	for _, p := range parts {
		switch p := p.(type) {
		case Attr:
			d.Attrs = append(d.Attrs, p)
		case []Attr:
			d.Attrs = append(d.Attrs, p...)
		case *DIE:
			d.Children = append(d.Children, p)
		case []*DIE:
			d.Children = append(d.Children, p...)
		case nil:
			d.Children = append(d.Children, nil)
		default:
			panic("dwarftest: part of a DIE is neither attribute nor DIE")
		}
	}
	return d
}

// Common attributes in their usual forms.

func Name(s string) Attr        { return Attr{AtName, 0, s} }
func NameInline(s string) Attr  { return Attr{AtName, FormString, s} }
func Type(d *DIE) Attr          { return Attr{AtType, 0, d} }
func Size(n int) Attr           { return Attr{AtByteSize, 0, n} }
func Encoding(n int) Attr       { return Attr{AtEncoding, 0, n} }
func MemberAt(n int) Attr       { return Attr{AtMemberLocation, 0, n} }
func BitSize(n int) Attr        { return Attr{AtBitSize, 0, n} }
func BitAt(n int) Attr          { return Attr{AtDataBitOffset, 0, n} }
func Upper(n int) Attr          { return Attr{AtUpperBound, 0, n} }
func Count(n int) Attr          { return Attr{AtCount, 0, n} }
func Const(v any) Attr          { return Attr{AtConstValue, 0, v} }
func Declaration() Attr         { return Attr{AtDeclaration, 0, true} }
func External() Attr            { return Attr{AtExternal, 0, true} }
func LowPC(a uint64) Attr       { return Attr{AtLowPC, 0, Addr(a)} }
func Location(b ...byte) Attr   { return Attr{AtLocation, 0, b} }
func LocationList(l List) Attr  { return Attr{AtLocation, 0, l} }
func Origin(d *DIE) Attr        { return Attr{AtAbstractOrigin, 0, d} }
func Specification(d *DIE) Attr { return Attr{AtSpecification, 0, d} }
func Inline() Attr              { return Attr{AtInline, 0, 1} }
func Language(n int) Attr       { return Attr{AtLanguage, 0, n} }
func Producer(s string) Attr    { return Attr{AtProducer, 0, s} }

// Unit is a unit of .debug_info.
type Unit struct {
	Version  int // 2 to 5; 0 is 5
	Dwarf64  bool
	AddrSize int // 0 is the file's
	Type     int // DW_UT_ of DWARF 5; 0 is DW_UT_compile
	Root     *DIE
	// TypeDIE is the DIE to which the signature of a type unit refers. Its bytes are the
	// same as Signature's in every unit.
	TypeDIE *DIE
	// StrForm is the form of strings that have none; 0 is DW_FORM_strp.
	StrForm int
	// Siblings gives every DIE with children, except the root, a DW_AT_sibling.
	Siblings bool

	root    *DIE // with the bases of other sections
	off     int  // of the header in .debug_info
	codes   map[string]int
	abbrev  []byte
	abbrOff int
	strs    []uint64 // .debug_str offsets of DW_FORM_strx
	addrs   []uint64
	lists   []List // of DW_FORM_loclistx
	strsOff int
	addrOff int
	listOff int
}

// Signature is the signature of type units and the id of skeleton and split units, in
// the order of the bytes: a number in a little-endian file.
const Signature uint64 = 0x0807060504030201

// CU is a DWARF 5 compile unit in C with the given parts.
func CU(parts ...any) *Unit {
	return &Unit{Root: N(TagCompileUnit, Name("t.c"), Language(0x1d), Producer("GNU C11")).Add(parts...)}
}
