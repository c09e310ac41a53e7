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
// The file is read once more for this alone, so each byte costs two loads: itself, and the
// pointer to the next state.
func (s *Survey) Read(b []byte) bool {
	state := &surveyStates()[s.state]
	for ; len(b) >= 16; b = b[16:] {
		b := b[:16]
		before := state
		state = state.next[b[0]]
		state = state.next[b[1]]
		state = state.next[b[2]]
		state = state.next[b[3]]
		state = state.next[b[4]]
		state = state.next[b[5]]
		state = state.next[b[6]]
		state = state.next[b[7]]
		state = state.next[b[8]]
		state = state.next[b[9]]
		state = state.next[b[10]]
		state = state.next[b[11]]
		state = state.next[b[12]]
		state = state.next[b[13]]
		state = state.next[b[14]]
		state = state.next[b[15]]
		if state.number >= crossingTag {
			state = s.note(before, b)
		}
	}
	state = s.note(state, b)
	s.state = state.number
	return s.state != damagedAbbrev
}

// Whole reports whether what has been read does not end inside an abbreviation.
func (s *Survey) Whole() bool { return s.state == inCode }

// note reads bytes one by one, notes what they tell, and returns the state after them.
func (s *Survey) note(state *surveyState, b []byte) *surveyState {
	states := surveyStates()
	for _, c := range b {
		switch state = state.next[c]; state.number {
		case crossingTag:
			s.Cross, state = true, &states[inChildren]
		case crossingForm:
			s.Cross, state = true, &states[inAttr]
		case unencodableTag:
			s.Unencodable, state = true, &states[inChildren]
		case recordAttr:
			s.Records, state = true, &states[inForm]
		}
	}
	return state
}

// surveyState leads from the next byte to the state behind it.
type surveyState struct {
	next   [256]*surveyState
	number uint8
}

// surveyStates are made when they are first needed, because many runs of the program read no DWARF.
var surveyStates = sync.OnceValue(func() *[damagedAbbrev + 1]surveyState {
	states := new([damagedAbbrev + 1]surveyState)
	for state := range states {
		states[state].number = uint8(state)
	}
	lead := func(state uint8, b int, next uint8) { states[state].next[b] = &states[next] }
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
		for b := range 256 {
			lead(number.state, b, number.next)
			if b >= 0x80 {
				lead(number.state, b, number.rest)
			}
		}
	}
	for _, state := range []uint8{inCodeRest, inTag, inTagSecond, inTagThird, inAttrRest, inRecord, inFormRest, inAlternate} {
		lead(state, 0, damagedAbbrev)
	}
	for b := range 256 {
		for state := crossingTag; state <= damagedAbbrev; state++ {
			lead(state, b, state)
		}
	}

	lead(inCode, 0, inCode)
	for tag := range Tag(0x80) {
		switch class := classOf(tag); {
		case class == ClassImport || tag == TagPartialUnit:
			lead(inTag, int(tag), crossingTag)
		case class == ClassUnencodable || class == ClassInheritance || class == ClassForReaders:
			lead(inTag, int(tag), unencodableTag)
		}
	}
	for b := 4; b < 0x80; b++ {
		lead(inTagThird, b, damagedAbbrev) // tags have 16 bits
	}
	lead(inChildren, 0, inAttr)
	lead(inChildren, 1, inAttr)
	lead(inAttr, 0, inEnd)
	lead(inEnd, 0, inCode)
	lead(inAttr, AtUnitRecord&0x7f|0x80, inRecord)
	lead(inRecord, AtUnitRecord>>7, recordAttr)
	for _, state := range []uint8{inForm, inEnd} {
		for form := range Form(0x80) {
			if form.crosses() {
				lead(state, int(form), crossingForm)
			}
		}
		lead(state, int(FormImplicitConst), inConst)
		lead(state, int(FormGNURefAlt&0x7f|0x80), inAlternate)
		lead(state, int(FormGNUStrpAlt&0x7f|0x80), inAlternate)
	}
	lead(inAlternate, int(FormGNURefAlt>>7), crossingForm)
	lead(inAlternate, int(FormGNUStrpAlt>>7), crossingForm)
	return states
})
