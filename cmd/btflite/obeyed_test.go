package main

import (
	"unicode"
	"unicode/utf8"
)

// obeyed is where text has a character that a terminal obeys, or -1.
func obeyed(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n <= 1 || unicode.IsControl(r) && r != '\n' && r != '\t' {
			return i
		}
		i += n
	}
	return -1
}
