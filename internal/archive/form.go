package archive

import (
	"io"
	"os"
	"path/filepath"

	"github.com/btflite/btflite/internal/message"
	"github.com/klauspost/compress/zstd"
)

// Form is how BTF is stored. Equal BTF becomes equal bytes.
type Form uint8

// The forms.
const (
	Raw  Form = iota // RELEASE.btf
	Zstd             // RELEASE.btf.zst
)

// suffixes end the names of files, by Form.
var suffixes = [...]string{".btf", ".btf.zst"}

func (f Form) suffix() string { return suffixes[f] }

// write writes the BTF of what is called name, which has size bytes.
func (f Form) write(w io.Writer, name string, size int64, write func(io.Writer) error) error {
	if f == Raw {
		return write(w)
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if err := write(z); err != nil {
		z.Close()
		return err
	}
	return z.Close()
}

// openStored opens the file of BTF that the archive has at a path. It is compressed by what its first
// bytes say, or not at all.
func (a *Archive) openStored(name string) (*os.File, error) {
	at := filepath.Join(a.Dir, filepath.FromSlash(name))
	f, err := os.Open(at)
	return f, message.FileError(at, "cannot read", err)
}
