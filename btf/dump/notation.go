package dump

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/message"
)

// Style is how JSON is laid out.
type Style int

// The styles of JSON.
const (
	Compact Style = iota // one line, as "bpftool -j"
	Pretty               // indented, as "bpftool -p"
	Lines                // an object for each type on a line of its own, and nothing around them

	rawText // no JSON
)

// Raw writes the types of b that ids name, in their order, or all types of b
// without its base if ids is nil: one line per type, and one for each element, as
// "bpftool btf dump file FILE format raw". It returns the first error of w, or one
// that says which id does not exist.
func Raw(w io.Writer, b *btf.Blob, ids []uint32) error { return write(w, b, ids, rawText) }

// JSON writes the same as Raw as JSON, with bpftool's fields: one object with the array
// "types" or, in the style Lines, one object for each type.
func JSON(w io.Writer, b *btf.Blob, ids []uint32, style Style) error { return write(w, b, ids, style) }

func write(to io.Writer, b *btf.Blob, ids []uint32, style Style) error {
	if err := checkIDs(b, ids); err != nil {
		return err
	}
	w := fieldWriter{out: newOut(to), b: b, raw: style == rawText, quotes: style != rawText && hasQuotes(b)}
	w.notation.set(style)
	w.keys = &w.field
	w.text(w.start)
	types := 0
	for id, rec := range each(b, ids) {
		if types++; types > 1 {
			w.text(w.between)
		}
		w.record(id, rec)
		if w.keepUp(); w.to.Err != nil {
			break
		}
	}
	if types > 0 {
		w.text(w.last)
	}
	w.text(w.finish)
	return w.end()
}

// key is the name of a field.
type key uint8

// The keys.
const (
	keyKind key = iota
	keyName
	keySize
	keyVlen
	keyType
	keyBitsOffset
	keyBits
	keyEncoding
	keyIndexType
	keyElems
	keyFwdKind
	keyLinkage
	keyVarLinkage
	keyResult
	keyComponent
	keyMembers
	keyBitfieldSize
	keyBaseClass
	keyValues
	keyValue
	keyParams
	keyVars
	keyOffset
	keyFlags
	keyLocValues
	keyLocValue
	keySites
	keySiteName
	keyFuncType
	keyLocProto
)

// keyNames are the keys as JSON and, but for some, raw text have them.
var keyNames = [...]string{
	keyKind: "kind", keyName: "name", keySize: "size", keyVlen: "vlen", keyType: "type_id", keyBitsOffset: "bits_offset", keyBits: "nr_bits", keyEncoding: "encoding",
	keyIndexType: "index_type_id", keyElems: "nr_elems", keyFwdKind: "fwd_kind", keyLinkage: "linkage", keyVarLinkage: "linkage", keyResult: "ret_type_id",
	keyComponent: "component_idx", keyMembers: "members", keyBitfieldSize: "bitfield_size", keyBaseClass: "base_class", keyValues: "values", keyValue: "val",
	keyParams: "params", keyVars: "vars", keyOffset: "offset", keyFlags: "flags", keyLocValues: "values", keyLocValue: "value", keySites: "sites", keySiteName: "name",
	keyFuncType: "func_type_id", keyLocProto: "loc_proto_type_id",
}

// textKeys are the keys of texts in quotes. Raw text has quotes only around some of them.
var textKeys = []key{keyKind, keyName, keyEncoding, keyFwdKind, keyLinkage, keyVarLinkage, keyLocValues, keyLocValue, keySiteName}

// notation has the text around values.
type notation struct {
	start, between, last, finish string  // before all types, between two, after the last of any, and after all
	begin, endType               keyText // around a type, up to the value of its id
	endElement, endLast          keyText // after an element, and after the last of any
	quote                        byte    // after names

	field             keyTexts // before a value of a type, with the quote that begins a text
	first, next, more keyTexts // before the first value of the first element and of the next ones, and before other values
}

// keyTexts has the texts before values, by key.
type keyTexts [len(keyNames)]keyText

// keyText is a text of n bytes before or after a value.
type keyText struct {
	n    int
	text [mostKeyText]byte
}

// mostKeyText is how long a keyText can be: a bracket, a comma and a newline, five times four blanks, and
// the longest key with quotes, colon and blank.
const mostKeyText = 48

func newKeyText(text string) (t keyText) {
	t.n = copy(t.text[:], text)
	return t
}

// put adds the text. If there is room, it copies all of t.text and cuts the rest off, because a
// copy of a size that the compiler knows takes a few instructions, and any other one a call.
func (o *out) put(t *keyText) {
	n := len(o.buf)
	if cap(o.buf)-n < mostKeyText {
		o.buf = append(o.buf, t.text[:t.n]...)
		return
	}
	*(*[mostKeyText]byte)(o.buf[n : n+mostKeyText]) = t.text
	o.buf = o.buf[:n+t.n]
}

// set makes the notation of a style.
func (n *notation) set(style Style) {
	if style == rawText {
		*n = notation{begin: newKeyText("["), endType: newKeyText("\n"), quote: '\''}
		for k, name := range keyNames {
			n.first[k], n.field[k] = newKeyText("\n\t"+name+"="), newKeyText(" "+name+"=")
		}
		n.field[keyKind], n.field[keyName], n.first[keyName] = newKeyText("] "), newKeyText(" '"), newKeyText("\n\t'")
		n.field[keyVarLinkage], n.field[keyFlags] = newKeyText(", linkage="), newKeyText(" flags=0x")
		n.field[keyLocValues], n.field[keyLocValue], n.first[keySiteName] = newKeyText(" values='"), newKeyText(" value='"), newKeyText("\n\tname='")
		n.next, n.more = n.first, n.field
		return
	}
	colon, line := ":", func(int) string { return "" }
	if style == Pretty {
		colon, line = ": ", func(depth int) string { return "\n" + strings.Repeat("    ", depth) }
	}
	*n = notation{begin: newKeyText("{" + line(3) + `"id"` + colon), endType: newKeyText(line(2) + "}"), endElement: newKeyText(line(4) + "}"), endLast: newKeyText(line(3)), quote: '"'}
	if style == Lines {
		n.endType = newKeyText("}\n")
	} else {
		n.start, n.between, n.last, n.finish = "{"+line(1)+`"types"`+colon+"[", ",", line(1), "]"+line(0)+"}\n"
	}
	for k, name := range keyNames {
		if name = `"` + name + `"` + colon; slices.Contains(textKeys, key(k)) {
			name += `"`
		}
		n.first[k], n.next[k] = newKeyText("{"+line(5)+name), newKeyText(",{"+line(5)+name)
		n.more[k], n.field[k] = newKeyText(","+line(5)+name), newKeyText(","+line(3)+name)
	}
}

// fieldWriter writes one field after another.
type fieldWriter struct {
	*out
	notation
	b      *btf.Blob
	raw    bool      // it writes raw text
	quotes bool      // a name may have a printable character that needs an escape
	keys   *keyTexts // notation.field, or notation.more in elements
}

// beginType writes what all types have.
func (w *fieldWriter) beginType(id uint32, rec btf.Record) {
	w.put(&w.begin)
	w.decimal(id)
	word := kindWord(rec.Kind())
	if !w.raw {
		word = markedWord(w.b, rec)
	}
	w.word(keyKind, word)
	w.key(keyName)
	w.name(rec.Name())
}

// beginList begins the elements of rec, and writes their number before.
func (w *fieldWriter) beginList(k key, rec btf.Record) {
	w.number(keyVlen, rec.Vlen())
	if !w.raw {
		w.key(k)
		w.text("[")
	}
	w.keys = &w.more
}

func (w *fieldWriter) endList(rec btf.Record) {
	if !w.raw && rec.Vlen() > 0 {
		w.put(&w.endLast)
	}
	if !w.raw {
		w.text("]")
	}
	w.keys = &w.field
}

// beginElement begins element j with its first field, up to the value.
func (w *fieldWriter) beginElement(j int, k key) {
	texts := &w.next
	if j == 0 {
		texts = &w.first
	}
	w.put(&texts[k])
}

func (w *fieldWriter) key(k key) { w.put(&w.keys[k]) }

func (w *fieldWriter) finishElement() {
	if !w.raw {
		w.put(&w.endElement)
	}
	w.keepUp()
}

func (w *fieldWriter) number(k key, n uint32) {
	w.put(&w.keys[k])
	w.decimal(n)
}

// word writes a text that needs no escapes, nor quotes in raw text.
func (w *fieldWriter) word(k key, text string) {
	w.key(k)
	w.text(text)
	if !w.raw {
		w.buf = append(w.buf, '"')
	}
}

// place writes the place of a parameter.
func (w *fieldWriter) place(k key, rec btf.Record) {
	text := ""
	if rec != nil {
		text = btf.LocText(rec)
	}
	w.key(k)
	w.buf = append(append(w.buf, text...), w.quote)
}

// name writes the name at a string offset, after its first quote.
func (w *fieldWriter) name(off uint32) {
	named, plain := w.b.AppendPlain(w.buf, off)
	if !plain || w.quotes && bytes.ContainsAny(named[len(w.buf):], `"\`) {
		named = w.escaped(unmarked(w.b, off))
	}
	if len(named) == len(w.buf) {
		named = append(named, "(anon)"...)
	}
	w.buf = append(named, w.quote)
}

// escaped returns the collected text and a name with escapes.
func (w *fieldWriter) escaped(name []byte) []byte {
	if w.raw {
		return append(w.buf, message.OneLine(string(name))...)
	}
	return message.AppendJSON(w.buf, name)
}
