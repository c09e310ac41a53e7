package elfwrite

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// maxXattr is the kernel's limit for the value of an extended attribute and
// for the list of names, in bytes (XATTR_SIZE_MAX, XATTR_LIST_MAX).
const maxXattr = 64 << 10

// copyXattrs copies the extended attributes that dst may be given. Those that
// sign or hash the contents do not fit the new ones and are left out.
func copyXattrs(dst, src *os.File) {
	list := make([]byte, maxXattr)
	n, err := unix.Flistxattr(int(src.Fd()), list)
	if err != nil || n <= 0 {
		return
	}
	value := make([]byte, maxXattr)
	for name := range bytes.SplitSeq(list[:n], []byte{0}) {
		attr := string(name)
		if attr == "" || attr == "security.ima" || attr == "security.evm" {
			continue
		}
		if n, err := unix.Fgetxattr(int(src.Fd()), attr, value); err == nil {
			_ = unix.Fsetxattr(int(dst.Fd()), attr, value[:n], 0)
		}
	}
}
