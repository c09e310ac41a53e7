// Package show prints types of BTF as C with offsets, sizes, holes and cache
// lines, in the text of pahole 1.32.
//
// The rules of the text were found by running pahole. Where it prints what cannot
// be meant (an array of pointers to functions, a pointer to an array), this
// package prints the same, so that the texts can be compared.
//
// The stable API is package btflite. What it does not use of this package may change.
package show

import (
	"io"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/blocks"
	"github.com/btflite/btflite/btf/view"
)

// Printer prints types of one View: single ones, or those that a Filter selects.
type Printer struct {
	w        *typeWriter
	emitter  *emitter          // with Options.Compile
	typedefs map[uint32]uint32 // by struct without a name: its first typedef; nil before it is asked for
	again    map[uint32]uint64 // by type: how many more are like it
	within   containers        // with Filter.Contains
}

// New returns a Printer that writes to w.
func New(w io.Writer, v *view.View, opt Options) *Printer {
	lays := view.NewLayouts(v)
	if opt.CacheLine > 0 {
		lays.CacheLine = uint64(opt.CacheLine)
	}
	t := &typeWriter{output: output{to: blocks.Writer{W: w}, buf: blocks.Buffer()}, v: v, opt: opt, lays: lays, columns: columns{v: v, lays: lays, off: opt.Expand || opt.Pointers},
		packing: packing{lays, map[uint32]bool{}}, open: map[uint32]int{}}
	t.known = t.columns.known
	n := 0
	for b := v.Blob(); b != nil; b = b.Base {
		n += 4*len(b.Words) + len(b.Strings)
	}
	t.limit = limitFor(n)
	p := &Printer{w: t}
	if opt.Compile {
		p.emitter = newEmitter(t)
	}
	return p
}

// Flush writes what is collected and returns the first error of the writer.
func (p *Printer) Flush() error { return p.w.flush() }

// Gaps is how many of the structs that were printed have gaps that no alignment explains, and the
// name of the first one.
func (p *Printer) Gaps() (structs int, first string) { return len(p.w.gaps.seen), p.w.gaps.first }

// nameOf is the name of t, or for a nameless type the name of its typedef, if any.
func (p *Printer) nameOf(t view.Type) []byte {
	if name := t.Name(); len(name) > 0 {
		return name
	}
	if p.typedefs == nil {
		p.typedefs = findTypedefs(p.w.v)
	}
	return p.w.v.Type(p.typedefs[t.ID]).Name()
}

// findTypedefs finds the first typedefs of structs and unions without a name.
func findTypedefs(v *view.View) map[uint32]uint32 {
	found := map[uint32]uint32{}
	for t := range v.All() {
		if t.Kind() != btf.KindTypedef {
			continue
		}
		if of := t.Target(); of.IsComposite() && len(of.Name()) == 0 && found[of.ID] == 0 {
			found[of.ID] = t.ID
		}
	}
	return found
}

// numbers adds numbers behind a name, and ends the line.
func (p *Printer) numbers(separator string, numbers ...uint64) {
	for _, n := range numbers {
		p.w.text(separator)
		p.w.number(n, 0)
	}
	p.w.text("\n")
}
