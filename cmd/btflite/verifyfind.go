package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// verifiedFile is one input of "btflite verify".
type verifiedFile struct {
	path     string
	inFolder bool  // found in a folder, not named by the user
	err      error // why it cannot be read, if that is already known
}

// findVerified finds the files for words: a folder stands for all modules and .btf files
// below it, compressed or not, in their order there, and any other word for itself.
func findVerified(words []string) (files []verifiedFile) {
	for _, w := range words {
		info, err := os.Stat(w)
		if err != nil || !info.IsDir() {
			files = append(files, verifiedFile{path: w})
			continue
		}
		before := len(files)
		hint := ""
		hasBTF := func(path string) bool {
			if strings.Contains(filepath.Base(path), detachedSuffix+".tar") {
				hint = "; those in tar archives have to be unpacked first"
			}
			return isModuleName(path) || isDetachedName(path)
		}
		t := folderWalk{links: true, whole: isArchive(w), wanted: hasBTF}
		t.enter = func(folder string) bool { return !isArchiveStore(w, folder) }
		t.take = func(path string, err error) {
			files = append(files, verifiedFile{path: path, inFolder: true, err: err})
		}
		t.each(w)
		if len(files) == before {
			files = append(files, verifiedFile{path: w, err: fmt.Errorf("%s: no modules and no .btf files%s", message.OneLine(w), hint)})
		}
	}
	return files
}

// isSplit reports whether BTF is split from a base: its strings start with a name.
func isSplit(data []byte) bool {
	if len(data) < btf.HeaderLen {
		return false
	}
	order := btf.Order(data[0] == 0xeb)
	at := uint64(order.Uint32(data[4:])) + uint64(order.Uint32(data[16:]))
	n := order.Uint32(data[20:])
	return n == 0 || at < uint64(len(data)) && data[at] != 0
}

// foundBase is a base that has been read, or an unreadable one.
type foundBase struct {
	path   string
	blob   *btf.Blob // nil if there is none
	kernel *basematch.Kernel
	done   func()

	beside bool // it is of an archive, which may have thousands, so it is closed when it has no users
	users  int
}

// fit is BTF read over a base, and signs that the base is the wrong one.
type fit struct {
	base     *foundBase
	own      *btf.Blob // nil if the BTF cannot be read over the base
	unread   error     // why
	damaged  bool      // it cannot be read over any base
	broken   error     // a sign that it was split from another base, as loadbtf.CheckBase finds
	mismatch string    // why the base belongs to another kernel; "" without signs of that
}

// fit reads the BTF of a file over the base.
func (b *foundBase) fit(raw *loadbtf.Raw) *fit {
	f := &fit{base: b, damaged: raw.Damage() != nil}
	if f.own, f.unread = btf.ParseShared(raw.BTF, b.blob); f.unread == nil {
		f.broken = loadbtf.CheckBase(raw, f.own)
	}
	checked := f.own
	if f.broken != nil {
		checked = nil
	}
	f.mismatch = b.kernel.Mismatch(raw.Module, checked)
	return f
}

// noFit says why the base is the wrong one.
func (f *fit) noFit() string { return loadbtf.NoFit(f.base.path, f.mismatch) }

// err returns the error of reading the BTF over the base. It names the base, unless no base helps.
func (f *fit) err() error {
	if f.damaged {
		return f.unread
	}
	if err := cmp.Or(f.unread, f.broken); err != nil {
		return loadbtf.Misfit(err, f.base.path, f.mismatch)
	}
	return nil
}

// fits reports whether there is no sign against the base.
func (f *fit) fits() bool { return f.unread == nil && f.broken == nil && f.mismatch == "" }

// misfit is the error for split BTF if none of the bases that were found fits. It is
// btf.ErrNoBase.
type misfit struct {
	*fit
	found int // number of bases that were found
}

func (m *misfit) Error() string {
	why := m.noFit()
	if err := cmp.Or(m.unread, m.broken); err != nil {
		why = fmt.Sprintf("%v: %s", err, why)
	}
	if m.found > 1 {
		why += fmt.Sprintf(", nor does any other of the %d that were found", m.found)
	}
	return why
}

func (m *misfit) Is(target error) bool { return target == btf.ErrNoBase }

// baseFinder finds the bases of split BTF and keeps them. After fix, several goroutines
// may use it.
type baseFinder struct {
	image string     // folder of --image, or ""
	fixed *foundBase // the base of all files; or nil
	known map[string]*foundBase
	last  *foundBase // what beside has returned last: the next file may need it, too
	mu    sync.Mutex // for known and last, while bases are found
}

func newBaseFinder(image string) *baseFinder {
	return &baseFinder{image: image, known: map[string]*foundBase{}}
}

func (f *baseFinder) close() {
	for _, b := range f.known {
		if b.done != nil {
			b.done()
		}
	}
}

// fix makes the chain of these files the base of all.
func (f *baseFinder) fix(paths []string) error {
	blob, done, err := btfFiles.OpenChain(paths)
	if err != nil {
		return err
	}
	name := strings.Join(paths, " + ")
	f.fixed = &foundBase{path: name, blob: blob, done: done, kernel: basematch.OfKernel(mmapelf.Source{Path: paths[0]}, blob)}
	f.known[name] = f.fixed
	return nil
}

// base finds the base of a file: the given one, or the first candidate that fits, or the
// first candidate, with the signs against it. It returns nil if the file needs no base,
// or if there is none. If first is not nil, base tries it before the other candidates. A caller that reads many
// files calls release after its last use of the fit.
func (f *baseFinder) base(path string, raw *loadbtf.Raw, first *foundBase) (best *fit, found int) {
	if f.fixed != nil {
		return f.fixed.fit(raw), 1
	}
	if !isSplit(raw.BTF) {
		return nil, 0
	}
	try := func(b *foundBase) bool {
		if b == nil || b.blob == nil {
			return false
		}
		x := b.fit(raw)
		if found++; best == nil || x.fits() {
			best = x
		}
		return x.fits()
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
	if best != nil && best.base != beside {
		f.release(beside)
	}
	return best, found
}

// beside returns the base of a module in an archive: the kernel's BTF has the name of the module's folder, and lies
// next to it. Without such a file, beside returns nil. The caller has to call release.
func (f *baseFinder) beside(path string) *foundBase {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil || f.image != "" {
		return nil
	}
	for _, suffix := range append([]string{""}, compressedSuffixes...) {
		b := f.candidate(dir + detachedSuffix + suffix)
		if b.blob == nil {
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

// release ends the use of a base that base has returned.
func (f *baseFinder) release(b *foundBase) {
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
func (f *baseFinder) drop(b *foundBase) {
	if b != nil && b != f.last && b.beside && b.users == 0 && f.known[b.path] == b {
		b.done()
		delete(f.known, b.path)
	}
}

// candidate reads a base, once, if there is one.
func (f *baseFinder) candidate(name string) *foundBase {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.known[name]
	if !ok {
		b = openCandidate(name)
		f.known[name] = b
	}
	b.users++
	return b
}

// openCandidate reads a base if there is one.
func openCandidate(path string) *foundBase {
	b := &foundBase{path: path}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return b
	}
	blob, done, err := btfFiles.OpenChain([]string{path})
	if err != nil {
		return b // the next candidate may be readable
	}
	b.blob, b.done, b.kernel = blob, done, basematch.OfKernel(mmapelf.Source{Path: path}, blob)
	return b
}

// candidates returns the files that may be the base of the module at path. release is the
// kernel that the module was built for, "" if unknown.
func (f *baseFinder) candidates(path, release string) (names []string) {
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
	for _, suffix := range compressedSuffixes {
		names = append(names, at(dir, "vmlinux"+suffix), at(root, "boot/vmlinux-"+release+suffix))
	}
	if root == "/" && release == runningRelease() {
		names = append(names, kernelBTF)
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
