package dwarf

import "sync"

// Survey has what the abbreviations of a file tell about all its units, before any unit
// is read.
type Survey struct {
	Cross       bool // a table is Abbrevs.Cross, or a unit is partial: units may refer to each other
	Records     bool // an abbreviation has AtUnitRecord
	Unencodable bool // a DIE is of a type that BTF has no kind for, or a base class
	state       uint8
}

// The states of a Survey say what the next byte is.
const (
	inCode uint8 = iota // the code of an abbreviation, or the end of a table
	inCodeRest
	inTag
	inTagSecond
	inTagThird
	inChildren
	inAttr
	inAttrRest
	inRecord // the second byte of AtUnitRecord, if it is that
	inEnd    // the form after an attribute of 0
	inForm
	inFormRest
	inAlternate // the second byte of FormGNURefAlt or FormGNUStrpAlt, if it is one
	inConst     // the constant of FormImplicitConst

	// These are reached when a Survey has something to note. Every byte leads back to the
	// same state, so that it is enough to look at the state after a few bytes.
	crossingTag
	crossingForm
	unencodableTag
	recordAttr
	damagedAbbrev
)

// Read reads the next bytes of the abbreviations. It returns false if they are not abbreviations.
// The file is read once more for this alone, so there is a table lookup for each byte and
// nothing else.
func (s *Survey) Read(b []byte) bool {
	state, steps := s.state, surveySteps()
	for ; len(b) >= 16; b = b[16:] {
		b := b[:16]
		before := state
		state = steps[b[0]][state%maxStates]
		state = steps[b[1]][state%maxStates]
		state = steps[b[2]][state%maxStates]
		state = steps[b[3]][state%maxStates]
		state = steps[b[4]][state%maxStates]
		state = steps[b[5]][state%maxStates]
		state = steps[b[6]][state%maxStates]
		state = steps[b[7]][state%maxStates]
		state = steps[b[8]][state%maxStates]
		state = steps[b[9]][state%maxStates]
		state = steps[b[10]][state%maxStates]
		state = steps[b[11]][state%maxStates]
		state = steps[b[12]][state%maxStates]
		state = steps[b[13]][state%maxStates]
		state = steps[b[14]][state%maxStates]
		state = steps[b[15]][state%maxStates]
		if state >= crossingTag {
			state = s.note(before, b)
		}
	}
	s.state = s.note(state, b)
	return s.state != damagedAbbrev
}

// Whole reports whether what has been read does not end inside an abbreviation.
func (s *Survey) Whole() bool { return s.state == inCode }

// note reads bytes one by one, notes what they tell, and returns the state after them.
func (s *Survey) note(state uint8, b []byte) uint8 {
	steps := surveySteps()
	for _, c := range b {
		switch state = steps[c][state]; state {
		case crossingTag:
			s.Cross, state = true, inChildren
		case crossingForm:
			s.Cross, state = true, inAttr
		case unencodableTag:
			s.Unencodable, state = true, inChildren
		case recordAttr:
			s.Records, state = true, inForm
		}
	}
	return state
}

const maxStates = 32

// surveySteps leads from a byte and a state to the next state. It is made when it is first needed,
// because many runs of the program read no DWARF.
var surveySteps = sync.OnceValue(func() *[256][maxStates]uint8 {
	steps := new([256][maxStates]uint8)
	// The numbers of attributes and forms that a Survey notes have two bytes at most. A number
	// that fills up with zeros could hide them, and no compiler writes one.
	for _, number := range []struct{ state, rest, next uint8 }{
		{inCode, inCodeRest, inTag},
		{inCodeRest, inCodeRest, inTag},
		{inTag, inTagSecond, inChildren},
		{inTagSecond, inTagThird, inChildren},
		{inTagThird, damagedAbbrev, inChildren},
		{inChildren, damagedAbbrev, damagedAbbrev},
		{inAttr, inAttrRest, inForm},
		{inAttrRest, inAttrRest, inForm},
		{inRecord, inAttrRest, inForm},
		{inEnd, inFormRest, inAttr},
		{inForm, inFormRest, inAttr},
		{inFormRest, inFormRest, inAttr},
		{inAlternate, inFormRest, inAttr},
		{inConst, inConst, inAttr},
	} {
		for b := range steps {
			steps[b][number.state] = number.next
			if b >= 0x80 {
				steps[b][number.state] = number.rest
			}
		}
	}
	for _, state := range []uint8{inCodeRest, inTag, inTagSecond, inTagThird, inAttrRest, inRecord, inFormRest, inAlternate} {
		steps[0][state] = damagedAbbrev
	}
	for b := range steps {
		for state := crossingTag; state <= damagedAbbrev; state++ {
			steps[b][state] = state
		}
	}

	steps[0][inCode] = inCode
	for tag := range Tag(0x80) {
		switch class := classOf(tag); {
		case class == ClassImport || tag == TagPartialUnit:
			steps[tag][inTag] = crossingTag
		case class == ClassUnencodable || class == ClassInheritance || class == ClassForReaders:
			steps[tag][inTag] = unencodableTag
		}
	}
	for b := 4; b < 0x80; b++ {
		steps[b][inTagThird] = damagedAbbrev // tags have 16 bits
	}
	steps[0][inChildren], steps[1][inChildren] = inAttr, inAttr
	steps[0][inAttr], steps[0][inEnd] = inEnd, inCode
	steps[AtUnitRecord&0x7f|0x80][inAttr] = inRecord
	steps[AtUnitRecord>>7][inRecord] = recordAttr
	for _, state := range []uint8{inForm, inEnd} {
		for form := range Form(0x80) {
			if form.crosses() {
				steps[form][state] = crossingForm
			}
		}
		steps[FormImplicitConst][state] = inConst
		steps[FormGNURefAlt&0x7f|0x80][state], steps[FormGNUStrpAlt&0x7f|0x80][state] = inAlternate, inAlternate
	}
	steps[FormGNURefAlt>>7][inAlternate], steps[FormGNUStrpAlt>>7][inAlternate] = crossingForm, crossingForm
	return steps
})
