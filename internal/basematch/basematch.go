// Package basematch tells whether a kernel module and the base of its BTF are of
// the same kernel, as far as the files show. BTF over a base of another kernel is
// whole and valid: it only refers to other types than it should, or repeats them.
//
// It compares the machines of both ELF files, the releases in the module's vermagic
// and the kernel's banner, and struct module: its size in the base and in the module's
// own instance, and its members. A build-id would be better, but a module does not
// have its kernel's.
package basematch

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/mmapelf"
)

// Kernel describes the kernel that a base belongs to. It does not change after
// OfKernel, so several goroutines may use it.
type Kernel struct {
	Release    string // UTS_RELEASE, as "6.12.0-amd64"; "" if it is not known
	Machine    uint16 // e_machine; 0 if it is not known
	ModuleSize uint32 // of struct module, in bytes; 0 if it is not known

	path       string
	module     []uint32 // struct module; nil if there is none
	moduleName uint32   // offset of its name in the base's strings
}

// Module describes a module.
type Module struct {
	Release string // in its vermagic; "" if it is not known
	Machine uint16 // e_machine; 0 if it is not known
	Size    uint64 // of its struct module, in bytes; 0 if it is not known
}

// OfKernel reads the file of a kernel. base is its BTF, or split BTF over it. If the
// file is raw BTF, compressed or missing, less is known. The Kernel refers to base,
// which must stay valid as long as it is used.
func OfKernel(in mmapelf.Source, base *btf.Blob) *Kernel {
	k := &Kernel{path: in.Path}
	for base.Base != nil {
		base = base.Base
	}
	k.findModule(base)
	f, err := in.Open()
	if err != nil {
		return k
	}
	defer f.Close()
	k.Machine = f.Machine
	k.Release = bannerRelease(f)
	return k
}

func (k *Kernel) findModule(b *btf.Blob) {
	i := bytes.Index(b.Strings, []byte("\x00module\x00"))
	if i < 0 {
		return
	}
	k.moduleName = b.StrBase + uint32(i) + 1
	k.module = structOf(b, k.moduleName)
	if k.module != nil {
		k.ModuleSize = k.module[2]
	}
}

// structOf returns the first struct of b itself whose name is at the offset name, or
// nil. It is name, info and size, then name, type and offset of each member.
func structOf(b *btf.Blob, name uint32) []uint32 {
	for id := b.FirstID; id < b.TypeCount(); id++ {
		if b.Kind(id) == btf.KindStruct {
			if r := b.Record(id); r[0] == name {
				return r
			}
		}
	}
	return nil
}

// The banner of a kernel, linux_banner, is "Linux version RELEASE (user@host) ...".
const banner = "Linux version "

// maxRelease bounds a release: __NEW_UTS_LEN of Linux.
const maxRelease = 64

// maxBanner bounds what is taken of a banner, which ends with a newline.
const maxBanner = 512

// bannerRelease finds the release in the banner of a kernel, "" if there is none.
func bannerRelease(f *mmapelf.File) string {
	release, _, _ := strings.Cut(strings.TrimPrefix(Banner(f), banner), " ")
	return release
}

// Banner returns the banner of a kernel, "Linux version RELEASE (user@host) ...", without the newline;
// "" if there is none.
func Banner(f *mmapelf.File) string {
	s := f.Section(".rodata")
	if s == nil {
		return ""
	}
	data, err := f.Data(s)
	if err != nil {
		return ""
	}
	// In pieces, so that few pages of the file are in memory at once.
	const piece = 256 << 10
	for from := 0; from < len(data); from += piece {
		part := data[from:min(from+piece+maxBanner, len(data))]
		line := bannerIn(part)
		f.Release(part)
		if line != "" {
			return line
		}
	}
	return ""
}

func bannerIn(b []byte) string {
	for {
		at := bytes.Index(b, []byte(banner))
		if at < 0 {
			return ""
		}
		b = b[at:]
		line, after := b[:min(maxBanner, len(b))], b[len(banner):]
		release, rest, ok := bytes.Cut(after[:min(maxRelease+2, len(after))], []byte(" "))
		if ok && len(release) > 0 && release[0] >= '0' && release[0] <= '9' && bytes.HasPrefix(rest, []byte("(")) {
			if end := bytes.IndexAny(line, "\n\x00"); end >= 0 {
				line = line[:end]
			}
			return string(line)
		}
		b = after
	}
}

// ReleaseOf finds the release of Linux in the file of a kernel or module, "" if there is none.
func ReleaseOf(f *mmapelf.File) string {
	if m := OfModule(f); m.Release != "" {
		return m.Release
	}
	return bannerRelease(f)
}

// OfModule describes the module in an open file. Of other files it gets only the machine.
func OfModule(f *mmapelf.File) (m Module) {
	m.Machine = f.Machine
	if s := f.Section(".gnu.linkonce.this_module"); s != nil {
		m.Size = s.Size
	}
	s := f.Section(".modinfo")
	if s == nil {
		return m
	}
	info, err := f.Data(s)
	if err != nil {
		return m
	}
	for field := range bytes.SplitSeq(info, []byte{0}) {
		if magic, ok := bytes.CutPrefix(field, []byte("vermagic=")); ok {
			release, _, _ := bytes.Cut(magic, []byte(" "))
			m.Release = string(release[:min(maxRelease, len(release))])
			break
		}
	}
	return m
}

// Mismatch says why the module cannot be of the kernel, as the end of a sentence
// about it: "built for 6.1.0, but the base vmlinux is of 6.12.0". It is "" if
// nothing shows. own is the module's split BTF over the base, or nil.
func (k *Kernel) Mismatch(m Module, own *btf.Blob) string {
	switch {
	case m.Machine != 0 && k.Machine != 0 && m.Machine != k.Machine:
		return fmt.Sprintf("for another machine (e_machine %d) than the base %s (%d)", m.Machine, k.path, k.Machine)
	case m.Release != "" && k.Release != "" && m.Release != k.Release:
		return fmt.Sprintf("built for %s, but the base %s is of %s", m.Release, k.path, k.Release)
	case m.Size != 0 && k.ModuleSize != 0 && m.Size != uint64(k.ModuleSize):
		return fmt.Sprintf("its struct module has %d bytes, in the base %s has %d", m.Size, k.path, k.ModuleSize)
	case own != nil && k.repeats(own):
		return fmt.Sprintf("its struct module has other members than in the base %s", k.path)
	}
	return ""
}

// repeats reports whether own has a struct module of its own that differs from that
// of the base in its size, or in the names or offsets of its members. Types of
// members are not compared: what they refer to may be repeated, too.
func (k *Kernel) repeats(own *btf.Blob) bool {
	if k.module == nil || own.Base == nil {
		return false
	}
	r := structOf(own, k.moduleName)
	if r == nil {
		return false
	}
	if len(r) != len(k.module) || r[2] != k.module[2] {
		return true
	}
	for i := 3; i+2 < len(r); i += 3 {
		if r[i] != k.module[i] || r[i+2] != k.module[i+2] {
			return true
		}
	}
	return false
}
