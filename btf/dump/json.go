package dump

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/btflite/btflite/btf"
)

// Style is how JSON is laid out.
type Style int

// The styles of JSON.
const (
	Compact Style = iota // one line, as "bpftool -j"
	Pretty               // indented, as "bpftool -p"
	Lines                // an object for each type on a line of its own, and nothing around them
)

// JSON writes the same as Raw as JSON, with bpftool's fields: one object with the array
// "types" or, in the style Lines, one object for each type.
func JSON(w io.Writer, b *btf.Blob, ids []uint32, style Style) error {
	if err := checkIDs(b, ids); err != nil {
		return err
	}
	j := jsonWriter{out: newOut(w), b: b, odd: hasOddNames(b) || hasQuotes(b), style: style, first: true}
	if style != Lines {
		j.open('{')
		j.key(`,"types":`)
		j.open('[')
	}
	for id, rec := range each(b, ids) {
		j.record(id, rec)
		if style == Lines {
			j.buf = append(j.buf, '\n')
			j.first = true
		}
		if j.keepUp(); j.to.Err != nil {
			break
		}
	}
	if style != Lines {
		j.close(']')
		j.close('}')
		j.buf = append(j.buf, '\n')
	}
	return j.end()
}

// jsonWriter writes one value after another. Keys are given as they stand in the
// text: in quotes, with the comma before and the colon, and what a text begins with.
type jsonWriter struct {
	*out
	b     *btf.Blob
	odd   bool
	style Style
	depth int
	first bool // nothing has been written since the last bracket was opened
}

func (j *jsonWriter) open(bracket byte) {
	if bracket == '{' && j.depth > 0 && !j.first { // an element of an array, after which no line begins
		j.buf = append(j.buf, ',')
	}
	j.buf = append(j.buf, bracket)
	j.depth++
	j.first = true
}

func (j *jsonWriter) close(bracket byte) {
	j.depth--
	if j.style == Pretty && !j.first {
		j.line()
	}
	j.buf = append(j.buf, bracket)
	j.first = false
}

func (j *jsonWriter) line() {
	j.buf = append(j.buf, '\n')
	for range j.depth {
		j.buf = append(j.buf, "    "...)
	}
}

// object opens the object of an array with its first field, whose key has the bracket
// before it.
func (j *jsonWriter) object(k string) {
	if j.style == Pretty {
		j.open('{')
		j.prettyKey(k[1:])
		return
	}
	if j.first {
		k = k[1:]
	}
	j.first = false
	j.depth++
	j.buf = append(j.buf, k...)
}

// key begins a field.
func (j *jsonWriter) key(k string) {
	if j.style != Pretty {
		if j.first {
			j.first, k = false, k[1:]
		}
		j.buf = append(j.buf, k...)
		return
	}
	j.prettyKey(k)
}

// prettyKey is key for a line of its own.
func (j *jsonWriter) prettyKey(k string) {
	if !j.first {
		j.buf = append(j.buf, ',')
	}
	j.line()
	j.first = false
	name, begin, _ := strings.Cut(k[1:], ":")
	j.buf = append(append(append(j.buf, name...), ": "...), begin...)
}

func (j *jsonWriter) number(k string, n uint32) {
	if j.style == Pretty || j.first {
		j.key(k)
		k = ""
	}
	j.buf = appendUint32(append(j.buf, k...), n)
}

func (j *jsonWriter) signed(k string, n int64) {
	j.key(k)
	j.buf = strconv.AppendInt(j.buf, n, 10)
}

// word writes a text that needs no escapes. k ends with its quote.
func (j *jsonWriter) word(k, text string) {
	j.key(k)
	j.buf = append(append(j.buf, text...), '"')
}

// name writes a name after its quote.
func (j *jsonWriter) name(off uint32) {
	name := unmarked(j.b, off)
	switch {
	case len(name) == 0:
		j.buf = append(j.buf, noName...)
	case j.odd:
		j.buf = appendEscaped(j.buf, name)
	default:
		j.buf = append(j.buf, name...)
	}
	j.buf = append(j.buf, '"')
}

// shortEscape is the letter that JSON has for a character, 0 for none.
func shortEscape(r rune) byte {
	switch r {
	case '"', '\\':
		return byte(r)
	case '\t':
		return 't'
	case '\n':
		return 'n'
	case '\f':
		return 'f'
	case '\r':
		return 'r'
	case '\b':
		return 'b'
	}
	return 0
}

// appendEscaped appends text as in a JSON string, without the quotes. It escapes all
// control characters; bpftool does not escape those without a letter, which is invalid.
func appendEscaped(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		letter := shortEscape(r)
		switch {
		case letter != 0:
			dst = append(dst, '\\', letter)
		case r == utf8.RuneError && n <= 1:
			dst = append(dst, `\ufffd`...)
		case !unicode.IsPrint(r) && r <= 0xffff:
			dst = append(dst, '\\', 'u', hex[r>>12], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			dst = append(dst, text[:n]...)
		}
		text = text[n:]
	}
	return dst
}

func (j *jsonWriter) record(id uint32, rec btf.Record) {
	k := rec.Kind()
	j.object(`,{"id":`)
	j.buf = appendUint32(j.buf, id)
	j.word(`,"kind":"`, markedWord(j.b, rec))
	j.key(`,"name":"`)
	j.name(rec.Name())
	switch k {
	case btf.KindInt:
		encoding, offset, bits := intParts(rec.Data())
		j.number(`,"size":`, rec.Third())
		j.number(`,"bits_offset":`, offset)
		j.number(`,"nr_bits":`, bits)
		j.word(`,"encoding":"`, btf.EncodingName(encoding))
	case btf.KindArray:
		elem, index, n := rec.Array()
		j.number(`,"type_id":`, elem)
		j.number(`,"index_type_id":`, index)
		j.number(`,"nr_elems":`, n)
	case btf.KindStruct, btf.KindUnion:
		j.members(rec)
	case btf.KindEnum, btf.KindEnum64:
		j.values(rec)
	case btf.KindFwd:
		j.word(`,"fwd_kind":"`, fwdKind(btf.InfoKflag(rec.Info())))
	case btf.KindFunc:
		j.number(`,"type_id":`, rec.Third())
		j.word(`,"linkage":"`, btf.LinkageName(rec.Vlen()))
	case btf.KindFuncProto:
		j.params(rec)
	case btf.KindVar:
		j.number(`,"type_id":`, rec.Third())
		j.word(`,"linkage":"`, btf.LinkageName(rec.Data()))
	case btf.KindDatasec:
		j.section(rec)
	case btf.KindFloat:
		j.number(`,"size":`, rec.Third())
	case btf.KindDeclTag:
		j.number(`,"type_id":`, rec.Third())
		j.signed(`,"component_idx":`, int64(int32(rec.Data())))
	case btf.KindLocParam, btf.KindLocProto, btf.KindLocsec:
		j.location(rec)
	case btf.KindVoid:
	default: // they refer to a type, and nothing else
		j.number(`,"type_id":`, rec.Third())
	}
	j.close('}')
}

func (j *jsonWriter) members(rec btf.Record) {
	j.number(`,"size":`, rec.Third())
	j.number(`,"vlen":`, rec.Vlen())
	j.key(`,"members":`)
	j.open('[')
	kflag := btf.InfoKflag(rec.Info())
	for i := range int(rec.Vlen()) {
		name, typ, place := rec.Member(i)
		off, bits := memberPlace(kflag, place)
		j.object(`,{"name":"`)
		j.name(name)
		j.number(`,"type_id":`, typ)
		j.number(`,"bits_offset":`, off)
		if bits != 0 {
			j.number(`,"bitfield_size":`, bits)
		}
		if isBase(j.b, name) {
			j.key(`,"base_class":true`)
		}
		j.close('}')
		j.keepUp()
	}
	j.close(']')
}

func (j *jsonWriter) values(rec btf.Record) {
	signed := btf.InfoKflag(rec.Info())
	j.word(`,"encoding":"`, signedness(signed))
	j.number(`,"size":`, rec.Third())
	j.number(`,"vlen":`, rec.Vlen())
	j.key(`,"values":`)
	j.open('[')
	stride, n := btf.NameWords(rec.Kind(), rec.Vlen())
	for i := range n {
		e := rec.Extra()[i*stride:]
		j.object(`,{"name":"`)
		j.name(e[0])
		switch {
		case stride == 3 && signed:
			j.signed(`,"val":`, int64(value64(e[1], e[2])))
		case stride == 3:
			j.key(`,"val":`)
			j.buf = strconv.AppendUint(j.buf, value64(e[1], e[2]), 10)
		case signed:
			j.signed(`,"val":`, int64(int32(e[1])))
		default:
			j.number(`,"val":`, e[1])
		}
		j.close('}')
		j.keepUp()
	}
	j.close(']')
}

func (j *jsonWriter) params(rec btf.Record) {
	j.number(`,"ret_type_id":`, rec.Third())
	j.number(`,"vlen":`, rec.Vlen())
	j.key(`,"params":`)
	j.open('[')
	for i := range int(rec.Vlen()) {
		name, typ := rec.Param(i)
		j.object(`,{"name":"`)
		j.name(name)
		j.number(`,"type_id":`, typ)
		j.close('}')
		j.keepUp()
	}
	j.close(']')
}

// section writes the variables of a DATASEC.
func (j *jsonWriter) section(rec btf.Record) {
	j.number(`,"size":`, rec.Third())
	j.number(`,"vlen":`, rec.Vlen())
	j.key(`,"vars":`)
	j.open('[')
	for i := range int(rec.Vlen()) {
		e := rec.Extra()[3*i:]
		j.object(`,{"type_id":`)
		j.buf = appendUint32(j.buf, e[0])
		j.number(`,"offset":`, e[1])
		j.number(`,"size":`, e[2])
		j.close('}')
		j.keepUp()
	}
	j.close(']')
}
