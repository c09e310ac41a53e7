package pack

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
)

// tail is the end of an archive in a file: offset o of the archive is offset o - from of the file. What
// lies before begin is not there yet.
type tail struct {
	tailFormat
	file             *os.File
	from, begin, end int64
	likely           func(name string, size int64, head []byte) bool
	// left is how many headers may still be looked at: contents of files may look like chains of
	// headers, one in the other.
	left int64
}

// tailFormat is a format of archives whose headers can be told from other bytes.
type tailFormat struct {
	align int64 // headers are at multiples of it
	// header reads the header that b begins with, which may be cut. more is how many bytes there
	// are from it on.
	header func(b []byte, more int64) (h tailHeader, ok bool)
	walk   func(w *walk, r io.Reader) error
}

// tailHeader is a header of an archive.
type tailHeader struct {
	name     string // without folders that are elsewhere in the header; "" if it does not have the whole name
	size     int64  // of the contents
	contents int    // offset of them from the header
	next     int64  // offset of the next header
	end      bool   // nothing follows it but what fills up the archive
}

// maxTailHeader is how many bytes of a header, with the name, and of the contents behind it are looked at.
const maxTailHeader = 8 << 10

// search looks for the last header of a file that is wanted between the offset and what was searched
// before, and returns its offset, or -1. Contents of files may look like headers, so from a header
// others must lead to the end of the archive.
func (t *tail) search(from int64) (int64, error) {
	const step = 1 << 20
	buf := make([]byte, step+maxTailHeader)
	lowest := (from + t.align - 1) &^ (t.align - 1)
	hi := (t.begin + t.align - 1) &^ (t.align - 1)
	t.begin = from
	for lo := hi; hi > lowest; hi = lo {
		lo = max(hi-step, lowest)
		n, err := t.file.ReadAt(buf[:hi-lo+maxTailHeader], lo-t.from)
		if err != nil && err != io.EOF {
			return -1, err
		}
		for at := hi - t.align; at >= lo; at -= t.align {
			b := buf[min(int(at-lo), n):n]
			h, ok := t.header(b, t.end-at)
			if !ok || h.end || h.name == "" || h.contents > len(b) || !t.likely(h.name, h.size, b[h.contents:min(h.contents+headSize, len(b))]) {
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
func (t *tail) leadsToEnd(at int64) (bool, error) {
	b := make([]byte, maxTailHeader)
	for ; at < t.end && t.left > 0; t.left-- {
		n, err := t.file.ReadAt(b, at-t.from)
		if err != nil && err != io.EOF {
			return false, err
		}
		h, ok := t.header(b[:n], t.end-at)
		if !ok || h.end {
			return ok, nil
		}
		at += h.next
	}
	return at == t.end, nil
}

// tailOfTar is for tar archives.
var tailOfTar = tailFormat{align: tarBlock, header: tarHeader, walk: (*walk).tar}

// tarHeader is tailFormat.header for tar.
func tarHeader(b []byte, more int64) (h tailHeader, ok bool) {
	if len(b) < tarBlock {
		return h, false
	}
	if string(b[257:262]) != "ustar" {
		// What follows the end of an archive fills up its last record.
		const record = 20 * tarBlock
		return tailHeader{end: true}, more <= 2*record && bytes.Count(b[:tarBlock], []byte{0}) == tarBlock
	}
	want, err := octal(b[148:156])
	if err != nil {
		return h, false
	}
	sum := int64(0)
	for i, c := range b[:tarBlock] {
		if i >= 148 && i < 156 {
			c = ' '
		}
		sum += int64(c)
	}
	if sum != want {
		return h, false
	}
	if b[124]&0x80 != 0 { // a number of 95 bits, which no file of a package needs
		return h, false
	}
	if h.size, err = octal(b[124:136]); err != nil || h.size < 0 {
		return h, false
	}
	switch b[156] {
	case '1', '2', '3', '4', '5', '6': // links, devices, folders: their size means nothing
		h.size = 0
	}
	if name, _, whole := bytes.Cut(b[:100], []byte{0}); whole { // else the header before it may have the name
		h.name = string(name)
	}
	h.contents, h.next = tarBlock, tarBlock+(h.size+tarBlock-1)&^(tarBlock-1)
	return h, true
}

// tailOfCpio is for cpio archives.
var tailOfCpio = tailFormat{align: 4, header: cpioTailHeader, walk: (*walk).cpio}

// cpioTailHeader is tailFormat.header for cpio.
func cpioTailHeader(b []byte, more int64) (h tailHeader, ok bool) {
	if len(b) < cpioHeader || string(b[:6]) != cpioMagic && string(b[:6]) != cpioSums {
		return h, false
	}
	numbers, bad := cpioNumbers(b[:cpioHeader])
	mode, size, nameLen := numbers[1], numbers[6], numbers[11]
	if bad != 0 || nameLen < 1 || nameLen > int64(len(b)-cpioHeader) || b[cpioHeader+nameLen-1] != 0 {
		return h, false
	}
	h.name = string(b[cpioHeader:][:nameLen-1])
	if h.name == cpioEnd {
		return tailHeader{end: true}, more <= maxTailHeader
	}
	h.contents = int(cpioHeader+nameLen+3) &^ 3
	h.next = int64(h.contents) + (size+3)&^3
	if mode&fileKind == regularFile {
		h.size = size
	}
	return h, true
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
