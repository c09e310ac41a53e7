// Package man holds the manual pages of btflite. A test of cmd/btflite writes
// them: it takes the options from the program, and the rest from the .md files here.
//
// The stable API is package btflite. What it does not use of this package may change.
package man

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
)

//go:embed *.1
var pages embed.FS

// Page is the page of the command with that name, of btflite itself for "", for man. It
// has the version and the date, either of which may be "". It is an error if there is
// no such page.
func Page(command, version, date string) ([]byte, error) {
	page, err := pages.ReadFile(File(command))
	if err != nil {
		return nil, err
	}
	return bytes.Replace(page, []byte(unversioned), fmt.Appendf(nil, ` "1" %q %q `, date, strings.TrimSpace("btflite "+version)), 1), nil
}

// unversioned stands in the pages in place of date and version.
const unversioned = ` "1" "" "btflite" `

// File is the name of the file of a page.
func File(command string) string {
	if command == "" {
		return "btflite.1"
	}
	return "btflite-" + command + ".1"
}
