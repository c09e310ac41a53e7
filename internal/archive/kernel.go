package archive

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/mmapelf"
)

// kernel is a file of a kernel, found by its contents.
type kernel struct {
	release  string // as uname -r
	banner   string // "Linux version ..."; "" if the file has none
	arch     string
	buildID  string // in hex; "" if there is none
	hasBTF   bool
	hasDWARF bool
}

// headerSize is how many bytes of a file tell whether it is a linked program: more than e_type.
const headerSize = 20

// isProgram tells whether a file with this header is a linked ELF file, as kernels are. Modules
// are relocatable ones.
func isProgram(head []byte) bool {
	if len(head) < headerSize || !loadbtf.IsELF(head) {
		return false
	}
	t := elfabi.Order(head[5] == 2).Uint16(head[16:])
	return t == elfabi.ETExec || t == elfabi.ETDyn
}

// isImage tells whether a file is called as a kernel that machines boot, which is compressed and has no DWARF.
func isImage(name string) bool {
	return strings.HasPrefix(path.Base(name), "vmlinuz")
}

// largeProgram is a size in bytes. A linked program of that size in a package can only be a kernel.
const largeProgram = 16 << 20

// isLikely tells whether a file may be a kernel by its name, its size and its first bytes.
func isLikely(name string, size int64, head []byte) bool {
	return isProgram(head) && (size >= largeProgram || strings.HasPrefix(path.Base(name), "vmlinux"))
}

// identify describes the kernel in a file, or returns nil if the file is not a kernel. name is the
// path in the package.
func identify(in mmapelf.Source, name string) (*kernel, error) {
	f, err := in.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	k := &kernel{arch: archOf(f)}
	k.hasBTF = hasContents(f, loadbtf.SectionBTF)
	k.hasDWARF = hasDWARF(f)
	if !k.hasBTF && !k.hasDWARF {
		return nil, nil
	}
	if k.banner = basematch.Banner(f); k.banner != "" {
		k.release = strings.Fields(k.banner)[2]
	} else if k.release = releaseInName(name); k.release == "" || !hasBannerSymbol(f) {
		return nil, nil
	}
	k.buildID = hex.EncodeToString(debuginfo.BuildID(f))
	return k, nil
}

// hasContents tells whether a file has the section, with bytes.
func hasContents(f *mmapelf.File, name string) bool {
	s := f.Section(name)
	return s != nil && s.Size > 0 && s.Type != elfabi.SHTNobits
}

func hasDWARF(f *mmapelf.File) bool {
	return hasContents(f, ".debug_info") || hasContents(f, ".zdebug_info")
}

// hasBannerSymbol tells whether a file has the symbol linux_banner. Debug files without code
// (as SUSE's) have it, but not the banner.
func hasBannerSymbol(f *mmapelf.File) (has bool) {
	symtab := f.Section(".symtab")
	if symtab == nil {
		return false
	}
	names, err := f.SymbolStrings(symtab)
	if err != nil {
		return false
	}
	_ = f.Symbols(symtab, func(_ int, s *mmapelf.Symbol) bool {
		name, ok := f.StringAt(names, s.Name)
		has = ok && bytes.Equal(name, []byte("linux_banner"))
		return !has
	})
	return has
}

// releaseInName returns the release in the path of a kernel: boot/vmlinux-RELEASE or
// lib/modules/RELEASE/vmlinux, either with ".debug"; "" for any other.
func releaseInName(name string) string {
	dir, base := path.Split(strings.TrimSuffix(name, ".debug"))
	if release, ok := strings.CutPrefix(base, "vmlinux-"); ok {
		return release
	}
	if parent, release := path.Split(strings.TrimSuffix(dir, "/")); base == "vmlinux" && path.Base(parent) == "modules" {
		return release
	}
	return ""
}

// archNames has the names of machines: of 32 bits, little-endian and big-endian, and the same of 64 bits. An
// empty one is the first. For the two machines that BTFHub has, it is the name that BTFHub uses, for all others
// the name that uname -m prints.
var archNames = map[uint16][4]string{
	elfabi.EMX8664:     {"x86_64"},
	elfabi.EMAArch64:   {"arm64"},
	elfabi.EM386:       {"i686"},
	elfabi.EMARM:       {"arm"},
	elfabi.EMPPC:       {"ppc"},
	elfabi.EMLoongArch: {"loongarch64"},
	elfabi.EMS390:      {"s390", "s390", "s390x", "s390x"},
	elfabi.EMRISCV:     {"riscv32", "riscv32", "riscv64", "riscv64"},
	elfabi.EMPPC64:     {"ppc64le", "ppc64", "ppc64le", "ppc64"},
	elfabi.EMMIPS:      {"mipsel", "mips", "mips64el", "mips64"},
}

// archOf returns the name of the machine that a file is for.
func archOf(f *mmapelf.File) string {
	names, ok := archNames[f.Machine]
	if !ok {
		return fmt.Sprintf("machine%d", f.Machine)
	}
	form := 0
	if f.BigEndian {
		form++
	}
	if f.Class64 {
		form += 2
	}
	return cmp.Or(names[form], names[0])
}

// recordOf begins the record of a kernel.
func (w *adding) recordOf(k *kernel) *KernelRecord {
	rec := &KernelRecord{BuildID: k.buildID, Release: k.release, Arch: k.arch, Package: w.rec.Package, Program: w.Program}
	if name, version, ok := strings.Cut(w.Distro, "/"); ok {
		rec.Distro, rec.Version = name, version
	} else {
		rec.Distro, rec.Version = distroOf(w.pkg.Info, k.banner, k.release)
	}
	return rec
}
