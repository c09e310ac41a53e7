// Package fileid tells files apart by what the system knows of them, not by their
// names: whether a path still leads to the file that was read, and whether two paths
// lead to one place, through linked folders, hard links or "..".
package fileid

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrChanged says that a path does not lead to the file that was read, or that this
// file has other contents now.
var ErrChanged = errors.New("another program has changed it meanwhile")

// Unchanged reports whether now is the file of before, and nobody has written to it
// since: neither its size nor its times have changed. Either may be nil for a file that
// is gone, which is a change.
//
// A program that writes through a mapping, and one that writes in the tick of the clock
// in which before was taken, may go unnoticed.
func Unchanged(before, now os.FileInfo) bool {
	return before != nil && now != nil && os.SameFile(before, now) && now.Size() == before.Size() &&
		now.ModTime().Equal(before.ModTime()) && changeTime(now) == changeTime(before)
}

// CheckUnchanged returns ErrChanged if path does not lead to the file of before, as
// Unchanged says. It does not follow a link at the end of path. If the system does not tell
// what is there, the error is the system's.
func CheckUnchanged(path string, before os.FileInfo) error {
	now, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil || !Unchanged(before, now) {
		return ErrChanged
	}
	return nil
}

// Place is where a path leads: to a file that is there, or to a name in a folder where
// there is none yet. Two paths lead to one file if their places are equal.
type Place struct {
	dev, ino uint64 // of the file or, with a name, of the folder
	name     string
}

// PlaceOf finds the place of path, links followed. If the folder is missing too, the
// place is a path below the nearest one that is there.
func PlaceOf(path string) (Place, error) {
	info, err := os.Stat(path)
	if err == nil {
		return placeOf(path, info, "")
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return Place{}, err
	}
	if path, err = Follow(path); err != nil {
		return Place{}, err
	}
	dir, name := filepath.Dir(path), filepath.Base(path)
	for {
		info, err := os.Stat(dir)
		switch up := filepath.Dir(dir); {
		case err == nil:
			return placeOf(dir, info, name)
		case !errors.Is(err, fs.ErrNotExist) || up == dir:
			return Place{}, err
		default:
			dir, name = up, filepath.Join(filepath.Base(dir), name)
		}
	}
}

// OfInfo is the place of a file that is there, if the system numbers its files.
func OfInfo(info os.FileInfo) (p Place, ok bool) {
	dev, ino, ok := number(info)
	return Place{dev: dev, ino: ino}, ok
}

// placeOf is the place of name in the folder path, or of the file path if name is "".
func placeOf(path string, info os.FileInfo, name string) (Place, error) {
	if p, ok := OfInfo(info); ok {
		p.name = name
		return p, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	return Place{name: filepath.Join(real, name)}, err
}

// maxLinks bounds a chain of symbolic links, as the kernel does.
const maxLinks = 40

// Follow is where the links at the end of path lead, to a file or to a name that is
// free. Links to folders on the way there stay as they are.
func Follow(path string) (string, error) {
	for range maxLinks + 1 { // the last one only sees that it is not a link
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil // not a link
		}
		if !filepath.IsAbs(link) {
			// The folder may be a link itself, and ".." in the link begins where it leads.
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			link = dir + string(filepath.Separator) + link
		}
		path = link
	}
	return "", errors.New("too many levels of symbolic links")
}
