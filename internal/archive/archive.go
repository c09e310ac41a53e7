// Package archive keeps BTF of many kernels in a folder: it finds the kernels in packages, encodes
// or copies their BTF, and stores it under DISTRO/VERSION/ARCH/RELEASE.btf with a record beside it.
//
// Any number of processes may work on one folder. None waits for another, and one that is killed
// leaves nothing but whole files: a file is written without a name, reaches the disk, and gets its
// name by a link, which never replaces anything. The contents lie in the folder store under their
// checksum, once for all names: names are hard links, so that each is a whole file to programs that
// know nothing of links, and none dangles when a part of the folder is copied or removed. A record
// comes last, so what has a record is done.
package archive

import (
	"errors"
	"io"
	"path/filepath"
	"syscall"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/job"
	"github.com/btflite/btflite/internal/pack"
)

// Existing says what to do with a kernel that already has a section .BTF.
type Existing uint8

// What to do with it.
const (
	CopyExisting   Existing = iota // take it: since Linux 7.3 it is more than an encoder can know
	EncodeExisting                 // ignore it
	SkipExisting                   // leave such kernels out: they need no archive
)

// Options say what is archived, and how.
type Options struct {
	Dir      string // of the archive
	Temp     string // folder of the ELF file at work, which has no name there; "" for Dir
	Job      job.Options
	Existing Existing
	Distro   string // as "debian/12"; "" for what the package shows
	Form     Form
	Modules  bool // store the BTF of modules too, over that of their kernel
	Limits   pack.Limits
	Jobs     int    // parts of a package that are expanded at once
	Program  string // what encodes, for the records
}

// Archive is a folder of BTF.
type Archive struct{ Options }

// PackageName returns the name that a package has in records, and that shards go by: the last part of
// its path.
func PackageName(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs // of "." and ".."
	}
	return filepath.Base(file)
}

// PackagesDir is the folder of the records of packages.
const PackagesDir = "packages"

// ownDamage is the error if a file of the archive itself is damaged or unsuitable. The package is
// not at fault then.
type ownDamage struct{ error }

// Unwrap returns the error that says what is wrong.
func (d *ownDamage) Unwrap() error { return d.error }

// noTemporary is the error for a folder that takes no temporary files, such as one of another user. It is of no package.
type noTemporary struct{ error }

// Unwrap returns the error that says why.
func (n *noTemporary) Unwrap() error { return n.error }

// IsTrouble tells whether err comes from this run, which means from the disk, the memory or the archive itself, and not from
// the input. Then it makes sense to try again later.
func IsTrouble(err error) bool {
	var number syscall.Errno
	var full arena.Exhausted
	var stopped arena.Stopped
	var own *ownDamage
	if crash := new(encode.Crash); errors.As(err, &crash) {
		_, short := crash.Value.(arena.Exhausted)
		return short
	}
	return errors.As(err, &number) || errors.As(err, &own) || errors.As(err, &full) || errors.As(err, &stopped) || errors.Is(err, encode.ErrMemory) || errors.Is(err, encode.ErrChanged) || errors.Is(err, io.ErrShortWrite)
}

// IsFull tells whether err says that nothing more can be written to a disk or a folder, so that it makes no sense to go on
// with other packages.
func IsFull(err error) bool {
	no := new(noTemporary)
	return errors.As(err, &no) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS)
}
