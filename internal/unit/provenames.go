package unit

import (
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/names"
)

// If names stand for their text, what the DIEs say of a name is a place in .debug_str. isPlace marks
// it. No token of such a file looks like that, so a place is never taken for one.
const isPlace = 1 << 30

// nameTest compares the names of DIEs with tokens.
type nameTest struct {
	names  *names.Text
	reader *names.Reader
	place  dedup.Name  // isPlace if names stand for their text, else 0
	texts  names.Texts // if place is not 0
}

// begin prepares for the unit at c.
func (t *nameTest) begin(c *debuginfo.Cursor) {
	*t = nameTest{names: &c.File.Names, reader: &c.Reader}
	if t.names.ByText {
		t.place, t.texts = isPlace, t.names.Texts()
	}
}

// is reports whether a name, or the one at a place, has the token.
func (t *nameTest) is(name, token dedup.Name) bool {
	return name == token || t.place != 0 && name != 0 && t.isText(name, token)
}

// isText is the part of is for names that differ from the token: their texts may be the same.
//
//go:noinline
func (t *nameTest) isText(name, token dedup.Name) bool {
	switch {
	case name == isPlace: // of an abbreviation without a name
		return token == 0
	case name > isPlace && name < 2*isPlace:
		return t.texts.Is(name&^isPlace-1, token)
	case name >= 2*isPlace: // it is inline
		return t.token(name) == token
	}
	return false
}

// token returns the token to look a name up with. A name that cannot be read has none, and stays as
// it is; the walk finds out why.
func (t *nameTest) token(name dedup.Name) dedup.Name {
	place := name
	if name-isPlace < isPlace && t.place != 0 {
		if name &^= isPlace; name > t.names.Last {
			return place
		}
	}
	if !t.names.Look() {
		return name
	}
	if name = t.names.Settle(t.reader, name); t.reader.Bad {
		t.reader.Bad = false
		return place
	}
	return name
}
