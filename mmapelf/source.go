package mmapelf

import (
	"fmt"
	"io"
	"os"
)

// Source is where an ELF file is: a path or, with Data or Reader, bytes and a name
// for them.
type Source struct {
	Path   string      // of a file to map; else the name that errors have
	Data   []byte      // the bytes, which must not change while they are in use
	Reader io.ReaderAt // what reads the bytes; an *os.File is mapped
	Size   int64       // number of bytes in Reader; ignored for an *os.File
}

// Paths returns the sources at the paths.
func Paths(paths ...string) []Source {
	in := make([]Source, len(paths))
	for i, p := range paths {
		in[i].Path = p
	}
	return in
}

// InMemory reports whether the source is bytes and not a path, so that it has no folder
// to look for other files in.
func (s *Source) InMemory() bool { return s.Data != nil || s.Reader != nil }

// readStep is how many bytes are asked for at once.
const readStep = 1 << 20

// Open is Open for any source.
func (s *Source) Open() (*File, error) {
	switch file, ok := s.Reader.(*os.File); {
	case s.Data != nil:
		return New(s.Path, s.Data)
	case ok:
		return openFile(s.Path, file)
	case s.Reader != nil:
		data, done, err := s.Bytes()
		if err != nil {
			return nil, err
		}
		f, err := New(s.Path, data)
		if err != nil {
			done()
			return nil, err
		}
		f.freeData = done
		return f, nil
	}
	return Open(s.Path)
}

// Load reads a Reader into Data, which is valid until done is called. It does nothing for
// other sources, or if the Reader is an *os.File, which can be mapped.
func (s *Source) Load() (done func(), err error) {
	if _, ok := s.Reader.(*os.File); ok || s.Data != nil || s.Reader == nil {
		return func() {}, nil
	}
	s.Data, done, err = s.Bytes()
	s.Reader = nil
	return done, err
}

// Bytes returns the bytes of a source in memory, valid until done is called. A Reader is
// read into memory that done gives back at once.
func (s *Source) Bytes() (data []byte, done func(), err error) {
	if s.Data != nil {
		return s.Data, func() {}, nil
	}
	if file, ok := s.Reader.(*os.File); ok {
		info, err := file.Stat()
		if err := checkRegular(info, err); err != nil {
			return nil, nil, pathError(s.Path, err)
		}
		s.Size = info.Size()
	}
	if s.Size < 0 || int64(int(s.Size)) != s.Size {
		return nil, nil, pathError(s.Path, fmt.Errorf("%d bytes cannot be in memory", s.Size))
	}
	if data, done, err = reserve(int(s.Size)); err == nil {
		if err = s.read(data); err != nil {
			done()
		}
	}
	if err != nil {
		return nil, nil, pathError(s.Path, err)
	}
	return data, done, nil
}

// read fills data from Reader.
func (s *Source) read(data []byte) error {
	for at := 0; at < len(data); {
		step := data[at:min(at+readStep, len(data))]
		n, err := s.Reader.ReadAt(step, int64(at))
		if n < 0 || n > len(step) || n == 0 && err == nil { // against its contract
			n, err = 0, io.ErrNoProgress
		}
		if at += n; n < len(step) && err != nil {
			return fmt.Errorf("cannot read byte %d of %d: %w", at, len(data), err)
		}
	}
	return nil
}
