// Package archivetest builds packages for tests, byte by byte: Debian packages, rpms and tar archives with
// files of any name and kind. It knows no reader of the program.
package archivetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

// Entry is a file of a package, or something else, if it has a Type.
type Entry struct {
	Name string
	Data []byte
	Type byte // of tar; 0 is a regular file
	Link string
}

// Tar returns a tar archive.
func Tar(entries ...Entry) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.Name, Size: int64(len(e.Data)), Mode: 0o644, Typeflag: tar.TypeReg, Linkname: e.Link, Format: tar.FormatGNU}
		if e.Type != 0 {
			h.Typeflag = e.Type
		}
		must(w.WriteHeader(h))
		_, err := w.Write(e.Data)
		must(err)
	}
	must(w.Close())
	return b.Bytes()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Compressions are the formats that Compress knows.
var Compressions = []string{"", "gz", "xz", "zst", "lzma"}

// Compress compresses data in the format that file names end with; "" is as it is. xz makes blocks
// of 64 KiB. "bare zst" has no checksum, as in rpms.
func Compress(format string, data []byte) []byte {
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch format {
	case "":
		return data
	case "gz":
		w = gzip.NewWriter(&b)
	case "xz":
		w, err = xz.WriterConfig{BlockSize: 64 << 10, DictCap: 64 << 10}.NewWriter(&b)
	case "lzma":
		w, err = lzma.WriterConfig{DictCap: 64 << 10}.NewWriter(&b)
	case "zst":
		w, err = zstd.NewWriter(&b)
	case "bare zst":
		w, err = zstd.NewWriter(&b, zstd.WithEncoderCRC(false))
	default:
		panic("no format " + format)
	}
	must(err)
	_, err = w.Write(data)
	must(err)
	must(w.Close())
	return b.Bytes()
}

// Member is a member of an ar archive.
type Member struct {
	Name string
	Data []byte
}

// Ar returns an ar archive.
func Ar(members ...Member) []byte {
	b := []byte("!<arch>\n")
	for _, m := range members {
		b = fmt.Appendf(b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.Name, 0, 0, 0, 0o100644, len(m.Data))
		if b = append(b, m.Data...); len(m.Data)&1 == 1 {
			b = append(b, '\n')
		}
	}
	return b
}

// Control is the text of the file control of Deb.
const Control = "Package: linux-image-6.99-dbg\nVersion: 6.99-1+deb12u1\nArchitecture: amd64\nMaintainer: Debian Kernel Team <a@b>\nDescription: symbols\n Version: of more\n"

// Deb returns a Debian package with data in the format.
func Deb(format string, entries ...Entry) []byte {
	name := "data.tar"
	if format != "" {
		name += "." + format
	}
	return Ar(Member{"debian-binary", []byte("2.0\n")},
		Member{"control.tar.gz", Compress("gz", Tar(Entry{Name: "./control", Data: []byte(Control)}))},
		Member{name, Compress(format, Tar(entries...))})
}

// SummedDeb returns Deb with a list of the MD5 sums of the files.
func SummedDeb(format string, entries ...Entry) []byte {
	var list []byte
	for _, e := range entries {
		list = fmt.Appendf(list, "%x  %s\n", md5.Sum(e.Data), strings.TrimPrefix(e.Name, "./"))
	}
	return Ar(Member{"debian-binary", []byte("2.0\n")},
		Member{"control.tar.gz", Compress("gz", Tar(Entry{Name: "./control", Data: []byte(Control)}, Entry{Name: "./md5sums", Data: list}))},
		Member{"data.tar", Compress(format, Tar(entries...))})
}

// Cpio returns a cpio archive. An entry that is not a regular file has a Type as in tar.
func Cpio(entries ...Entry) []byte {
	var b []byte
	add := func(name string, mode int, data []byte) {
		numbers := [13]int{1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0}
		b = append(b, "070701"...)
		for _, n := range numbers {
			b = fmt.Appendf(b, "%08x", n)
		}
		for b = append(append(b, name...), 0); len(b)&3 != 0; {
			b = append(b, 0)
		}
		for b = append(b, data...); len(b)&3 != 0; {
			b = append(b, 0)
		}
	}
	kinds := map[byte]int{0: 0o100644, tar.TypeDir: 0o040755, tar.TypeSymlink: 0o120777, tar.TypeFifo: 0o010644, tar.TypeLink: 0o120777}
	for _, e := range entries {
		add(e.Name, kinds[e.Type], append(bytes.Clone(e.Data), e.Link...))
	}
	add("TRAILER!!!", 0, nil)
	return b
}

// RPMTags are the strings in the header of RPM, by tag.
var RPMTags = map[uint32]string{1000: "kernel-debuginfo", 1001: "6.99", 1002: "1.fc39", 1011: "Fedora Project", 1022: "x86_64", 1124: "cpio"}

// RPM returns an rpm with that payload. Its header has RPMTags.
func RPM(payload []byte) []byte { return RPMOf(RPMTags, payload) }

// RPMOf returns an rpm with that payload and these tags.
func RPMOf(tags map[uint32]string, payload []byte) []byte {
	all := map[uint32]any{}
	for tag, text := range tags {
		all[tag] = text
	}
	return rpmOf(all, payload)
}

// SummedRPM returns an rpm of these files, whose names begin with "./". Its header has RPMTags, the names of
// the files, and their SHA-256 sums.
func SummedRPM(format string, entries ...Entry) []byte {
	tags := map[uint32]any{5011: []uint32{8}}
	for tag, text := range RPMTags {
		tags[tag] = text
	}
	var dirs, names, sums []string
	var of []uint32
	for i, e := range entries {
		dir, name := path.Split(strings.TrimPrefix(e.Name, "."))
		dirs, names, of = append(dirs, dir), append(names, name), append(of, uint32(i))
		sums = append(sums, fmt.Sprintf("%x", sha256.Sum256(e.Data)))
	}
	tags[1035], tags[1116], tags[1117], tags[1118] = sums, of, names, dirs
	return rpmOf(tags, Compress(format, Cpio(entries...)))
}

func rpmOf(tags map[uint32]any, payload []byte) []byte {
	b := append([]byte("\xed\xab\xee\xdb\x03\x00"), make([]byte, 90)...)
	b = append(b, header(map[uint32]any{269: "0123"})...)
	for len(b)&7 != 0 {
		b = append(b, 0)
	}
	return append(append(b, header(tags)...), payload...)
}

// header returns a header of an rpm: of texts, lists of texts, and lists of numbers.
func header(tags map[uint32]any) []byte {
	var index, data []byte
	add := func(numbers ...uint32) {
		for _, n := range numbers {
			index = binary.BigEndian.AppendUint32(index, n)
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		switch v := tags[tag].(type) {
		case string:
			add(tag, 6, uint32(len(data)), 1)
			data = append(append(data, v...), 0)
		case []string:
			add(tag, 8, uint32(len(data)), uint32(len(v)))
			for _, s := range v {
				data = append(append(data, s...), 0)
			}
		case []uint32:
			for len(data)&3 != 0 {
				data = append(data, 0)
			}
			add(tag, 4, uint32(len(data)), uint32(len(v)))
			for _, n := range v {
				data = binary.BigEndian.AppendUint32(data, n)
			}
		}
	}
	b := []byte("\x8e\xad\xe8\x01\x00\x00\x00\x00")
	b = binary.BigEndian.AppendUint32(b, uint32(len(tags)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
	return append(append(b, index...), data...)
}

// BuildID is the build-id of Kernel, in hex.
const BuildID = "0102030405060708090a0b0c0d0e0f1011121314"

// Note is BuildID as a note of a 64-bit little-endian kernel.
var Note = func() string {
	note := "\x04\x00\x00\x00\x14\x00\x00\x00\x03\x00\x00\x00GNU\x00"
	for i := range 20 {
		note += string([]byte{byte(i + 1)})
	}
	return note
}()

// Kernel returns an ELF file with DWARF and the banner of a release, as a vmlinux has them.
func Kernel(release string) []byte { return KernelWithBTF(release, nil) }

// KernelWithBTF returns Kernel with a section .BTF, unless that is nil.
func KernelWithBTF(release string, btf []byte) []byte { return kernel(release, btf).Bytes() }

// BrokenKernel returns Kernel with DWARF that cannot be read.
func BrokenKernel(release string) []byte {
	f := kernel(release, nil)
	f.NoDebug = true
	f.Sections = append(f.Sections, brokenDWARF...)
	return f.Bytes()
}

// StrippedKernel returns Kernel without DWARF, but with BTF, as it is installed.
func StrippedKernel(release string) []byte {
	f := kernel(release, SomeBTF())
	f.NoDebug = true
	return f.Bytes()
}

// WideKernel returns Kernel with an enumeration that has a value of more than 32 bits, and WideModule a
// module with another one.
func WideKernel(release string) []byte {
	f := kernel(release, nil)
	f.Units = append(f.Units, dt.CU(wide("kernel")))
	return f.Bytes()
}

// WideModule is described at WideKernel.
func WideModule(release, name string, first byte) []byte {
	f := module(release, name, first)
	f.Units = append(f.Units, dt.CU(wide(name)))
	return f.Bytes()
}

func wide(name string) *dt.DIE {
	return dt.N(dt.TagEnumerationType, dt.Name("wide_"+name), dt.Size(8), dt.N(dt.TagEnumerator, dt.Name("WIDE_"+name), dt.Const(int64(1<<40))))
}

var brokenDWARF = []dt.Section{{Name: ".debug_info", Data: []byte("\x10\x00\x00\x00\x63\x00garbage")}, {Name: ".debug_abbrev", Data: []byte{1}}}

func kernel(release string, btf []byte) *dt.File {
	const sectionNote = 7 // SHT_NOTE
	unit := dt.CU(dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5)))
	f := &dt.File{Units: []*dt.Unit{unit}, Sections: []dt.Section{
		{Name: ".rodata", Flags: 2, Data: []byte("Linux version " + release + " (a@b) (gcc) #1 SMP Debian 6.99-1+deb12u1\n\x00")},
		{Name: ".notes", Type: sectionNote, Flags: 2, Data: []byte(Note)}}}
	if btf != nil {
		f.Sections = append(f.Sections, dt.Section{Name: ".BTF", Flags: 2, Data: btf})
	}
	return f
}

// Module returns a kernel module with DWARF, as a .ko: it has the types of Kernel and a struct that is
// called as the module is. first begins its build-id.
func Module(release, name string, first byte) []byte { return module(release, name, first).Bytes() }

// StrippedModule returns Module without DWARF, and with a section .BTF, unless that is nil.
func StrippedModule(release, name string, first byte, btf []byte) []byte {
	f := module(release, name, first)
	f.NoDebug = true
	if btf != nil {
		f.Sections = append(f.Sections, dt.Section{Name: ".BTF", Data: btf})
	}
	return f.Bytes()
}

// BrokenModule returns Module with DWARF that cannot be read.
func BrokenModule(release, name string, first byte) []byte {
	f := module(release, name, first)
	f.NoDebug = true
	f.Sections = append(f.Sections, brokenDWARF...)
	return f.Bytes()
}

func module(release, name string, first byte) *dt.File {
	const relocatable, sectionNote, idAt = 1, 7, 16
	number := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	unit := dt.CU(number, dt.N(dt.TagStructureType, dt.Name(name), dt.Size(4), dt.N(dt.TagMember, dt.Name("a"), dt.Type(number), dt.MemberAt(0))))
	note := []byte(Note)
	note[idAt] = first
	return &dt.File{Type: relocatable, Units: []*dt.Unit{unit}, Sections: []dt.Section{
		{Name: ".modinfo", Flags: 2, Data: []byte("license=GPL\x00vermagic=" + release + " SMP mod_unload \x00")},
		{Name: ".note.gnu.build-id", Type: sectionNote, Flags: 2, Data: note}}}
}

// SomeBTF returns BTF of one type, "long" of eight bytes.
func SomeBTF() []byte {
	return []byte("\x9f\xeb\x01\x00\x18\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x10\x00\x00\x00\x06\x00\x00\x00" +
		"\x01\x00\x00\x00\x00\x00\x00\x01\x08\x00\x00\x00\x40\x00\x00\x01\x00long\x00")
}
