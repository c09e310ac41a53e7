package main

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// stream is the standard output or the standard error. If the program that reads it has
// ended, as head does, the runtime of Go ends this process by SIGPIPE within a write, and
// temporary files would stay behind. So as soon as there may be one, the guard catches
// SIGPIPE. The write returns an error then, and the guard removes the files and ends the
// process by SIGPIPE after all. Writes to other pipes only return the error.
type stream struct {
	to    *os.File
	guard *guard
}

// stream returns w with the guard, if it is a file.
func (g *guard) stream(w io.Writer) io.Writer {
	if f, ok := fileOf(w); ok {
		return &stream{f, g}
	}
	return w
}

// fileOf returns the file of a stream.
func fileOf(w io.Writer) (*os.File, bool) {
	if s, ok := w.(*stream); ok {
		return s.to, true
	}
	f, ok := w.(*os.File)
	return f, ok
}

// Write implements io.Writer.
func (s *stream) Write(b []byte) (int, error) {
	s.guard.meter.Load().hide()
	n, err := s.to.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		s.guard.endWith(&ending{syscall.SIGPIPE.String(), s.dieOfPipe})
	}
	return n, err
}

// dieOfPipe ends the process after a write that nobody reads: it writes again, now with the end that Go
// gives that. A SIGPIPE that a process sends itself would be ignored.
func (s *stream) dieOfPipe() {
	signal.Reset(syscall.SIGPIPE)
	s.to.WriteString("\n")
	os.Exit(exitFailure)
}
