package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/distill"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/expand"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// file looks at a kernel, a module, an object or raw BTF.
func (x *exam) file(path string, bases []string) error {
	x.bases = bases
	head, err := firstBytes(path, maxHead)
	if err != nil {
		return err
	}
	if loadbtf.IsELF(head) {
		f, err := mmapelf.Open(path)
		if err != nil {
			return message.NamingFile([]string{path}, err)
		}
		defer f.Close()
		x.classify(f)
		if x.hasNoBTF(path, f) {
			return nil
		}
	}
	x.format = expand.Of(head)
	base, err := loadbtf.Loader{NoBase: "BTF of a module needs --btf_base"}.Chain(bases)
	if err != nil {
		return err
	}
	l := loadbtf.Loader{AnyKind: true, Encode: func(in mmapelf.Source) ([]byte, func(), error) { // of a compressed file without .BTF
		_, err := x.packedELF(path, in)
		return nil, nil, cmp.Or(err, errSaid)
	}}
	err = l.With(path, func(raw loadbtf.Raw) error {
		if x.report.Kind == "" && raw.Source.Path != "" {
			if none, err := x.packedELF(path, raw.Source); none || err != nil {
				return err
			}
		}
		if !btf.HasMagic(raw.BTF) {
			return fmt.Errorf("%s: neither a kernel tree, a .config, a kernel, a module, a boot image nor BTF", message.OneLine(path))
		}
		x.report.Kind = cmp.Or(x.report.Kind, "btf")
		x.setRelease(raw.Module.Release)
		x.types(path, &raw, base, bases)
		return nil
	})
	if errors.Is(err, errSaid) {
		return nil
	}
	return err
}

// errSaid ends the reading of a file about which all has been said.
var errSaid = errors.New("said")

// packedELF notes what a compressed ELF file is, and reports whether it lacks BTF.
func (x *exam) packedELF(path string, in mmapelf.Source) (none bool, err error) {
	f, err := in.Open()
	if err != nil {
		return false, message.NamingFile([]string{path}, err)
	}
	defer f.Close()
	x.classify(f)
	return x.hasNoBTF(path, f), nil
}

// unpackers are the programs that expand a file, by the name of the format.
var unpackers = map[string]string{"xz": "xz -dc", "gzip": "gzip -dc", "zstd": "zstd -dc", "bzip2": "bzip2 -dc", "lzma": "xz --format=lzma -dc", "LZ4": "lz4 -dc"}

// unpacked returns the beginning of a command line that changes a file. If the file is compressed, line
// expands it first. name is the file that the rest of the command line has to change.
func (x *exam) unpacked(path string) (line, name string) {
	if x.format == nil {
		return "", message.ShellFile(path)
	}
	to := path + ".unpacked"
	switch ext := filepath.Ext(path); ext {
	case ".xz", ".gz", ".zst", ".bz2", ".lzma", ".lz4":
		to = strings.TrimSuffix(path, ext)
	}
	name = message.ShellFile(to)
	return unpackers[x.format.Name] + " < " + message.ShellFile(path) + " > " + name + " && ", name
}

// classify notes what an ELF file is, and of which release.
func (x *exam) classify(f *mmapelf.File) {
	switch {
	case f.Machine == elfabi.EMBPF:
		x.report.Kind = "bpf-object"
	case f.Type == elfabi.ETRel && f.Section(".modinfo") != nil:
		x.report.Kind = "module"
	case basematch.Banner(f) != "":
		x.report.Kind = "vmlinux"
	default:
		x.report.Kind = "object"
	}
	x.setRelease(basematch.ReleaseOf(f))
}

// hasNoBTF reports whether an ELF file lacks BTF, and says why.
func (x *exam) hasNoBTF(path string, f *mmapelf.File) bool {
	r := x.report
	unpack, name := x.unpacked(path)
	encode := unpack + x.encoder("rust")
	s := f.Section(loadbtf.SectionBTF)
	switch {
	case s != nil && s.Type == elfabi.SHTNobits:
		r.add(Error, "debug-file", "section .BTF has no contents: this is the debug file of a kernel, and the BTF is in the kernel itself", encode+"--btf_encode_detached=vmlinux.btf "+name)
	case s != nil && s.Size > 0:
		return false
	case s != nil:
		r.add(Error, "empty-btf", "section .BTF is empty: the encoder failed, and the build went on", encode+name)
	case r.Kind == "bpf-object":
		r.add(Error, "no-btf", "the BPF object has no BTF: it was compiled without -g", "clang -g -O2 -target bpf -c prog.bpf.c -o "+name)
	case f.HasDWARF():
		r.add(Error, "not-encoded", "the file has DWARF and no BTF: nobody has encoded it", encode+name)
	case r.Kind == "module":
		r.add(Error, "stripped", "the module has neither BTF nor DWARF: it was stripped of both, or built where there was no vmlinux", "make INSTALL_MOD_STRIP=1 modules_install   # runs strip --strip-debug, which leaves .BTF")
	default:
		r.add(Error, "stripped", "the file has neither BTF nor DWARF: it was stripped of both", "apt-get install linux-image-$(uname -r)-dbg   # or dnf debuginfo-install kernel: the vmlinux with DWARF")
	}
	return true
}

// encoder begins the command line that encodes the file, without some languages.
func (x *exam) encoder(without string) string {
	features := "default"
	if x.distilled {
		features += ",distilled_base"
	}
	return "btflite -J --btf_features=" + features + " --lang_exclude=" + without + " " + x.over()
}

// over is the options for what the file's BTF builds upon.
func (x *exam) over() (options string) {
	bases := x.bases
	if len(bases) == 0 && x.report.Kind == "module" {
		bases = []string{"vmlinux"}
	}
	for _, b := range bases {
		options += "--btf_base=" + message.ShellWord(b) + " "
	}
	return options
}

// encode is the command line that encodes the file once more, without some languages. Raw BTF and
// boot images have nothing to encode: what they are made from has the DWARF.
func (x *exam) encode(without, path string) string {
	line, source := x.encoder(without), "vmlinux"
	unpack, name := x.unpacked(path)
	if len(x.bases) > 0 {
		source = "module.ko"
	}
	switch x.report.Kind {
	case "btf":
		return line + "--btf_encode_detached=" + name + " " + source
	case "image":
		return line + source + "   # and make the image again"
	}
	return unpack + line + name
}

// types looks at BTF that is there. bases are the files of base, which may be none.
func (x *exam) types(path string, raw *loadbtf.Raw, base *btf.Blob, bases []string) {
	r := x.report
	x.distilled = raw.Base != nil
	own, err := loadbtf.Own(raw, base)
	switch {
	case errors.Is(err, btf.ErrNoBase) && base == nil && raw.Base == nil:
		r.add(Note, "base-needed", "the BTF builds upon the BTF of vmlinux, and cannot be checked without it", "btflite doctor --btf_base=vmlinux "+message.ShellFile(path))
		return
	case err != nil && base != nil && raw.Base == nil:
		r.add(Error, "base-mismatch", fmt.Sprintf("the BTF does not belong to the base %s: %v", message.OneLine(bases[0]), err), x.encode("rust", path))
		return
	case err != nil:
		r.add(Error, "broken-btf", fmt.Sprintf("no program can read the BTF: %v", err), x.encode("rust", path))
		return
	}
	if base != nil && raw.Base == nil {
		kernel := basematch.OfKernel(mmapelf.Source{Path: bases[0]}, base)
		if why := kernel.Mismatch(raw.Module, own); why != "" {
			r.add(Error, "base-mismatch", "the module is of another kernel than the base: "+message.OneLine(why), "make modules   # in the tree of that vmlinux")
			return
		}
	}
	if base != nil && raw.Base != nil {
		if _, err := distill.NewRelocator(base).Relocate(own); err != nil {
			r.add(Error, "base-mismatch", fmt.Sprintf("a kernel with the base %s does not load the module: %v", message.OneLine(bases[0]), err), x.encode("rust", path))
			return
		}
	}
	x.verdict(path, raw, own.Base)
}

// verdict says what the kernel of the file refuses.
func (x *exam) verdict(path string, raw *loadbtf.Raw, base *btf.Blob) {
	rules := verify.Rules{Level: verify.Boot, PointerSize: raw.PointerSize, Loaded: raw.BPF, Distilled: raw.Base != nil}
	if kernel, err := verify.ParseRelease(x.release); err == nil {
		rules.Kernel = kernel
	}
	types, err := verify.Check(raw.BTF, base, rules)
	fault := new(verify.Fault)
	switch {
	case err == nil && types == 0 && base == nil:
		x.report.add(Error, "no-types", "the BTF has no types", "")
	case !errors.As(err, &fault):
	case fault.Needs != (verify.Release{}):
		unpack, file := x.unpacked(path)
		over, then := x.over(), ""
		if x.distilled {
			over = ""
		}
		if x.report.Kind == "image" {
			file, then = "vmlinux", "   # and make the image again"
		}
		x.report.add(Error, "too-new", fmt.Sprintf("Linux %s refuses the %v", rules.Kernel, fault), fmt.Sprintf("%sbtflite lower --kernel=%s %s%s %s%s", unpack, rules.Kernel, over, file, file, then))
	case x.sayRust(path, raw.Source, fault):
	default:
		x.report.add(Error, "refused", fmt.Sprintf("a kernel refuses the %v; a language other than C may be the reason", fault), x.encode("rust,c++11,c++14", path))
	}
}
