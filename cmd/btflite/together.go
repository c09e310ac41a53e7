package main

import (
	"errors"
	"io"

	"github.com/btflite/btflite/internal/message"
)

// output is one of the outputs of a run.
type output struct {
	to      *target // nil if content prints to a stream of its own and names it in errors
	content func(io.Writer) error
	late    bool // the content tells of the other outputs
}

// outputError is the error of one of several outputs.
type outputError struct {
	to *target
	error
}

func (e *outputError) Unwrap() error { return e.error }

// writeTogether writes all outputs, or none: every file is complete and on the disk before the first
// one is put in place. Streams and devices come before that too, as far as they take what is
// written. Late outputs are made when all others are complete.
//
// inPlace, if it is set, replaces one more file. It calls first when the new file is complete, and
// gives up if first fails.
func writeTogether(g *guard, outs []output, inPlace func(first func() error) error) (err error) {
	defer discardAll(g, outs)
	if err := prepareAll(g, outs, false); err != nil {
		return err
	}
	first := func() error {
		if err := prepareAll(g, outs, true); err != nil {
			return err
		}
		for _, o := range outs {
			if err := o.writeDirect(); err != nil {
				return err
			}
		}
		return nil
	}
	if inPlace == nil {
		err = first()
	} else {
		err = inPlace(first)
	}
	for i := 0; i < len(outs) && err == nil; i++ {
		if to := outs[i].to; to != nil && to.file != "" {
			err = to.failure(to.put(g))
		}
	}
	return err
}

// discardAll removes the drafts of outputs that are not in place.
func discardAll(g *guard, outs []output) {
	for _, o := range outs {
		o.to.discard(g)
	}
}

// prepareAll makes the drafts of all files that are late, or of all others.
func prepareAll(g *guard, outs []output, late bool) error {
	for i := range outs {
		o := &outs[i]
		if o.late != late || o.to == nil || o.to.file == "" {
			continue
		}
		if o.to.draft == nil {
			o.to.prepare(g, o.content)
		}
		o.content = nil // it is on the disk, and a run over thousands of kernels has thousands of outputs
		if err := o.to.draft.err; err != nil {
			return o.to.failure(err)
		}
	}
	return nil
}

// writeDirect writes an output that is not a file.
func (o *output) writeDirect() error {
	switch {
	case o.to == nil:
		return o.content(nil)
	case o.to.file == "":
		return o.to.failure(o.to.writeDirect(o.content))
	}
	return nil
}

// failure is the error for err, which came from writing t; nil for none.
func (t *target) failure(err error) error {
	if err == nil {
		return nil
	}
	return &outputError{t, message.FileError(t.path, "cannot write", err)}
}

// failed reports whether err came from writing t.
func (t *target) failed(err error) bool {
	of := new(outputError)
	return errors.As(err, &of) && of.to == t
}
