//go:build unix

package fileid

import (
	"os"
	"syscall"
)

// NoFollow is the flag with which an open fails if the name is a link.
const NoFollow = syscall.O_NOFOLLOW

// number returns the numbers of the file and of its file system.
func number(info os.FileInfo) (dev, ino uint64, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return uint64(st.Dev), uint64(st.Ino), true
}

// IsOwn reports whether the file belongs to the user who runs this process.
func IsOwn(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
