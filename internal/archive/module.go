package archive

import (
	"encoding/hex"
	"errors"
	"path"
	"strings"

	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/mmapelf"
)

// module is a file of a kernel module.
type module struct {
	name string // as in /sys/kernel/btf
	file string // in the package
	root string // folder of its kernel or around it, if the file lies as modules are installed; else none
	builtFor
	buildID  string // in hex; "" if there is none
	hasBTF   bool   // over its kernel's
	hasDWARF bool
}

// builtFor says which kernels a module may be of.
type builtFor struct {
	release string // as uname -r; "" if nothing shows it
	arch    string // "" if the file cannot be read
}

// isOf tells whether the module may be of a kernel.
func (b builtFor) isOf(k *KernelRecord) bool {
	return (b.release == "" || b.release == k.Release) && (b.arch == "" || b.arch == k.Arch)
}

// moduleSuffixes may follow the name of a module, each once and in this order from the end.
var moduleSuffixes = []string{".xz", ".zst", ".gz", ".debug"}

// moduleName returns the name of the module in a file of that name: "nf_nat" of kernel/net/nf-nat.ko.xz
// and of nf_nat.ko.debug. Contents cannot tell: the objects that a module is made of look like one.
func moduleName(file string) (name string, ok bool) {
	name = path.Base(file)
	for _, s := range moduleSuffixes {
		name = strings.TrimSuffix(name, s)
	}
	name, ok = strings.CutSuffix(name, ".ko")
	return CleanName(strings.ReplaceAll(name, "-", "_")), ok
}

// newModule describes a module by its name alone. The folder of modules is called as the release is.
func newModule(file string) *module {
	name, _ := moduleName(file)
	m := &module{name: name, file: file, root: notInstalled}
	parts := strings.Split(file, "/")
	for i := range parts[:max(len(parts)-2, 0)] {
		if parts[i] == "modules" && (i == 0 || parts[i-1] == "lib") {
			m.release, m.root = parts[i+1], strings.Join(parts[:max(i-1, 0)], "/")
		}
	}
	return m
}

// notInstalled is the root of a module that is not below lib/modules.
const notInstalled = "/"

// isBeside tells whether a file of a kernel lies where we expect the kernel of this module: below
// the same root of an installation or, in a tree that was built, in a folder around the module.
func (m *module) isBeside(kernel string) bool {
	if m.root == notInstalled {
		return within(path.Dir(kernel), m.file)
	}
	return within(m.root, kernel)
}

// within tells whether a file is below a folder.
func within(dir, file string) bool {
	return dir == "." || dir == "" || strings.HasPrefix(file, dir+"/")
}

// errNoModule is the error for a file that only has the name of a module.
var errNoModule = errors.New("it is not a kernel module")

// read completes the description by the contents.
func (m *module) read(in mmapelf.Source) error {
	f, err := in.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Type != elfabi.ETRel || f.Section(".modinfo") == nil && f.Section(".gnu.linkonce.this_module") == nil {
		return errNoModule
	}
	m.arch = archOf(f)
	if release := basematch.OfModule(f).Release; release != "" {
		m.release = release
	}
	m.buildID = hex.EncodeToString(debuginfo.BuildID(f))
	m.hasBTF = hasContents(f, loadbtf.SectionBTF) && f.Section(loadbtf.SectionBTFBase) == nil
	m.hasDWARF = hasDWARF(f)
	return nil
}

// commonPath returns how many folders two paths have in common at their beginning.
func commonPath(a, b string) (n int) {
	for {
		x, restA, okA := strings.Cut(a, "/")
		y, restB, okB := strings.Cut(b, "/")
		if !okA || !okB || x != y {
			return n
		}
		a, b = restA, restB
		n++
	}
}
