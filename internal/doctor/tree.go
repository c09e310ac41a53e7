package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// tree looks at the folder of a build, or at /lib/modules/RELEASE.
func (x *exam) tree(dir string) error {
	x.report.Kind = "tree"
	if _, err := os.ReadDir(dir); err != nil {
		return message.FileError(dir, "cannot read", err)
	}
	x.makefile(dir)
	x.scripts(dir)
	config := firstFile(dir, ".config", "include/config/auto.conf", "config")
	if config != "" {
		if err := x.configFile(config); err != nil {
			return err
		}
	}
	mods, err := findModules(dir)
	if err != nil {
		return err
	}
	vmlinux := firstFile(dir, "vmlinux", "build/vmlinux")
	if config == "" && vmlinux == "" && len(mods) == 0 {
		return fmt.Errorf("%s: neither a .config, a vmlinux nor modules are in the folder: give the folder where the kernel is built", message.OneLine(dir))
	}
	x.memory(dir)
	var base *btf.Blob
	if vmlinux != "" {
		before := len(x.report.Findings)
		if err := x.file(vmlinux, nil); err != nil {
			x.report.add(Error, "vmlinux-unread", err.Error(), "make vmlinux")
		}
		x.report.Kind = "tree"
		if len(x.report.Findings) == before {
			base, _ = loadbtf.Loader{}.Load(vmlinux, nil) // file has read it
		}
	}
	x.modules(mods, vmlinux, base)
	return nil
}

// firstFile is the first of the names that is a regular file in dir, "" if none is.
func firstFile(dir string, names ...string) string {
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

var (
	makeNumber = pattern(`(?m)^(VERSION|PATCHLEVEL|SUBLEVEL)\s*=\s*(\d+)\s*$`)
	makePahole = pattern(`(?m)^(?:export\s+)?PAHOLE\s*[:?]?=\s*(\S+)`)
)

// makefile reads the release, and which pahole a tree has, from its Makefile.
func (x *exam) makefile(dir string) {
	if data, err := firstBytes(filepath.Join(dir, "include/config/kernel.release"), maxHead); err == nil {
		x.setRelease(strings.TrimSpace(string(data)))
	}
	for _, name := range []string{"Makefile", "source/Makefile"} {
		data, err := firstBytes(filepath.Join(dir, name), maxConfig)
		if err != nil {
			continue
		}
		number := map[string]string{}
		for _, m := range makeNumber().FindAllSubmatch(data, -1) {
			number[string(m[1])] = string(m[2])
		}
		if x.release == "" && number["VERSION"] != "" && number["PATCHLEVEL"] != "" {
			x.setRelease(number["VERSION"] + "." + number["PATCHLEVEL"] + "." + number["SUBLEVEL"])
		}
		if m := makePahole().FindSubmatch(data); m != nil && x.makefilePahole == "" {
			x.makefilePahole = string(m[1])
		}
	}
}

// scripts reads how a tree calls pahole.
func (x *exam) scripts(dir string) {
	for _, name := range []string{"scripts/pahole-flags.sh", "scripts/link-vmlinux.sh", "scripts/Makefile.btf"} {
		for _, below := range []string{dir, filepath.Join(dir, "source")} {
			if data, err := firstBytes(filepath.Join(below, name), maxConfig); err == nil && strings.Contains(string(data), "skip_encoding_btf_enum64") {
				x.skipsEnum64 = true
			}
		}
	}
}

// paholeMemory is about what pahole 1.32 takes for the kernel of a distribution, in bytes.
const paholeMemory = 600 << 20

// memory compares what the link and pahole take with what there is.
func (x *exam) memory(dir string) {
	info, err := os.Stat(filepath.Join(dir, "vmlinux.o"))
	if err != nil || x.host.Memory == 0 {
		return
	}
	if need := uint64(info.Size()) + paholeMemory; need > x.host.Memory {
		x.report.add(Warning, "memory", fmt.Sprintf("the link of vmlinux takes about %d MiB (vmlinux.o, and pahole), and %d MiB are free", need>>20, x.host.Memory>>20),
			`make -j1 PAHOLE="$(command -v btflite)"   # takes a tenth of pahole's memory`)
	}
}

// maxModules is how many modules of a tree are looked at.
const maxModules = 20000

// findModules lists the modules below a folder, without following links.
func findModules(dir string) (mods []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission):
			return nil
		case err != nil:
			return message.FileError(path, "cannot read", err)
		case len(mods) == maxModules:
			return fs.SkipAll
		case d.Type().IsRegular() && slices.ContainsFunc([]string{".ko", ".ko.xz", ".ko.gz", ".ko.zst"}, func(end string) bool { return strings.HasSuffix(path, end) }):
			mods = append(mods, path)
		}
		return nil
	})
	return mods, err
}

// modules says which modules have no BTF, or BTF of another kernel.
func (x *exam) modules(mods []string, vmlinux string, base *btf.Blob) {
	var without, foreign, rust, unread []string
	stripped, why, unreadWhy := 0, "", ""
	var kernel *basematch.Kernel
	if base != nil {
		kernel = basematch.OfKernel(mmapelf.Source{Path: vmlinux}, base)
	}
	for _, path := range mods {
		raw, done, err := loadbtf.Loader{}.Open(path)
		switch {
		case errors.Is(err, loadbtf.ErrNoBTF) && rustUnits(mmapelf.Source{Path: path}) > 0:
			rust = append(rust, path)
		case errors.Is(err, loadbtf.ErrNoBTF):
			without = append(without, path)
			if isStripped(path) {
				stripped++
			}
		case err == nil:
			if odd := x.misfit(&raw, base, kernel); odd != "" {
				foreign = append(foreign, path)
				why = cmp.Or(why, odd)
			}
			done()
		default:
			unread = append(unread, path)
			unreadWhy = cmp.Or(unreadWhy, err.Error())
		}
	}
	if len(unread) > 0 {
		x.report.add(Warning, "modules-unread", counted(unread, len(mods))+": cannot be read: "+unreadWhy, "make modules")
	}
	if len(foreign) > 0 {
		x.report.add(Error, "base-mismatch", fmt.Sprintf("%s: of another kernel than %s: %s", counted(foreign, len(mods)), message.OneLine(vmlinux), message.OneLine(why)),
			"btflite modules --btf_features=default --lang_exclude=rust --btf_base="+message.ShellFile(vmlinux)+" "+message.ShellFile(x.report.Input))
	}
	if len(rust) > 0 {
		x.report.add(Note, "modules-rust", counted(rust, len(mods))+": written in Rust, whose types are left out of BTF, so they have none", "")
	}
	switch n := len(without); {
	case n == 0:
	case stripped == n:
		x.report.add(Warning, "modules-stripped", counted(without, len(mods))+": neither BTF nor DWARF: stripped of both, or built where there was no vmlinux",
			"make INSTALL_MOD_STRIP=1 modules_install   # runs strip --strip-debug, which leaves .BTF")
	default:
		x.report.add(Warning, "modules-without-btf", counted(without, len(mods))+": no BTF: built before vmlinux had any, or with pahole missing",
			"btflite modules --btf_features=default --lang_exclude=rust --btf_base=vmlinux "+message.ShellFile(x.report.Input))
	}
}

// misfit says why a module's BTF is not over base, "" if nothing shows that.
func (x *exam) misfit(raw *loadbtf.Raw, base *btf.Blob, kernel *basematch.Kernel) string {
	if base == nil || raw.Base != nil {
		return ""
	}
	own, err := loadbtf.Own(raw, base)
	if err != nil {
		return err.Error()
	}
	return kernel.Mismatch(raw.Module, own)
}

// isStripped reports whether a module has no DWARF. One that is compressed counts as stripped.
func isStripped(path string) bool {
	f, err := mmapelf.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	return !f.HasDWARF()
}

// counted names the first of some modules, and how many of all they are.
func counted(some []string, all int) string {
	return fmt.Sprintf("%d of %s (%s first)", len(some), message.Count(all, "module"), message.OneLine(filepath.Base(some[0])))
}
