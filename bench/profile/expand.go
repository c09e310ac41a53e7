package main

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/ulikunitz/xz"

	"github.com/btflite/btflite/internal/xzfile"
)

// packedPart is how much of a kernel is packed, in bytes. Packing is slow, and a megabyte of debug
// information takes the decoder through all of its code.
const packedPart = 8 << 20

// pack packs the middle of a kernel, which is debug information, as packages are.
func pack(kernel string) ([]byte, error) {
	f, err := os.Open(kernel)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := xz.NewWriter(&b) // with a CRC64
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(w, io.NewSectionReader(f, info.Size()/2, packedPart))
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

// expand unpacks what pack has packed, as the command archive does.
func expand(packed []byte) error {
	const window = 64 << 20
	r, err := xzfile.NewReader(bytes.NewReader(packed), window)
	if err == nil {
		_, err = io.Copy(io.Discard, struct{ io.Reader }{r})
	}
	return err
}
