//go:build !unix

package main

import "os"

// isTerminal is false where we do not know: no progress is shown.
func isTerminal(*os.File) bool { return false }

// columns is 0: we do not know.
func columns(*os.File) int { return 0 }
