package btf

import (
	"strings"
	"testing"
)

// TestHasLongName: sizes around the limit, at the start of the strings, after one
// and before one.
func TestHasLongName(t *testing.T) {
	for n := longName - 3; n <= longName+3; n++ {
		name := strings.Repeat("n", n) + "\x00"
		for _, s := range []string{name, "\x00" + name, "\x00int\x00" + name, "\x00" + name + "int\x00"} {
			if got := hasLongName([]byte(s)); got != (n >= longName) {
				t.Errorf("%d bytes in %d: %v", n, len(s), got)
			}
		}
	}
}
