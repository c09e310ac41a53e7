//go:build unix

package draft

import (
	"errors"
	"os"
	"syscall"
)

// SyncDir makes a rename in the folder dir last. File systems that cannot synchronise a
// folder are taken as they are.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		// A folder that may be written but not read cannot be opened.
		if errors.Is(err, os.ErrPermission) {
			return nil
		}
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
