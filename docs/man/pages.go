// Package man holds the manual pages of btflite. A test of cmd/btflite writes
// them: the options are those of the program, all else is in the .md files here.
package man

import "embed"

//go:embed *.1
var pages embed.FS

// Page is the page of the command with that name, of btflite itself for "". It is
// an error if there is none.
func Page(command string) ([]byte, error) { return pages.ReadFile(File(command)) }

// File is the name of the file of a page.
func File(command string) string {
	if command == "" {
		return "btflite.1"
	}
	return "btflite-" + command + ".1"
}
