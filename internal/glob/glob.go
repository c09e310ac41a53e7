// Package glob tells whether a name fits a pattern. All commands use it, so a pattern means the same in
// each. It follows path.Match (*, ?, [a-z], \), but a * also matches a slash, because C++ has operator/.
package glob

import (
	"errors"
	"path"
	"strings"
)

// Pattern is a pattern that is complete.
type Pattern string

// Parse returns the pattern of a text.
func Parse(text string) (Pattern, error) {
	if text == "" {
		return "", errors.New("it is empty")
	}
	if _, err := path.Match(text, ""); err != nil {
		return "", errors.New("a bracket is open, or nothing follows a backslash")
	}
	return Pattern(withoutSlashes(text)), nil
}

// Is reports whether a text is more than a name.
func Is(text string) bool { return strings.ContainsAny(text, `*?[\`) }

// Fits reports whether the whole name fits.
func (p Pattern) Fits(name []byte) bool {
	fits, _ := path.Match(string(p), withoutSlashes(string(name)))
	return fits
}

// withoutSlashes replaces the character to which path.Match gives a meaning of its own. Neither patterns of a
// command line nor names have NULs.
func withoutSlashes(s string) string { return strings.ReplaceAll(s, "/", "\x00") }
