// Package btflite turns the DWARF of ELF files into BTF, as pahole 1.32 does, byte
// for byte.
//
// Encode makes the BTF of a kernel, a program or an object; with a Base from
// OpenBase it makes the split BTF of a module. Verify checks BTF by the rules of
// the kernel's verifier and Diff compares two sets of types. More of these two is
// in the packages btf/verify and btf/diff.
//
// The package has no global state, prints nothing and never ends the process. Its
// functions may be called by several goroutines at once.
package btflite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/mmapelf"
)

// Source is an input: a path or, with Data or Reader, bytes and a name for them. A
// path may say where its separate debug files are by a place relative to it; bytes
// in memory have no such place.
type Source struct {
	Path   string      // of the file; of bytes the name that errors have, else "input 1" and so on
	Data   []byte      // the bytes, which must not change while they are in use
	Reader io.ReaderAt // what reads the bytes, all at once; an *os.File is mapped
	Size   int64       // of what Reader has, in bytes; an *os.File says its own
}

// Paths makes sources of paths.
func Paths(paths ...string) []Source {
	in := make([]Source, len(paths))
	for i, p := range paths {
		in[i].Path = p
	}
	return in
}

// Features is a set of BTF features, one bit each, under the names of pahole's
// --btf_features. See package encode for all of them.
type Features = encode.Features

// Sets of features.
const (
	DefaultFeatures = encode.DefaultFeatures // "default": what kernels are built with
	AllFeatures     = encode.AllFeatures     // "all"
	BasicFeatures   = encode.BasicFeatures   // pahole's without an option
)

// Libbpf is a release of libbpf: over each, pahole 1.32 writes other bytes.
type Libbpf = encode.Libbpf

// The releases; see package encode for what they differ in.
const (
	LibbpfAny = encode.LibbpfAny // the shortest header, unless a feature takes a longer one
	Libbpf17  = encode.Libbpf17  // no layout section, typedefs of the base are repeated
	Libbpf18  = encode.Libbpf18  // headers of 32 bytes, types with more than 65,535 elements
)

// FunctionQuery asks what has become of functions, which a Function says.
type FunctionQuery = encode.FunctionQuery

// Function says what has become of a function. Its Definitions come from DWARF.
type Function = encode.Function

// Definition is the description of a function in one unit.
type Definition = encode.Definition

// Order is an order of types.
type Order int

// The orders of types.
const (
	AsEncoded Order = iota // as pahole encodes them
	Canonical              // by the types alone, whatever order the input has
	ByName                 // by name, as Linux 7.x and resolve_btfids have them
)

// Options say what to encode and how. The zero value encodes DefaultFeatures of all
// units with one worker and no limit, as BTF that stands alone, in pahole's order,
// and refuses what a kernel would refuse.
type Options struct {
	Features Features // 0 is DefaultFeatures
	Jobs     int      // workers, which do not change the result; 0 is one
	// Lang, LangExclude filter units by DW_AT_language. At most one is set.
	Lang        []uint16
	LangExclude []uint16
	// CUExclude leaves out the units whose DW_AT_name begins with it; "" none.
	CUExclude string
	// NamePrefix, if not empty, becomes the name of everything whose name begins
	// with it (pahole's --kabi_prefix).
	NamePrefix string
	// WholeBitfields makes members of bit-fields that are as wide and as
	// aligned as their type (pahole's --fixup_silly_bitfields).
	WholeBitfields bool
	// Base is what the output is split from; nil for BTF that stands alone.
	Base *Base
	// Distil makes Result.DistilledBase, and puts Result.BTF over it. It takes a Base.
	Distil bool
	// ExtraVars makes Result.ExtraVars: the variables that Features leave out.
	ExtraVars bool
	// Inline makes Result.Inline: where inlined functions are, and their parameters there.
	// It takes one input, as sites are offsets in the sections of a file.
	Inline bool
	Order  Order
	// AllowRefused makes what a kernel would refuse a warning.
	AllowRefused bool
	// Exact selects libbpf's own algorithm for deduplication: slower, with memory that
	// grows with the input.
	Exact bool
	// Marks has what BTF cannot say written by marks, see btf.MarkKind, and adds functions
	// that pahole leaves out. What comes of it is to be read at once, and not for a file:
	// it takes AllowRefused.
	Marks bool
	// Libbpf is the release of libbpf that the output is to be pahole's over.
	Libbpf Libbpf
	// DebugDir is a folder of separate debug files, asked before
	// /usr/lib/debug; "" for none.
	DebugDir string
	// FindDebug finds the debug file of a build-id that is in no folder, as on a server.
	// file is the input, for messages. What it finds is checked: a file with another
	// build-id is an error. If it finds nothing, Encode's error wraps its error, beside
	// ErrNoDWARF if that applies. If it is nil, nobody is asked.
	FindDebug func(file string, buildID []byte) (path string, err error)
	// Functions asks what has become of functions, and where they are defined; nil for
	// nobody.
	Functions *FunctionQuery
	// MemoryLimit is how many bytes the process may have in use while this encode goes
	// on: one that cannot go on below it ends with an error, and others go on. 0 is no
	// limit. Pages of files do not count.
	MemoryLimit uint64
	// Progress receives bytes of .debug_info done and in all; nil for none.
	// It is called from any worker, at most once per unit.
	Progress func(done, total uint64)
}

// Stats says what an encode did.
type Stats = encode.Stats

// Result is the outcome of an encode. It holds memory outside the Go heap until
// Close.
type Result struct {
	// BTF is what to write into section .BTF; empty if there is nothing to encode: no
	// types at all or, over a Base, no unit. It must not be changed.
	BTF []byte
	// DistilledBase is what to write into section .BTF.base; see Options.Distil.
	DistilledBase []byte
	// ExtraVars is split BTF over BTF, or over the Base if BTF is empty; see
	// Options.ExtraVars. It is empty if there are none, and must not be changed.
	ExtraVars []byte
	// Inline is split BTF over BTF, or over the Base if BTF is empty, with the kinds
	// LOC_PARAM, LOC_PROTO and LOCSEC; see Options.Inline. It is empty if nothing is
	// inlined, and must not be changed. No released kernel takes these kinds.
	Inline []byte
	Stats  Stats
	// Skipped are the functions that have a symbol and no FUNC, by name.
	Skipped  []Skipped
	Warnings []string
	// Lead is the index of the first input with a unit that no filter leaves out: its
	// sections say which variables there are.
	Lead int

	encoded *finish.Encoded
}

// Skipped is a function that has a symbol and no FUNC, and why.
type Skipped struct{ Name, Reason string }

// Close gives the memory back. BTF, ExtraVars and Inline are not valid afterwards. A second
// Close does nothing.
func (r *Result) Close() {
	if r == nil || r.encoded == nil {
		return
	}
	r.encoded.Free()
	r.encoded, r.BTF, r.ExtraVars, r.Inline = nil, nil, nil, nil
}

// given checks what every function is given, and returns the sources with names for bytes that
// have none, because errors begin with the name.
func given(ctx context.Context, in ...Source) ([]Source, error) {
	if ctx == nil {
		return nil, errors.New("btflite: the context is nil")
	}
	in = slices.Clone(in)
	for i := range in {
		s := &in[i]
		empty := s.Path == "" && s.Data == nil && s.Reader == nil
		if file, ok := s.Reader.(*os.File); s.Path == "" && s.Data == nil && ok && file != nil {
			s.Path = file.Name()
		}
		s.Path = cmp.Or(s.Path, fmt.Sprint("input ", i+1))
		if empty {
			return nil, &Error{File: s.Path, Err: fmt.Errorf("%s: neither a path nor bytes", s.Path)}
		}
	}
	return in, nil
}

// below is the source for the packages below, valid until done is called. A Reader is
// read for it, until ctx is done.
func (s *Source) below(ctx context.Context) (in mmapelf.Source, done func(), err error) {
	in = mmapelf.Source{Path: s.Path, Data: s.Data, Reader: s.Reader, Size: s.Size}
	if _, file := in.Reader.(*os.File); in.Reader != nil && !file {
		in.Reader = reader{ctx, in.Reader}
	}
	done, err = in.Load()
	return in, done, err
}

// reader reads until ctx is done.
type reader struct {
	ctx context.Context
	r   io.ReaderAt
}

func (r reader) ReadAt(p []byte, off int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.ReadAt(p, off)
}
