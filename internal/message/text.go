package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// OneLine makes text fit for one line of a terminal: control characters and
// broken UTF-8, which file names and files may hold, are shown as escapes.
func OneLine(s string) string {
	if plainPrefix(s, false) == len(s) {
		return s
	}
	return string(escaped([]byte(s), false, likeGo))
}

// Printable makes lines of text safe for a terminal. It is OneLine, but newlines and tabs stay.
func Printable(text []byte) []byte { return escaped(text, true, likeGo) }

// JSON returns v as JSON that is safe for a terminal: in strings, it escapes invisible
// characters that encoding/json leaves as they are. v must have a form in JSON.
func JSON(v any) string { return string(bytes.TrimSuffix(encodeJSON(v, "", true), []byte("\n"))) }

// IndentedJSON is JSON with each value on a line of its own. Only with html, strings have escapes for <, > and &.
func IndentedJSON(v any, html bool) []byte { return encodeJSON(v, " ", html) }

// AppendJSON appends text as in a string of JSON, without the quotes and without escapes for <, > and &.
func AppendJSON(dst, text []byte) []byte {
	quoted := encodeJSON(string(text), "", false) // and a newline
	return append(dst, quoted[1:len(quoted)-2]...)
}

func encodeJSON(v any, indent string, html bool) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return escaped(b.Bytes(), true, likeJSON)
}

// escaped returns text in which escape has appended each invisible character in its own way.
// With lines, newlines and tabs are not invisible.
func escaped(text []byte, lines bool, escape func(out, char []byte) []byte) []byte {
	n := plainPrefix(text, lines)
	if n == len(text) {
		return text
	}
	out := append([]byte{}, text[:n]...)
	for text = text[n:]; len(text) > 0; text = text[n:] {
		_, size := utf8.DecodeRune(text)
		out = escape(out, text[:size])
		text = text[size:]
		n = plainPrefix(text, lines)
		out = append(out, text[:n]...)
	}
	return out
}

// likeGo appends an escape of Go's strings.
func likeGo(out, char []byte) []byte {
	r, n := utf8.DecodeRune(char)
	if r == utf8.RuneError && n <= 1 {
		return fmt.Appendf(out, `\x%02x`, char[0])
	}
	quoted := fmt.Sprintf("%q", r)
	return append(out, quoted[1:len(quoted)-1]...)
}

// likeJSON appends an escape of JSON.
func likeJSON(out, char []byte) []byte {
	r, _ := utf8.DecodeRune(char)
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return fmt.Appendf(out, "\\u%04x\\u%04x", high, low)
	}
	return fmt.Appendf(out, "\\u%04x", r)
}

// plainPrefix returns how many bytes at the start of text need no escape.
func plainPrefix[T string | []byte](text T, lines bool) int {
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < 0x7f || lines && (c == '\n' || c == '\t') {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
		if r == utf8.RuneError && n <= 1 || !unicode.IsPrint(r) {
			return i
		}
		i += n
	}
	return len(text)
}
