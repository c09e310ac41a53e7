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

// standardOutput is os.Stdout, or a file that takes nothing if the standard output is
// closed: a command that cannot print what it was asked for has failed.
func standardOutput() *os.File {
	if isClosed(1) {
		if f, err := os.Open(os.DevNull); err == nil {
			return f // for reading alone, so that each write is an error (EBADF), as with the closed one
		}
	}
	return os.Stdout
}

// isClosed reports whether a standard stream was closed when the program began. Before
// any code of a program runs, Go's runtime puts /dev/null in the place of a closed one,
// for reading and writing. A shell opens it for one of the two, but some programs that
// throw output away open it for both, like Python's subprocess.DEVNULL, and nothing
// tells such a stream from a closed one. So the parent decides: a stream is closed if it
// is closed in the parent too, or if the parent is a program that would have opened
// /dev/null in another way, and did not inherit this one.
func isClosed(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return false
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR || st.Rdev != unix.Mkdev(1, 3) {
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

// modeOf is how a descriptor was opened, from its file in fdinfo.
func modeOf(fdinfo string) int {
	_, rest, _ := strings.Cut(fdinfo, "flags:\t")
	digits, _, _ := strings.Cut(rest, "\n")
	flags, err := strconv.ParseInt(digits, 8, 64)
	if err != nil {
		return -1
	}
	return int(flags & unix.O_ACCMODE)
}

// closers are the names of programs that open /dev/null for reading or for writing, and
// close a stream if they are told to.
var closers = []string{"sh", "bash", "dash", "ash", "busybox", "ksh", "ksh93", "mksh", "zsh", "fish", "yash", "make", "gmake"}
