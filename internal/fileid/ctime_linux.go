package fileid

import (
	"os"
	"syscall"
)

// changeTime is when the file or what is known of it has last changed, which nobody can
// set back.
func changeTime(info os.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return syscall.TimespecToNsec(st.Ctim)
	}
	return 0
}
