package main

import (
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/btflite/btflite/internal/expand"
	"github.com/btflite/btflite/internal/message"
)

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
	{0, "BC\xc0\xde", "bitcode of LLVM, as clang -flto writes it", ltoAdvice, ltoAdvice},
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
	n, _ := io.ReadFull(f, head)
	return head[:n]
}

const emptyFile = "an empty file; the program that writes it may have failed"

// notToEncode returns the kind of the file and advice, if files of this kind have no
// DWARF, else "".
func notToEncode(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return "a folder; give files, or for a folder of modules run btflite modules"
	}
	head := readKind(path)
	c, k := expand.Of(head), kindOf(head)
	switch {
	case head == nil:
		return ""
	case len(head) == 0:
		return emptyFile
	case c != nil:
		return "is compressed by " + c.Name + "; unpack it first"
	case k != nil:
		return k.what + "; " + strings.ReplaceAll(k.encode, "FILE", message.OneLine(path))
	}
	return ""
}

// notToRead is notToEncode for files from which BTF is read.
func notToRead(path string) string {
	head := readKind(path)
	switch k := kindOf(head); {
	case head == nil:
		return ""
	case len(head) == 0:
		return emptyFile
	case k != nil && k.read != "":
		return k.what + "; " + strings.ReplaceAll(k.read, "FILE", message.OneLine(path))
	}
	return ""
}
