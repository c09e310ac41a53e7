// Package btflite turns the DWARF of ELF files into BTF, as pahole 1.32 does, byte
// for byte.
//
// Encode makes the BTF of a kernel, a program or an object. With a Base from
// OpenBase it makes the split BTF of a module. Verify checks BTF by the rules of
// the kernel's verifier, and Diff compares two sets of types. The packages
// btf/verify and btf/diff can do more.
//
// The package has no global state, prints nothing and never ends the process.
// Several goroutines may call its functions at the same time.
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

// Source is an input: the file at Path or, with Data or Reader, bytes. Separate debug
// files are also looked for beside the file at Path. Bytes have no folder, so theirs
// are only looked for where the system keeps debug files.
type Source struct {
	// Path is the path of the file. For bytes it is only their name in errors; without
	// one they are "input 1", "input 2" and so on.
	Path string
	// Data has the bytes. They must not change while a function of this package, or
	// a Base, uses them.
	Data []byte
	// Reader gives the bytes, if Data is nil. All of them are read into memory at the
	// start. An *os.File is not: it is mapped.
	Reader io.ReaderAt
	// Size is how many bytes Reader has. It may be 0 if Reader is an *os.File.
	Size int64
}

// Paths returns a Source for each path.
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
	DefaultFeatures = encode.DefaultFeatures // --btf_features=default
	AllFeatures     = encode.AllFeatures     // --btf_features=all
	BasicFeatures   = encode.BasicFeatures   // what pahole does without --btf_features
)

// Libbpf is a release of libbpf. The bytes that pahole 1.32 writes depend on the
// libbpf that it was linked with.
type Libbpf = encode.Libbpf

// The releases that make a difference. Package encode says which.
const (
	LibbpfAny = encode.LibbpfAny // the shortest header, unless a feature takes a longer one
	Libbpf17  = encode.Libbpf17  // no layout section, typedefs of the base are repeated
	Libbpf18  = encode.Libbpf18  // headers of 32 bytes, types with more than 65,535 elements
)

// FunctionQuery names functions and receives a Function for each: it answers why a
// function has no FUNC.
type FunctionQuery = encode.FunctionQuery

// Function says whether a function got a FUNC, and if not, why. Its Definitions come
// from DWARF.
type Function = encode.Function

// Definition is how the DWARF of one unit describes a function.
type Definition = encode.Definition

// Order is an order of types.
type Order int

// The orders of types.
const (
	AsEncoded Order = iota // as pahole encodes them
	Canonical              // depends only on the types, not on the order of the input
	ByName                 // by name, as resolve_btfids of Linux 7.x sorts them
)

// Options say what to encode and how. The zero value encodes all units with
// DefaultFeatures, one worker and no memory limit. The result stands alone, has
// pahole's order, and is an error if a kernel would refuse it.
type Options struct {
	Features Features // 0 means DefaultFeatures
	Jobs     int      // number of workers; 0 means one. The result does not depend on it.
	// Lang and LangExclude are values of DW_AT_language. Only units with one of Lang are
	// encoded, or all units but those with one of LangExclude. At most one is set.
	Lang        []uint16
	LangExclude []uint16
	// CUExclude leaves out the units whose DW_AT_name begins with it, unless it is empty.
	CUExclude string
	// NamePrefix cuts names: a name that begins with it becomes NamePrefix, as with
	// pahole's --kabi_prefix. If it is empty, names stay as they are.
	NamePrefix string
	// WholeBitfields turns a bit-field that is as wide and as aligned as its type into
	// an ordinary member, as pahole's --fixup_silly_bitfields does.
	WholeBitfields bool
	// Base makes the result split BTF over it. With a nil Base the result stands alone.
	Base *Base
	// Distil makes Result.DistilledBase, and Result.BTF is then split BTF over that. It
	// needs a Base.
	Distil bool
	// ExtraVars makes Result.ExtraVars: the variables that Features leave out.
	ExtraVars bool
	// Inline makes Result.Inline: where functions are inlined, and where their parameters
	// are then. There must be one input, because a place is an offset in its sections.
	Inline bool
	Order  Order
	// AllowRefused makes it a warning, not an error, if a kernel would refuse the result.
	AllowRefused bool
	// Exact deduplicates with libbpf's own algorithm. It is slower, and its memory grows
	// with the input.
	Exact bool
	// Marks writes as marks (see btf.MarkKind) what BTF cannot express, and adds functions
	// that pahole leaves out. The result is for a reader in this process, not for a file.
	// It needs AllowRefused.
	Marks bool
	// Libbpf chooses the bytes that pahole writes with this release of libbpf.
	Libbpf Libbpf
	// DebugDir is a folder of separate debug files. It is searched before
	// /usr/lib/debug. If it is empty, only the usual folders are searched.
	DebugDir string
	// FindDebug finds the debug file for a build-id if no folder has it, for example on a
	// server. file is the input, for messages. A file with another build-id is an error.
	// If FindDebug fails, Encode's error wraps its error, and ErrNoDWARF if that
	// applies. A nil FindDebug is not called.
	FindDebug func(file string, buildID []byte) (path string, err error)
	// Functions asks about functions: whether they got a FUNC, and where they are defined.
	// It may be nil.
	Functions *FunctionQuery
	// MemoryLimit is how many bytes the whole process may use while this encode runs. If
	// it cannot stay below, this encode ends with an error; others go on. Pages of files
	// do not count. 0 means no limit.
	MemoryLimit uint64
	// Progress is called with how many bytes of .debug_info are done, of how many. Any
	// worker may call it, at most once for each unit. It may be nil.
	Progress func(done, total uint64)
}

// Stats counts what an encode read and wrote.
type Stats = encode.Stats

// Result is the outcome of an encode. It holds memory outside the Go heap until
// Close.
type Result struct {
	// BTF is the content of section .BTF. It is empty if there is nothing to encode: no
	// types at all or, over a Base, no unit. Callers must not change it.
	BTF []byte
	// DistilledBase is the content of section .BTF.base; see Options.Distil.
	DistilledBase []byte
	// ExtraVars is split BTF over BTF, or over the Base if BTF is empty; see
	// Options.ExtraVars. It is empty if there are no such variables. Callers must not
	// change it.
	ExtraVars []byte
	// Inline is split BTF over BTF, or over the Base if BTF is empty, with the kinds
	// LOC_PARAM, LOC_PROTO and LOCSEC; see Options.Inline. It is empty if nothing is
	// inlined. Callers must not change it. No released kernel accepts these kinds.
	Inline []byte
	Stats  Stats
	// Skipped has the functions with a symbol that got no FUNC, sorted by name.
	Skipped  []Skipped
	Warnings []string
	// Lead is the index of the first input with a unit that no filter leaves out. The
	// sections of this input decide which variables are encoded.
	Lead int

	encoded *finish.Encoded
}

// Skipped is a function that has a symbol but got no FUNC, with the reason.
type Skipped struct{ Name, Reason string }

// Close frees the memory. BTF, ExtraVars and Inline are not valid afterwards. A second
// Close does nothing.
func (r *Result) Close() {
	if r == nil || r.encoded == nil {
		return
	}
	r.encoded.Free()
	r.encoded, r.BTF, r.ExtraVars, r.Inline = nil, nil, nil, nil
}

// checked checks the arguments that all functions have in common. It returns the sources with a
// name for bytes that have none, because errors begin with the name.
func checked(ctx context.Context, in ...Source) ([]Source, error) {
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

// below returns the source for the packages that do the work. It is valid until done is called. A
// Reader is read here, unless ctx is done before.
func (s *Source) below(ctx context.Context) (in mmapelf.Source, done func(), err error) {
	in = mmapelf.Source{Path: s.Path, Data: s.Data, Reader: s.Reader, Size: s.Size}
	if _, file := in.Reader.(*os.File); in.Reader != nil && !file {
		in.Reader = reader{ctx, in.Reader}
	}
	done, err = in.Load()
	return in, done, err
}

// reader is an io.ReaderAt that fails once ctx is done.
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
