package message

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestJSON: all characters come through JSON, and none is obeyed by a terminal.
func TestJSON(t *testing.T) {
	var all []rune
	for r := rune(0); r < 0x3000; r++ {
		all = append(all, r)
	}
	all = append(all, 0xe000, 0xfeff, 0xfffd, 0x1f600, 0xe0001, 0x10ffff)
	var back string
	text := JSON(string(all))
	if err := json.Unmarshal([]byte(text), &back); err != nil || back != string(all) {
		t.Errorf("%v, %q", err, back)
	}
	for _, r := range text {
		if unicode.IsControl(r) || !unicode.IsPrint(r) {
			t.Errorf("%U is as it was", r)
		}
	}
}

// TestEscapes: JSON has an escape for each character that is not shown, and every character comes back.
func TestEscapes(t *testing.T) {
	var all []byte
	for r := range unicode.MaxRune + 1 {
		if utf8.ValidRune(r) {
			all = utf8.AppendRune(all, r)
		}
	}
	escaped := AppendJSON([]byte{'"'}, all)
	if r := bytes.IndexFunc(escaped, func(r rune) bool { return !unicode.IsPrint(r) }); r >= 0 {
		t.Errorf("%.20q has no escape", escaped[r:])
	}
	var back string
	if err := json.Unmarshal(append(escaped, '"'), &back); err != nil || back != string(all) {
		t.Errorf("%v, %d bytes of %d come back", err, len(back), len(all))
	}
}
