//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// isTerminal tells whether f is a terminal: only those have a window size.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// columns is how wide the terminal is, 0 if it does not tell.
func columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
