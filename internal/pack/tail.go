package pack

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
)

// tarTail is the end of a tar archive in a file: offset o of the archive is offset o - from of the
// file. What lies before begin is not there yet.
type tarTail struct {
	file             *os.File
	from, begin, end int64
	likely           func(name string, size int64, head []byte) bool
}

// search looks for the last header of a file that is wanted between the offset and what was searched
// before, and returns its offset, or -1. Headers are at multiples of tarBlock. Contents of files may
// look like headers, so from a header others must lead to the end of the archive.
func (t *tarTail) search(from int64) (int64, error) {
	const step = 2048 * tarBlock
	buf := make([]byte, step+headSize)
	lowest := (from + tarBlock - 1) &^ (tarBlock - 1)
	hi := (t.begin + tarBlock - 1) &^ (tarBlock - 1)
	t.begin = from
	for lo := hi; hi > lowest; hi = lo {
		lo = max(hi-step, lowest)
		n, err := t.file.ReadAt(buf[:hi-lo+headSize], lo-t.from)
		if err != nil && err != io.EOF {
			return -1, err
		}
		for at := hi - tarBlock; at >= lo; at -= tarBlock {
			b := buf[min(int(at-lo), n):n]
			name, size, ok := headerOf(b)
			if !ok || !t.likely(name, size, b[tarBlock:min(tarBlock+headSize, len(b))]) {
				continue
			}
			if ok, err := t.leadsToEnd(at); ok || err != nil {
				return at, err
			}
		}
	}
	return -1, nil
}

// leadsToEnd tells whether headers follow each other from the offset to the end of the archive.
func (t *tarTail) leadsToEnd(at int64) (bool, error) {
	b := make([]byte, tarBlock)
	for at+tarBlock <= t.end {
		if _, err := t.file.ReadAt(b, at-t.from); err != nil {
			return false, err
		}
		if bytes.Count(b, []byte{0}) == tarBlock {
			// What follows the end of an archive fills up its last record.
			const record = 20 * tarBlock
			return t.end-at <= 2*record, nil
		}
		_, size, ok := headerOf(b)
		if !ok {
			return false, nil
		}
		at += tarBlock + (size+tarBlock-1)&^(tarBlock-1)
	}
	return at == t.end, nil
}

// headerOf reads a header of a tar archive: the name, which may be cut, and the size of the contents.
func headerOf(b []byte) (name string, size int64, ok bool) {
	if len(b) < tarBlock || string(b[257:262]) != "ustar" {
		return "", 0, false
	}
	want, err := octal(b[148:156])
	if err != nil {
		return "", 0, false
	}
	sum := int64(0)
	for i, c := range b[:tarBlock] {
		if i >= 148 && i < 156 {
			c = ' '
		}
		sum += int64(c)
	}
	if sum != want {
		return "", 0, false
	}
	if b[124]&0x80 != 0 { // a number of 95 bits, which no file of a package needs
		return "", 0, false
	}
	if size, err = octal(b[124:136]); err != nil || size < 0 {
		return "", 0, false
	}
	switch b[156] {
	case '1', '2', '3', '4', '5', '6': // links, devices, folders: their size means nothing
		size = 0
	}
	name, _, _ = strings.Cut(string(b[:100]), "\x00")
	return name, size, true
}

// octal reads a number of a header.
func octal(b []byte) (int64, error) {
	return strconv.ParseInt(strings.Trim(string(b), " \x00"), 8, 64)
}

// punchingReader gives back the room of what it has read of a file.
type punchingReader struct {
	r    io.Reader
	file *os.File
	at   int64 // offset of what is read next
	from int64 // what lies before has been given back
}

// punchStep is how much is given back at once.
const punchStep = 16 << 20

// Read implements io.Reader.
func (p *punchingReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if p.at += int64(n); p.at-p.from >= punchStep {
		to := p.at &^ (punchStep - 1)
		punch(p.file, p.from, to-p.from)
		p.from = to
	}
	return n, err
}
