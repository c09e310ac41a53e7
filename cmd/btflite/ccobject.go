package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/ccobject"
	"github.com/btflite/btflite/internal/elfobject"
	"github.com/btflite/btflite/internal/fileid"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/internal/unitrecord"
	"github.com/btflite/btflite/mmapelf"
)

// convert replaces the debug sections of an object by unit records, if it can. The error
// says why an object was left as it is that should not have been.
func (k *compilerCommand) convert(c *cli, object string) error {
	path, err := filepath.EvalSymlinks(object)
	if err != nil {
		return nil // the compiler has written nothing
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	out, err := records(path)
	switch {
	case err == nil:
	case isSilent(err):
		return nil
	case isUsual(err):
		c.noteOnce(object, err)
		return nil
	default:
		return message.FileError(object, "left with DWARF", err)
	}
	if k.keep != "" {
		if err := c.keepObject(k.keep, path); err != nil {
			return message.FileError(object, "left with DWARF, as it cannot be kept", err)
		}
	}
	err = c.replaceObject(path, info.Mode().Perm(), out, info)
	return message.FileError(object, "left with DWARF", err)
}

// records is the object at path with unit records. If it is cut short while it is read,
// the error is fileid.ErrChanged.
func records(path string) (out []byte, err error) {
	defer func() {
		if v := recover(); encode.IsFault(v) {
			out, err = nil, fileid.ErrChanged
		} else if v != nil {
			panic(v)
		}
	}()
	if err := knownForm(path); err != nil {
		return nil, err
	}
	return ccobject.Convert(mmapelf.Source{Path: path}, recordMaker(), exportsNeedDwarf)
}

// knownForm is the reason why an output is left as it is that is no ELF file: LLVM's
// bitcode (its magic number, and that of its wrapper), or what has no DWARF.
func knownForm(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // as Convert says
	}
	defer f.Close()
	var head [4]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return nil
	}
	switch string(head[:]) {
	case "\x7fELF":
		return nil
	case "BC\xc0\xde", "\xde\xc0\x17\x0b":
		return ccobject.ErrLTO
	}
	return ccobject.ErrNoDwarf
}

// recordMaker is the version that unit records say they are made by, in at most 255
// bytes.
func recordMaker() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	version := thisBuild(info).version
	return version[:min(len(version), 255)]
}

// isSilent reports whether an object is left as it is for a reason that nobody wants to
// hear of: there is nothing to do.
func isSilent(err error) bool {
	return errors.Is(err, ccobject.ErrNoDwarf) || errors.Is(err, ccobject.ErrAssembler) || errors.Is(err, ccobject.ErrRecords)
}

// isUsual reports whether a reason comes from how the kernel is configured.
func isUsual(err error) bool {
	for _, e := range []error{ccobject.ErrExports, ccobject.ErrLTO, ccobject.ErrSplit, ccobject.ErrTypeUnits, unitrecord.ErrNot, elfobject.ErrShape} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// noteOnce says why an object keeps its DWARF, once for each reason and build: what is
// true of one object is true of most.
func (c *cli) noteOnce(object string, why error) {
	first, err := firstTime(why.Error())
	switch {
	case err != nil:
		c.warn(fmt.Sprintf("%s: left with DWARF: %v (said of each object, as it cannot be noted that it was said: %v)", message.OneLine(object), why, err))
	case first:
		c.warn(message.OneLine(object) + ": left with DWARF, like others after it: " + why.Error())
	}
}

// replaceObject gives the object at path new contents, as a whole or not at all, if it
// is still as it was before. nil stands for whatever is there, and a new file, whose mode
// the umask changes. It does not wait for the disk, as compilers do not either.
func (c *cli) replaceObject(path string, mode os.FileMode, data []byte, before os.FileInfo) error {
	f, err := c.guard.create(func() (*os.File, error) { return openTemp(filepath.Dir(path), mode) })
	if err != nil {
		return err
	}
	name := f.Name()
	defer c.guard.forget(name)
	_, err = f.Write(data)
	if err == nil && before != nil { // the umask did not spare the mode
		err = f.Chmod(mode)
	}
	err = errors.Join(err, f.Close())
	if err == nil && before != nil {
		err = fileid.CheckUnchanged(path, before)
	}
	if err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		os.Remove(name)
	}
	return err
}

// keepObject keeps an object below dir, compressed, by its whole path.
func (c *cli) keepObject(dir, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, strings.TrimPrefix(whole, filepath.VolumeName(whole))) + ".zst"
	if err := refuseLinks(dir, to); err != nil {
		return err
	}
	if err := c.guard.makeFolder(filepath.Dir(to)); err != nil {
		return err
	}
	packed, err := ccobject.Pack(data)
	if err != nil {
		return err
	}
	return c.replaceObject(to, newFileMode, packed, nil)
}
