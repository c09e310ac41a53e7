package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/expand"
	"github.com/btflite/btflite/internal/findbase"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// dash stands for the standard input, where a file is read as a whole, and for the
// standard output, where one is written.
const dash = loadbtf.Dash

// btfFiles reads the BTF of files.
var btfFiles = loadbtf.Loader{
	Stdin:  func() (*os.File, error) { return openFile(dash) },
	Refuse: notToRead,
	NoBase: "BTF of a module needs --btf_base",
	NoBTF:  fromDWARF,
	Limit:  &memoryLimit,
}

// fromDWARF says how a file gets BTF that has DWARF; "" for others.
func fromDWARF(path string, f *mmapelf.File) string {
	if !f.HasDWARF() || f.Machine == elfabi.EMBPF {
		return ""
	}
	return "btflite -J --btf_encode_detached=OUT " + message.ShellFile(path) + " makes it from the DWARF"
}

// btfFilesOver returns a loader for BTF over a base that was read from these files.
func btfFilesOver(bases []string) loadbtf.Loader {
	l := btfFiles
	l.BaseFiles = bases
	return l
}

// opened has what a command needs that makes BTF of BTF.
type opened struct {
	files loadbtf.Loader // for the inputs
	base  *btf.Blob      // nil for none
	out   *target
}

// openOver checks the names of the inputs, finds the output, and reads the base. It is an error if the output is
// one of the base or of the files that are kept.
func openOver(c *cli, bases, inputs []string, output string, kept []string) (o opened, err error) {
	if err = checkInputs(inputs); err != nil {
		return o, err
	}
	bases = c.basePaths(bases, inputs)
	if o.out, err = c.resolveTarget(output, slices.Concat(bases, kept)); err != nil {
		return o, err
	}
	o.files = btfFilesOver(bases)
	o.base, err = btfFiles.Chain(bases)
	return o, err
}

// stdinTaken is set once the standard input has been opened.
var stdinTaken atomic.Bool

// openFile opens a file that is read once, from start to end.
func openFile(path string) (*os.File, error) {
	switch {
	case path != dash:
		return os.Open(path)
	case isClosed(0):
		return nil, errors.New("standard input is closed")
	case stdinTaken.Swap(true):
		return nil, errReadOnce
	}
	return os.Stdin, nil
}

// errReadOnce is the error if standard input is named twice.
var errReadOnce = errors.New("standard input can be read only once")

// elfInputs replaces dash among files that are mapped, or read several times: the standard input
// has to be a whole file then. With inPlace it is an error, as BTF cannot be added to it. So are the names of
// open files: whoever has opened the file would not see the one that replaces it.
func elfInputs(paths []string, inPlace bool) ([]string, error) {
	for _, p := range paths {
		if inPlace && (p == dash || p == "/dev/stdin") {
			return nil, usagef("nothing is added to standard input: give --" + detachedName + "=OUT")
		}
		if inPlace && isDescriptor(p) {
			return nil, usagef("nothing is added to an open file, %s: give its name, or --%s=OUT", message.OneLine(p), detachedName)
		}
	}
	if !slices.Contains(paths, dash) {
		return paths, nil
	}
	if info, err := os.Stdin.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("standard input is not a file: use < FILE")
	}
	if at, err := os.Stdin.Seek(0, io.SeekCurrent); err != nil || at != 0 { // opened again, it would begin at 0
		return nil, errors.New("standard input does not begin where its file does: copy the rest to a file")
	}
	paths = slices.Clone(paths)
	for i := range paths {
		if paths[i] == dash {
			paths[i] = "/dev/stdin"
		}
	}
	return paths, nil
}

// elfInput returns the ELF file that a word names, for a command that has to have it.
func elfInput(word string) (string, error) {
	paths, err := elfInputs([]string{word}, false)
	if err == nil {
		err = checkInputs(paths)
	}
	if err != nil {
		return "", err
	}
	if why := notToEncode(paths[0]); why != "" {
		return "", fmt.Errorf("%s: %s", message.OneLine(paths[0]), why)
	}
	return paths[0], nil
}

// isDescriptor reports whether a path names an open file of this process.
func isDescriptor(path string) bool {
	return strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

// memoryLimit is the limit of commands that do not encode. There is one for the process,
// because there is one memory.
var memoryLimit arena.Limit

// checkInputs checks the words that name input files, which must be there.
func checkInputs(paths []string) error {
	if err := checkNames(paths); err != nil {
		return err
	}
	for _, p := range paths {
		if _, err := os.Stat(p); err != nil && p != dash {
			return message.FileError(p, "cannot open", err)
		}
	}
	return nil
}

// statAll describes files before they are read. It returns nil for a file that it cannot
// find: reading it will fail.
func statAll(paths []string) []os.FileInfo {
	all := make([]os.FileInfo, len(paths))
	for i, p := range paths {
		all[i], _ = os.Stat(p)
	}
	return all
}

// checkNames checks the words as names of files, which need not exist.
func checkNames(paths []string) error {
	switch {
	case len(paths) == 0:
		return lackingWord("no input file")
	case slices.Contains(paths, ""):
		return usagef("empty input file name")
	}
	return nil
}

// Files with the running kernel's BTF. As in pahole, a variable can name another file in
// place of findbase.KernelBTF.
const (
	sysBTF       = "/sys/kernel/btf/"
	kernelBTFEnv = "PAHOLE_VMLINUX_BTF_FILENAME"
)

// kernelBTF returns the file with the BTF of the running kernel.
func (c *cli) kernelBTF() string {
	name, _ := c.lookupEnv(kernelBTFEnv)
	return cmp.Or(name, findbase.KernelBTF)
}

// basePaths returns the files of the base, for loadbtf.Loader.Chain: the files of
// --btf_base or, if one of paths is the BTF of a loaded module, the running kernel's.
// There may be none.
func (c *cli) basePaths(given, paths []string) []string {
	if len(given) > 0 {
		return given
	}
	for _, p := range paths {
		if strings.HasPrefix(p, sysBTF) && !strings.Contains(p, "/vmlinux") {
			return []string{c.kernelBTF()}
		}
	}
	return nil
}

// fileKind is a kind of file that people take for one with DWARF or BTF.
type fileKind struct {
	at    int // offset of the magic number
	magic string
	what  string
	// advice for people who encode and for people who read BTF.
	encode, read string
}

const (
	bootImage  = "a boot image"
	bootAdvice = "the vmlinux that it was made of has DWARF; a build has it next to the image, a distribution in a debug package"
	bootRead   = "extract-vmlinux of the kernel's scripts gets the vmlinux with .BTF out of it"
	useAsBTF   = "give the file with DWARF that it was made from; btflite show, dump, funcs and verify read BTF"
	bitcode    = "bitcode of LLVM, as clang -flto writes it"
	ltoAdvice  = "link it first: the linked file has DWARF"
	arAdvice   = "give its members (ar x FILE unpacks them) or the linked file"
)

// fileKinds are these kinds. The first one that fits counts.
var fileKinds = []fileKind{
	{0, "\x9f\xeb", "already BTF", useAsBTF, ""},
	{0, "\xeb\x9f", "already BTF", useAsBTF, ""},
	{0x38, "ARM\x64", bootImage, bootAdvice, bootRead},
	{0x202, "HdrS", bootImage, bootAdvice, bootRead},
	{0x24, "\x18\x28\x6f\x01", bootImage, bootAdvice, bootRead},
	{0x24, "\x01\x6f\x28\x18", bootImage, bootAdvice, bootRead},
	{0, "\x27\x05\x19\x56", bootImage, bootAdvice, bootRead}, // of U-Boot
	{0, "MZ", "a PE file, as EFI boot images are", bootAdvice, bootRead},
	{0, "!<arch>\n", "an archive", arAdvice, arAdvice},
	{0, "!<thin>\n", "an archive", arAdvice, arAdvice},
	{0, "BC\xc0\xde", bitcode, ltoAdvice, ltoAdvice},
	{0, "\xde\xc0\x17\x0b", bitcode, ltoAdvice, ltoAdvice},
	{0, "\xfe\xed\xfa", "a Mach-O file", "btflite reads ELF files", "btflite reads ELF files and raw BTF"},
	{0, "\xcf\xfa\xed\xfe", "a Mach-O file", "btflite reads ELF files", "btflite reads ELF files and raw BTF"},
}

// kindOf returns the kind of a file that begins with head, or nil.
func kindOf(head []byte) *fileKind {
	for i := range fileKinds {
		if k := &fileKinds[i]; len(head) > k.at && bytes.HasPrefix(head[k.at:], []byte(k.magic)) {
			return k
		}
	}
	return nil
}

// kindSize is how many bytes at the start of a file kindOf needs.
const kindSize = 0x202 + 4

// readKind returns the start of a regular file for kindOf, or nil.
func readKind(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, kindSize)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil // what opens the file next says why
	}
	return head[:n]
}

// notToEncode returns the kind of the file and advice, if files of this kind have no
// DWARF, else "".
func notToEncode(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return "a folder; give files, or for a folder of modules run btflite modules"
	}
	if c := expand.Of(readKind(path)); c != nil {
		return "is compressed by " + c.Name + "; unpack it first"
	}
	return adviceOn(path, func(k *fileKind) string { return k.encode })
}

// notToRead is notToEncode for files from which BTF is read.
func notToRead(path string) string {
	return adviceOn(path, func(k *fileKind) string { return k.read })
}

// adviceOn says what kind of file it is and what to do with it, if that is a kind for which advice has
// something to say, or an empty file. It returns "" for all others.
func adviceOn(path string, advice func(*fileKind) string) string {
	head := readKind(path)
	k := kindOf(head)
	switch {
	case head != nil && len(head) == 0:
		return message.EmptyFile
	case k != nil && advice(k) != "":
		return k.what + "; " + strings.ReplaceAll(advice(k), "FILE", message.ShellFile(path))
	}
	return ""
}

// A layout section says how long records of unknown kinds are, so that they can be
// skipped.

// skippedText counts the skipped types, "" for none.
func skippedText(skipped []btf.Skipped) string {
	var list []string
	for _, s := range skipped {
		list = append(list, fmt.Sprintf("%s of kind %d", grouped(uint64(s.Types)), s.Kind))
	}
	if len(list) == 0 {
		return ""
	}
	return "types of kinds that btflite does not know: " + strings.Join(list, ", ")
}

// warnSkipped warns, once for a file, that such types are skipped, and says what follows
// from that.
func (c *cli) warnSkipped(path string, b *btf.Blob, outcome string) {
	if text := skippedText(b.Skipped); text != "" {
		c.warn(message.OneLine(path) + ": note: " + text + "; " + outcome)
	}
}

// withoutSkipped returns b without such types, and warns if there are some.
func (c *cli) withoutSkipped(path string, b *btf.Blob) (*btf.Blob, error) {
	c.warnSkipped(path, b, "they are dropped: their type ids cannot be renumbered")
	known, err := b.WithoutSkipped()
	if err != nil {
		return nil, message.NamingFile([]string{path}, err)
	}
	return known, nil
}

// sectionBTFExt has the relocations of BPF objects.
const sectionBTFExt = ".BTF.ext"

// withRelocations calls use with the BTF of a BPF object and its section .BTF.ext, which is
// valid until use returns. Errors name the file; an error of use is one about the section.
func withRelocations(path string, use func(b *btf.Blob, ext []byte) error) error {
	files := btfFiles
	files.NoBTF = func(string, *mmapelf.File) string { return "clang -g -target bpf writes it" }
	return files.With(path, func(raw loadbtf.Raw) error {
		b, err := btf.Parse(raw.BTF, nil)
		if err != nil {
			return fmt.Errorf("%s:%s %w", message.OneLine(path), raw.Section, err)
		}
		in := raw.Source
		if in.Path == "" {
			return fmt.Errorf("%s: raw BTF, which has no relocations: give the BPF object", message.OneLine(path))
		}
		elf, err := in.Open()
		if err != nil {
			return message.NamingFile([]string{path}, err)
		}
		defer elf.Close()
		elf.Limit = &memoryLimit
		s := elf.Section(sectionBTFExt)
		if s == nil {
			return fmt.Errorf("%s: no section %s, which has the relocations of BPF objects: clang -g -target bpf writes it", message.OneLine(path), sectionBTFExt)
		}
		ext, err := elf.Data(s)
		if err != nil {
			return message.NamingFile([]string{path}, err)
		}
		if err := use(b, ext); err != nil {
			return fmt.Errorf("%s: section %s: %w", message.OneLine(path), sectionBTFExt, err)
		}
		return nil
	})
}
