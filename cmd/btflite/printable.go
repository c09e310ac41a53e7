package main

import (
	"unicode"
	"unicode/utf8"

	"github.com/btflite/btflite/internal/message"
)

// printable is text with names from files as it may go to a terminal: characters that
// do not show, other than newlines and tabs, as escapes.
func printable(text []byte) []byte {
	n := plainPrefix(text)
	if n == len(text) {
		return text
	}
	out := append([]byte{}, text[:n]...)
	for text = text[n:]; len(text) > 0; text = text[n:] {
		_, n = utf8.DecodeRune(text)
		out = append(out, message.OneLine(string(text[:n]))...)
		text = text[n:]
		n = plainPrefix(text)
		out = append(out, text[:n]...)
	}
	return out
}

// plainPrefix is how many bytes of text show as they are.
func plainPrefix(text []byte) int {
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n <= 1 || !unicode.IsPrint(r) {
			return i
		}
		i += n
	}
	return len(text)
}
