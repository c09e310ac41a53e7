package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// standardOutput returns os.Stdout or, if the standard output is closed, a file that
// cannot be written to: a command that cannot print its result has failed.
func standardOutput() *os.File {
	if isClosed(1) {
		if f, err := os.Open(os.DevNull); err == nil {
			return f // opened for reading, so each write fails with EBADF, as on a closed stream
		}
	}
	return os.Stdout
}

// isClosed reports whether a standard stream was closed when the program started. Before
// any code of a program runs, Go's runtime opens /dev/null in place of a closed one, for
// reading and writing. A shell opens it for one of the two, but some programs that
// discard output open it for both, like Python's subprocess.DEVNULL, and then the stream
// looks like a closed one. So the parent decides: a stream is closed if it is closed in
// the parent too, or if the parent is a program that would have opened /dev/null in
// another way, and did not inherit this one.
func isClosed(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return false
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR || uint64(st.Rdev) != unix.Mkdev(1, 3) {
		return false
	}
	parent, ok := processOf(os.Getppid())
	if !ok {
		return false
	}
	file := fmt.Sprintf("/proc/%d/%%s/%d", parent.pid, fd)
	info, err := os.ReadFile(fmt.Sprintf(file, "fdinfo"))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	to, err := os.Readlink(fmt.Sprintf(file, "fd"))
	inherited := to == os.DevNull && modeOf(string(info)) == unix.O_RDWR
	return err == nil && !inherited && slices.Contains(closers, parent.name)
}

// modeOf returns the mode in which a descriptor was opened, from its file in fdinfo.
func modeOf(fdinfo string) int {
	_, rest, _ := strings.Cut(fdinfo, "flags:\t")
	digits, _, _ := strings.Cut(rest, "\n")
	flags, err := strconv.ParseInt(digits, 8, 64)
	if err != nil {
		return -1
	}
	return int(flags & unix.O_ACCMODE)
}

// closers are the names of programs that open /dev/null only for reading or only for
// writing. They close a stream only on request.
var closers = []string{"sh", "bash", "dash", "ash", "busybox", "ksh", "ksh93", "mksh", "zsh", "fish", "yash", "make", "gmake"}
