package dwarf

// Survey is what the abbreviations of a file say of all its units, before any of them is read.
type Survey struct {
	Cross       bool // a table is Abbrevs.Cross, or a unit is partial: units may refer to each other
	Records     bool // a unit DIE has AtUnitRecord
	Unencodable bool // a DIE is of a type that BTF has no kind for, or a base class
}

// Read goes over the abbreviations in b, tables one behind the other, and notes what it finds.
// It returns the place behind the last one that is whole; ok is false if what follows is not
// an abbreviation, whatever comes behind b.
func (s *Survey) Read(b []byte) (n int, ok bool) {
	c := abbrevCursor{b: b}
	for n < len(b) {
		// Nearly all codes and tags have one byte each.
		if p := c.p; p+2 < len(b) && b[p]-1 < 0x7f && b[p+1]-1 < 0x7f && b[p+2] <= 1 {
			c.p = p + 3
			tag := Tag(b[p+1])
			s.attributes(classOf(tag), tag, &c)
		} else if c.uleb() != 0 { // else a table ends
			tag, children := c.uleb(), c.u8()
			if !c.bad && (tag == 0 || tag > 0xffff || children > 1) {
				return n, false
			}
			s.attributes(classOf(Tag(tag)), Tag(tag), &c)
		}
		if c.bad {
			break
		}
		n = c.p
	}
	return n, true
}

// attributes reads the attributes of an abbreviation.
func (s *Survey) attributes(class Class, tag Tag, c *abbrevCursor) {
	switch {
	case class == ClassImport || tag == TagPartialUnit:
		s.Cross = true
	case class == ClassUnencodable || class == ClassInheritance || class == ClassForReaders:
		s.Unencodable = true
	}
	for !c.bad {
		// Nearly all: two bytes, and a form that says nothing, or one with a constant behind
		// it. Each file is read for this alone, so the loop is kept short.
		b, p := c.b, c.p
		for p+1 < len(b) && b[p] < 0x80 {
			if form := b[p+1]; !telling[form] {
				p += 2
				continue
			} else if Form(form) != FormImplicitConst {
				break
			}
			end := p + 2
			for end < len(b) && b[end] >= 0x80 {
				end++
			}
			if end >= len(b) {
				break
			}
			p = end + 1
		}
		if c.p = p; p+1 < len(b) && b[p]|b[p+1] == 0 {
			c.p = p + 2
			return
		}
		attr, form := c.uleb(), Form(c.uleb())
		switch {
		case attr == 0 && form == 0:
			return
		case form == FormImplicitConst:
			c.sleb()
		case form.crosses():
			s.Cross = true
		case attr == AtUnitRecord && class == ClassUnit:
			s.Records = true
		}
	}
}

// telling says which forms mean something to a Survey: 0 ends a list, and a form from 0x80 on
// has more bytes.
var telling = func() (is [256]bool) {
	is[0], is[FormImplicitConst] = true, true
	for form := range is {
		is[form] = is[form] || form >= 0x80 || Form(form).crosses()
	}
	return is
}()
