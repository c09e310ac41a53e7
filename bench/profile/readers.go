package main

import (
	"io"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/dump"
	"github.com/btflite/btflite/btf/funcs"
	"github.com/btflite/btflite/btf/show"
	"github.com/btflite/btflite/btf/view"
)

// readAll prints all types of BTF in each way, as the commands that read do.
func readAll(data []byte) error {
	for _, print := range []func(*btf.Blob) error{
		func(b *btf.Blob) error { return show.New(io.Discard, view.New(b), show.Options{}).All() },
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
