// Package findbase finds the base of split BTF: the kernel that a module was built with. It looks in the folders
// above the module, and where distributions and archives put kernels. Package basematch says whether a base fits.
package findbase

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/distill"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/mmapelf"
)

// KernelBTF is the file with the running kernel's BTF.
const KernelBTF = "/sys/kernel/btf/vmlinux"

// Suffix ends the names of files with BTF. One of Compressed may follow it, as in names of modules.
const Suffix = ".btf"

// Compressed are the suffixes of compressed modules and BTF.
var Compressed = []string{".gz", ".xz", ".zst"}

// IsSplit reports whether BTF is split from a base: its strings start with a name.
func IsSplit(data []byte) bool {
	if len(data) < btf.HeaderLen {
		return false
	}
	order := btf.Order(data[0] == 0xeb)
	at := uint64(order.Uint32(data[4:])) + uint64(order.Uint32(data[16:]))
	n := order.Uint32(data[20:])
	return n == 0 || at < uint64(len(data)) && data[at] != 0
}

// Base is a base that has been read, or an unreadable one.
type Base struct {
	Path   string
	Blob   *btf.Blob // nil if there is none
	Kernel *basematch.Kernel
	done   func()

	once      sync.Once
	relocator *distill.Relocator // made by Relocate

	beside bool // it is of an archive, which may have thousands, so it is closed when it has no users
	users  int
}

// Fit is BTF read over a base, and signs that the base is the wrong one.
type Fit struct {
	Base     *Base
	Own      *btf.Blob // nil if the BTF cannot be read over the base
	Unread   error     // why
	Damaged  bool      // it cannot be read over any base
	Broken   error     // a sign that it was split from another base, as loadbtf.CheckBase finds
	Mismatch string    // why the base belongs to another kernel; "" without signs of that
}

// Fit reads the BTF of a file over the base.
func (b *Base) Fit(raw *loadbtf.Raw) *Fit {
	f := &Fit{Base: b, Damaged: raw.Damage() != nil}
	if f.Own, f.Unread = btf.ParseShared(raw.BTF, b.Blob); f.Unread == nil {
		f.Broken = loadbtf.CheckBase(raw, f.Own)
	}
	checked := f.Own
	if f.Broken != nil {
		checked = nil
	}
	f.Mismatch = b.Kernel.Mismatch(raw.Module, checked)
	return f
}

// Relocate returns own, the BTF of raw over its distilled base, over b, as a kernel does that loads the module.
// Several goroutines may call it.
func (b *Base) Relocate(raw *loadbtf.Raw, own *btf.Blob) (*btf.Blob, error) {
	b.once.Do(func() { b.relocator = distill.NewRelocator(b.Blob) })
	over, err := b.relocator.Relocate(own)
	if err != nil {
		return nil, loadbtf.Misfit(err, b.Path, b.Kernel.Mismatch(raw.Module, nil))
	}
	return over, nil
}

// NoFit says why the base is the wrong one.
func (f *Fit) NoFit() string { return loadbtf.NoFit(f.Base.Path, f.Mismatch) }

// Err returns the error of reading the BTF over the base. It names the base, unless no base helps.
func (f *Fit) Err() error {
	if f.Damaged {
		return f.Unread
	}
	if err := cmp.Or(f.Unread, f.Broken); err != nil {
		return loadbtf.Misfit(err, f.Base.Path, f.Mismatch)
	}
	return nil
}

// Fits reports whether nothing speaks against the base.
func (f *Fit) Fits() bool { return f.Unread == nil && f.Broken == nil && f.Mismatch == "" }

// Misfit is the error for split BTF if none of the bases that were found fits. It is
// btf.ErrNoBase.
type Misfit struct {
	*Fit
	Found int // number of bases that were found
}

// Error implements error.
func (m *Misfit) Error() string {
	why := m.NoFit()
	if err := cmp.Or(m.Unread, m.Broken); err != nil {
		why = fmt.Sprintf("%v: %s", err, why)
	}
	if m.Found > 1 {
		why += fmt.Sprintf(", nor does any other of the %d that were found", m.Found)
	}
	return why
}

// Is makes it btf.ErrNoBase.
func (m *Misfit) Is(target error) bool { return target == btf.ErrNoBase }

// Finder finds the bases of split BTF and keeps them. After Fix, several goroutines
// may use it.
type Finder struct {
	loader loadbtf.Loader
	image  string // folder of --image, or ""
	fixed  *Base  // the base of all files; or nil
	known  map[string]*Base
	last   *Base      // what beside has returned last: the next file may need it, too
	mu     sync.Mutex // for known and last, while bases are found
}

// New returns a Finder that opens bases by loader. With image, the folder of the modules of an image, it looks
// for the kernel of that image only.
func New(loader loadbtf.Loader, image string) *Finder {
	return &Finder{loader: loader, image: image, known: map[string]*Base{}}
}

// Close closes all bases.
func (f *Finder) Close() {
	for _, b := range f.known {
		if b.done != nil {
			b.done()
		}
	}
}

// Len returns how many bases are open.
func (f *Finder) Len() (n int) {
	for _, b := range f.known {
		if b.Blob != nil {
			n++
		}
	}
	return n
}

// Fix makes the chain of these files the base of all.
func (f *Finder) Fix(paths []string) error {
	blob, done, err := f.loader.OpenChain(paths)
	if err != nil {
		return err
	}
	name := strings.Join(paths, " + ")
	f.fixed = &Base{Path: name, Blob: blob, done: done, Kernel: basematch.OfKernel(mmapelf.Source{Path: paths[0]}, blob)}
	f.known[name] = f.fixed
	return nil
}

// Fixed is the base that Fix has set, or nil.
func (f *Finder) Fixed() *Base { return f.fixed }

// Find finds the base of a file: the given one, or the first candidate that fits, or the
// first candidate, with the signs against it. It returns nil if the file does not need a base,
// or if no candidate can be read. If first is not nil, Find tries it before the other candidates. A caller that reads many
// files calls Release after its last use of the fit.
func (f *Finder) Find(path string, raw *loadbtf.Raw, first *Base) (best *Fit, found int) {
	if f.fixed != nil {
		return f.fixed.Fit(raw), 1
	}
	if !IsSplit(raw.BTF) {
		return nil, 0
	}
	var tried []*Base // candidates may name a file twice
	try := func(b *Base) bool {
		if b == nil || b.Blob == nil || slices.Contains(tried, b) {
			return false
		}
		tried = append(tried, b)
		x := b.Fit(raw)
		if found++; best == nil || x.Fits() {
			best = x
		}
		return x.Fits()
	}
	if try(first) {
		return best, found
	}
	beside := f.beside(path)
	if try(beside) {
		return best, found
	}
	for _, name := range f.candidates(path, raw.Module.Release) {
		if try(f.candidate(name)) {
			break
		}
	}
	if best != nil && best.Base != beside {
		f.Release(beside)
	}
	return best, found
}

// beside returns the base of a module in an archive: the kernel's BTF has the name of the module's folder, and lies
// next to it. Without such a file, beside returns nil. The caller has to call Release.
func (f *Finder) beside(path string) *Base {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil || f.image != "" {
		return nil
	}
	for _, suffix := range append([]string{""}, Compressed...) {
		b := f.candidate(dir + Suffix + suffix)
		if b.Blob == nil {
			continue
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		b.beside = true
		old := f.last
		f.last = b
		f.drop(old)
		return b
	}
	return nil
}

// Release ends the use of a base that Find has returned.
func (f *Finder) Release(b *Base) {
	if b == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if b.beside {
		b.users--
		f.drop(b)
	}
}

// drop closes the base of an archive if nobody uses it, or will soon.
func (f *Finder) drop(b *Base) {
	if b != nil && b != f.last && b.beside && b.users == 0 && f.known[b.Path] == b {
		b.done()
		delete(f.known, b.Path)
	}
}

// candidate reads a base, once, if there is one.
func (f *Finder) candidate(name string) *Base {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.known[name]
	if !ok {
		b = f.openCandidate(name)
		f.known[name] = b
	}
	b.users++
	return b
}

// openCandidate reads a base if there is one.
func (f *Finder) openCandidate(path string) *Base {
	b := &Base{Path: path}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return b
	}
	blob, done, err := f.loader.OpenChain([]string{path})
	if err != nil {
		return b // the next candidate may be readable
	}
	b.Blob, b.done, b.Kernel = blob, done, basematch.OfKernel(mmapelf.Source{Path: path}, blob)
	return b
}

// candidates returns the files that may be the base of the module at path. release is the
// kernel that the module was built for, "" if unknown.
func (f *Finder) candidates(path, release string) (names []string) {
	if f.image != "" {
		return imageBases(f.image)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil
	}
	for {
		if filepath.Base(filepath.Dir(dir)) == "modules" {
			names = append(names, imageBases(dir)...)
		}
		names = append(names, filepath.Join(dir, "vmlinux"), filepath.Join(dir, "vmlinux.btf"))
		if up := filepath.Dir(dir); up != dir {
			dir = up
			continue
		}
		break
	}
	if release != "" && filepath.IsLocal(release) {
		names = append(names, imageBases(filepath.Join("/lib/modules", release))...)
	}
	return names
}

// imageBases returns the places where distributions and builds put the kernel of the
// modules in dir, which is ROOT/lib/modules/RELEASE or another folder.
func imageBases(dir string) []string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	release := filepath.Base(dir)
	root := "/"
	for _, lib := range []string{"usr/lib/modules", "lib/modules"} {
		if before, ok := strings.CutSuffix(filepath.Dir(dir), "/"+lib); ok {
			root = cmp.Or(before, "/")
			break
		}
	}
	at := func(elem ...string) string { return filepath.Join(elem...) }
	names := []string{
		at(dir, "vmlinux"), at(dir, "vmlinux.btf"), at(dir, "build/vmlinux"),
		at(root, "usr/lib/debug/lib/modules", release, "vmlinux"),
		at(root, "usr/lib/debug/usr/lib/modules", release, "vmlinux"),
		at(root, "usr/lib/debug/boot/vmlinux-"+release),
		at(root, "usr/lib/debug/boot/vmlinux-"+release+".debug"),
		at(root, "boot/vmlinux-"+release),
	}
	for _, suffix := range Compressed {
		names = append(names, at(dir, "vmlinux"+suffix), at(root, "boot/vmlinux-"+release+suffix))
	}
	if root == "/" && release == runningRelease() {
		names = append(names, KernelBTF)
	}
	return names
}

// runningRelease returns the release of the running kernel, "" if it is unknown.
func runningRelease() string {
	data, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
