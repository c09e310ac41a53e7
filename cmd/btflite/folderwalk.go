package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/btflite/btflite/internal/fileid"
	"github.com/btflite/btflite/internal/message"
)

// folderWalk looks for files in a folder that the user has named. The folder itself may be a link.
type folderWalk struct {
	enter  func(path string) bool // whether to enter a folder; nil to enter all
	wanted func(path string) bool // whether a file is looked for
	// take gets the path of each file that is found, and of what cannot be read, with the error.
	take func(path string, err error)
	// links says that links below the folder are followed, as archive index follows them: a part of an archive may be
	// on another disk. Each folder is entered once, by its own name if it has one in the tree. Only a command that
	// reads may follow links: one that writes would change files outside of the folder.
	links bool
	// whole says that a link that leads nowhere is an error, whatever its name is. Without it, only a file that is
	// looked for is one.
	whole bool

	entered map[fileid.Place]bool
	later   []string // folders that links lead to
}

// each visits a folder.
func (t *folderWalk) each(root string) {
	t.entered = map[fileid.Place]bool{}
	for t.later = []string{root}; len(t.later) > 0; {
		next := t.later[0]
		t.later = t.later[1:]
		// The slash makes WalkDir follow a root that is a symbolic link. WalkDir
		// only returns errors of visit, which never fails.
		_ = filepath.WalkDir(strings.TrimSuffix(next, "/")+"/", t.visit)
	}
}

// visit implements fs.WalkDirFunc.
func (t *folderWalk) visit(path string, d fs.DirEntry, err error) error {
	switch {
	case err != nil:
		t.take(path, message.FileError(filepath.Clean(path), "cannot read", err)) // the folder itself has a slash
	case d.IsDir():
		if t.enter != nil && !t.enter(path) || t.links && t.again(path) {
			return fs.SkipDir
		}
	case d.Type().IsRegular() && t.wanted(path):
		t.take(path, nil)
	case d.Type()&fs.ModeSymlink != 0 && t.links:
		t.follow(path)
	}
	return nil
}

// again tells whether a folder has been entered before.
func (t *folderWalk) again(path string) bool {
	place, err := fileid.PlaceOf(path)
	if err != nil {
		return false // reading it fails, too
	}
	was := t.entered[place]
	t.entered[place] = true
	return was
}

// follow visits what a link leads to. Folders come later, when all folders with names of their own have been entered.
// As depmod does, follow leaves out the links from a kernel's modules to the tree that the kernel was built in. It also
// leaves out links to single modules: distributions make some to modules of another kernel (weak-updates).
func (t *folderWalk) follow(path string) {
	if name := filepath.Base(path); name == "build" || name == "source" {
		return
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		nowhere := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP)
		if t.whole || !nowhere || t.wanted(path) {
			t.take(path, message.FileError(path, "cannot read", err))
		}
	case info.IsDir():
		if t.enter == nil || t.enter(path) { // by this name, which walking it does not show
			t.later = append(t.later, path)
		}
	case info.Mode().IsRegular() && t.wanted(path) && !isModuleName(path):
		t.take(path, nil)
	}
}
