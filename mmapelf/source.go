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
	Size   int64       // of what Reader has, in bytes; of no use for an *os.File
}

// InMemory tells whether the source is bytes, so that no other file lies beside it.
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
		data, err := s.read()
		if err != nil {
			return nil, pathError(s.Path, err)
		}
		return New(s.Path, data)
	}
	return Open(s.Path)
}

// Bytes are those of a source in memory; an *os.File is read.
func (s *Source) Bytes() ([]byte, error) {
	if s.Data != nil {
		return s.Data, nil
	}
	if file, ok := s.Reader.(*os.File); ok {
		info, err := file.Stat()
		if err != nil {
			return nil, err
		}
		s.Size = info.Size()
	}
	data, err := s.read()
	if err != nil {
		return nil, pathError(s.Path, err)
	}
	return data, nil
}

// read reads all that Reader has.
func (s *Source) read() ([]byte, error) {
	if s.Size < 0 || int64(int(s.Size)) != s.Size {
		return nil, fmt.Errorf("%d bytes cannot be in memory", s.Size)
	}
	data := make([]byte, s.Size)
	for at := 0; at < len(data); {
		step := data[at:min(at+readStep, len(data))]
		n, err := s.Reader.ReadAt(step, int64(at))
		if at += n; n < len(step) && err != nil {
			return nil, fmt.Errorf("cannot read byte %d of %d: %w", at, len(data), err)
		}
	}
	return data, nil
}
