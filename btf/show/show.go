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

	"github.com/btflite/btflite/btf/blocks"
	"github.com/btflite/btflite/btf/view"
)

// Printer prints types of one View.
type Printer struct {
	output
	v         *view.View
	opt       Options
	lays      *view.Layouts
	line      uint64            // size of a cache line
	at        uint64            // the cache line that has been entered last
	again     map[uint32]uint64 // by type: how many more are like it
	uncounted int               // bytes of the last closing brace's attribute of alignment
	noted     bool              // a note follows the last member
	typedefs  map[uint32]uint32 // by struct without a name: its first typedef
	texts     texts
	known     func(dst []byte, id uint32) (text []byte, ok bool) // columns.known
	open      map[uint32]int                                     // with Options.Pointers: types that are being written out
	emitter   *emitter                                           // with Options.Compile
	bigs      map[uint32]*big                                    // by struct: its biggest number; nil for none
	Gaps      Gaps                                               // of the structs that were printed
	within    containers                                         // with Filter.Contains
}

// New returns a Printer that writes to w.
func New(w io.Writer, v *view.View, opt Options) *Printer {
	p := &Printer{output: output{to: blocks.Writer{W: w}, most: mostText, buf: blocks.Buffer()}, v: v, opt: opt, line: 64, lays: view.NewLayouts(v)}
	p.known = columns{p}.known
	if opt.Compile {
		p.emitter = newEmitter(p)
	}
	if opt.Pointers {
		p.open = map[uint32]int{}
	}
	for b := v.Blob(); b != nil; b = b.Base {
		p.most += mostPerByte * (4*len(b.Words) + len(b.Strings))
	}
	if opt.CacheLine > 0 {
		p.line = uint64(opt.CacheLine)
		p.lays.CacheLine = p.line
	}
	return p
}
