package main

import (
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/btflite/btflite/internal/message"
)

// printable makes text with names from files safe for a terminal. It escapes invisible
// characters, except newlines and tabs.
func printable(text []byte) []byte {
	return escaped(text, func(out, char []byte) []byte { return append(out, message.OneLine(string(char))...) })
}

// printableJSON makes JSON safe for a terminal. In strings, it escapes invisible
// characters that encoding/json leaves as they are.
func printableJSON(text []byte) []byte {
	return escaped(text, func(out, char []byte) []byte {
		r, _ := utf8.DecodeRune(char)
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			return fmt.Appendf(out, "\\u%04x\\u%04x", high, low)
		}
		return fmt.Appendf(out, "\\u%04x", r)
	})
}

// escaped returns text in which escape has appended each invisible character in its own way.
func escaped(text []byte, escape func(out, char []byte) []byte) []byte {
	n := plainPrefix(text)
	if n == len(text) {
		return text
	}
	out := append([]byte{}, text[:n]...)
	for text = text[n:]; len(text) > 0; text = text[n:] {
		_, size := utf8.DecodeRune(text)
		out = escape(out, text[:size])
		text = text[size:]
		n = plainPrefix(text)
		out = append(out, text[:n]...)
	}
	return out
}

// plainPrefix returns how many bytes at the start of text need no escape.
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
