//go:build !linux

package draft

import (
	"errors"
	"io/fs"
	"os"
)

// openNameless, linkNameless and renameNew need calls that only Linux has.
func openNameless(string, fs.FileMode) (*os.File, error) { return nil, errors.ErrUnsupported }
func linkNameless(*os.File, string) error                { return errors.ErrUnsupported }
func renameNew(string, string) error                     { return errors.ErrUnsupported }
