package debuginfo

import (
	"strings"

	"github.com/btflite/btflite/mmapelf"
)

// Open maps an input and finds the file with its debug sections. Errors: a file
// that cannot be mapped or is no ELF file, and a separate debug file that is named
// and cannot be used.
func Open(in *mmapelf.Source, s Settings) (*File, error) {
	e, err := in.Open()
	if err != nil {
		return nil, err
	}
	f := newFile(in.Path, e, s)
	f.inMemory = in.InMemory()
	f.adviseOn(f.ELF)
	f.prefix = slimPrefix(f.ELF)
	if f.section(".debug_info") == nil && f.section(".debug_abbrev") == nil {
		if err := f.findDebugFile(); err != nil {
			f.Close()
			return nil, err
		}
		if f.Dwarf != f.ELF {
			f.adviseOn(f.Dwarf)
		}
	}
	return f, nil
}

// adviseOn says how a file will be read. The system's own read-ahead around each
// page touched can be megabytes; what is read in order is asked for in windows
// instead. Below a limit that has no room for all of it, pages that are done with
// are to be the first to go.
func (f *File) adviseOn(e *mmapelf.File) {
	size := uint64(len(e.Bytes()))
	e.RandomRange(0, size)
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
