package funcs

import (
	"github.com/btflite/btflite/btf/ctype"
	"github.com/btflite/btflite/btf/view"
)

// Style is how prototypes are written. The zero value is pfunct's.
type Style struct {
	NoParamNames bool // types of parameters only
}

// maxText is how many bytes the text of one prototype may have. Prototypes refer to
// each other, so that a small file can describe a text without an end.
const maxText = 1 << 20

// AppendType appends the type as pahole and pfunct spell it in prototypes: "const char
// *". Every qualifier in front adds a blank after it.
func (s Style) AppendType(dst []byte, t view.Type) []byte {
	w := s.writer(dst)
	w.Type(t)
	return w.Text
}

// AppendPrototype appends the prototype of a function, with a semicolon.
func (s Style) AppendPrototype(dst []byte, f Func) []byte {
	w := s.writer(dst)
	if f.HasTags() {
		return tagged(w, f)
	}
	proto := f.Proto()
	w.Type(proto.Target())
	w.Put(" ")
	w.Name(f.Name())
	w.Params(proto, nil)
	w.Put(";")
	return w.Text
}

// tagged is AppendPrototype for a function with declaration tags.
func tagged(w ctype.Writer, f Func) []byte {
	proto := f.Proto()
	tags(&w, f, -1)
	w.Type(proto.Target())
	w.Put(" ")
	w.Name(f.Name())
	w.Params(proto, func(i int) { tags(&w, f, i) })
	w.Put(";")
	return w.Text
}

func (s Style) writer(dst []byte) ctype.Writer {
	w := ctype.Writer{Text: dst, Style: ctype.Pfunct, Limit: len(dst) + maxText}
	if s.NoParamNames {
		w.Style = ctype.PfunctUnnamed
	}
	return w
}

// tags writes the declaration tags of parameter i, or of f itself for -1.
func tags(w *ctype.Writer, f Func, i int) {
	for tag := range f.Tags(i) {
		if len(tag) > 0 {
			w.Name(tag)
			w.Put(" ")
		}
	}
}
