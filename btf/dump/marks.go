package dump

import (
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/message"
)

// Types from DWARF that BTF has no kind for: see btf.MarkKind. C has no references and no
// pointers to members. The text has the type that stands for them, with a comment after
// it.

// atomic is the qualifier that C has.
const atomic = "_Atomic"

// unmarked returns the name at a string offset, without the bytes that make it a mark.
func unmarked(b *btf.Blob, off uint32) []byte {
	name := b.NameBytes(off)
	if b.Marked {
		_, name = btf.Mark(name)
	}
	return name
}

// isBase reports whether a member of the name is a base class.
func isBase(b *btf.Blob, name uint32) bool {
	if !b.Marked {
		return false
	}
	k, _ := btf.Mark(b.NameBytes(name))
	return k == btf.MarkBase
}

// markedWord is the word for the kind of a type.
func markedWord(b *btf.Blob, rec btf.Record) string {
	switch k, text := b.MarkOf(rec); {
	case k == btf.MarkQualifier && string(text) == atomic:
		return "ATOMIC"
	case k == btf.MarkQualifier:
		return "QUALIFIER"
	case k == btf.MarkReference && string(text) == "&":
		return "REFERENCE"
	case k == btf.MarkReference:
		return "RVALUE_REFERENCE"
	case k == btf.MarkMember:
		return "PTR_TO_MEMBER"
	case k == btf.MarkName:
		return "UNSPECIFIED"
	}
	return kindWord(rec.Kind())
}

// marked writes what a mark says about the type before it.
func (o *out) marked(k btf.MarkKind, text []byte) {
	said := string(text)
	switch {
	case k == btf.MarkMember:
		said += "::*"
	case said == "":
		return
	case k == btf.MarkQualifier && said == atomic:
		o.text(" " + atomic)
		return
	}
	o.text(" " + inComment([]byte(said)))
}

// inComment is a comment with a text that may have any bytes; "" for none.
func inComment(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	return "/* " + strings.ReplaceAll(message.OneLine(string(text)), "*/", "* /") + " */"
}
