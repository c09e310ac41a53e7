package unit

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/test/testfile"
)

// TestTagNames: each tag of a type that package dwarf knows has the name that it has in DWARF, and
// any other tag its number. One was called DW_TAG_0x2 before users.
func TestTagNames(t *testing.T) {
	source := testfile.Read(t, "../dwarf/const.go")
	tags := regexp.MustCompile(`(?m)^\tTag(\w+Type|Typedef|TemplateAlias) +Tag = 0x(\w+)$`).FindAllStringSubmatch(string(source), -1)
	if len(tags) < 25 {
		t.Fatalf("%d tags of types", len(tags))
	}
	for _, m := range tags {
		n, err := strconv.ParseUint(m[2], 16, 16)
		if err != nil {
			t.Fatal(err)
		}
		words := regexp.MustCompile(`[A-Z][a-z]+`).FindAllString(m[1], -1)
		if want := "DW_TAG_" + strings.ToLower(strings.Join(words, "_")); tagName(dwarf.Tag(n)) != want {
			t.Errorf("%#x is %s, want %s", n, tagName(dwarf.Tag(n)), want)
		}
	}
	for tag, want := range map[dwarf.Tag]string{0: "DW_TAG_0x0", 0x03: "DW_TAG_0x3", 0x4109: "DW_TAG_0x4109", 0xffff: "DW_TAG_0xffff"} {
		if got := tagName(tag); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
