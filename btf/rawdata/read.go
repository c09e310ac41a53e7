package rawdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/message"
)

// Range is which bytes and records are read.
type Range struct {
	Seek, Size uint64 // where they begin in the file, and how many bytes; Size 0: to the end
	Skip       int    // records that are not printed
	Count      int    // records that are printed at most; 0: all
}

// Reader reads records of a file.
type Reader struct {
	in  io.Reader
	at  uint64
	buf []byte
}

// NewReader returns a Reader of a file from its beginning.
func NewReader(in io.Reader) *Reader { return &Reader{in: in} }

// Header is the struct at the beginning of a file.
type Header struct {
	Type view.Type
	data []byte
}

// Header reads the header.
func (r *Reader) Header(v *view.View, name string) (*Header, error) {
	t, err := find(v, name)
	if err != nil {
		return nil, err
	}
	data, err := r.more(nil, int(t.Size()))
	if err != nil {
		return nil, err
	}
	return &Header{t, data}, nil
}

// Number is a member of the header; names with dots lead into inner structs.
func (h *Header) Number(path string) (uint64, error) {
	m, err := member(h.Type.View(), h.Type, path)
	if err != nil {
		return 0, err
	}
	return number(h.Type.View(), m, h.data), nil
}

// Header prints a header.
func (p *Printer) Header(h *Header) error {
	p.record(&Class{Type: h.Type}, h.Type, h.data)
	return p.Flush()
}

// more reads n bytes after head. The error is io.EOF if there are fewer.
func (r *Reader) more(head []byte, n int) ([]byte, error) {
	b := bytes.NewBuffer(head)
	got, err := io.CopyN(b, r.in, int64(n))
	r.at += uint64(got)
	return b.Bytes(), err
}

// seek goes forward to an offset.
func (r *Reader) seek(to uint64) error {
	if to < r.at {
		return fmt.Errorf("records at byte %d, inside the header, which ends at %d", to, r.at)
	}
	n := to - r.at
	got, err := io.Copy(io.Discard, io.LimitReader(r.in, int64(min(n, 1<<62))))
	r.at += uint64(got)
	if err == nil && uint64(got) < n {
		err = fmt.Errorf("it has %d bytes, and records are to begin at byte %d", r.at, to)
	}
	return err
}

// Print prints the records of a class in a range. A Seek of 0 continues where the last
// Print ended. If the file ends within a record of a fixed size, that is not an error.
func (p *Printer) Print(r *Reader, c *Class, in Range) error {
	if in.Seek > 0 {
		if err := r.seek(in.Seek); err != nil {
			return err
		}
	}
	start := r.at
	for printed := 0; (in.Count == 0 || printed < in.Count) && (in.Size == 0 || r.at-start < in.Size); {
		data, t, kind, err := r.record(c)
		if err == io.EOF {
			break
		}
		if err != nil {
			return errors.Join(p.Flush(), err)
		}
		if c.only != nil && kind != *c.only {
			continue
		}
		if in.Skip > 0 {
			in.Skip--
			continue
		}
		if p.record(c, t, data); p.to.Err != nil {
			break
		}
		printed++
	}
	return p.Flush()
}

// record reads one record. The error is io.EOF if there is none.
func (r *Reader) record(c *Class) (data []byte, t view.Type, kind uint64, err error) {
	at, t, v := r.at, c.Type, c.Type.View()
	size := t.Size()
	if data, err = r.more(r.buf[:0], int(size)); err != nil {
		return nil, t, 0, err
	}
	if c.kind != nil {
		kind = number(v, c.kind, data)
		t = c.form(kind)
	}
	if c.size != nil {
		n := number(v, c.size, data)
		if n < size || n > maxRecord {
			return nil, t, 0, fmt.Errorf("the record at byte %d says that it has %d bytes; %s alone has %d", at, n,
				message.OneLine(string(c.Type.Name())), size)
		}
		if data, err = r.more(data, int(n-size)); err != nil {
			if err == io.EOF {
				err = fmt.Errorf("it ends within the record at byte %d, which has %d bytes", at, n)
			}
			return nil, t, 0, err
		}
	}
	r.buf = data
	return data, t, kind, nil
}
