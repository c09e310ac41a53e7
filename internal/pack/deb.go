package pack

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// A Debian package is an ar archive (ar(5), deb(5)) of the members debian-binary, control.tar, and
// data.tar, the last two of any compression. The names of other members begin with "_".

// arMagic begins an ar archive.
const arMagic = "!<arch>\n"

// arHeader is the size of the header of a member: a name of 16 bytes, times and owners, the size
// in ten decimal digits, and the two bytes of arEnd.
const (
	arHeader = 60
	arEnd    = "`\n"
)

// arMember reads the header of a member; io.EOF is the end of the archive.
func arMember(r io.Reader) (name string, size int64, err error) {
	var head [arHeader]byte
	if n, err := io.ReadFull(r, head[:]); err != nil {
		if n == 0 && err == io.EOF {
			return "", 0, io.EOF
		}
		return "", 0, cutShort("the header of a member", err)
	}
	if string(head[58:]) != arEnd {
		return "", 0, errors.New("the header of a member has no end mark")
	}
	name = strings.TrimSuffix(strings.TrimRight(string(head[:16]), " "), "/")
	size, err = strconv.ParseInt(strings.TrimRight(string(head[48:58]), " "), 10, 64)
	if err != nil || size < 0 {
		return "", 0, fmt.Errorf("the size of member %q is not a number", name)
	}
	return name, size, nil
}

// cutShort says that what ends too early, if err says so.
func cutShort(what string, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%s is cut short", what)
	}
	return err
}

// deb walks over a Debian package, which begins with arMagic.
func (w *walk) deb(in *bufio.Reader) error {
	_, err := in.Discard(len(arMagic))
	at := int64(len(arMagic)) // of the next header
	for err == nil {
		var name string
		var size int64
		if name, size, err = arMember(in); err == nil {
			err = w.meter.entry(name)
			name = message.OneLine(name)
		}
		if err != nil {
			break
		}
		switch member := bufio.NewReaderSize(&wholeReader{r: in, left: size}, bufferSize); {
		case name == "control.tar" || strings.HasPrefix(name, "control.tar."):
			all := *w
			all.search = nil // it is read from its beginning
			err = all.compressed(member, name, -1, 0, all.control)
		case name == "data.tar" || strings.HasPrefix(name, "data.tar."):
			return w.compressed(member, name, at+arHeader, size, w.tar)
		}
		if at += arHeader + size + size&1; err == nil {
			_, err = io.CopyN(io.Discard, in, at-w.consumed(in))
			err = cutShort("member "+strconv.Quote(name), err)
		}
	}
	if err == io.EOF {
		return errors.New("it has no member data.tar: no Debian package")
	}
	return err
}

// consumed returns how many bytes of the package were taken from in.
func (w *walk) consumed(in *bufio.Reader) int64 { return w.meter.in - int64(in.Buffered()) }

// maxControl bounds the file control, in bytes.
const maxControl = 1 << 20

// control reads the file control in control.tar: lines "Field: text". And it reads md5sums.
func (w *walk) control(r io.Reader) error {
	inner := walk{meter: w.meter, visit: func(f *File) error {
		switch {
		case f.Name == "md5sums" && f.Size <= maxSums:
			text, err := io.ReadAll(f)
			w.sums.setMD5(string(text))
			return err
		case f.Name != "control":
			return nil
		}
		text, err := io.ReadAll(io.LimitReader(f, maxControl))
		for line := range strings.Lines(string(text)) {
			field, value, _ := strings.Cut(line, ":")
			value = strings.TrimSpace(value)
			switch field {
			case "Package":
				w.info.Name = value
			case "Version":
				w.info.Version = value
			case "Architecture":
				w.info.Arch = value
			case "Maintainer":
				w.info.Vendor = value
			}
		}
		return err
	}}
	return inner.tar(r)
}

// wholeReader reads left bytes, and refuses an end before that.
type wholeReader struct {
	r    io.Reader
	left int64
}

// Read implements io.Reader.
func (l *wholeReader) Read(b []byte) (int, error) {
	if l.left == 0 {
		return 0, io.EOF
	}
	n, err := l.r.Read(b[:min(int64(len(b)), l.left)])
	l.left -= int64(n)
	if err == io.EOF && l.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
