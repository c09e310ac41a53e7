package draft

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openFiles has a link to each open file of the process. Tests replace it.
var openFiles = "/proc/self/fd"

// openNameless opens a new file without a name, which is gone when the process ends, however it
// ends. Some file systems, as NFS, have no such files. Below a chroot without /proc, no name could be given
// to them.
func openNameless(dir string, mode fs.FileMode) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_RDWR|unix.O_TMPFILE|unix.O_CLOEXEC, uint32(mode))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	f := os.NewFile(uintptr(fd), dir)
	if _, err := os.Lstat(openFile(f)); err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return f, nil
}

// openFile returns the path of an open file.
func openFile(f *os.File) string { return fmt.Sprintf("%s/%d", openFiles, f.Fd()) }

// linkNameless gives the file a name, unless that is taken.
func linkNameless(f *os.File, name string) error {
	err := unix.Linkat(unix.AT_FDCWD, openFile(f), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
	if err != nil {
		return &os.LinkError{Op: "link", Old: openFile(f), New: name, Err: err}
	}
	return nil
}

// renameNew renames a file, unless the new name is taken.
func renameNew(from, to string) error {
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
}
