package encode

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"path/filepath"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/mmapelf"
)

// The alternate (supplementary) file: what dwz -m moves out of several files
// because all of them have it. Its .debug_info is taken to lie behind that of
// the file, its .debug_str has a place of its own among the names.

// debugRoot is where distributions put debug files.
var debugRoot = "/usr/lib/debug"

// openAlt opens the alternate file if the file has one. Without it names and
// types would be missing anywhere.
func (f *file) openAlt() error {
	name, id, err := f.altLink()
	if name == "" || err != nil {
		return err
	}
	tried := []string{name}
	switch {
	case filepath.IsAbs(name):
	case f.alone && f.dwarf == f.elf:
		tried = []string{filepath.Join(debugRoot, ".dwz", filepath.Base(name))}
	default:
		dir := filepath.Dir(f.dwarf.Path)
		if real, err := filepath.EvalSymlinks(f.dwarf.Path); err == nil {
			dir = filepath.Dir(real)
		}
		tried = []string{filepath.Join(dir, name), filepath.Join(dir, ".dwz", filepath.Base(name)), filepath.Join(debugRoot, ".dwz", filepath.Base(name))}
	}
	if len(id) > 1 {
		x := hex.EncodeToString(id)
		tried = append(tried, filepath.Join(debugRoot, ".build-id", x[:2], x[2:]+".debug"))
	}
	for _, path := range tried {
		e, err := mmapelf.Open(path)
		if err != nil {
			continue
		}
		if !bytes.Equal(altID(e), id) {
			e.Close()
			continue
		}
		return f.useAlt(path, e)
	}
	return fmt.Errorf("%s: its alternate debug file %s (dwz) with id %x is neither beside it nor in %s", f.path, quote([]byte(name)), id, debugRoot)
}

// useAlt makes e the alternate file.
func (f *file) useAlt(path string, e *mmapelf.File) error {
	alt := &file{
		run: f.run, opt: f.opt, path: path, elf: e, dwarf: e, merge: f.merge,
		bigEndian: e.BigEndian, addrSize: e.AddrSize, machine: e.Machine,
		names: names.Text{Table: f.names.Table, ByText: f.opt.Base != nil},
	}
	f.merge.alt = alt
	for _, s := range []struct {
		name string
		data *[]byte
	}{
		{".debug_info", &alt.info}, {".debug_abbrev", &alt.abbrev}, {".debug_str", &alt.names.Data},
		{".debug_line_str", &alt.lineStr}, {".debug_str_offsets", &alt.strOffsets},
	} {
		if sec := alt.section(s.name); sec != nil {
			var err error
			if *s.data, err = e.Data(sec); err != nil {
				return err
			}
		}
	}
	return alt.placeNames()
}

// altLink gives the name and the id of the alternate file; "" is none.
func (f *file) altLink() (name string, id []byte, err error) {
	if sec := f.dwarf.Section(".gnu_debugaltlink"); sec != nil {
		b, err := f.dwarf.Data(sec)
		if n := bytes.IndexByte(b, 0); n > 0 && err == nil {
			return string(b[:n]), b[n+1:], nil
		}
		return "", nil, err
	}
	if sec := f.dwarf.Section(".debug_sup"); sec != nil {
		b, err := f.dwarf.Data(sec)
		name, id := debugSup(b, false)
		return name, id, err
	}
	return "", nil, nil
}

// debugSup reads a .debug_sup section (DWARF 5, 7.3.6); of is_supplementary
// the value that is asked for.
func debugSup(b []byte, supplementary bool) (name string, id []byte) {
	if len(b) < 4 || (b[2] != 0) != supplementary {
		return "", nil
	}
	n := bytes.IndexByte(b[3:], 0)
	if n < 0 {
		return "", nil
	}
	size, p := dwarf.ULEB(b, 3+n+1)
	if p < 0 || size > uint64(len(b)-p) {
		return "", nil
	}
	return string(b[3:][:n]), b[p:][:size]
}

// altID is the id by which an alternate file is known: that of its .debug_sup,
// or its build id; nil if it has none.
func altID(e *mmapelf.File) (id []byte) {
	if sec := e.Section(".debug_sup"); sec != nil {
		if b, err := e.Data(sec); err == nil {
			_, id = debugSup(b, true)
			return id
		}
	}
	return buildID(e)
}

// altTarget is the place of a DIE of the alternate file.
func (f *file) altTarget(v *dwarf.Value) (uint64, bool) {
	if isAlt(v.Form) && f.merge != nil && f.merge.alt != nil && f.merge.alt != f && v.U < uint64(len(f.merge.alt.info)) {
		return uint64(len(f.info)) + v.U, true
	}
	return 0, false
}

// isAlt reports whether a form is a reference to the alternate file.
func isAlt(form dwarf.Form) bool {
	return form == dwarf.FormGNURefAlt || form == dwarf.FormRefSup4 || form == dwarf.FormRefSup8
}

// altName is the name at an offset in the alternate file's .debug_str.
func (f *file) altName(u *unit, off uint64) dedup.Name {
	if f.merge == nil || f.merge.alt == nil {
		u.reader.Bad = true
		return 0
	}
	return f.merge.alt.names.Offset(&u.reader, off)
}

// fileOf is the file that unit k of a merged file is in.
func (f *file) fileOf(k int) *file {
	if f.merge.units[k].base != 0 {
		return f.merge.alt
	}
	return f
}
