//go:build unix

package draft

import (
	"errors"
	"os"
	"syscall"
)

// SyncDir makes a rename in the folder dir last. File systems that cannot synchronise a
// folder are taken as they are. An error is a *NotSynced.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		// A folder that may be written but not read cannot be opened.
		if errors.Is(err, os.ErrPermission) {
			return nil
		}
		return notSynced(err)
	}
	defer d.Close()
	err = d.Sync()
	if err == nil || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return notSynced(err)
}

// notSynced makes the error of err, from which it drops the call and the path: they are about the folder.
func notSynced(err error) error {
	var call *os.PathError
	if errors.As(err, &call) {
		err = call.Err
	}
	return &NotSynced{err}
}
