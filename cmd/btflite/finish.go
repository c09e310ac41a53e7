package main

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/internal/elfwrite"
)

// encoded is a finished encode: what the command needs of an encode.Output.
type encoded struct {
	stats   encode.Stats
	size    int64 // of the BTF; 0: nothing to encode
	below   int64 // length of the distilled base, once that is written; 0: none
	lead    int   // see encode.Output
	warning string
	// mismatch says why the base is not of the file's kernel, if that shows.
	mismatch string
	write    func(io.Writer) error
	noDwarf  bool // so that there is nothing to encode
	extra    extraVars
	close    func()
}

// free gives back what the encoder holds; nothing of e may be used afterwards.
func (e *encoded) free() {
	if e.close != nil {
		e.close()
	}
}

// runEncode, newSession and setSections are the work below this package; tests
// replace them.
var (
	runEncode = func(paths []string, opt encode.Options, f finish) (*encoded, error) {
		out, err := encode.Run(paths, opt)
		if err != nil {
			return nil, err
		}
		return finished(paths, out, f)
	}
	newSession  = func(opt encode.Options) session { return encode.NewSession(opt) }
	setSections = elfwrite.Set
)

// session is what the command needs of an encode.Session.
type session interface {
	Encode(path string) (*encode.Output, error)
	Close()
}

// finish is what becomes of the encoder's output before it is written.
type finish struct {
	base    *btf.Blob         // that it is over, or nil
	distil  bool              // base is to be distilled
	kernel  *basematch.Kernel // that the base is of, or nil
	order   sorter            // or nil
	jobs    int               // goroutines for the check; 0 is one
	lenient bool              // --verify=warn
	globals bool              // the feature global_var
}

// sortShare is how much memory it takes to sort BTF, as a multiple of its size:
// measured, 4.3 for a kernel.
const sortShare = 5

// finished makes an encoded of the output for the inputs at paths, or closes it
// with an error if it must not be written. What is to be distilled is sorted after
// that.
func finished(paths []string, out *encode.Output, f finish) (*encoded, error) {
	began := time.Now()
	names := inputNames(paths)
	data, write, more := out.Bytes(), out.Write, out.Extra()
	if f.order != nil && !f.distil && len(data)+len(more) > 0 {
		err := out.CheckMemory(sortShare * (len(data) + len(more)))
		if err == nil {
			data, more, err = f.sorted(data, more)
		}
		if err != nil {
			out.Close()
			return nil, namingFile([]string{names}, err)
		}
		write = writeBytes(data)
		if err := out.Stats.Count(data); err != nil {
			out.Close()
			return nil, namingFile([]string{names}, err)
		}
		out.Stats.Phases = append(out.Stats.Phases, encode.Phase{Name: "sort", Time: time.Since(began)})
		began = time.Now()
	}
	warning, err := checkEncoded(names, out, data, f.base, &f)
	if err != nil {
		out.Close()
		return nil, err
	}
	extra, also, err := extraOver(names, out, more, data, f)
	if err != nil {
		out.Close()
		return nil, err
	}
	out.Stats.Phases = append(out.Stats.Phases, encode.Phase{Name: "check", Time: time.Since(began)})
	return &encoded{stats: out.Stats, size: int64(len(data)), lead: out.Lead, warning: cmp.Or(warning, also), mismatch: f.mismatch(paths[out.Lead], data),
		write: write, extra: extra, close: out.Close}, nil
}

// mismatch says why the file at path, with data as its split BTF, is not of the
// kernel that the base is of; "" if nothing shows.
func (f *finish) mismatch(path string, data []byte) string {
	if f.kernel == nil || f.base == nil {
		return ""
	}
	own, err := btf.ParseShared(data, f.base)
	if err != nil {
		own = nil // there is nothing to encode
	}
	return f.kernel.Mismatch(basematch.OfModule(path), own)
}

// finish is what the command line says about the encoder's output over base,
// which was read from the files of bases; there may be none.
func (e *encoding) finish(base *btf.Blob, bases []string, inPlace bool) finish {
	f := finish{base: base, distil: e.distils(inPlace), order: e.order, lenient: e.lenient,
		globals: e.features&encode.GlobalVar != 0}
	if base != nil {
		f.kernel = basematch.OfKernel(bases[0], base)
	}
	return f
}

// mismatchText tells of a base of another kernel.
func mismatchText(path, why string) string {
	return fmt.Sprintf("%s: warning: %s: the BTF fits neither kernel", oneLine(path), why)
}
