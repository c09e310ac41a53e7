package btf

import (
	"errors"
	"fmt"
	"io"
)

// maxLoadedStrings is the largest string section in bytes that kernels accept. Its last
// byte is at offset BTF_MAX_NAME_OFFSET (include/uapi/linux/btf.h).
const maxLoadedStrings = 1 << 24

// PadStrings returns a function that writes the same BTF as write does, but larger: with
// more zero bytes at the end of its strings. These are empty strings that no type refers
// to. Kernels accept them, while they refuse bytes after the last section. more must not be
// negative. The function returns an error if the strings are not at the end of the BTF, or
// if they become longer than kernels accept.
func PadStrings(write func(io.Writer) error, more int64) func(io.Writer) error {
	return func(w io.Writer) error {
		p := padder{w: w, more: more}
		if err := write(&p); err != nil {
			return err
		}
		if len(p.head) < HeaderLen || p.total != p.end {
			return errors.New("btf: the strings are not at the end, so that no more bytes can follow")
		}
		_, err := io.CopyN(w, zeros{}, more)
		return err
	}
}

// padder writes to w what it is given, but with a larger string length in the header.
type padder struct {
	w     io.Writer
	more  int64
	head  []byte // the part of the header that was written so far
	total int64  // bytes written so far
	end   int64  // offset of the end of the strings, from the header
}

func (p *padder) Write(b []byte) (int, error) {
	p.total += int64(len(b))
	n := 0
	if len(p.head) < HeaderLen {
		n = min(HeaderLen-len(p.head), len(b))
		p.head = append(p.head, b[:n]...)
		if len(p.head) < HeaderLen {
			return n, nil
		}
		if err := p.lengthen(); err != nil {
			return 0, err
		}
		if _, err := p.w.Write(p.head); err != nil {
			return 0, err
		}
	}
	m, err := p.w.Write(b[n:])
	return n + m, err
}

// lengthen changes the length of the strings in the header.
func (p *padder) lengthen() error {
	o := Order(p.head[0] == magic>>8)
	strLen := o.Uint32(p.head[20:])
	p.end = int64(o.Uint32(p.head[4:])) + int64(o.Uint32(p.head[16:])) + int64(strLen)
	if p.more < 0 || int64(strLen)+p.more > maxLoadedStrings {
		return fmt.Errorf("btf: %d bytes of strings and %d more are too many for a kernel", strLen, p.more)
	}
	o.PutUint32(p.head[20:], strLen+uint32(p.more))
	return nil
}

// zeros is an endless source of zero bytes.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
