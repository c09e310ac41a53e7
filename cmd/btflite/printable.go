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

// printableJSON makes JSON safe for a terminal. In strings, it escapes invisible
// characters that encoding/json leaves as they are.
func printableJSON(text []byte) []byte {
	n := plainPrefix(text)
	if n == len(text) {
		return text
	}
	out := append([]byte{}, text[:n]...)
	for text = text[n:]; len(text) > 0; text = text[n:] {
		r, size := utf8.DecodeRune(text)
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, "\\u%04x\\u%04x", high, low)
		} else {
			out = fmt.Appendf(out, "\\u%04x", r)
		}
		text = text[size:]
		n = plainPrefix(text)
		out = append(out, text[:n]...)
	}
	return out
}
