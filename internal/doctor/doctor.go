// Package doctor says why a kernel has no BTF, or BTF that it refuses: it looks at a tree in
// which a kernel is or was built, a configuration, a kernel, a module or a boot image. Each
// finding has its cure as a line for a shell.
//
// It reads files and changes nothing. config.go has the rules of Kconfig, pahole.go those about
// the encoder, tree.go what a build left behind, file.go files with types, image.go boot images.
// Kconfig's rules were learnt from lib/Kconfig.debug of Linux 5.2 to 7.2.
//
// The stable API is package btflite. What it does not use of this package may change.
package doctor

import (
	"fmt"
	"os"

	"github.com/btflite/btflite/internal/message"
)

// Examine looks at a folder or a file. bases are the files of the BTF that a module's builds
// upon, the first of which stands alone. It is an error if the input cannot be read, or is
// none of the things that it knows; the error names the file.
func Examine(path string, host Host, bases []string) (*Report, error) {
	x := &exam{report: &Report{Input: path}, host: host}
	info, err := os.Stat(path)
	if err != nil {
		return nil, message.FileError(path, "cannot open", err)
	}
	if info.IsDir() {
		return x.report, x.tree(path)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file or folder", message.OneLine(path))
	}
	head, err := firstBytes(path, maxHead)
	switch {
	case err != nil:
		return nil, err
	case len(head) == 0:
		return nil, fmt.Errorf("%s: %s", message.OneLine(path), message.EmptyFile)
	case looksLikeConfig(head):
		x.report.Kind = "config"
		return x.report, x.configFile(path)
	case isImage(head):
		x.report.Kind = "image"
		return x.report, x.image(path, head)
	case isPackedImage(path, head):
		x.report.Kind = "image"
		return x.report, x.packedFile(path)
	}
	return x.report, x.file(path, bases)
}
