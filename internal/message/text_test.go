package message

import (
	"encoding/json"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestJSON: all characters come through JSON, and none is obeyed by a terminal.
func TestJSON(t *testing.T) {
	var all []byte
	for r := range unicode.MaxRune + 1 {
		if utf8.ValidRune(r) {
			all = utf8.AppendRune(all, r)
		}
	}
	for how, text := range map[string]string{
		"JSON": JSON(string(all)), "IndentedJSON": string(IndentedJSON(string(all), true)), "AppendJSON": string(append(AppendJSON([]byte{'"'}, all), '"')),
	} {
		var back string
		if err := json.Unmarshal([]byte(text), &back); err != nil || back != string(all) {
			t.Errorf("%s: %v, %d bytes of %d come back", how, err, len(back), len(all))
		}
		for _, r := range text {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("%s: %U is as it was", how, r)
			}
		}
	}
	if got := string(AppendJSON(nil, []byte("<&>\xff"))); got != `<&>\ufffd` {
		t.Errorf("%s", got)
	}
}
