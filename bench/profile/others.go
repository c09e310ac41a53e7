package main

// What is in the profile beside encoding: readers of types, and the decoder of xz.

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/dump"
	"github.com/btflite/btflite/btf/funcs"
	"github.com/btflite/btflite/btf/show"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/xzfile"
	"github.com/ulikunitz/xz"
)

// readAll prints all types of BTF in each way, as the commands that read do.
func readAll(data []byte) error {
	for _, print := range []func(*btf.Blob) error{
		func(b *btf.Blob) error {
			return show.New(io.Discard, view.New(b), show.Options{}).List(&show.Filter{}, show.Text, "")
		},
		func(b *btf.Blob) error { return dump.Raw(io.Discard, b, nil) },
		func(b *btf.Blob) error { return dump.C(io.Discard, b, dump.COptions{}) },
		func(b *btf.Blob) error { return dump.JSON(io.Discard, b, nil, dump.Compact) },
		prototypes,
	} {
		blob, err := btf.ParseShared(data, nil) // what has been found once is found again, as in a new process
		if err != nil {
			return err
		}
		if err := print(blob); err != nil {
			return err
		}
	}
	return nil
}

// prototypes prints the functions.
func prototypes(b *btf.Blob) error {
	var style funcs.Style
	var buf []byte
	for f := range funcs.New(view.New(b)).Own() {
		buf = style.AppendPrototype(buf[:0], f)
	}
	return nil
}

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
