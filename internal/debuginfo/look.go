package debuginfo

import (
	"bytes"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/mmapelf"
)

// Look reads all abbreviations of the file, before Load, and sets Survey and Damaged.
// They are about a fortieth of the debug information. As in the later reading of units,
// it asks for them ahead and releases them.
func (f *File) Look() error {
	sec := f.section(".debug_abbrev")
	if sec == nil {
		return nil
	}
	var in section
	data, err := f.load(sec, &in, false)
	if err != nil {
		return err
	}
	if in.stream != nil {
		defer in.stream.Close()
	}
	var ahead window
	const reader = 0
	for from := uint64(0); from < uint64(len(data)); {
		ahead.advance(&in, from)
		there, err := in.need(reader, data, from, fetchStep)
		if err != nil {
			return err
		}
		there = there[from:min(uint64(len(there)), from+fetchStep)]
		if !f.Survey.Read(there) {
			f.Damaged = true
			return nil
		}
		from += uint64(len(there))
		in.unpin(reader)
		in.release(from)
	}
	f.Damaged = !f.Survey.Whole()
	return nil
}

// SaysMore reports whether the DWARF of a file has types that BTF has no kind for, so
// that BTF made of it may lack members. It looks at abbreviations and at names of base
// types, not at DIEs, which takes milliseconds for a kernel. It ignores Rust's types with
// variants: kernels have them, and their BTF has no types of Rust.
func SaysMore(in *mmapelf.Source) (bool, error) {
	f, err := Open(in, Settings{Names: new(names.Table), Workers: 1, Scarce: func(uint64) bool { return false }})
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := f.Look(); err != nil || f.Survey.Unencodable {
		return err == nil, err
	}
	sec := f.section(".debug_str")
	if sec == nil || sec.Flags&elfabi.SHFCompressed != 0 {
		return false, nil
	}
	str, err := f.Dwarf.Data(sec)
	if err != nil {
		return false, err
	}
	for _, number := range []string{"\x00complex ", "\x00complex\x00", "\x00_Complex ", "\x00_BitInt", "\x00unsigned _BitInt"} {
		if bytes.Contains(str, []byte(number)) {
			return true, nil
		}
	}
	return false, nil
}
