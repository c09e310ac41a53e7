package dwarf

// HasUnencodable tells whether one of the abbreviations in .debug_abbrev is of a type that
// BTF has no kind for, or of a base class. It stops where they cannot be read.
func HasUnencodable(abbrev []byte) bool {
	p := 0
	next := func() (v uint64) {
		v, p = ULEB(abbrev, p)
		return v
	}
	for p >= 0 && p < len(abbrev) {
		if next() == 0 { // the end of a table
			continue
		}
		if p < 0 {
			break
		}
		switch tag := next(); {
		case p < 0 || tag > 0xffff:
			return false
		default:
			if c := classOf(Tag(tag)); c == ClassUnencodable || c == ClassInheritance || c == ClassForReaders {
				return true
			}
		}
		p++ // whether there are children
		for p >= 0 && p < len(abbrev) {
			attr := next()
			if p < 0 {
				break
			}
			form := next()
			if p >= 0 && Form(form) == FormImplicitConst {
				next()
			}
			if attr == 0 && form == 0 {
				break
			}
		}
	}
	return false
}
