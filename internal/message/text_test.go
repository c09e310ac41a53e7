package message

import (
	"encoding/json"
	"testing"
	"unicode"
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
