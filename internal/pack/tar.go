package pack

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"strings"
)

// tarBlock is the size of a header of tar, and what contents are filled up to.
const tarBlock = 512

// tar walks over a tar archive.
func (w *walk) tar(r io.Reader) error {
	t := tar.NewReader(r)
	for first := true; ; first = false {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return nil
		case first && (errors.Is(err, tar.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) && w.meter.out < tarBlock):
			return errors.New("it is neither a package nor a tar archive that is known here")
		case errors.Is(err, tar.ErrHeader):
			return fmt.Errorf("tar: the header after entry %d is damaged", w.meter.entries)
		case err != nil:
			return fmt.Errorf("tar: after entry %d: %w", w.meter.entries, endOf(err))
		}
		if err := w.meter.entry(h.Name); err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeReg:
			if isSparse(h) {
				return fmt.Errorf("tar: entry %d is sparse; pack it without --sparse", w.meter.entries)
			}
			err = w.give(h.Name, h.Size, w.inEntry(t, "tar"), nil)
		case tar.TypeGNUSparse:
			return fmt.Errorf("tar: entry %d is sparse; pack it without --sparse", w.meter.entries)
		}
		if err != nil {
			return err
		}
	}
}

// isSparse tells whether an entry has holes that the archive does not have.
func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// inEntry returns a reader of the contents of an entry, whose errors say which one is damaged.
func (w *walk) inEntry(r io.Reader, format string) io.Reader {
	return &errorReader{r, func(err error) error { return fmt.Errorf("%s: in entry %d: %w", format, w.meter.entries, endOf(err)) }}
}
