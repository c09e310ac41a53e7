package dump

import "testing"

// TestKeyTexts: no text before a value is cut because it is too long.
func TestKeyTexts(t *testing.T) {
	var longest keyText
	for _, style := range []Style{rawText, Compact, Pretty, Lines} {
		var n notation
		n.set(style)
		for _, texts := range []*keyTexts{&n.field, &n.first, &n.next, &n.more} {
			for _, x := range texts {
				if x.n > longest.n {
					longest = x
				}
			}
		}
	}
	if text, want := string(longest.text[:longest.n]), ",{\n                    \"loc_proto_type_id\": "; text != want || len(text) > mostKeyText {
		t.Errorf("the longest is %q, not %q", text, want)
	}
}
