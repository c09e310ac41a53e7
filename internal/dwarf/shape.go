package dwarf

// unitFormat has the facts of a unit that decide the size of a value of a form, and its byte order.
type unitFormat struct {
	version   uint16
	addrSize  uint8
	dwarf64   bool
	bigEndian bool
}

// number returns a number of 26 bits that is different for each format. A declaration has room for 32
// bits.
func (u unitFormat) number() uint64 {
	n := uint64(u.version)<<8 | uint64(u.addrSize)
	if u.dwarf64 {
		n |= 1 << 24
	}
	if u.bigEndian {
		n |= 1 << 25
	}
	return n
}

// shape is how the size of a value is found.
type shape uint8

const (
	shapeUnknown shape = iota
	shapeFixed
	shapeULEB // n = bytes of a number that follows
	shapeString
	shapeBlock // n = width of the length, 0 = ULEB
	shapeIndirect
)

// formShape returns the size of a form in bytes, and how the size of its value is found if it is not
// fixed.
func (u unitFormat) formShape(f Form) (int, shape) {
	osz := 4
	if u.dwarf64 {
		osz = 8
	}
	switch f {
	case FormFlagPresent, FormImplicitConst:
		return 0, shapeFixed
	case FormData1, FormFlag, FormRef1, FormStrx1, FormAddrx1:
		return 1, shapeFixed
	case FormData2, FormRef2, FormStrx2, FormAddrx2:
		return 2, shapeFixed
	case FormStrx3, FormAddrx3:
		return 3, shapeFixed
	case FormData4, FormRef4, FormStrx4, FormAddrx4, FormRefSup4:
		return 4, shapeFixed
	case FormData8, FormRef8, FormRefSig8, FormRefSup8:
		return 8, shapeFixed
	case FormData16:
		return 16, shapeFixed
	case FormAddr:
		return int(u.addrSize), shapeFixed
	case FormStrp, FormSecOffset, FormLineStrp, FormStrpSup, FormGNURefAlt, FormGNUStrpAlt:
		return osz, shapeFixed
	case FormRefAddr:
		if u.version == 2 {
			return int(u.addrSize), shapeFixed
		}
		return osz, shapeFixed
	case FormUdata, FormSdata, FormRefUdata, FormStrx, FormAddrx, FormLoclistx, FormRnglistx, FormGNUAddrIndex, FormGNUStrIndex:
		return 0, shapeULEB
	case FormLLVMAddrxOff:
		return 4, shapeULEB
	case FormString:
		return 0, shapeString
	case FormBlock1:
		return 1, shapeBlock
	case FormBlock2:
		return 2, shapeBlock
	case FormBlock4:
		return 4, shapeBlock
	case FormBlock, FormExprloc:
		return 0, shapeBlock
	case FormIndirect:
		return 0, shapeIndirect
	}
	return 0, shapeUnknown
}

// numForms is above the numbers of all standard forms.
const numForms = 0x30

// formSize describes a form for compile.
type formSize struct {
	n     uint8 // the size that formShape returns
	kind  shape
	cross bool // see crosses
	plain bool // to skip a value, compile needs n only
}

// formSize makes a formSize.
func (u unitFormat) formSize(f Form) formSize {
	n, kind := u.formShape(f)
	return formSize{uint8(n), kind, f.crosses(), kind == shapeFixed && !f.crosses() && f != FormImplicitConst}
}

// crosses reports whether a value of the form may lead out of the unit: see Abbrevs.Cross.
func (f Form) crosses() bool {
	return f < 64 && uint64(crossing)>>f&1 != 0 || f == FormGNURefAlt || f == FormGNUStrpAlt
}

// crossing has a bit for each form below 64 that crosses.
const crossing = 1<<FormRefAddr | 1<<FormRefSup4 | 1<<FormRefSup8 | 1<<FormStrpSup
