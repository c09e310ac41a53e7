package archive

import (
	"io"

	"github.com/klauspost/compress/zstd"
)

// Form is how BTF is stored. Equal BTF becomes equal bytes.
type Form uint8

// The forms.
const (
	Raw  Form = iota // RELEASE.btf
	Zstd             // RELEASE.btf.zst
)

// suffix ends the names of files.
func (f Form) suffix() string { return [...]string{".btf", ".btf.zst"}[f] }

// write writes the BTF of what is called name.
func (f Form) write(w io.Writer, name string, write func(io.Writer) error) error {
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
