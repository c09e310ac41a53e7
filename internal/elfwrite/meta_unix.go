//go:build unix

package elfwrite

import (
	"fmt"
	"os"
	"syscall"
)

// linkCount returns the number of names of the file.
func linkCount(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// copyOwner gives f the owner and group in info. It fails when the process may
// not do so: a file that silently changes hands is worse.
func copyOwner(f *os.File, info os.FileInfo) error {
	want, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	now, err := f.Stat()
	if err != nil {
		return err
	}
	if have, ok := now.Sys().(*syscall.Stat_t); ok && have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	if err := f.Chown(int(want.Uid), int(want.Gid)); err != nil {
		return fmt.Errorf("cannot keep the owner %d:%d: %w", want.Uid, want.Gid, err)
	}
	return nil
}
