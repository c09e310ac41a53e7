package debuginfo

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"path/filepath"

	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/mmapelf"
)

// The alternate (supplementary) file holds what dwz -m moves out of several files because
// all of them have it. Offsets in its .debug_info count on from the end of the file's.
// Its .debug_str has its own range of tokens.

// debugRoot is the folder where distributions put debug files.
var debugRoot = "/usr/lib/debug"

// OpenAlt opens the alternate file as Alt, if the file has one. It is an error if that
// file is missing, because names and types anywhere could be in it.
func (f *File) OpenAlt() error {
	e, err := findAlt(f)
	if e == nil || err != nil {
		return err
	}
	return f.useAlt(e.Path, e)
}

// findAlt opens the alternate file of f; nil if it has none.
func findAlt(f *File) (*mmapelf.File, error) {
	name, id, err := altLink(f.Dwarf)
	if name == "" || err != nil {
		return nil, err
	}
	tried := []string{name}
	switch {
	case filepath.IsAbs(name):
	case f.inMemory && f.Dwarf == f.ELF:
		tried = []string{filepath.Join(debugRoot, ".dwz", filepath.Base(name))}
	default:
		dir := filepath.Dir(f.Dwarf.Path)
		if real, err := filepath.EvalSymlinks(f.Dwarf.Path); err == nil {
			dir = filepath.Dir(real)
		}
		tried = []string{filepath.Join(dir, name), filepath.Join(dir, ".dwz", filepath.Base(name)), filepath.Join(debugRoot, ".dwz", filepath.Base(name))}
	}
	if len(id) > 1 {
		x := hex.EncodeToString(id)
		tried = append(tried, filepath.Join(debugRoot, ".build-id", x[:2], x[2:]+".debug"))
	}
	for _, path := range tried {
		if e, err := openAlt(path, id); err == nil {
			return e, nil
		}
	}
	nowhere := fmt.Errorf("%s: its alternate debug file %s (dwz) with id %x is neither next to it nor in %s", f.Path, Quote([]byte(name)), id, debugRoot)
	if path := findElsewhere(f, id); path != "" {
		e, err := openAlt(path, id)
		if err != nil {
			return nil, fmt.Errorf("%w, and what was found cannot be used: %w", nowhere, askAgain(err))
		}
		return e, nil
	}
	return nil, withUnfound(f, nowhere)
}

// openAlt opens a candidate. It is an error if it cannot be read or has another id.
func openAlt(path string, id []byte) (*mmapelf.File, error) {
	e, err := mmapelf.Open(path)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(altID(e), id) {
		e.Close()
		return nil, fmt.Errorf("%s: its build-id is another", path)
	}
	return e, nil
}

// useAlt makes e the alternate file of f.
func (f *File) useAlt(path string, e *mmapelf.File) error {
	alt := newFile(path, e, f.settings)
	f.Alt = alt
	for _, s := range []struct {
		name string
		data *[]byte
	}{
		{".debug_info", &alt.Info}, {".debug_abbrev", &alt.other.abbrev}, {".debug_str", &alt.Names.Data},
		{".debug_line_str", &alt.other.lineStr}, {".debug_str_offsets", &alt.other.strOffsets},
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

// altLink returns name and id of the alternate file; "" if there is none.
func altLink(e *mmapelf.File) (name string, id []byte, err error) {
	if sec := e.Section(".gnu_debugaltlink"); sec != nil {
		b, err := e.Data(sec)
		if n := bytes.IndexByte(b, 0); n > 0 && err == nil {
			return string(b[:n]), b[n+1:], nil
		}
		return "", nil, err
	}
	if sec := e.Section(".debug_sup"); sec != nil {
		b, err := e.Data(sec)
		name, id := debugSup(b, false)
		return name, id, err
	}
	return "", nil, nil
}

// debugSup reads a .debug_sup section (DWARF 5, 7.3.6) whose is_supplementary has the
// given value.
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

// altID returns the id of an alternate file: from its .debug_sup, or its build id; nil if
// it has none.
func altID(e *mmapelf.File) (id []byte) {
	if sec := e.Section(".debug_sup"); sec != nil {
		if b, err := e.Data(sec); err == nil {
			_, id = debugSup(b, true)
			return id
		}
	}
	return BuildID(e)
}

// InAlt returns where a value of a form for the alternate file leads: an offset in
// .debug_info, beyond the end of the file's own. ok is false for other forms, and if the
// alternate file does not have the place.
func (f *File) InAlt(v *dwarf.Value) (off uint64, ok bool) {
	if IsAlt(v.Form) && f.Alt != nil && v.U < uint64(len(f.Alt.Info)) {
		return uint64(len(f.Info)) + v.U, true
	}
	return 0, false
}

// IsAlt reports whether a form is a reference to the alternate file.
func IsAlt(form dwarf.Form) bool {
	return form == dwarf.FormGNURefAlt || form == dwarf.FormRefSup4 || form == dwarf.FormRefSup8
}
