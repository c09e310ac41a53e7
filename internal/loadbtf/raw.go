package loadbtf

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/mmapelf"
)

// Raw is the BTF of a file before it is parsed, and what the file says about it.
type Raw struct {
	BTF     []byte
	Base    []byte // section .BTF.base, nil if there is none
	BaseSum []byte // section SectionBaseSum, nil if there is none
	Section string // " section .BTF:" in an ELF file, "" in a raw one
	Encoded bool   // Loader.Encode has made BTF
	// Mapping is the mapped file, in which BTF may lie. It is nil if the file was read.
	Mapping []byte
	// Source is the ELF file. It is valid as long as BTF is. For raw BTF it has no path.
	Source mmapelf.Source
	// For ELF files: the size of pointers in bytes, whether the file is relocatable, and
	// whether it is a BPF object.
	PointerSize int
	Relocatable bool
	BPF         bool
	Module      basematch.Module
}

// Damage returns why the BTF cannot be read over any base: it is cut short, or it is not BTF. It checks
// only the header.
func (r *Raw) Damage() error {
	_, _, err := btf.Sections(r.BTF)
	return err
}
