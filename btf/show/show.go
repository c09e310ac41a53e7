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
	p := &Printer{output: output{to: blocks.Writer{W: w}, buf: blocks.Buffer()}, v: v, opt: opt, line: 64, lays: view.NewLayouts(v)}
	p.known = columns{p}.known
	if opt.Compile {
		p.emitter = newEmitter(p)
	}
	if opt.Pointers {
		p.open = map[uint32]int{}
	}
	n := 0
	for b := v.Blob(); b != nil; b = b.Base {
		n += 4*len(b.Words) + len(b.Strings)
	}
	p.limit = limitFor(n)
	if opt.CacheLine > 0 {
		p.line = uint64(opt.CacheLine)
		p.lays.CacheLine = p.line
	}
	return p
}

// emitter prints what a type needs before it, in pahole's order and with its empty
// lines: definitions of what members are, declarations of what they point to. Each
// name is printed once.
type emitter struct {
	*Printer
	defined  map[string]btf.Kind // structs and unions
	declared map[string]uint32   // structs and unions: the type of the name that was not defined then
	done     map[uint32]bool     // types that were declared
	ids      map[uint32]bool     // types that were defined
	enums    map[string]bool
	typedefs map[string]bool
	open     map[string]int  // typedefs in work
	unnamed  map[uint32]bool // structs and unions without a name that have been looked at
	depth    int
	looked   int   // members, results and parameters that were looked at
	needs    texts // of types without the options, if these change them
}

func newEmitter(p *Printer) *emitter {
	return &emitter{Printer: p, defined: map[string]btf.Kind{}, declared: map[string]uint32{}, done: map[uint32]bool{}, ids: map[uint32]bool{},
		enums: map[string]bool{}, typedefs: map[string]bool{}, open: map[string]int{}, unnamed: map[uint32]bool{}}
}

// containers prints the names of types that have members of a type.
type containers struct {
	*Printer
	of    string         // the name of the type
	count map[uint32]int // by type: how many members of it are of the type
}

// big is a member that is a number, pointer or enum, or an array of them.
type big struct {
	view.Row
	elem uint64 // bytes of an element
}
