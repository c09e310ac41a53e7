package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/btflite/btflite/internal/archive"
	"github.com/btflite/btflite/internal/findbase"
	"github.com/btflite/btflite/internal/message"
)

// minKernel is a kernel of "btflite min".
type minKernel struct {
	path string
	dir  string // the folder that the user has named; the kernel's own if the user has named the kernel
	rel  string // where its file is to be, below a folder, without the suffix
	err  error  // why it cannot be read; nil as far as is known
}

// findMinKernels finds the kernels that words stand for. A folder stands for the .btf files below
// it, compressed or not, any other word for itself. In a folder with an archive, it finds each
// kernel once, and no modules.
func findMinKernels(words []string) (kernels []minKernel, err error) {
	for _, w := range words {
		info, err := os.Stat(w)
		if err != nil || !info.IsDir() {
			kernels = append(kernels, minKernel{path: w, dir: filepath.Dir(w)})
			continue
		}
		before := len(kernels)
		t := folderWalk{links: true, whole: isArchive(w), wanted: isDetachedName}
		t.enter = func(folder string) bool { return !isArchiveStore(w, folder) && !isModulesFolder(folder) }
		t.take = func(path string, err error) {
			kernels = append(kernels, minKernel{path: path, dir: w, err: err})
		}
		t.each(w)
		if len(kernels) == before {
			return nil, fmt.Errorf("%s: no .btf files; those in tar archives have to be unpacked first", message.OneLine(w))
		}
	}
	paths, dirs := make([]string, len(kernels)), make([]string, len(kernels))
	for i := range kernels {
		paths[i], dirs[i] = kernels[i].path, kernels[i].dir
	}
	for i, rel := range relNames(paths, dirs) {
		kernels[i].rel = rel
	}
	return kernels, nil
}

// isArchive tells whether a folder is an archive: it has the records of packages.
func isArchive(path string) bool {
	info, err := os.Stat(filepath.Join(path, archive.PackagesDir))
	return err == nil && info.IsDir()
}

// isArchiveStore tells whether path, below root, is the folder store of the archive at root, or of another one. All
// other names in the archive are links to files of that folder.
func isArchiveStore(root, path string) bool {
	path, root = filepath.Clean(path), filepath.Clean(root)
	dir := filepath.Dir(path)
	return path != root && filepath.Base(path) == archive.StoreDir && (dir == root || isArchive(dir))
}

// isModulesFolder tells whether a folder of an archive has the BTF of modules: the record of their
// kernel lies beside it.
func isModulesFolder(path string) bool {
	_, err := os.Stat(path + archive.RecordSuffix)
	return err == nil
}

// isDetachedName tells whether the name of a file in a folder is one of a file with BTF.
func isDetachedName(name string) bool {
	return strings.HasSuffix(withoutCompression(name), findbase.Suffix)
}

// withoutCompression returns a file name without the suffix of a compression.
func withoutCompression(name string) string {
	for _, s := range findbase.Compressed {
		if short, ok := strings.CutSuffix(name, s); ok {
			return short
		}
	}
	return name
}

// relNames returns names for what is made of files: the path of each below the folder that all
// of dirs are in, without ".o", ".btf" and the suffix of a compression. Two files may have one
// name, such as a.btf and a.btf.xz.
func relNames(paths, dirs []string) []string {
	full := slices.Clone(paths)
	common := ""
	for i, p := range paths {
		dir := dirs[i]
		if abs, err := filepath.Abs(p); err == nil {
			full[i] = abs
		}
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		if i == 0 {
			common = dir
		}
		for common != dir && !strings.HasPrefix(dir, strings.TrimSuffix(common, "/")+"/") {
			common = filepath.Dir(common)
		}
	}
	for i, p := range full {
		rel, err := filepath.Rel(common, p)
		if err != nil {
			rel = filepath.Base(p)
		}
		rel = withoutCompression(rel)
		full[i] = strings.TrimSuffix(strings.TrimSuffix(rel, findbase.Suffix), objectSuffix)
	}
	return full
}

// minPlan is where the files of a run go.
type minPlan struct {
	folder string // "" if there is one file
	// kernels says that the folder has files for several kernels, programs that it has one
	// for each program.
	kernels, programs bool
	single            *target  // the one file
	report            *target  // nil for none
	pending           []output // of a run with a report: complete, but not in place yet
}

// minFile is where one file goes: to the target, or else to the path below the plan's folder.
type minFile struct {
	path   string
	target *target
}

// seeReport says how to learn which relocations find nothing; "" if the report tells it.
func (p *minPlan) seeReport() string {
	if p.report != nil {
		return ""
	}
	return "; --report=FILE lists them"
}

// file says where the BTF for a kernel goes; for one program, or if that is nil for all.
func (p *minPlan) file(k *minKernel, prog *minProgram) minFile {
	name := ""
	switch {
	case p.folder == "":
		return minFile{p.single.path, p.single}
	case !p.programs:
		name = k.rel
	case !p.kernels:
		name = prog.rel
	default:
		name = filepath.Join(k.rel, prog.rel)
	}
	return minFile{filepath.Join(p.folder, name) + findbase.Suffix, nil}
}

// place decides where all files go. It is an error if one would replace another, or an input.
func (m *minCommand) place(c *cli, kernels []minKernel) (*minPlan, error) {
	plan := &minPlan{kernels: len(kernels) > 1, programs: m.perProgram}
	info, err := os.Stat(m.output)
	isFolder := err == nil && info.IsDir()
	inputs := m.inputsOf(kernels)
	if !plan.kernels && !plan.programs && !isFolder && !strings.HasSuffix(m.output, "/") {
		if plan.single, err = c.resolveTarget(m.output, inputs); err != nil {
			return nil, err
		}
	} else {
		if m.output == dash || err == nil && !isFolder {
			return nil, message.FileError(m.output, "cannot write", errors.New("several files need a folder"))
		}
		plan.folder = filepath.Clean(m.output)
		if err := plan.refuseCollisions(kernels, m.programs, inputs); err != nil {
			return nil, err
		}
	}
	plan.report, err = c.otherTarget(m.report, "the report", inputs, plan.single)
	return plan, err
}

// refuseCollisions returns an error if two files would have one name, or if one would replace
// an input.
func (p *minPlan) refuseCollisions(kernels []minKernel, programs []*minProgram, inputs []string) error {
	taken := takenPlaces{}
	for _, in := range inputs {
		taken.add(in, "is an input")
	}
	if !p.programs {
		programs = []*minProgram{nil}
	}
	for i := range kernels {
		k := &kernels[i]
		for _, prog := range programs {
			of := k.path
			switch {
			case prog != nil && p.kernels:
				of = prog.path + " and " + of
			case prog != nil:
				of = prog.path
			}
			path := p.file(k, prog).path
			this := "is for " + message.OneLine(of)
			switch why := taken.add(path, this); why {
			case "":
			case this:
				return fmt.Errorf("%s: given twice", message.OneLine(of))
			default:
				return fmt.Errorf("%s: the BTF for %s would be written there, and it %s", message.OneLine(path), message.OneLine(of), why)
			}
		}
	}
	return nil
}
