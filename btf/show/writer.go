package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/ctype"
	"github.com/btflite/btflite/btf/view"
)

// typeWriter prints one type after another.
type typeWriter struct {
	output
	v         *view.View
	opt       Options
	lays      *view.Layouts
	at        uint64 // the cache line that has been entered last
	uncounted int    // bytes of the last closing brace's attribute of alignment
	noted     bool   // a note follows the last member
	columns   columns
	known     func(dst []byte, id uint32) (text []byte, ok bool) // columns.known
	open      map[uint32]int                                     // with Options.Pointers: types that are being written out
	packing   packing
	bigs      *bigs // with Options.Biggest
	gaps      gaps
}

// begin prepares for the text of a type that is not in another one.
func (w *typeWriter) begin() {
	w.limit.begin(w.to.Written + len(w.buf))
	w.at, w.noted = 0, false
}

// speller appends types to the collected text. spelled takes the result back.
func (w *typeWriter) speller() ctype.Writer {
	return ctype.Writer{Text: w.buf, Limit: w.limit.end - w.to.Written, Escape: appendPrintable, Known: w.known}
}

// typeName adds the name of t, as it stands before the name of what has it.
func (w *typeWriter) typeName(t view.Type) {
	s := w.speller()
	s.Type(t)
	w.spelled(&s)
}

// params adds the list of parameters of a prototype.
func (w *typeWriter) params(proto view.Type) {
	s := w.speller()
	s.Params(proto, nil)
	w.spelled(&s)
}

func (w *typeWriter) spelled(s *ctype.Writer) {
	w.buf = s.Text
	if s.Cut && w.to.Err == nil {
		w.to.Err = w.limit.beyond()
	}
}

// isUnion reports whether t is a union, or declares one.
func isUnion(t view.Type) bool {
	return t.Kind() == btf.KindUnion || t.Kind() == btf.KindFwd && t.Flag()
}

// unnamed reports whether t is written out where it is used: it has no name to
// stand for it.
func unnamed(t view.Type) bool { return (t.IsComposite() || t.IsEnum()) && !t.HasName() }
