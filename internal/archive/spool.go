package archive

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime/debug"

	"github.com/btflite/btflite/internal/draft"
	"github.com/btflite/btflite/internal/memlimit"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/internal/pack"
)

// peekHeader reads the header of a file, which may be shorter.
func peekHeader(f *pack.File) ([]byte, error) {
	head := make([]byte, headerSize)
	n, err := io.ReadFull(f, head)
	if damage := new(pack.FileDamage); err == io.EOF || err == io.ErrUnexpectedEOF || errors.As(err, &damage) {
		err = nil // it is shorter than a header
	}
	return head[:n], err
}

// copyBuffer is how much is copied at once.
const copyBuffer = 256 << 10

// temporary makes a file without a name in the folder for such files.
func (w *adding) temporary() (*os.File, error) {
	dir := cmp.Or(w.Temp, w.Dir)
	f, err := draft.Unnamed(dir, 0o600)
	if err != nil {
		return nil, &noTemporary{message.FileError(dir, "cannot make a temporary file", err)}
	}
	return f, nil
}

// spool copies a file of a package, whose header has been read, to a file that has no name and is
// gone when it is closed: the headers of an ELF file are at its end.
func (w *adding) spool(head []byte, f *pack.File) (*os.File, error) {
	to, err := w.temporary()
	if err != nil {
		return nil, err
	}
	_, err = to.Write(head)
	if err == nil {
		_, err = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{f}, make([]byte, copyBuffer))
	}
	if err != nil {
		to.Close()
		if at := new(fs.PathError); errors.As(err, &at) && at.Path == to.Name() {
			err = message.FileError(at.Path, "cannot write a temporary file", err)
		}
		return nil, err
	}
	if info, err := to.Stat(); err == nil {
		makeRoom(info.Size())
	}
	return to, nil
}

// largeFile is the size of an ELF file, in bytes, from which it pays to make room before it is encoded:
// that takes some milliseconds.
const largeFile = 64 << 20

// makeRoom gives back garbage, and the code of what has expanded the package, before a large file of
// size bytes takes memory. That makes the peak some mebibytes lower.
func makeRoom(size int64) {
	if size >= largeFile {
		debug.FreeOSMemory()
		memlimit.DropCode()
	}
}
