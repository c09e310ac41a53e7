package declared

import (
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/mmapelf"
)

// Producers calls fn with the producer of each compile unit of a file (DW_AT_producer, ""
// if it has none), in their order, until fn returns false.
func Producers(src *mmapelf.Source, fn func(producer string) (more bool)) error {
	return unitDIEs(src, func(c *debuginfo.Cursor, have uint32) bool {
		return fn(debuginfo.Text(c, have, dwarf.VProducer))
	})
}

// Languages calls fn with the language of each compile unit of a file (DW_AT_language, 0 if
// it has none), in their order, until fn returns false.
func Languages(src *mmapelf.Source, fn func(language uint16) (more bool)) error {
	return unitDIEs(src, func(c *debuginfo.Cursor, have uint32) bool {
		return fn(uint16(c.Number(have, dwarf.VLanguage)))
	})
}

// unitDIEs calls fn with a cursor at the DIE of each compile unit, until fn returns false.
func unitDIEs(src *mmapelf.Source, fn func(c *debuginfo.Cursor, have uint32) (more bool)) error {
	return opened(src, debuginfo.DebugFiles{}, func(f *debuginfo.File) error {
		var c debuginfo.Cursor
		defer c.Free()
		for more := true; more; {
			c.Reset(0)
			if ok, err := f.Next(&c); !ok {
				return err
			}
			if c.Hdr.IsType() {
				f.SawType()
				continue
			}
			if err := c.Start(); err != nil {
				return err
			}
			_, _, have, err := c.UnitDIE()
			if err != nil {
				return err
			}
			more = fn(&c, have)
		}
		return nil
	})
}
