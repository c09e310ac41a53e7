package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/btflite/btflite/internal/expand"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/mmapelf"
)

// isPackedImage reports whether a file that begins with head is a boot image that is packed as a
// whole, such as Image.gz. A kernel or BTF may be packed, too.
func isPackedImage(path string, head []byte) bool {
	format := expand.Of(head)
	if format == nil {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	r, err := format.Open(f)
	if err != nil {
		return errors.Is(err, expand.ErrUnread)
	}
	defer r.Close()
	unpacked := make([]byte, armMagic+4)
	n, _ := io.ReadFull(r, unpacked)
	return isFlat(unpacked[:n])
}

// openPacked unpacks a kernel and opens the BTF in it, if it is an ELF file. Without
// one, raw.BTF are its bytes. A kernel build appends the unpacked size (sizeLen bytes), unless the
// format is gzip or the file stands alone, so both ways are tried.
func openPacked(path string, packed []byte) (raw loadbtf.Raw, done func(), err error) {
	format := expand.Of(packed)
	if format == nil {
		return raw, nil, errors.New("it is packed in an unknown way")
	}
	without := packed[:max(len(packed), sizeLen)-sizeLen]
	tries := [][]byte{without, packed}
	if format.Name == "gzip" {
		tries = [][]byte{packed, without}
	}
	for i, try := range tries {
		data, failed := unpack(format, try)
		if failed == nil {
			return loadbtf.Loader{AnyKind: true}.OpenBytes(mmapelf.Source{Path: path, Data: data})
		}
		if i == 0 {
			err = fmt.Errorf("%s: %w", format.Name, failed)
		}
	}
	return raw, nil, err
}

// unpack expands a kernel.
func unpack(format *expand.Format, packed []byte) ([]byte, error) {
	r, err := format.Open(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxImage+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxImage:
		return nil, fmt.Errorf("it unpacks to more than %d MiB", maxImage>>20)
	}
	return data, nil
}
