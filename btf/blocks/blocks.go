// Package blocks writes text that is collected elsewhere, in whole blocks.
//
// The stable API is package btflite. What it does not use of this package may change.
package blocks

import "io"

// Size is how much text is collected before it is written, and a multiple of the
// blocks of file systems: whole blocks cost them two thirds of what others do.
const Size = 64 << 10

// Buffer is an empty buffer for text. It has room for what comes between two looks at
// how much there is.
func Buffer() []byte { return make([]byte, 0, Size+4<<10) }

// Writer writes text to W. Users keep the text in a buffer of their own, as they add to
// it all the time.
type Writer struct {
	W       io.Writer
	Err     error // the first one
	Written int   // bytes that have left buffers, even after an error
}

// Whole writes the whole blocks of buf and returns the rest, at the start of buf.
func (w *Writer) Whole(buf []byte) []byte { return w.write(buf, len(buf)/Size*Size) }

// All writes buf and returns it, empty.
func (w *Writer) All(buf []byte) []byte { return w.write(buf, len(buf)) }

func (w *Writer) write(buf []byte, n int) []byte {
	w.Written += n
	if w.Err == nil && n > 0 {
		_, w.Err = w.W.Write(buf[:n])
	}
	return buf[:copy(buf, buf[n:])]
}
