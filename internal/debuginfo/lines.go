package debuginfo

import (
	"bytes"
	"path"

	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/elfreloc"
)

// Lines has the file names of .debug_line. Encoding does not read them.
type Lines struct {
	f    *File
	data []byte
	rel  *elfreloc.Table // of a relocatable file, else nil
}

// OpenLines opens .debug_line of f. A file without the section has no names. Use a Lines
// from one goroutine at a time, and not after Close of the File.
func OpenLines(f *File) (*Lines, error) {
	l := &Lines{f: f}
	sec := f.section(lineSection)
	if sec == nil {
		return l, nil
	}
	var err error
	if l.data, err = f.Dwarf.Data(sec); err == nil {
		l.rel, err = relocsOf(f, sec, len(l.data))
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// File returns the path of a file by its number in the table at an offset of the section.
// A path below the folder of the compilation is relative to that folder. It is "" if the
// table does not have the file.
func (l *Lines) File(table, number uint64) string {
	n, ok := dwarf.LineFile(l.data, table, l.f.BigEndian, number, l.text)
	if !ok {
		return ""
	}
	name := string(n.Name)
	if len(n.Dir) > 0 && !path.IsAbs(name) {
		name = path.Join(string(n.Dir), name)
	}
	if len(n.CompDir) > 0 {
		if tail, ok := bytes.CutPrefix([]byte(name), append(bytes.Clone(n.CompDir), '/')); ok {
			name = string(tail)
		}
	}
	return name
}

// Path returns the path of a file by its number in the table at an offset of the section,
// joined as libdw does: folder and name. dir is the folder of the compilation, for tables
// without it. It is "" if the table does not have the file.
func (l *Lines) Path(table, number uint64, dir string) string {
	n, ok := dwarf.LineFile(l.data, table, l.f.BigEndian, number, l.text)
	if !ok {
		return ""
	}
	switch {
	case len(n.Dir) > 0:
		dir = string(n.Dir)
	case len(n.CompDir) > 0:
		dir = string(n.CompDir)
	}
	if dir == "" || path.IsAbs(string(n.Name)) {
		return string(n.Name)
	}
	return dir + "/" + string(n.Name)
}

// text returns the string whose offset is at a place of the section.
func (l *Lines) text(form dwarf.Form, at uint64, size int) []byte {
	var buf [8]byte
	b := buf[:copy(buf[:size], l.data[at:])]
	if l.rel.Relocate(b, at) != nil {
		return nil
	}
	off := number(l.f, b)
	strings := l.f.Names.Data
	if form == dwarf.FormLineStrp {
		strings = l.f.other.lineStr
	}
	if off >= uint64(len(strings)) {
		return nil
	}
	s, _, _ := bytes.Cut(strings[off:], []byte{0})
	return s
}
