package pack

import (
	"bytes"
	"crypto/md5" // Debian packages list it
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"path"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// Most formats have one checksum behind all files, and zstd in rpms has none at all. So a walk that
// ends early, or reads such a payload, would take a damaged file for a whole one. But packages list a
// checksum of each file, in front of the files.

// maxSums bounds a list of checksums, in bytes. A longer one is left out, as if the package had none.
const maxSums = 32 << 20

// sums are the checksums of a package's files.
type sums struct {
	name string // of the algorithm; "" if the package has no sums that are known here
	new  func() hash.Hash
	hex  map[string]string // by the name of the file, as in File
	all  bool              // a file without an entry is not a file of the package
}

// setMD5 takes the lines of md5sums in a Debian package: 32 digits, two spaces, the name.
func (s *sums) setMD5(text string) {
	*s = sums{name: "MD5", new: md5.New, hex: map[string]string{}}
	for line := range strings.Lines(text) {
		if sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  "); ok {
			s.hex[path.Clean(name)] = sum
		}
	}
}

// setDigests takes the digests of an rpm's files, of which names has the names from the root. An rpm lists
// all of its files, and one without contents has the digest "".
func (s *sums) setDigests(algorithm uint32, names, digests []string) {
	if *s = (sums{}); len(names) == 0 || len(names) != len(digests) {
		return
	}
	s.hex, s.all = make(map[string]string, len(names)), true
	switch algorithm { // numbers of OpenPGP
	case 1:
		s.name, s.new = "MD5", md5.New
	case 8:
		s.name, s.new = "SHA-256", sha256.New
	case 10:
		s.name, s.new = "SHA-512", sha512.New
	default:
		return
	}
	for i, name := range names {
		s.hex[strings.TrimPrefix(path.Clean(name), "/")] = digests[i]
	}
}

// check returns a reader of the file called name, in which r has the contents: it ends with a
// *FileDamage if they do not have the file's checksum. It is r itself if the package lists none.
func (s *sums) check(name string, r io.Reader) io.Reader {
	if s.name == "" {
		return r
	}
	digits, ok := s.hex[name]
	if !ok && s.all {
		return failingReader{&FileDamage{fmt.Errorf("%s is not in the list of files", message.OneLine(shorten(name)))}}
	}
	want, err := hex.DecodeString(digits)
	h := s.new()
	if err != nil || len(want) != h.Size() {
		return r
	}
	return &summedReader{r, h, want, fmt.Errorf("%s is damaged: the package lists another %s for it", message.OneLine(shorten(name)), s.name)}
}

// summedReader compares what is read with a checksum.
type summedReader struct {
	r      io.Reader
	h      hash.Hash
	want   []byte
	damage error
}

// Read implements io.Reader.
func (s *summedReader) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	_, _ = s.h.Write(b[:n])
	if err == io.EOF && !bytes.Equal(s.h.Sum(nil), s.want) {
		err = &FileDamage{s.damage}
	}
	return n, err
}

// failingReader gives nothing but an error.
type failingReader struct{ err error }

// Read implements io.Reader.
func (f failingReader) Read([]byte) (int, error) { return 0, f.err }
