//go:build !unix

package main

import "os"

// isTerminal returns false: it is unknown here, so no progress is shown.
func isTerminal(*os.File) bool { return false }

// columns returns 0: the width is unknown here.
func columns(*os.File) int { return 0 }
