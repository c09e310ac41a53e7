package unit

import (
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/names"
)

// nameTest compares the names of DIEs with tokens. Here load gives the name of a DIE: a token
// or, if names stand for their text (names.Text.ByText), a place in .debug_str. The numbers of places
// differ from all tokens.
type nameTest struct {
	names  *names.Text
	reader *names.Reader
	texts  names.Texts // if byText
	byText bool        // a text tells the token: names stand for their text, and none are cut
}

// begin prepares for the unit at c.
func (t *nameTest) begin(c *debuginfo.Cursor) {
	*t = nameTest{names: &c.File.Names, reader: &c.Reader}
	if t.byText = t.names.ByText && !t.names.Cuts(); t.byText {
		t.texts = t.names.Texts()
	}
}

// is reports whether a name, or the one at a place, has the token.
func (t *nameTest) is(name, token dedup.Name) bool { return name == token || t.isText(name, token) }

// isText is the part of is for names that differ from the token: their texts may be the same.
//
//go:noinline
func (t *nameTest) isText(name, token dedup.Name) bool {
	if t.byText && t.isPlace(name) {
		return t.texts.Is(name, token)
	}
	return (name>>31 != 0 || !t.byText) && t.names.ByText && t.token(name) == token // it is inline, or may be cut
}

// isPlace reports whether a name, if names stand for their text, is a place in .debug_str.
func (t *nameTest) isPlace(name dedup.Name) bool {
	return name > t.names.Base && name <= t.names.Last
}

// are reports whether all guesses are right.
func (t *nameTest) are(guesses []names.Guess) bool {
	for {
		if guesses = guesses[t.texts.Right(guesses):]; len(guesses) == 0 {
			return true
		}
		if g := guesses[0]; !t.isText(g.Name, g.Token) {
			return false
		}
		guesses = guesses[1:]
	}
}

// token returns the token to look a name up with. A name that cannot be read has none, and stays as
// it is; the walk finds out why.
func (t *nameTest) token(name dedup.Name) dedup.Name {
	place := name
	if !t.names.Look() || t.names.ByText && name>>31 == 0 && name > t.names.Last {
		return name
	}
	if name = t.names.Settle(t.reader, name); t.reader.Bad {
		t.reader.Bad = false
		return place
	}
	return name
}
