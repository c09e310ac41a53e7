package debuginfo

import (
	"fmt"

	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/elfreloc"
)

// The bytes of a unit: its header, and its relocated copy.

// Next moves c to the next unit, or to the first unit of the file if it is at none, and
// reads the header. It returns false after the last one.
func (f *File) Next(c *Cursor) (bool, error) {
	if c.Hdr.End() >= uint64(len(f.Info)) {
		return false, nil
	}
	err := f.InFile(f.Header(c.Hdr.End(), c))
	return err == nil, err
}

// Header reads the header of the unit at off into c, and finds the unit's relocations:
// all from its offset on. The last unit gets all that are left. Apply checks that each
// one is inside its unit, so none is missed.
func (f *File) Header(off uint64, c *Cursor) error {
	c.File = f
	if _, err := f.inOrder.info.need(c.Seq, f.Info, off, dwarf.MaxUnitHeader); err != nil {
		return err
	}
	if f.rel == nil || f.rel.info == nil {
		return dwarf.ReadUnit(f.Info, off, f.BigEndian, &c.Hdr)
	}
	t := f.rel.info
	first := c.nearUnit.search(t, off)
	tail := f.Info[off:]
	var buf [dwarf.MaxUnitHeader]byte
	head := buf[:copy(buf[:], tail)]
	if err := t.Apply(head, off, first, t.Search(first, off+uint64(len(head)))); err != nil {
		return err
	}
	if err := dwarf.ReadUnitHeader(head, tail, off, f.BigEndian, &c.Hdr); err != nil {
		return err
	}
	c.FirstReloc, c.LastReloc = first, t.Len()
	if end := c.Hdr.End(); end < uint64(len(f.Info)) {
		c.LastReloc = c.nearUnit.search(t, end)
	}
	return nil
}

// relocate replaces c.Hdr.Data by a relocated copy of the unit.
func (c *Cursor) relocate() error {
	f := c.File
	if f.rel == nil || f.rel.info == nil {
		return nil
	}
	c.copy.Reset()
	b := c.copy.Extend(len(c.Hdr.Data))
	copy(b, f.Info[c.Hdr.Off:])
	names := elfreloc.Span{Section: f.rel.str}
	if err := f.rel.info.ApplySpan(b, c.Hdr.Off, c.FirstReloc, c.LastReloc, &names); err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	c.Hdr.Data = b
	c.Reader.Low = uint32(min(uint64(c.Reader.Low), names.Low))
	c.touchNames(names.Low, names.High)
	return nil
}

// touchNames reads one byte of each cache line of the unit's own part of .debug_str. In a
// module, each object has almost all names again, and the walk would wait for memory at
// nearly every name, because the order of the DIEs is not the order of the names.
func (c *Cursor) touchNames(low, high uint64) {
	const line = 64
	data := c.File.Names.Data
	if low > high || high >= uint64(len(data)) || high-low > maxNames {
		return
	}
	sum := byte(0)
	for s := data[low:high]; len(s) > line; s = s[line:] {
		sum += s[0]
	}
	c.touched = sum
}

// maxNames is the size in bytes above which a part of .debug_str would not stay in the
// cache.
const maxNames = 1 << 20

// relocated reads the number of 4 or 8 bytes at offset at of section b. The caller has
// checked that b contains it. kind is relAddr and the like.
func (c *Cursor) relocated(kind int, b []byte, at, size uint64) uint64 {
	f := c.File
	var buf [8]byte
	n := buf[:copy(buf[:size], b[at:])]
	if f.rel != nil {
		if err := f.rel.random[kind].Relocate(n, at); err != nil && c.Err == nil {
			c.Err = c.UnitError(err.Error())
		}
	}
	return number(f, n)
}

// number returns the number of 4 or 8 bytes in b, which are from f.
func number(f *File, b []byte) uint64 {
	if len(b) == 8 {
		return f.Order().Uint64(b)
	}
	return uint64(f.Order().Uint32(b))
}
