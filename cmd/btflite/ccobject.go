package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/ccobject"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elfobject"
	"github.com/btflite/btflite/internal/fileid"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/internal/unitrecord"
	"github.com/btflite/btflite/mmapelf"
)

// convert replaces the debug sections of an object by unit records, if possible. The
// error says why the object keeps its DWARF.
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

// records returns the object at path with unit records. If another program cuts the file
// short meanwhile, the error is fileid.ErrChanged.
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

// knownForm returns the reason to leave an output that is not an ELF file as it is: it is
// LLVM's bitcode, or has no DWARF.
func knownForm(path string) error {
	head := readKind(path)
	switch k := kindOf(head); {
	case len(head) < len(elfabi.Magic) || loadbtf.IsELF(head): // if it cannot be read, Convert reports it
		return nil
	case k != nil && k.what == bitcode:
		return ccobject.ErrLTO
	}
	return ccobject.ErrNoDwarf
}

// recordMaker returns the version of btflite that unit records name, in at most 255
// bytes.
func recordMaker() string {
	version := thisBuild().version
	return version[:min(len(version), 255)]
}

// isSilent reports whether an object keeps its DWARF for a reason that needs no message:
// there is nothing to convert.
func isSilent(err error) bool {
	return errors.Is(err, ccobject.ErrNoDwarf) || errors.Is(err, ccobject.ErrAssembler) || errors.Is(err, ccobject.ErrRecords)
}

// isUsual reports whether a reason comes from the kernel's configuration.
func isUsual(err error) bool {
	for _, e := range []error{ccobject.ErrExports, ccobject.ErrLTO, ccobject.ErrSplit, ccobject.ErrTypeUnits, unitrecord.ErrNot, elfobject.ErrShape} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// noteOnce prints why an object keeps its DWARF, once for each reason and build. Most
// objects of a build have the same reason.
func (c *cli) noteOnce(object string, why error) {
	first, err := firstTime(why.Error())
	switch {
	case err != nil:
		c.warn(fmt.Sprintf("%s: left with DWARF: %v (repeated for each object, because the note that says so cannot be written: %v)", message.OneLine(object), why, err))
	case first:
		c.warn(message.OneLine(object) + ": left with DWARF, like others after it: " + why.Error())
	}
}

// noteReduced says that an option of the compiler leaves out types, once for each option and build.
func (c *cli) noteReduced(object, option string) {
	if first, err := firstTime(option); first && err == nil {
		c.warn(fmt.Sprintf("%s: %s leaves types out of the debug information of this object and of others after it: their BTF will have only what is left",
			message.OneLine(object), message.OneLine(option)))
	}
}

// replaceObject replaces the object at path by data, as a whole or not at all, if the file
// is still the one described by before. With a nil before, it replaces any file or makes a
// new one. Like compilers, it does not wait for the disk.
func (c *cli) replaceObject(path string, mode os.FileMode, data []byte, before os.FileInfo) error {
	f, err := c.guard.create(filepath.Dir(path), mode)
	if err != nil {
		return err
	}
	defer c.guard.discard(f)
	_, err = f.Write(data)
	if err == nil && before != nil { // the umask has reduced the mode
		err = f.Chmod(mode)
	}
	if err == nil && before != nil {
		err = fileid.CheckUnchanged(path, before)
	}
	if err == nil {
		err = c.guard.rename(f, path)
	}
	return err
}

// keepObject keeps a compressed copy of an object below dir, under its whole path.
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
