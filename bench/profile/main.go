// Command profile makes cmd/btflite/btflite.pgo anew, by which the compiler
// decides what to inline: it encodes and checks the kernels of the corpus, some
// modules over each, and the kernels once more with the sites of inlined functions
// and from unit records, prints their types, and expands xz, in one process under the CPU profiler.
//
//	make profile
//	go run ./bench/profile [-o=FILE] [-n=ROUNDS] [KERNEL...]
//
// The profile goes by function names. After a hot function has been renamed, the
// old name in it has no effect until the profile is made again.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime/pprof"

	"github.com/google/pprof/profile"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/ccobject"
	"github.com/btflite/btflite/internal/unitrecord"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/corpus"
)

func main() {
	out := flag.String("o", "cmd/btflite/btflite.pgo", "`file` to write")
	n := flag.Int("n", 5, "`rounds` over all kernels")
	flag.Parse()
	if err := run(*out, *n, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1)
	}
}

func run(out string, rounds int, kernels []string) error {
	if len(kernels) == 0 {
		var err error
		if kernels, err = corpus.Kernels(); err != nil {
			return err
		}
	}
	folder, err := os.MkdirTemp("", "btflite-profile-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	recorded, err := convert(kernels, folder)
	if err != nil {
		return err
	}
	packed, err := pack(kernels[0])
	if err != nil {
		return err
	}
	var raw bytes.Buffer
	if err := pprof.StartCPUProfile(&raw); err != nil {
		return err
	}
	err = encodeAll(kernels, recorded, packed, rounds)
	pprof.StopCPUProfile()
	if err != nil {
		return err
	}
	p, err := profile.Parse(&raw)
	if err != nil {
		return err
	}
	anonymize(p)
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return err
	}
	fmt.Printf("%s: %d samples, %d bytes\n", out, len(p.Sample), b.Len())
	return os.WriteFile(out, b.Bytes(), 0o644)
}

// convert writes the modules of each kernel, with unit records in place of their DWARF,
// into the folder. A kernel itself is linked, so it cannot be converted; all of its modules
// in one run take the same way.
func convert(kernels []string, folder string) (recorded [][]string, err error) {
	for _, kernel := range kernels {
		modules, err := modulesOf(kernel)
		if err != nil {
			return nil, err
		}
		var paths []string
		for i, module := range modules {
			data, err := ccobject.Convert(mmapelf.Source{Path: module}, "profile", nil)
			if errors.Is(err, unitrecord.ErrNot) || errors.Is(err, ccobject.ErrNoDwarf) || errors.Is(err, ccobject.ErrAssembler) {
				continue // it stays one with DWARF in builds, too
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", module, err)
			}
			path := filepath.Join(folder, fmt.Sprint(filepath.Base(kernel), i))
			if err := os.WriteFile(path, data, 0o644); err != nil {
				return nil, err
			}
			paths = append(paths, path)
		}
		if len(paths) > 0 {
			recorded = append(recorded, paths)
		}
	}
	return recorded, nil
}

// encodeAll encodes the kernels in all ways, some rounds. recorded are modules with unit
// records, and packed is a part of a kernel that pack has packed.
func encodeAll(kernels []string, recorded [][]string, packed []byte, rounds int) error {
	plain := encode.Options{Features: encode.DefaultFeatures, Jobs: 1}
	inlined := plain
	inlined.Features |= encode.Inline
	for range rounds {
		for _, kernel := range kernels {
			for jobs := 1; jobs <= 2; jobs++ {
				if err := encodeOne(kernel, jobs); err != nil {
					return fmt.Errorf("%s: %w", kernel, err)
				}
			}
			if err := encodeFiles([]string{kernel}, nil, inlined); err != nil {
				return fmt.Errorf("%s with inlined functions: %w", kernel, err)
			}
		}
		if err := expand(packed); err != nil {
			return fmt.Errorf("a packed part of %s: %w", kernels[0], err)
		}
		for range 4 { // a run of them is a tenth of a kernel's
			for _, modules := range recorded {
				if err := encodeFiles(modules, nil, plain); err != nil {
					return fmt.Errorf("modules with unit records: %w", err)
				}
			}
		}
	}
	return nil
}

// modulesOf is which modules of a kernel are encoded over it: of all that the
// corpus has, the largest four and each fiftieth of the others. Names are read another way
// in a module than in a kernel, so a profile of kernels alone would leave that code
// without inlining.
func modulesOf(kernel string) (some []string, err error) {
	all, err := corpus.Modules(filepath.Base(kernel))
	for i, m := range all {
		if i < 4 || i%50 == 0 {
			some = append(some, m.Path)
		}
	}
	return some, err
}

// encodeOne does to a kernel and its modules what the command does, but writes nothing.
func encodeOne(kernel string, jobs int) error {
	o := encode.Options{Features: encode.DefaultFeatures, Jobs: jobs}
	out, err := encode.Run([]string{kernel}, o)
	if err != nil {
		return err
	}
	defer out.Close()
	verify.Check(out.Bytes(), nil, verify.Rules{}) // refuses names of Rust, which the command only tells
	if jobs == 1 {
		if err := readAll(out.Bytes()); err != nil {
			return err
		}
	}
	modules, err := modulesOf(kernel)
	if err != nil || len(modules) == 0 {
		return err
	}
	blob, err := btf.Parse(out.Bytes(), nil)
	if err != nil {
		return err
	}
	if o.Base, err = encode.NewBase(blob); err != nil {
		return err
	}
	defer o.Base.Free()
	for _, module := range modules {
		if err := encodeFiles([]string{module}, blob, o); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(module), err)
		}
	}
	return nil
}

// encodeFiles encodes and checks the files as one, over blob if that is not nil.
func encodeFiles(files []string, blob *btf.Blob, o encode.Options) error {
	out, err := encode.Run(files, o)
	if err != nil {
		return err
	}
	defer out.Close()
	if len(out.Bytes()) > 0 {
		verify.Check(out.Bytes(), blob, verify.Rules{})
	}
	return nil
}

// anonymize takes out of a profile what tells where it was made: the compiler
// needs the names of functions and the lines of calls within them.
func anonymize(p *profile.Profile) {
	for _, m := range p.Mapping {
		m.File, m.BuildID, m.KernelRelocationSymbol = "btflite", "", ""
	}
	for _, f := range p.Function {
		f.Filename = path.Base(filepath.ToSlash(f.Filename))
	}
	for _, s := range p.Sample {
		s.Label, s.NumLabel, s.NumUnit = nil, nil, nil
	}
	p.Comments, p.DropFrames, p.KeepFrames, p.TimeNanos = nil, "", "", 0
}
