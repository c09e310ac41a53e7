package pack

import (
	"os"

	"golang.org/x/sys/unix"
)

// punch gives back the room that size bytes of a file take. Where that cannot be, they stay.
func punch(f *os.File, at, size int64) {
	_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at, size)
}
