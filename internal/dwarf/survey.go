package dwarf

import (
	"bytes"
	"sync"
)

// Survey has what the abbreviations of a file tell about all its units, before any unit
// is read. Read takes .debug_abbrev in pieces, in order. The zero value is at its start.
type Survey struct {
	Cross       bool // a table is Abbrevs.Cross, or a unit is partial: units may refer to each other
	Records     bool // an abbreviation has AtUnitRecord
	Unencodable bool // a DIE is of a type that BTF has no kind for, or a base class
	state       uint8
}

// The states of a Survey say what the next byte belongs to.
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
	inEnd    // the form after an attribute 0: another 0 ends the abbreviation
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
func (s *Survey) Read(b []byte) bool {
	if len(b) < leastLanes || !s.readLanes(b) {
		s.run(b)
	}
	return s.state != damagedAbbrev
}

// run is Read for bytes that are read one after the other. Each byte costs two loads: itself, and
// the pointer to the next state.
func (s *Survey) run(b []byte) {
	state := &surveyStates()[s.state]
	for ; len(b) >= 16; b = b[16:] {
		b := b[:16]
		before := state
		for _, c := range b {
			state = state.next[c]
		}
		if state.number >= crossingTag {
			state = s.note(before, b)
		}
	}
	s.state = s.note(state, b).number
}

// lanes is how many parts readLanes reads at once, and leastLanes how many bytes there must be for
// that to pay.
const (
	lanes      = 4
	leastLanes = 4 << 10
)

// readLanes is run for bytes that can be cut into parts. Each state is known only after the one
// before it, so a CPU mostly waits. Here it waits for several parts at once. A part begins
// after three zeros, which end a table whatever comes before them. readLanes reports false, and has
// read nothing, if there are no such places.
func (s *Survey) readLanes(b []byte) bool {
	var parts [lanes][]byte
	rest := b
	for k := range lanes - 1 {
		want := (k+1)*len(b)/lanes - (len(b) - len(rest))
		n := bytes.Index(rest[max(want, 0):], []byte{0, 0, 0})
		if want < 0 || n < 0 {
			return false
		}
		parts[k], rest = rest[:want+n+3], rest[want+n+3:]
	}
	parts[lanes-1] = rest
	read := [lanes]Survey{*s}
	runLanes(&read, parts)
	*s = read[0]
	for k := 1; k < lanes; k++ {
		if s.state != inCode { // only in bytes that are not abbreviations
			s.run(parts[k])
			continue
		}
		s.Cross = s.Cross || read[k].Cross
		s.Records = s.Records || read[k].Records
		s.Unencodable = s.Unencodable || read[k].Unencodable
		s.state = read[k].state
	}
	return true
}

// runLanes is run for several Surveys at once.
func runLanes(read *[lanes]Survey, parts [lanes][]byte) {
	states := surveyStates()
	s0, s1, s2, s3 := &states[read[0].state], &states[read[1].state], &states[read[2].state], &states[read[3].state]
	for n := min(len(parts[0]), len(parts[1]), len(parts[2]), len(parts[3])) / 16; n > 0; n-- {
		b0, b1, b2, b3 := (*[16]byte)(parts[0]), (*[16]byte)(parts[1]), (*[16]byte)(parts[2]), (*[16]byte)(parts[3])
		before := [lanes]*surveyState{s0, s1, s2, s3}
		for i := range b0 {
			s0, s1, s2, s3 = s0.next[b0[i]], s1.next[b1[i]], s2.next[b2[i]], s3.next[b3[i]]
		}
		if max(s0.number, s1.number, s2.number, s3.number) >= crossingTag {
			s0, s1 = read[0].note(before[0], b0[:]), read[1].note(before[1], b1[:])
			s2, s3 = read[2].note(before[2], b2[:]), read[3].note(before[3], b3[:])
		}
		for k := range parts {
			parts[k] = parts[k][16:]
		}
	}
	read[0].state, read[1].state, read[2].state, read[3].state = s0.number, s1.number, s2.number, s3.number
	for k := range read {
		read[k].run(parts[k])
	}
}

// Whole reports whether what has been read does not end inside an abbreviation.
func (s *Survey) Whole() bool { return s.state == inCode }

// note reads bytes one by one from a state on, sets the fields of s that they tell of, and returns
// the state after them.
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

// surveyState is a state, with the state that follows each value of the next byte.
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
