package debuginfo

import (
	"strings"

	"github.com/btflite/btflite/mmapelf"
)

// Open maps an input and finds the file with its debug sections. It is an error if the
// input cannot be mapped or is not an ELF file, or if it names a separate debug file that
// cannot be used.
func Open(in *mmapelf.Source, s Settings) (opened *File, err error) {
	e, err := in.Open()
	if err != nil {
		return nil, err
	}
	f := newFile(in.Path, e, s)
	defer func() {
		if opened == nil { // after an error, or while a panic is under way
			f.Close()
		}
	}()
	f.inMemory = in.InMemory()
	f.adviseOn(f.ELF)
	f.prefix = slimPrefix(f.ELF)
	if f.section(".debug_info") == nil && f.section(".debug_abbrev") == nil {
		if err := f.findDebugFile(); err != nil {
			return nil, err
		}
		if f.Dwarf != f.ELF {
			f.adviseOn(f.Dwarf)
			f.prefix = slimPrefix(f.Dwarf)
		}
	}
	return f, nil
}

// OpenSymbols maps an input, and returns the file that has its symbols: the input itself or,
// if it has none, its separate debug file. Neither may have any. close closes both.
func OpenSymbols(in *mmapelf.Source, places DebugFiles) (image, symbols *mmapelf.File, close func(), err error) {
	e, err := in.Open()
	if err != nil {
		return nil, nil, nil, err
	}
	if e.Section(".symtab") != nil {
		return e, e, func() { e.Close() }, nil
	}
	e.Close()
	f, err := Open(in, Settings{DebugFiles: places, Scarce: func(uint64) bool { return false }})
	if err != nil {
		return nil, nil, nil, err
	}
	return f.ELF, f.Dwarf, f.Close, nil
}

// adviseOn tells the system how the file will be read. The system's own read-ahead may
// read megabytes around each page, so it is turned off; sections that are read in order
// are asked for in windows instead. A small file is read at once. If the memory limit has
// no room for the whole file, the system is to drop finished pages first.
func (f *File) adviseOn(e *mmapelf.File) {
	size := uint64(len(e.Bytes()))
	if !e.MapSmall() {
		e.RandomRange(0, size)
	}
	e.Scarce = f.settings.Scarce(size)
}

// slimPrefix is ltoPrefix for a slim object of GCC, else "".
func slimPrefix(e *mmapelf.File) (prefix string) {
	for i := range e.Sections {
		switch name := e.Sections[i].Name; {
		case strings.HasPrefix(name, ".debug_"), strings.HasPrefix(name, ".zdebug_"):
			return ""
		case name == ltoPrefix+".debug_info":
			prefix = ltoPrefix
		}
	}
	return prefix
}
