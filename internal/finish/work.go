package finish

import (
	"context"
	"fmt"
	"io"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/lower"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/basematch"
)

// Sorter puts the own types of BTF into an order and tells the new id of each, or nil if they keep
// their ids; see package order. When ctx is done, it ends soon with its error.
type Sorter func(ctx context.Context, b *btf.Blob) (out *btf.Blob, ids []uint32, err error)

// Work says how an output is finished. The zero value checks it and changes nothing.
type Work struct {
	Base    *btf.Blob         // base of the output, or nil
	Distil  bool              // DistilBase will distil Base
	Kernel  *basematch.Kernel // kernel of the base, or nil
	Order   Sorter            // or nil
	Jobs    int               // goroutines for the check; 0 is one
	Lenient bool              // BTF that a kernel refuses causes a warning, not an error
	// Lower says for whom the output is lowered, after it was sorted and distilled; nil for
	// nobody.
	Lower *lower.Options
	// Rules are the rules that Merged and Lowered check, except for the release. The zero value
	// is all rules.
	Rules verify.Rules
	// Ready, if set, gets Encoded.Write before the check has ended, see job.Options.
	Ready func(write func(io.Writer) error)
}

// Encoded is an output that is finished.
type Encoded struct {
	Stats encode.Stats
	Size  int64 // of the BTF; 0: nothing to encode
	Below int64 // length of the distilled base, once there is one; 0: none
	Lead  int   // see encode.Output
	// Warning says what a kernel refuses; nil if it refuses nothing.
	Warning *Warning
	Lowered lower.Report // what the BTF has lost by Work.Lower
	// Mismatch says why the base is from another kernel than the file; "" if unknown.
	Mismatch string
	Data     []byte                // the BTF, valid until Free
	Write    func(io.Writer) error // writes it
	NoDwarf  bool                  // there is no DWARF to encode
	Extra    Extra                 // the extra variables (encode.Options.ExtraVars)
	Inline   Extra                 // the sites of inlined functions (encode.Options.Inline)
	rules    outputRules
	close    func()
}

// Extra is split BTF for a side file.
type Extra struct {
	Data []byte    // nil if there is none
	Base *btf.Blob // what it is split from
}

// Free releases the encoder's memory; nothing of e may be used afterwards.
func (e *Encoded) Free() {
	if e.close != nil {
		e.close()
	}
}

// Warning is about BTF that a kernel would refuse, but that the caller wants.
type Warning struct {
	Names   string   // of the inputs
	Err     error    // what the kernel refuses
	Foreign []uint16 // the languages that may be the reason; see encode.Output
}

func (w *Warning) String() string {
	return fmt.Sprintf("%s: warning: a kernel refuses the %v", w.Names, w.Err)
}
