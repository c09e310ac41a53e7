package memgroup

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Evict drops the pages of a file from the page cache, so that whoever reads it next reads from
// disk and is charged for the pages. Pages that some process has mapped stay.
func Evict(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	// A file that was just written has dirty pages, which are not dropped.
	if err := unix.Fdatasync(int(f.Fd())); err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return fmt.Errorf("drop the pages of %s: %w", path, err)
	}
	return nil
}
