package doctor

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/test/testfile"
)

// place is a folder of a test: contents by name.
type place map[string]string

// goodConfig is the configuration of a kernel with BTF, and goodHost a machine to build it on.
const goodConfig = "#\n# Linux/x86 6.12.1 Kernel Configuration\n#\nCONFIG_GCC_VERSION=120200\nCONFIG_PAHOLE_VERSION=131\nCONFIG_BPF_SYSCALL=y\nCONFIG_MODULES=y\n" +
	"CONFIG_DEBUG_INFO=y\nCONFIG_DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT=y\n# CONFIG_DEBUG_INFO_REDUCED is not set\nCONFIG_DEBUG_INFO_BTF=y\nCONFIG_DEBUG_INFO_BTF_MODULES=y\n"

var goodHost = Host{Pahole: "pahole", PaholeVersion: "v1.31", Memory: 8 << 30}

// with is goodConfig with other values, "n" for an option that is off and "" for one that is
// not there.
func with(changes ...string) string {
	c := goodConfig
	for _, change := range changes {
		name, value, _ := strings.Cut(change, "=")
		var lines []string
		for line := range strings.Lines(c) {
			if !strings.HasPrefix(line, "CONFIG_"+name+"=") && !strings.HasPrefix(line, "# CONFIG_"+name+" ") {
				lines = append(lines, line)
			}
		}
		switch c = strings.Join(lines, ""); value {
		case "":
		case "n":
			c += "# CONFIG_" + name + " is not set\n"
		default:
			c += "CONFIG_" + name + "=" + value + "\n"
		}
	}
	return c
}

const makefile612 = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 1\nPAHOLE\t\t= pahole\n"

// kernelBTF is the BTF of a small kernel.
func kernelBTF(t *testing.T, add func(b *btftest.Builder)) *btf.Blob {
	return btftest.Build(t, nil, func(b *btftest.Builder) {
		b.Struct("task", 4, b.Member("pid", b.Int("int", 4), 0))
		if add != nil {
			add(b)
		}
	})
}

// kernel is a vmlinux of a release with these sections.
func kernel(release string, sections ...elftest.Section) string {
	banner := elftest.Section{Name: ".rodata", Flags: 2, Data: []byte("Linux version " + release + " (me@here) #1\n\x00")}
	return string(elftest.Image{Layout: elftest.Of(true, false), Linked: true, Sections: append([]elftest.Section{banner}, sections...)}.Bytes())
}

// module is a module of a release with these sections.
func module(release string, sections ...elftest.Section) string {
	info := elftest.Section{Name: ".modinfo", Flags: 2, Data: []byte("name=m\x00vermagic=" + release + " SMP \x00")}
	return string(elftest.Image{Layout: elftest.Of(true, false), Type: 1, Sections: append([]elftest.Section{info}, sections...)}.Bytes())
}

func btfSection(b *btf.Blob) elftest.Section { return elftest.Section{Name: ".BTF", Data: b.Encode()} }

// put writes the files of a place into a new folder.
func put(t *testing.T, p place) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range p {
		path := filepath.Join(dir, name)
		testfile.Write(t, path, content)
	}
	return dir
}

// TestTrees: 17 broken and four good trees.
func TestTrees(t *testing.T) {
	base := kernelBTF(t, nil)
	over := btftest.Build(t, base, func(b *btftest.Builder) { b.Ptr(1) })
	other := btftest.Build(t, kernelBTF(t, func(b *btftest.Builder) { b.Fwd("more_and_more_and_more_and_more_and_more") }), func(b *btftest.Builder) { b.Struct("of_other", 8, b.Member("m", 3, 0)) })
	dwarf := elftest.Section{Name: ".debug_info", Data: []byte("DWARF")}
	tree := func(config string) place { return place{".config": config, "Makefile": makefile612} }
	noPahole, oldPahole := Host{Memory: 8 << 30}, Host{Pahole: "pahole", PaholeVersion: "v1.15"}
	for _, c := range []struct {
		name string
		p    place
		host Host
		want string // ids of findings
		cure string // a part of the first cure
	}{
		{"good, not built", tree(goodConfig), goodHost, "", ""},
		{"good, built", place{".config": goodConfig, "Makefile": makefile612, "vmlinux": kernel("6.12.1", btfSection(base), dwarf), "fs/m.ko": module("6.12.1", btfSection(over))}, goodHost, "", ""},
		{"good, 5.15 with a new pahole", place{".config": with("PAHOLE_VERSION="), "Makefile": "VERSION = 5\nPATCHLEVEL = 15\nSUBLEVEL = 9\n",
			"scripts/pahole-flags.sh": "extra_paholeopt=--skip_encoding_btf_enum64"}, goodHost, "", ""},
		{"good, installed modules", place{"vmlinux": kernel("6.12.1", btfSection(base)), "kernel/fs/m.ko": module("6.12.1", btfSection(over))}, goodHost, "", ""},

		{"no debug information", tree(with("DEBUG_INFO=n", "DEBUG_INFO_NONE=y", "DEBUG_INFO_BTF=")), goodHost, "no-debug-info", "-d DEBUG_INFO_NONE"},
		{"reduced", tree(with("DEBUG_INFO_REDUCED=y", "DEBUG_INFO_BTF=")), goodHost, "debug-info-reduced", "-d DEBUG_INFO_REDUCED"},
		{"split", tree(with("DEBUG_INFO_SPLIT=y", "DEBUG_INFO_BTF=")), goodHost, "debug-info-split", "-d DEBUG_INFO_SPLIT"},
		{"shuffled members", tree(with("GCC_PLUGIN_RANDSTRUCT=y", "DEBUG_INFO_BTF=")), goodHost, "randstruct", "-d GCC_PLUGIN_RANDSTRUCT"},
		{"no BPF", tree(with("BPF_SYSCALL=n", "DEBUG_INFO_BTF=")), goodHost, "no-bpf", "-e BPF_SYSCALL"},
		{"off for no reason", tree(with("DEBUG_INFO_BTF=n", "DEBUG_INFO_BTF_MODULES=")), goodHost, "btf-off", "-e DEBUG_INFO_BTF"},
		{"no pahole", tree(with("PAHOLE_VERSION=0", "DEBUG_INFO_BTF=")), noPahole, "pahole-missing", "make PAHOLE="},
		{"pahole installed afterwards", tree(with("PAHOLE_VERSION=0", "DEBUG_INFO_BTF=")), goodHost, "pahole-unseen", "make olddefconfig"},
		{"PAHOLE=false in the Makefile", place{".config": with("PAHOLE_VERSION=0", "DEBUG_INFO_BTF="), "Makefile": "VERSION = 6\nPATCHLEVEL = 12\nPAHOLE = false\n"}, goodHost, "pahole-false", "make PAHOLE="},
		{"PAHOLE=false in the environment", tree(with("PAHOLE_VERSION=0", "DEBUG_INFO_BTF=")), Host{Pahole: "false"}, "pahole-false", "make PAHOLE="},
		{"old pahole", tree(with("PAHOLE_VERSION=", "DEBUG_INFO_BTF=")), oldPahole, "pahole-old", "make PAHOLE="},
		{"new pahole, old kernel", place{".config": with("PAHOLE_VERSION=124"), "Makefile": "VERSION = 5\nPATCHLEVEL = 10\nSUBLEVEL = 9\n"}, goodHost, "pahole-new", "--skip_encoding_btf_enum64"},
		{"DWARF 5 and an old pahole", tree(with("PAHOLE_VERSION=120", "DEBUG_INFO_BTF=")), goodHost, "pahole-dwarf5", "-e DEBUG_INFO_DWARF4"},
		{"no BTF of modules", tree(with("DEBUG_INFO_BTF_MODULES=")), goodHost, "no-module-btf", "-e DEBUG_INFO_BTF_MODULES"},
		{"Rust and an old pahole", tree(with("RUST=y", "PAHOLE_VERSION=123")), goodHost, "rust-units", "make PAHOLE="},
		{"little memory", place{".config": goodConfig, "Makefile": makefile612, "vmlinux.o": "x"}, Host{Pahole: "pahole", PaholeVersion: "v1.31", Memory: 64 << 20}, "memory", "make -j1"},
		{"vmlinux not encoded", place{".config": goodConfig, "Makefile": makefile612, "vmlinux": kernel("6.12.1", dwarf)}, goodHost, "not-encoded", "btflite -J"},
		{"vmlinux stripped", place{".config": goodConfig, "Makefile": makefile612, "vmlinux": kernel("6.12.1")}, goodHost, "stripped", "apt-get"},
		{"modules without BTF", place{".config": goodConfig, "Makefile": makefile612, "vmlinux": kernel("6.12.1", btfSection(base)), "a.ko": module("6.12.1", dwarf), "b.ko": module("6.12.1", btfSection(over))}, goodHost, "modules-without-btf", "btflite modules"},
		{"modules that are damaged", place{"vmlinux": kernel("6.12.1", btfSection(base)), "a.ko": module("6.12.1", btfSection(over))[:100]}, goodHost, "modules-unread", "make modules"},
		{"modules stripped", place{"vmlinux": kernel("6.12.1", btfSection(base)), "a.ko": module("6.12.1")}, goodHost, "modules-stripped", "INSTALL_MOD_STRIP=1"},
		{"modules in Rust", place{"vmlinux": kernel("6.12.1", btfSection(base)), "a.ko": module("6.12.1", rustDebug()...)}, goodHost, "modules-rust", ""},
		{"modules of another build", place{"vmlinux": kernel("6.12.1", btfSection(base)), "a.ko": module("6.12.1", btfSection(other))}, goodHost, "base-mismatch", "btflite modules"},
		{"modules of another release", place{"vmlinux": kernel("6.12.1", btfSection(base)), "a.ko": module("6.12.2", btfSection(over))}, goodHost, "base-mismatch", "btflite modules"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := put(t, c.p)
			r, err := Examine(dir, c.host, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := ids(r); got != c.want {
				t.Fatalf("%s, want %q\n%+v", got, c.want, r.Findings)
			}
			if r.Kind != "tree" || r.Release == "" {
				t.Errorf("%s of %q", r.Kind, r.Release)
			}
			if c.want != "" && !strings.Contains(r.Findings[0].Cure, c.cure) {
				t.Errorf("cure %q, want %s", r.Findings[0].Cure, c.cure)
			}
		})
	}
}

// ids are the ids of findings, with commas between.
func ids(r *Report) string {
	var list []string
	for _, f := range r.Findings {
		list = append(list, f.ID)
	}
	return strings.Join(list, ",")
}

// TestFiles: kernels, modules, objects, raw BTF, configurations and boot images.
func TestFiles(t *testing.T) {
	base := kernelBTF(t, nil)
	over := btftest.Build(t, base, func(b *btftest.Builder) { b.Ptr(1) })
	newer := kernelBTF(t, func(b *btftest.Builder) { b.Enum64("e", b.Value64("V", 1)) })
	rust := kernelBTF(t, func(b *btftest.Builder) { b.Fwd("core::fmt") })
	vmlinux := kernel("6.12.1", btfSection(base))
	bpf := func(sections ...elftest.Section) string {
		return string(elftest.Image{Layout: elftest.Of(true, false), Type: 1, Machine: 247, Sections: append(sections, elftest.Section{Name: "tc", Data: []byte("code")})}.Bytes())
	}
	flat := "code" + strings.Repeat("\x00", armMagic-4) + "ARM\x64" + strings.Repeat("\x9f\xeb\x01\x00", 9)
	for _, c := range []struct {
		name, content, kind, want string
		bases                     bool
	}{
		{"config-6.12", goodConfig, "config", "", false},
		{"vmlinux", vmlinux, "vmlinux", "", false},
		{"old", kernel("5.10.1", btfSection(newer)), "vmlinux", "too-new", false},
		{"rust", kernel("6.12.1", btfSection(rust)), "vmlinux", "refused", false},
		{"cut.btf", string(base.Encode()[:50]), "btf", "broken-btf", false},
		{"cut in a kernel", kernel("6.12.1", elftest.Section{Name: ".BTF", Data: base.Encode()[:50]}), "vmlinux", "broken-btf", false},
		{"rust.btf", string(rust.Encode()), "btf", "refused", false},
		{"other.btf", string(btftest.Build(t, kernelBTF(t, func(b *btftest.Builder) { b.Fwd("more_and_more_and_more") }), func(b *btftest.Builder) { b.Struct("of_other", 8, b.Member("m", 3, 0)) }).Encode()), "btf", "base-mismatch", true},
		{"bzImage", bzImage(zipped(kernel("6.12.1", btfSection(rust)))), "image", "refused", false},
		{"bzImage", bzImage(zipped(kernel("5.10.1", btfSection(newer)))), "image", "too-new", false},
		{"bzImage", bzImage(zipped(kernel("6.12.1", elftest.Section{Name: ".BTF", Data: base.Encode()[:50]}))), "image", "broken-btf", false},
		{"empty", kernel("6.12.1", elftest.Section{Name: ".BTF"}), "vmlinux", "empty-btf", false},
		{"vmlinux.debug", kernel("6.12.1", elftest.Section{Name: ".BTF", Type: elftest.Nobits, Size: 64}), "vmlinux", "debug-file", false},
		{"raw.btf", string(base.Encode()), "btf", "", false},
		{"raw.btf.gz", zipped(string(base.Encode())), "btf", "", false},
		{"m.ko", module("6.12.1", btfSection(over)), "module", "base-needed", false},
		{"m.ko", module("6.12.1", btfSection(over)), "module", "", true},
		{"m.ko", module("6.12.2", btfSection(over)), "module", "base-mismatch", true},
		{"m.ko", module("6.12.1"), "module", "stripped", true},
		{"m.ko", module("5.15.1", btfSection(btftest.Build(t, base, func(b *btftest.Builder) { b.Enum64("e", b.Value64("V", 1)) }))), "module", "too-new", true},
		{"m.ko", module("6.12.1", btfSection(btftest.Build(t, base, func(b *btftest.Builder) { b.Fwd("core::fmt") }))), "module", "refused", true},
		{"m.ko", module("6.12.1", append(rustDebug(), btfSection(btftest.Build(t, base, func(b *btftest.Builder) { b.Fwd("core::fmt") })))...), "module", "rust-units", true},
		{"m.ko", module("6.12.1", elftest.Section{Name: ".debug_info", Data: []byte("DWARF")}), "module", "not-encoded", true},
		{"m.ko", module("6.12.1", elftest.Section{Name: ".BTF"}), "module", "empty-btf", false},
		{"m.ko.gz", zipped(module("6.12.1", btfSection(over))), "module", "", true},
		{"m.ko.gz", zipped(module("6.12.2", btfSection(over))), "module", "base-mismatch", true},
		{"vmlinux.gz", zipped(vmlinux), "vmlinux", "", false},
		{"prog.bpf.o", bpf(btfSection(base)), "bpf-object", "", false},
		{"prog.bpf.o", bpf(), "bpf-object", "no-btf", false},
		{"bzImage", bzImage(zipped(vmlinux)), "image", "", false},
		{"bzImage", bzImage(zipped(kernel("6.12.1"))), "image", "no-btf", false},
		{"bzImage", bzImage(lz4(vmlinux)), "image", "", false},
		{"bzImage", bzImage(lz4(vmlinux)[:90]), "image", "image-unread", false},
		{"bzImage", bzImage("\x5d\x00\x00 of LZMA"), "image", "image-unread", false},
		{"bzImage", bzImage(lzoMagic + " of LZO"), "image", "image-unread", false},
		{"bzImage", bzImage("of nothing"), "image", "image-unread", false},
		{"vmlinuz.efi", zboot(lz4(flat + string(base.Encode()))), "image", "", false},
		{"Image.gz", zipped(flat + string(base.Encode())), "image", "", false},
		{"Image.lz4", lz4(flat + string(base.Encode())), "image", "", false},
		{"Image.lzo", lzoMagic + " of LZO", "image", "image-unread", false},
		{"rust", kernel("6.12.1", append(rustDebug(), btfSection(rust))...), "vmlinux", "rust-units", false},
		{"Image", flat + string(base.Encode()) + "behind", "image", "", false},
		{"Image", flat, "image", "no-btf", false},
		{"vmlinuz.efi", zboot(zipped(flat + string(base.Encode()))), "image", "", false},
	} {
		over := vmlinux
		if strings.Contains(c.content, "vermagic=5.15.1") {
			over = kernel("5.15.1", btfSection(base))
		}
		dir := put(t, place{c.name: c.content, "base": over})
		var bases []string
		if c.bases {
			bases = []string{filepath.Join(dir, "base")}
		}
		r, err := Examine(filepath.Join(dir, c.name), goodHost, bases)
		if err != nil {
			t.Errorf("%s, want %q: %v", c.name, c.want, err)
			continue
		}
		if ids(r) != c.want || r.Kind != c.kind {
			t.Errorf("%s, a %s: %+v; want %q, a %s", c.name, r.Kind, r.Findings, c.want, c.kind)
		}
		if c.kind != "image" && c.kind != "config" && !strings.HasSuffix(c.name, ".gz") {
			samePacked(t, dir, c.name, c.content, bases, r)
		}
		for _, f := range r.Findings { // a cure encodes no file that has nothing to encode
			line, _, _ := strings.Cut(f.Cure, "   #")
			if words := strings.Fields(line); strings.HasPrefix(line, "btflite -J") && (c.kind == "btf" || c.kind == "image") && filepath.Base(words[len(words)-1]) == c.name ||
				strings.HasPrefix(line, "btflite lower") && c.kind == "image" && strings.Contains(line, c.name) {
				t.Errorf("%s: %s: %s", c.name, f.ID, f.Cure)
			}
			if over := "--btf_base=vmlinux "; c.kind == "module" && (strings.HasPrefix(line, "btflite -J") || strings.HasPrefix(line, "btflite lower")) {
				if c.bases {
					over = "--btf_base=" + bases[0] + " "
				}
				if !strings.Contains(line, over) {
					t.Errorf("%s: %s: %s", c.name, f.ID, f.Cure)
				}
			}
		}
	}
}

// samePacked tells if what is found of a file is not found of the compressed file, or if a cure does not
// expand a file that it changes.
func samePacked(t *testing.T, dir, name, content string, bases []string, want *Report) {
	t.Helper()
	plain := filepath.Join(dir, name)
	path := plain + ".gz"
	testfile.Write(t, path, zipped(content))
	r, err := Examine(path, goodHost, bases)
	if err != nil || r.Kind != want.Kind || r.Release != want.Release || len(r.Findings) != len(want.Findings) {
		t.Errorf("%s: %v, %+v, want %+v", path, err, r, want)
		return
	}
	for i, f := range r.Findings {
		line, found := want.Findings[i].Cure, want.Findings[i]
		changes := strings.Contains(line, "btflite -J") && r.Kind != "btf" || strings.HasPrefix(line, "btflite lower")
		switch {
		case changes:
			line = "gzip -dc < " + message.ShellFile(path) + " > " + message.ShellFile(plain) + " && " + line
		case f.ID == "base-needed":
			line = strings.Replace(line, plain, path, 1)
		}
		if found.Cure = line; f != found {
			t.Errorf("%s: %+v, want %+v", path, f, found)
		}
	}
}

// zipped is content compressed by gzip.
func zipped(content string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(content)) // a bytes.Buffer takes everything
	w.Close()
	return b.String()
}

// rustDebug are debug sections of a unit in Rust and, beside it, one in C.
func rustDebug() []elftest.Section {
	unit := func(name string, language int) *dt.Unit {
		return &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name(name), dt.Language(language))}
	}
	f := dt.File{Units: []*dt.Unit{unit("lib.rs", langRust), unit("m.mod.c", 0x0c)}}
	return f.DebugSections()
}

// The first bytes of what is packed by LZ4 and LZO.
const (
	lz4Magic = "\x02\x21\x4c\x18"
	lzoMagic = "\x89LZO"
)

// sizeOf is the unpacked size, which the build appends to all but gzip.
func sizeOf(packed string) string {
	if strings.HasPrefix(packed, "\x1f\x8b") {
		return ""
	}
	return "size"
}

// lz4 is content packed by LZ4, without any repetition.
func lz4(content string) string {
	block := []byte{0xf0}
	n := len(content) - 15
	for ; n >= 255; n -= 255 {
		block = append(block, 255)
	}
	block = append(append(block, byte(n)), content...)
	return lz4Magic + string(binary.LittleEndian.AppendUint32(nil, uint32(len(block)))) + string(block)
}

// bzImage is a boot image of x86 with a packed kernel.
func bzImage(packed string) string {
	head := make([]byte, 1024)
	head[x86Sectors] = 1
	copy(head[x86Magic:], "HdrS")
	binary.LittleEndian.PutUint32(head[x86Payload:], 16)
	packed += sizeOf(packed)
	binary.LittleEndian.PutUint32(head[x86Payload+4:], uint32(len(packed)))
	return string(head) + strings.Repeat("c", 16) + packed + "behind"
}

// zboot is a boot image for EFI with a packed kernel.
func zboot(packed string) string {
	head := make([]byte, 64)
	copy(head, "MZ\x00\x00zimg")
	binary.LittleEndian.PutUint32(head[zbootOffset:], 64)
	packed += sizeOf(packed)
	binary.LittleEndian.PutUint32(head[zbootOffset+4:], uint32(len(packed)))
	return string(head) + packed
}

// TestPackers: images with kernels as the programs pack them that kernel builds run: ELF files in
// images, and flat kernels, whose BTF is far from their beginning.
func TestPackers(t *testing.T) {
	base := kernelBTF(t, nil)
	flat := "code" + strings.Repeat("\x00", armMagic-4) + "ARM\x64" + strings.Repeat("code", 1<<16) + string(base.Encode()) + "behind"
	vmlinux := kernel("6.12.1", btfSection(base), elftest.Section{Name: ".text", Flags: 6, Data: bytes.Repeat([]byte("code"), 1<<16)})
	for _, command := range []string{"gzip -n -f -9", "bzip2 -9", "xz --check=crc32 --x86 --lzma2=dict=32MiB", "xz --format=lzma -9", "zstd -19", "lz4 -l -9"} {
		packed, err := packedBy(command, vmlinux)
		if err != nil {
			t.Logf("%s: not tried: %v", command, err)
			continue
		}
		packedFlat, err := packedBy(command, flat)
		if err != nil {
			t.Fatal(err)
		}
		dir := put(t, place{"bzImage": bzImage(packed), "vmlinuz.efi": zboot(packed), "Image.efi": zboot(packedFlat), "Image.packed": packedFlat})
		for name, release := range map[string]string{"bzImage": "6.12.1", "vmlinuz.efi": "6.12.1", "Image.efi": "", "Image.packed": ""} {
			r, err := Examine(filepath.Join(dir, name), goodHost, nil)
			if err != nil || len(r.Findings) > 0 || r.Release != release || r.Kind != "image" {
				t.Errorf("%s, %s: %v, %+v", command, name, err, r)
			}
		}
	}
}

// packedBy is content as a program packs it.
func packedBy(command, content string) (string, error) {
	words := strings.Fields(command)
	cmd := exec.Command(words[0], append(words[1:], "-c")...)
	cmd.Stdin = strings.NewReader(content)
	packed, err := cmd.Output()
	return string(packed), err
}

// TestUnreadable: what cannot be examined is an error that names the file.
func TestUnreadable(t *testing.T) {
	dir := put(t, place{"empty": "", "text": "hello", "cut": bzImage(zipped("x"))[:1050], "folder/file": "x", "broken": "\x7fELF", "cut.gz": zipped("hello")[:12]})
	for name, want := range map[string]string{"none": "cannot open: no such file", "empty": "an empty file", "text": "neither a kernel tree", "cut": "it is cut off",
		"folder": "neither a .config, a vmlinux nor modules", "broken": "broken: ", "cut.gz": "cannot read: gzip"} {
		path := filepath.Join(dir, name)
		r, err := Examine(path, goodHost, nil)
		if err == nil || !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %+v; want %s", name, err, r, want)
		}
	}
	if _, err := Examine(os.DevNull, goodHost, nil); err == nil {
		t.Error("a device was examined")
	}
}

// TestPaholeNumber: what Kconfig makes of a version.
func TestPaholeNumber(t *testing.T) {
	for text, want := range map[string]int{"v1.25": 125, "v1.31": 131, "": 0, "v1.31.2": 0, "btflite v1.31": 0, "1.25": 0} {
		if got := paholeNumber(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestManyHeaders: many headers may claim the same bytes, which are no BTF. The search gives up, and finds BTF behind
// a few of them.
func TestManyHeaders(t *testing.T) {
	const types, headers = 6 << 20, 1 << 18
	claimed := btf.AppendWords(nil, false, slices.Repeat([]uint32{0, btf.Info(btf.KindPtr, 0, false), 0}, types/12))
	claimed = append(claimed[:len(claimed)-12], make([]byte, 16)...) // a last type without a kind, and strings
	good := btftest.New()
	good.Int("int", 4)
	for _, n := range []int{1, headers} {
		var data []byte
		for i := range n {
			h := btf.AppendHeader(nil, false, types, 4)
			binary.LittleEndian.PutUint32(h[8:], uint32(len(h)*(n-1-i)))
			binary.LittleEndian.PutUint32(h[16:], uint32(len(h)*(n-1-i)+types))
			data = append(data, h...)
		}
		data = slices.Concat(data, claimed, good.Encode(false))
		if found := findBTF(data); (found != nil) != (n == 1) {
			t.Errorf("%d headers: %d bytes found", n, len(found))
		}
	}
}

// FuzzImage: no file makes an examination panic, and BTF that is found is whole.
func FuzzImage(f *testing.F) {
	f.Add([]byte(goodConfig))
	f.Add([]byte(bzImage(zipped("x"))))
	f.Add([]byte(zboot(zipped("x"))))
	f.Add([]byte(bzImage(lz4("hello"))))
	f.Add([]byte(lz4Magic + "\x08\x00\x00\x00\x30abc\x03\x00\x10!size"))
	f.Add(btftest.New().Encode(false))
	path := filepath.Join(f.TempDir(), "in")
	f.Fuzz(func(t *testing.T, data []byte) {
		if found := findBTF(data); found != nil {
			if _, err := btf.Parse(slices.Clone(found), nil); err != nil {
				t.Error(err)
			}
		}
		testfile.Write(t, path, data)
		if r, err := Examine(path, goodHost, nil); err == nil && r == nil {
			t.Error("neither a report nor an error")
		}
	})
}

// TestDocumented: docs/formats.md lists the ids of all findings.
func TestDocumented(t *testing.T) {
	doc := testfile.Read(t, "../../docs/formats.md")
	sources, _ := filepath.Glob("*.go") // the pattern is well-formed
	call := pattern(`(?:Note|Warning|Error), "([a-z0-9-]+)"|"[A-Z0-9_]+", "([a-z0-9-]+)", "`)
	n := 0
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		data := testfile.Read(t, name)
		for _, m := range call().FindAllSubmatch(data, -1) {
			id := string(m[1]) + string(m[2])
			n++
			if !bytes.Contains(doc, []byte("`"+id+"`")) {
				t.Errorf("%s: docs/formats.md does not list %s", name, id)
			}
		}
	}
	if n < 25 {
		t.Errorf("%d findings in the sources", n)
	}
}
