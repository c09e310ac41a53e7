package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup/btffile"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/internal/findbase"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
	"github.com/spf13/cobra"
)

// flattenCommand is "btflite flatten": a kernel and its modules in one file.
type flattenCommand struct {
	output string   // -o
	origin string   // --origin
	bases  []string // --btf_base: the kernel, which may be one of the words

	kernel *findbase.Base
	files  []flatFile // the modules
}

// flatFile is a module of "btflite flatten".
type flatFile struct {
	path string
	name string // what it is sorted by: the file's name without folders and compression
	sum  [sha256.Size]byte
}

func newFlattenCommand(c *cli) *cobra.Command {
	f := &flattenCommand{}
	cmd := &cobra.Command{
		Use: "flatten [OPTION...] -o OUT VMLINUX MODULE...",
		Long: `Join the BTF of a kernel and of its modules to one file without a base, for
readers that take one file. MODULE may be a folder, for the modules and .btf
files below it. The order of the words does not matter.`,
		Example: `  btflite flatten -o all.btf /sys/kernel/btf/*
  btflite flatten -o all.btf --origin=origin.json vmlinux.btf modules/`,
		RunE: func(_ *cobra.Command, args []string) error { return f.run(c, args) },
	}
	s := under(cmd, groupOutput)
	s.file(&f.output, "output", "o", "write to the file `OUT`")
	s.bases(&f.bases, "btf_base", "the kernel is `BASE`, as if it were a word")
	s.file(&f.origin, "origin", "", "write which file has which types to `FILE`: JSON")
	return cmd
}

func (f *flattenCommand) run(c *cli, words []string) error {
	if f.output == "" {
		return usagef("no output; give -o OUT")
	}
	words, err := elfInputs(slices.Concat(f.bases, words), false)
	if err != nil {
		return err
	}
	if err := checkInputs(words); err != nil {
		return err
	}
	var paths []string
	for _, found := range findVerified(words) {
		if found.err != nil {
			return found.err
		}
		paths = append(paths, found.path)
	}
	paths = eachOnce(paths)
	out, origin, err := f.targets(c, paths)
	if err != nil {
		return err
	}
	if err := f.findKernel(paths); err != nil {
		return err
	}
	done, err := f.openKernel(c)
	if err != nil {
		return err
	}
	defer done()
	flat, err := f.join(c)
	if err != nil {
		return err
	}
	result, err := btf.ParseShared(flat.Data, nil)
	if err != nil {
		return message.NamingFile([]string{f.kernel.Path}, err)
	}
	if err := checkReadable(f.kernel.Path, result, flat.Data); err != nil {
		return err
	}
	outs := []output{{to: out, content: finish.WriteBytes(flat.Data)}}
	if origin != nil {
		outs = append(outs, output{to: origin, content: f.writeOrigin(result, flat)})
	}
	return writeTogether(c.guard, outs, nil)
}

// targets finds where the outputs go. origin is nil without --origin.
func (f *flattenCommand) targets(c *cli, inputs []string) (out, origin *target, err error) {
	if out, err = c.resolveTarget(f.output, inputs); err == nil {
		origin, err = c.otherTarget(f.origin, "the list of origins", inputs, out)
	}
	return out, origin, err
}

// findKernel finds the one file that is not split BTF, and sorts the others by name, and files of
// one name by contents. So the output does not depend on the order of the command line.
func (f *flattenCommand) findKernel(paths []string) error {
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s: not a regular file, and flatten reads its inputs more than once: copy it to a file", message.OneLine(p))
		}
		file := flatFile{path: p, name: withoutCompression(filepath.Base(p))}
		split := false
		err := btfFiles.With(p, func(raw loadbtf.Raw) error {
			if err := raw.Damage(); err != nil {
				return fmt.Errorf("%s:%s %w", message.OneLine(p), raw.Section, err)
			}
			split = findbase.IsSplit(raw.BTF) || raw.Base != nil
			file.sum = sha256.Sum256(raw.BTF)
			return nil
		})
		switch {
		case err != nil:
			return err
		case split:
			f.files = append(f.files, file)
		case f.kernel != nil:
			return fmt.Errorf("%s: BTF without a base, as %s: give one kernel, and modules that are split from it",
				message.OneLine(p), message.OneLine(f.kernel.Path))
		default:
			f.kernel = &findbase.Base{Path: p}
		}
	}
	if f.kernel == nil {
		return fmt.Errorf("%s: its base is missing: give the kernel's BTF too", message.Inputs(paths))
	}
	slices.SortFunc(f.files, func(a, b flatFile) int {
		return cmp.Or(cmp.Compare(a.name, b.name), slices.Compare(a.sum[:], b.sum[:]))
	})
	f.files = slices.CompactFunc(f.files, func(a, b flatFile) bool { return a.name == b.name && a.sum == b.sum })
	return nil
}

// openKernel opens the kernel's BTF.
func (f *flattenCommand) openKernel(c *cli) (done func(), err error) {
	b, done, err := btfFiles.OpenChain([]string{f.kernel.Path})
	if err != nil {
		return nil, err
	}
	if b, err = c.withoutSkipped(f.kernel.Path, b); err != nil {
		done()
		return nil, err
	}
	f.kernel.Blob, f.kernel.Kernel = b, basematch.OfKernel(mmapelf.Source{Path: f.kernel.Path}, b)
	return done, nil
}

// join joins all files, one after the other, or all at once if one of them is odd.
func (f *flattenCommand) join(c *cli) (*btffile.Flat, error) {
	joined, err := btffile.NewFlattener(f.kernel.Blob, &memoryLimit, f.origin != "")
	if err != nil {
		return nil, message.NamingFile([]string{f.kernel.Path}, err)
	}
	defer joined.Free()
	for _, file := range f.files {
		if err := c.guard.interrupted(); err != nil {
			return nil, err
		}
		err := f.withModule(c, file.path, joined.Add)
		if errors.Is(err, btffile.ErrIrregular) {
			return f.batch(c)
		}
		if err != nil {
			return nil, err
		}
	}
	flat, err := joined.Finish()
	if err != nil {
		return nil, message.NamingFile([]string{f.kernel.Path}, err)
	}
	return flat, nil
}

// batch joins all files at once.
func (f *flattenCommand) batch(c *cli) (*btffile.Flat, error) {
	var all []*btf.Blob
	for _, file := range f.files {
		if err := f.withModule(c, file.path, func(b *btf.Blob) error {
			own, err := btf.Parse(b.Encode(), b.Base)
			all = append(all, own)
			return err
		}); err != nil {
			return nil, err
		}
	}
	flat, err := btffile.Batch(f.kernel.Blob, all)
	if err != nil {
		return nil, message.NamingFile([]string{f.kernel.Path}, err)
	}
	return flat, nil
}

// withModule calls use with the BTF of a module, which has to fit the kernel.
func (f *flattenCommand) withModule(c *cli, path string, use func(b *btf.Blob) error) error {
	return btfFiles.With(path, func(raw loadbtf.Raw) error {
		own, err := f.overKernel(&raw)
		if err != nil {
			return fmt.Errorf("%s:%s %w", message.OneLine(path), raw.Section, err)
		}
		if own, err = c.withoutSkipped(path, own); err == nil {
			err = use(own)
		}
		if err != nil && !errors.Is(err, btffile.ErrIrregular) {
			return message.NamingFile([]string{path}, err)
		}
		return err
	})
}

// overKernel reads the BTF of a module over the kernel, which it has to fit.
func (f *flattenCommand) overKernel(raw *loadbtf.Raw) (*btf.Blob, error) {
	if raw.Base == nil {
		fit := f.kernel.Fit(raw)
		if err := fit.Err(); err != nil {
			return nil, err
		}
		if !fit.Fits() {
			return nil, errors.New(fit.NoFit())
		}
		return fit.Own, nil
	}
	own, err := loadbtf.Own(raw, nil)
	if err != nil {
		return nil, err
	}
	return f.kernel.Relocate(raw, own)
}

// flatOrigin says which types of the output a file has.
type flatOrigin struct {
	File  string      `json:"file"`
	Types int         `json:"types"` // its own
	IDs   [][2]uint32 `json:"ids"`   // first and last id of each run
}

// writeOrigin writes which file has which types of the output, the kernel first.
func (f *flattenCommand) writeOrigin(out *btf.Blob, flat *btffile.Flat) func(io.Writer) error {
	return func(w io.Writer) error {
		l := newLineWriter(w)
		l.line(`{"version":1,"types":` + message.JSON(len(out.Off)) + `,"files":[`)
		own := len(f.kernel.Blob.Off)
		l.element(flatOrigin{f.kernel.Path, own, runsOf(1, uint32(own))})
		for i, ids := range flat.Origin {
			l.element(flatOrigin{f.files[i].path, len(ids), runsOfIDs(ids)})
		}
		l.endArray("]}")
		return l.flush()
	}
}

// runsOf returns the one run from first to last; none if last is lower.
func runsOf(first, last uint32) [][2]uint32 {
	if last < first {
		return [][2]uint32{}
	}
	return [][2]uint32{{first, last}}
}

// runsOfIDs returns the runs of ids that follow each other, in ascending order. It sorts ids.
func runsOfIDs(ids []uint32) [][2]uint32 {
	runs := [][2]uint32{}
	slices.Sort(ids)
	for _, id := range ids {
		if n := len(runs); n > 0 && id <= runs[n-1][1]+1 {
			runs[n-1][1] = id
			continue
		}
		runs = append(runs, [2]uint32{id, id})
	}
	return runs
}
