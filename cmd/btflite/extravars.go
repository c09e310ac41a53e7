package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/elfwrite"
)

// Variables beside the BTF (--extra_vars): split BTF over it, as it is or, in a
// file whose name ends in ".o", as the section .BTF of an object for the
// linker of a module. The object has the checksum of what it was split from.

// extraVars is the split BTF with the extra variables.
type extraVars struct {
	data []byte    // nil: there are none
	base *btf.Blob // what it is over
}

// extraOver checks the extra variables of out, and main, which they are over and
// which is over f.base: both are as they will be written, and may be empty.
// A warning is as of checkEncoded.
func extraOver(path string, out *encode.Output, extra, main []byte, f finish) (x extraVars, warning string, err error) {
	if len(extra) == 0 {
		return x, "", nil
	}
	x = extraVars{data: extra, base: f.base}
	if len(main) > 0 {
		if x.base, err = btf.Parse(main, f.base); err != nil {
			return x, "", namingFile([]string{path}, err)
		}
	}
	if warning, err = checkEncoded(path, out, x.data, x.base, &f); err != nil {
		err = fmt.Errorf("extra variables: %w", err)
	}
	return x, warning, err
}

// objectSuffix ends the names of objects.
const objectSuffix = ".o"

// writer returns what writes the file with that name. input is an ELF file for
// the target of an object.
func (x *extraVars) writer(name, input string) (func(io.Writer) error, error) {
	if !strings.HasSuffix(name, objectSuffix) {
		return writeBytes(x.data), nil
	}
	to, err := elfwrite.TargetOf(input)
	if err != nil {
		return nil, err
	}
	return to.NewObject(bytesSection(sectionBTF, x.data), bytesSection(sectionBaseSum, baseNote(x.base))).Write, nil
}

// sectionBaseSum is the section of objects with a note on the base of .BTF.
const sectionBaseSum = ".note.btflite.base"

// The note's owner and type. Its contents are the checksum of btf.Blob.Sum.
const (
	noteOwner   = "btflite\x00"
	noteBaseSum = 1
)

// baseNote is the contents of sectionBaseSum in the byte order of base.
func baseNote(base *btf.Blob) []byte {
	var o binary.AppendByteOrder = binary.LittleEndian
	if base.BigEndian {
		o = binary.BigEndian
	}
	sum := base.Sum()
	var b []byte
	for _, n := range []int{len(noteOwner), len(sum), noteBaseSum} {
		b = o.AppendUint32(b, uint32(n))
	}
	return append(append(b, noteOwner...), sum[:]...)
}

// checkBase looks for signs that b, read from raw, is not over the right base.
func checkBase(raw *rawBTF, b *btf.Blob) error {
	if raw.baseSum != nil && b.Base != nil && !bytes.Equal(raw.baseSum, baseNote(b.Base)) {
		return errors.New("section " + sectionBaseSum + ": the checksum of what it was split from is not that of the base")
	}
	return b.CheckBase()
}

// openExtra finds the place of the extra variables, which must be neither an
// input nor the main output.
func (c *cli) openExtra(e *encoding, inputs []string, out *target) (*target, error) {
	if err := e.checkExtra(out == nil); err != nil {
		return nil, err
	}
	to, err := c.resolveTarget(e.extraVars)
	if err != nil {
		return nil, err
	}
	if out != nil && to.sameFile(out) {
		return nil, fmt.Errorf("%s: the extra variables would replace the output", oneLine(to.path))
	}
	return to, to.refuseInputs(inputs)
}

// checkExtra refuses what extra variables do not go with.
func (e *encoding) checkExtra(inPlace bool) error {
	switch {
	case e.features&encode.GlobalVar != 0:
		return usagef("--extra_vars: the feature global_var puts all variables into the main BTF already")
	case e.distils(inPlace):
		return usagef("--extra_vars: with distilled_base the module's types have other ids in each kernel")
	}
	return nil
}
