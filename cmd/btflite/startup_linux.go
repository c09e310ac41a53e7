package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

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

// If Go's runtime gets no thread, descriptor or address space, it ends the program with a
// trace of goroutines. So checkLimits checks the limits at the start, and reports an
// error in one line. If not even the runtime starts, nothing can help.
const (
	neededFiles     = 6        // free descriptors: two for the runtime, an input, a base, an output and its folder
	neededThreads   = 10       // in all; runs with one processor had up to eight
	neededAddresses = 24 << 20 // free bytes; the runtime asks for them while its tables grow
)

// checkLimits returns an error if the limits of this process (ulimit) are below what any
// run needs.
func checkLimits() error {
	for _, check := range []func() error{checkFiles, checkThreads, checkAddresses} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkFiles checks for free descriptors (ulimit -n).
func checkFiles() error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil || l.Cur >= 1<<20 {
		return nil
	}
	// The lowest free one; higher ones are seldom taken.
	free, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		unix.Close(free)
		if uint64(free)+neededFiles <= l.Cur {
			return nil
		}
	} else if !errors.Is(err, unix.EMFILE) {
		return nil
	}
	return fmt.Errorf("cannot run: at most %d files may be open (ulimit -n), and btflite needs %d more than it was started with", l.Cur, neededFiles)
}

// checkThreads counts the threads of the user (ulimit -u), if there may be few left. If
// so, the runtime gets one processor, which needs fewer threads.
func checkThreads() error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &l); err != nil || l.Cur >= 4096 || os.Geteuid() == 0 {
		return nil // the limit does not hold for root
	}
	others := threadsOf(os.Getuid(), os.Getpid())
	if others+neededThreads > l.Cur {
		return fmt.Errorf("cannot run: the user may have %d threads (ulimit -u) and has %d in other programs; btflite needs %d", l.Cur, others, neededThreads)
	}
	if free := l.Cur - others - neededThreads; free < uint64(runtime.GOMAXPROCS(0)) {
		runtime.GOMAXPROCS(max(1, int(free)))
	}
	return nil
}

// threadsOf counts the threads of a user in all processes except one, as far as /proc
// shows them.
func threadsOf(user, without int) (n uint64) {
	folders, _ := filepath.Glob("/proc/[0-9]*/task")
	for _, f := range folders {
		if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f))); pid == without {
			continue
		}
		var st unix.Stat_t
		if err := unix.Stat(f, &st); err == nil && int(st.Uid) == user {
			n += uint64(st.Nlink) - 2 // one folder for each thread
		}
	}
	return n
}

// checkAddresses compares the process's address space with its limit (ulimit -v).
func checkAddresses() error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &l); err != nil || l.Cur >= 1<<40 {
		return nil
	}
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return nil
	}
	var pages uint64
	if _, err := fmt.Sscan(string(b), &pages); err != nil {
		return nil
	}
	if used := pages * uint64(os.Getpagesize()); used+neededAddresses > l.Cur {
		return fmt.Errorf("cannot run: %d MiB of addresses may be used (ulimit -v), and Go's runtime takes %d MiB of them before the first file is read; give %d MiB more than the size of the files",
			l.Cur>>20, used>>20, (used+2*neededAddresses)>>20)
	}
	return nil
}
