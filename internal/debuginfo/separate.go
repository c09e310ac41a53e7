package debuginfo

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/btflite/btflite/mmapelf"
)

// A file without .debug_info may name a separate debug file: by the build-id in a note,
// or by name and checksum in .gnu_debuglink (GDB manual, "Debugging Information in
// Separate Files"). The DWARF comes from that file. As in pahole, sections, symbols and
// notes come from the file itself, and BTF is written into it. If it has no symbols, the
// debug file's are used.

// crcStep is how many bytes of a file are read at a time for its checksum.
const crcStep = 1 << 20

// findDebugFile opens the separate debug file and makes it the source of DWARF. If there
// is none, it changes nothing. It is an error if the file names one that cannot be used.
func (f *File) findDebugFile() error {
	id := BuildID(f.ELF)
	link, crc, err := debugLink(f.ELF)
	if err != nil {
		return err
	}
	var tried []string
	var missing error // if a file that is named is nowhere
	try := func(path string, byLink bool) bool {
		e, err := openDebugFile(f.ELF, path, id, crc, byLink)
		if err == nil {
			f.Dwarf = e
			return true
		}
		if !errors.Is(err, fs.ErrNotExist) {
			tried = append(tried, err.Error())
		}
		return false
	}
	dirs := []string{debugRoot}
	if f.settings.DebugFiles.Dir != "" {
		dirs = []string{f.settings.DebugFiles.Dir, debugRoot}
	}
	if len(id) > 1 {
		name := fmt.Sprintf(".build-id/%02x/%x.debug", id[0], id[1:])
		for _, d := range dirs {
			if try(filepath.Join(d, name), false) {
				return nil
			}
		}
	}
	if link != "" && !f.inMemory {
		own, err := filepath.Abs(f.Path)
		if err != nil {
			return err
		}
		if real, err := filepath.EvalSymlinks(own); err == nil {
			own = real
		}
		own = filepath.Dir(own)
		places := []string{own, filepath.Join(own, ".debug")}
		if f.settings.DebugFiles.Dir != "" {
			places = append(places, f.settings.DebugFiles.Dir)
		}
		for _, d := range dirs {
			places = append(places, filepath.Join(d, own))
		}
		for _, d := range places {
			if try(filepath.Join(d, link), true) {
				return nil
			}
		}
		missing = fmt.Errorf("%s: no .debug_info, and its separate debug file %s is not in %s", f.Path, Quote([]byte(link)), strings.Join(places, ", "))
	}
	if path := findElsewhere(f, id); path != "" {
		if f.Dwarf, err = openDebugFile(f.ELF, path, id, crc, false); err == nil {
			return nil
		}
		f.Dwarf = f.ELF
		tried = append(tried, askAgain(err).Error())
	}
	if len(tried) > 0 {
		return withUnfound(f, fmt.Errorf("%s: no .debug_info, and its separate debug file cannot be used: %s", f.Path, strings.Join(tried, "; ")))
	}
	return withUnfound(f, missing)
}

// askAgain adds to what is wrong with a file that Find has found what to do: a cache keeps what a server has sent.
func askAgain(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%w (remove it, and the server is asked again)", err)
}

// findElsewhere asks for the debug file with this build-id; "" if nobody has it. Why
// becomes part of the error about the file, if there is one: see withUnfound.
func findElsewhere(f *File, id []byte) (path string) {
	find := f.settings.DebugFiles.Find
	if len(id) == 0 || find == nil {
		return ""
	}
	path, err := find(f.Path, id)
	if err != nil {
		f.unfound = fmt.Errorf("asked for build-id %x: %w", id, err)
		return ""
	}
	return path
}

// withUnfound adds to err, unless that is nil, why a file that was asked for was not found.
func withUnfound(f *File, err error) error {
	if err == nil || f.unfound == nil {
		return err
	}
	return fmt.Errorf("%w; %w", err, f.unfound)
}

// Beside returns the other files that may have debug information of the file at path: a
// separate debug file, found as Open does with the folder debugDir, an alternate file (dwz), and a
// .dwp file, which need not exist. If Open refuses the file, there are none.
func Beside(path, debugDir string) (files []string) {
	f, err := Open(&mmapelf.Source{Path: path}, Settings{DebugFiles: DebugFiles{Dir: debugDir}, Scarce: func(uint64) bool { return false }})
	if err != nil {
		return nil
	}
	defer f.Close()
	if f.Dwarf != f.ELF {
		files = append(files, f.Dwarf.Path)
	}
	if alt, err := findAlt(f); err == nil && alt != nil {
		files = append(files, alt.Path)
		alt.Close()
	}
	return append(files, packageOf(path))
}

// openDebugFile opens a candidate and verifies that it belongs to the file: by the
// build-id if both have one, else by the checksum in .gnu_debuglink. It skips a candidate
// without DWARF, because the link of a file may have the name of the file itself.
func openDebugFile(own *mmapelf.File, path string, id []byte, crc uint32, byLink bool) (*mmapelf.File, error) {
	if same(path, own.Path) {
		return nil, fs.ErrNotExist
	}
	e, err := mmapelf.Open(path)
	if err != nil {
		return nil, err
	}
	e.Limit = own.Limit
	fail := func(why string) (*mmapelf.File, error) {
		e.Close()
		return nil, fmt.Errorf("%s: %s", path, why)
	}
	if !e.HasDWARF() && slimPrefix(e) == "" {
		return fail("no .debug_info")
	}
	if e.Machine != own.Machine || e.Class64 != own.Class64 || e.BigEndian != own.BigEndian || e.Type != own.Type {
		return fail("of another machine or type")
	}
	other := BuildID(e)
	switch {
	case len(id) > 0 && len(other) > 0:
		if !bytes.Equal(id, other) {
			return fail("its build-id is another")
		}
	case !byLink:
		return fail("it has no build-id")
	case checksum(e) != crc:
		return fail("its checksum is not the one in .gnu_debuglink")
	}
	return e, nil
}

// same reports whether two paths lead to one file.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// checksum computes the CRC of .gnu_debuglink over the whole file.
func checksum(e *mmapelf.File) (sum uint32) {
	b := e.Bytes()
	for at := 0; at < len(b); at += crcStep {
		n := min(crcStep, len(b)-at)
		e.PrefetchRange(uint64(at), uint64(min(2*crcStep, len(b)-at)))
		sum = crc32.Update(sum, crc32.IEEETable, b[at:at+n])
		e.ReleaseRange(uint64(at), uint64(n))
	}
	return sum
}

// debugLink reads .gnu_debuglink: a file name, zeros up to a multiple of four bytes, the
// checksum. The name is "" if there is none.
func debugLink(e *mmapelf.File) (name string, crc uint32, err error) {
	s := e.Section(".gnu_debuglink")
	if s == nil {
		return "", 0, nil
	}
	b, err := e.Data(s)
	if err != nil {
		return "", 0, err
	}
	n := bytes.IndexByte(b, 0)
	at := (n + 4) &^ 3
	if n <= 0 || at+4 > len(b) {
		return "", 0, fmt.Errorf("%s: .gnu_debuglink: no name and checksum", e.Path)
	}
	name = string(b[:n])
	if strings.ContainsAny(name, "/\\") || name == "." || name == ".." {
		return "", 0, fmt.Errorf("%s: .gnu_debuglink: %s is not a file name", e.Path, Quote(b[:n]))
	}
	return name, e.Order().Uint32(b[at:]), nil
}
