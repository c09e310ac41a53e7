package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/btflite/btflite/internal/message"
)

// How many bytes Ends reads. The first have the digests that a Debian package and an rpm have of their files, or the
// time of the first file of a tar archive. The last have the checksum or the sizes of what is compressed.
const (
	headOfEnds = 64 << 10
	tailOfEnds = 4 << 10
)

// Ends returns a checksum of the first and the last bytes of a package of that size, in hex. It tells packages of one
// name and one size apart in the time that opening them takes.
func Ends(r io.ReaderAt, size int64) (string, error) {
	sum := sha256.New()
	head := min(size, headOfEnds)
	tail := max(head, size-tailOfEnds)
	for _, part := range []*io.SectionReader{io.NewSectionReader(r, 0, head), io.NewSectionReader(r, tail, size-tail)} {
		if _, err := io.Copy(sum, part); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Ends returns the checksum Ends of the package; "" for folders and streams.
func (p *Package) Ends() (string, error) {
	if p.file == nil {
		return "", nil
	}
	ends, err := Ends(p.file, p.Size)
	return ends, message.FileError(p.Path, "cannot read", err)
}
