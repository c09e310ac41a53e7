package loadbtf

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/mmapelf"
)

// Raw is the BTF of a file as it is.
type Raw struct {
	BTF     []byte
	Base    []byte // section .BTF.base, nil if there is none
	BaseSum []byte // section SectionBaseSum, nil if there is none
	Section string // " section .BTF:" in an ELF file, "" in a raw one
	Encoded bool   // by Loader.Encode
	// Mapping is the mapping of the file, in which BTF may lie; nil if it was read.
	Mapping []byte
	// Source is the ELF file, valid as long as BTF. It has no path for raw BTF.
	Source mmapelf.Source
	// Of an ELF file: the size of pointers, whether it is relocatable, and
	// whether it is a BPF object.
	PointerSize int
	Relocatable bool
	BPF         bool
	Module      basematch.Module
}

// Damage says why the BTF cannot be read over any base: it is cut short, or is not BTF at all. It looks
// at the header alone.
func (r *Raw) Damage() error {
	_, _, err := btf.Sections(r.BTF)
	return err
}
