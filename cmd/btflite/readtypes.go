package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/findbase"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// typeReader opens the inputs of commands that read types. All of them accept the same
// inputs:
//
//   - raw BTF, or an ELF file with a section .BTF, either also compressed;
//   - an ELF file with DWARF only, which is encoded in memory and not changed;
//   - split BTF over a distilled base in the file, which --btf_base replaces as a kernel does;
//   - other split BTF. Its base is the one of --btf_base, or the first input that needs no
//     base, or the one that "btflite verify" would find. A base that was not given has
//     to fit, and a note names it;
//   - the name of a module of the running kernel, if there is no file of that name;
//   - nothing: the running kernel.
//
// A command adds the reader's options to its own, and calls open with the words of its
// command line:
//
//	in := newTypeReader(c)
//	in.options(cmd)
//	...
//	files, err := in.open(words)
//	defer in.close()
type typeReader struct {
	c         *cli
	bases     []string // --btf_base
	find      *findbase.Finder
	findDebug func(file string, buildID []byte) (path string, err error) // nil: no servers
	whole     *findbase.Base                                             // the first input that needs no base, or nil
	opened    []func()
	printsAll bool // all types of the inputs are printed, which takes long
	dwarf     loadbtf.DWARF
	// orDWARF reads the DWARF if the base of split BTF is not found. Type ids differ then. If
	// a base is found that does not fit, the DWARF is read anyway, unless onlyBTF is set.
	orDWARF, onlyBTF bool
	// marks keeps types in DWARF that BTF has no kind for as marks: see btf.MarkKind.
	marks bool
	// orFuller reads the DWARF if it has types that BTF has no kind for.
	orFuller bool
	// tellsLost warns about types in the DWARF that cannot be printed.
	tellsLost bool
	// Filters of DWARF units. As in pahole, a unit that they drop has no BTF either.
	lang      langFilter
	cuExclude string // prefix of the names of units that are left out; "": none
}

// types are the types of one input.
type types struct {
	*btf.Blob
	// path is the file with the types. It may differ from the file that the user named.
	path string
	// source is the ELF file; it has no path for raw BTF.
	source mmapelf.Source
	// pointerSize is 4 or 8, or 0 if it is unknown, as in raw BTF.
	pointerSize int
	// encoded says that they were encoded from DWARF, because path has no BTF.
	encoded bool
	// fuller says that they were encoded from DWARF, because the file's BTF lacks some.
	fuller bool
	// lost counts what is in the DWARF and not among the types, by sort; nil for nothing.
	lost map[string]int
	// inFunctions are the ids of structs and unions that only functions declare, if they were
	// encoded.
	inFunctions []uint32
	// mismatch says why the given base belongs to another kernel; "" without signs of
	// that.
	mismatch string
	// note names the base that was found, or says why there is none; "" if the user gave
	// it.
	note string
}

// image returns the ELF file or, for raw BTF, an empty source.
func (r *typeReader) image(t *types) codeFile {
	in := codeFile{t.source, encode.DebugFiles{Find: r.findDebug}}
	if in.Path == "" {
		in.Source = mmapelf.Source{Path: t.path, Data: []byte{}}
	}
	return in
}

func newTypeReader(c *cli) *typeReader {
	return &typeReader{c: c, find: findbase.New(btfFiles, ""), findDebug: newDebugFinder(c)}
}

// options adds the options to cmd under the heading.
func (r *typeReader) options(cmd *cobra.Command, heading string) {
	under(cmd, heading).bases(&r.bases, "btf_base", "FILE is split over `BASE`, or a chain")
}

// open reads the types of the inputs or, without any, of the running kernel, and prints notes
// about them. The types are valid until close is called. Errors name the file.
func (r *typeReader) open(words []string) (files []types, err error) {
	if len(words) == 0 {
		words = []string{r.c.kernelBTF()}
		if _, err := os.Stat(words[0]); err != nil {
			return nil, fmt.Errorf("%w; without FILE, the running kernel's types are read: give a FILE", message.FileError(words[0], "cannot open", err))
		}
	}
	if r.printsAll {
		dropStart(words)
	}
	if err := checkNames(words); err != nil {
		return nil, err
	}
	given := len(words)
	if len(r.bases) > 0 && r.find.Fixed() == nil {
		if err := r.find.Fix(r.bases); err != nil {
			return nil, err
		}
	}
	for i := 0; i < len(words); i++ {
		path := r.resolve(words[i])
		t, err := r.openOne(path, r.dwarf)
		if errors.Is(err, btf.ErrNoBase) && r.whole == nil && len(r.bases) == 0 && i+1 < len(words) && i < given {
			words = append(slices.Clone(words), words[i]) // a later file may be its base
			continue
		}
		if errors.Is(err, btf.ErrNoBase) && len(r.bases) == 0 {
			t, err = r.withoutBase(path, t, err)
		}
		if err == nil && r.orFuller && len(r.bases) == 0 {
			t = r.fuller(t)
		}
		if err != nil {
			return nil, err
		}
		if t.Base == nil && r.whole == nil {
			r.whole = r.asBase(&t)
		}
		files = append(files, t)
	}
	r.tell(files)
	return files, nil
}

// withoutBase reads the DWARF of a file, t, whose base was not found or does not fit.
func (r *typeReader) withoutBase(path string, t types, err error) (types, error) {
	var m *findbase.Misfit
	if odd := errors.As(err, &m); !odd && !r.orDWARF || r.onlyBTF {
		return t, err
	}
	encoded, why := r.openOne(path, loadbtf.DWARFOnly)
	if why != nil {
		return t, err
	}
	if m != nil {
		encoded.note = fmt.Sprintf("%s: note: its BTF is split from a base, and %v; the types come from its DWARF", message.OneLine(path), m)
	}
	return encoded, nil
}

// tell prints notes about the inputs: what cannot be printed, which base was found or does not fit,
// and that a file has no types of its own.
func (r *typeReader) tell(files []types) {
	for i := range files {
		f := &files[i]
		for _, what := range slices.Sorted(maps.Keys(f.lost)) {
			if r.tellsLost {
				r.c.warn(lostText(message.OneLine(f.path), what, f.lost[what]))
			}
		}
	}
	for i := range files {
		f := &files[i]
		if f.fuller {
			r.c.warn(message.OneLine(f.path) + ": note: its DWARF has types that BTF cannot say, and the types are read from it; -F btf reads its BTF")
		}
		if f.mismatch != "" {
			r.c.warn(mismatchText(f.path, f.mismatch))
		}
		if f.note != "" {
			r.c.warn(f.note)
		}
		if len(f.Off) == 0 {
			r.c.warn(message.OneLine(f.path) + ": note: it has no types of its own")
		}
	}
}

// lostText says how many things of a sort are in the DWARF only.
func lostText(where, what string, n int) string {
	return fmt.Sprintf("%s: not shown: %s %s", where, grouped(uint64(n)), message.OneLine(what))
}

// view gives the types by id, with the file's size of pointers.
func (t *types) view() *view.View {
	v := view.New(t.Blob)
	if t.pointerSize != 0 {
		v.SetPointerSize(t.pointerSize)
	}
	return v
}

func (r *typeReader) close() {
	r.closeFiles()
	r.find.Close()
}

// closeFiles is close, but the bases that were found or given stay open.
func (r *typeReader) closeFiles() {
	for _, done := range r.opened {
		done()
	}
	r.opened = nil
}

// resolve returns the file for a word: the file of this name, or the BTF of the loaded
// module of this name.
func (r *typeReader) resolve(word string) string {
	if isFile(word) {
		return word
	}
	// The kernel writes module names with underscores, even if their files have hyphens.
	module := sysBTF + strings.ReplaceAll(strings.TrimSuffix(word, ".ko"), "-", "_")
	if info, err := os.Stat(module); err == nil && info.Mode().IsRegular() {
		return module
	}
	return word
}

// setFormats takes a list of formats. As in pahole, the first one that a file has counts.
func (r *typeReader) setFormats(v string) error {
	formats := strings.Split(v, ",")
	for _, format := range formats {
		if format != "btf" && format != "dwarf" && format != "ctf" {
			return usagef("'%s' is not a format: use btf or dwarf", message.OneLine(format))
		}
	}
	if !slices.Contains(formats, "btf") && !slices.Contains(formats, "dwarf") {
		return usagef("'%s': btflite reads no CTF: use btf or dwarf", message.OneLine(v))
	}
	r.dwarf, r.orDWARF = loadbtf.DWARFLast, slices.Contains(formats, "dwarf")
	r.onlyBTF = !r.orDWARF
	switch btf, dwarf := slices.Index(formats, "btf"), slices.Index(formats, "dwarf"); {
	case dwarf >= 0 && btf < 0:
		r.dwarf = loadbtf.DWARFOnly
	case dwarf >= 0 && dwarf < btf:
		r.dwarf = loadbtf.DWARFFirst
	}
	return nil
}

// unresolved returns the words that are not names of loaded modules.
func (r *typeReader) unresolved(words []string) (rest []string) {
	for _, w := range words {
		if r.resolve(w) == w {
			rest = append(rest, w)
		}
	}
	return rest
}

// openOne reads the types of a file.
func (r *typeReader) openOne(path string, dwarf loadbtf.DWARF) (t types, err error) {
	l := btfFiles
	l.DWARF = dwarf
	l.Encode = func(in mmapelf.Source) (data []byte, done func(), err error) {
		data, done, stats, err := r.encode(in)
		t.lost, t.inFunctions = stats.Unencodable, stats.InFunctions
		return data, done, err
	}
	raw, done, err := l.Open(path)
	if err != nil {
		return t, err
	}
	r.opened = append(r.opened, done)
	t.path, t.source, t.pointerSize, t.encoded = path, raw.Source, raw.PointerSize, raw.Encoded
	if err := r.over(&t, &raw); err != nil {
		return t, fmt.Errorf("%s:%s %w", message.OneLine(path), raw.Section, err)
	}
	t.Marked = raw.Encoded && r.marks
	return t, nil
}

// fuller returns the types of the file's DWARF if BTF has no kind for some of them, else
// t. In BTF, missing members would look like holes.
func (r *typeReader) fuller(t types) types {
	if t.encoded || t.source.Path == "" || r.dwarf != loadbtf.DWARFLast {
		return t
	}
	if says, err := debuginfo.SaysMore(&t.source); err != nil || !says {
		return t // the BTF suffices, so a fault of the DWARF does not matter
	}
	full, err := r.openOne(t.path, loadbtf.DWARFOnly)
	if err != nil {
		return t
	}
	full.fuller = true
	return full
}

// over reads the BTF of t over its base, if it has one.
func (r *typeReader) over(t *types, raw *loadbtf.Raw) (err error) {
	if raw.Base != nil {
		if t.Blob, err = loadbtf.Own(raw, nil); err == nil && r.find.Fixed() != nil {
			t.Blob, err = r.find.Fixed().Relocate(raw, t.Blob)
		}
		return err
	}
	switch over, found := r.find.Find(t.path, raw, r.whole); {
	case over == nil:
		t.Blob, err = btf.ParseShared(raw.BTF, nil)
		if errors.Is(err, btf.ErrNoBase) && findbase.IsSplit(raw.BTF) {
			err = fmt.Errorf("%w; its base was not found: %s", err, giveVmlinux)
		}
		return err
	case over.Base == r.find.Fixed():
		t.Blob, t.mismatch = over.Own, over.Mismatch
		return over.Err()
	case !over.Fits():
		// Data that is not BTF does not fit any base.
		if _, err := btf.ParseShared(raw.BTF, nil); err != nil && !errors.Is(err, btf.ErrNoBase) {
			return err
		}
		return fmt.Errorf("%w: %s", &findbase.Misfit{Fit: over, Found: found}, giveVmlinux)
	default:
		t.Blob = over.Own
		if over.Base != r.whole && !(over.Base.Path == findbase.KernelBTF && strings.HasPrefix(t.path, sysBTF)) {
			t.note = fmt.Sprintf("%s: note: its base is %s", message.OneLine(t.path), message.OneLine(over.Base.Path))
		}
		return nil
	}
}

// giveVmlinux says what to do about a missing base.
const giveVmlinux = "give --btf_base=VMLINUX"

// asBase makes an input a base for others.
func (r *typeReader) asBase(t *types) *findbase.Base {
	in := t.source
	if in.Path == "" {
		in.Path = t.path
	}
	return &findbase.Base{Path: t.path, Blob: t.Blob, Kernel: basematch.OfKernel(in, t.Blob)}
}

// encode encodes the DWARF of a file, without the types of bases that are given. Kernels
// may refuse the result, but only this program reads it.
func (r *typeReader) encode(in mmapelf.Source) (data []byte, done func(), stats btflite.Stats, err error) {
	ctx := context.Background()
	opt := btflite.Options{Jobs: runtime.GOMAXPROCS(0), AllowRefused: true, Marks: r.marks, CUExclude: r.cuExclude}
	if opt.Lang, opt.LangExclude, err = r.lang.resolve(r.c.lookupEnv); err != nil {
		return nil, nil, stats, err
	}
	if r.dwarf != loadbtf.DWARFFirst || !hasSection(in.Path, ".BTF") { // else there are types without a server
		opt.FindDebug = r.findDebug
	}
	release := func() {}
	if len(r.bases) > 0 {
		if opt.Base, err = btflite.OpenBase(ctx, btflite.Paths(r.bases...)...); err != nil {
			return nil, nil, stats, err
		}
		release = opt.Base.Close
	}
	got, err := btflite.Encode(ctx, []btflite.Source{{Path: in.Path, Data: in.Data}}, opt)
	release()
	switch {
	case errors.Is(err, btflite.ErrNoDWARF) && r.dwarf == loadbtf.DWARFOnly:
		return nil, nil, stats, fmt.Errorf("%s: no DWARF to encode", message.OneLine(in.Path))
	case errors.Is(err, btflite.ErrNoDWARF):
		return nil, nil, stats, fmt.Errorf("%s: %w and no DWARF to encode", message.OneLine(in.Path), loadbtf.ErrNoBTF)
	case err != nil:
		return nil, nil, stats, err
	case len(got.BTF) == 0:
		got.Close()
		return nil, nil, stats, fmt.Errorf("%s: %w, and its DWARF has no types", message.OneLine(in.Path), loadbtf.ErrNoBTF)
	}
	return got.BTF, got.Close, got.Stats, nil
}
