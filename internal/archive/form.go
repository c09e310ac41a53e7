package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"math/bits"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/internal/xzfile"
)

// Form is how BTF is stored. Equal BTF of one name becomes equal bytes.
type Form uint8

// The forms.
const (
	Raw   Form = iota // RELEASE.btf
	Zstd              // RELEASE.btf.zst
	TarXZ             // RELEASE.btf.tar.xz with the file RELEASE.btf, as in BTFHub
)

// suffixes end the names of files, by Form.
var suffixes = [...]string{".btf", ".btf.zst", ".btf.tar.xz"}

func (f Form) suffix() string { return suffixes[f] }

// withoutForm returns the path of a file of BTF without the suffix of its form.
func withoutForm(name string) string {
	for _, s := range suffixes {
		if rest, ok := strings.CutSuffix(name, s); ok {
			return rest
		}
	}
	return name
}

// write writes the BTF of a kernel or module called name, which has size bytes, in this form.
func (f Form) write(w io.Writer, name string, size int64, write func(io.Writer) error) error {
	switch f {
	case Zstd:
		z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		return errors.Join(write(z), z.Close())
	case TarXZ:
		return writeTarXZ(w, name+suffixes[Raw], size, write)
	}
	return write(w)
}

// Dictionaries of xz. The writer takes six bytes of memory for each of theirs. BTF of a kernel has
// several megabytes, and a dictionary of that size saves only a few percent.
const (
	leastDict, mostDict = 1 << 16, 1 << 21
	// readDict is the largest dictionary with which we read what writeTarXZ or BTFHub has written.
	readDict = 128 << 20
)

// writeTarXZ writes a tar archive of one file. Nothing in it depends on when and by whom it is made.
func writeTarXZ(w io.Writer, name string, size int64, write func(io.Writer) error) error {
	z, err := xz.WriterConfig{DictCap: min(max(1<<bits.Len64(uint64(size)), leastDict), mostDict)}.NewWriter(w)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	if err = t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: contentsMode}); err == nil {
		err = write(t)
	}
	return errors.Join(err, t.Close(), z.Close())
}

// openStored opens the BTF of a kernel in the archive. From a tar archive in xz, it unpacks the BTF into a
// temporary file. Other forms are opened as they are, and whoever reads them expands them.
func (w *adding) openStored(k *KernelRecord) (*os.File, error) {
	if err := w.intact(k.BTF, k.SHA256); err != nil {
		return nil, err
	}
	at := PathOf(w.Dir, k.BTF)
	f, err := os.Open(at)
	if err != nil {
		return nil, message.FileError(at, "cannot read", err)
	}
	head := make([]byte, len(xzMagic))
	if n, _ := f.ReadAt(head, 0); !bytes.Equal(head[:n], []byte(xzMagic)) {
		return f, nil
	}
	defer f.Close()
	to, err := w.temporary()
	if err != nil {
		return nil, err
	}
	if err := unpackOne(to, f); err != nil {
		to.Close()
		return nil, &ownDamage{message.FileError(at, "cannot read", err)}
	}
	return to, nil
}

// xzMagic begins xz.
const xzMagic = "\xfd7zXZ\x00"

// maxStored bounds what a file of the archive expands to, in bytes.
const maxStored = 1 << 30

// unpackOne writes the first file of a tar archive in xz.
func unpackOne(to io.Writer, from io.Reader) error {
	x, err := xzfile.NewReader(from, readDict)
	if err != nil {
		return err
	}
	t := tar.NewReader(io.LimitReader(x, maxStored))
	if _, err = t.Next(); err == nil {
		_, err = io.Copy(to, t)
	}
	if err == io.EOF {
		err = errors.New("it has no file")
	}
	return err
}
