package memlimit

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// LimitReadAhead makes the system read few pages of the running program at once.
// Otherwise it reads ahead around each page, on some disks by megabytes. If a control
// group has less than that left, the kernel reads the whole program again and again,
// until it gives up and ends the process. Call it before memory becomes scarce.
//
// MADV_RANDOM turns that off, but Linux 6.16 and later ignore it for code. They read from
// the page that is missing up to the end of the mapping. So the code becomes many small
// mappings: neighbours differ in MADV_DONTDUMP, which otherwise would only keep the code out of
// a core dump, where it is not anyway.
func LimitReadAhead() {
	piece := uintptr(max(codePiece, os.Getpagesize()))
	for _, m := range program("maps") {
		unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_RANDOM) // only advice
		for at := m.from &^ (piece - 1); m.code && at < m.to; at += piece {
			if at&piece == 0 { // by the address, so that a second call changes nothing
				from, to := max(at, m.from), min(at+piece, m.to)
				unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTDUMP)
			}
		}
	}
}

// codePiece is the size of a small mapping of code in bytes, if pages are not larger: a power of
// two. A kernel in a group of 26 MiB took 10 s with it, 13 s with twice the size, and 11 s with half.
const codePiece = 32 << 10

// DropCode takes the code and the constants of the running program out of the memory
// of the process. Pages that are used again come back, 16 at a time.
// The start of a Go program runs a bit of every package, so that nearly all of the
// program is resident afterwards, and most of it is never used again.
//
// A mapping stays if one of its pages differs from the file: a debugger may have put
// breakpoints there, a tracer probes, or the loader addresses (-buildmode=pie).
func DropCode() {
	for _, m := range program("smaps") {
		if !m.writable && !m.changed {
			unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_DONTNEED) // only advice
		}
	}
}

// mapping is a part of the running program in memory.
type mapping struct {
	from, to uintptr
	writable bool
	code     bool // it may be executed
	changed  bool // a page differs from the file, or maps did not tell
}

// program lists the mappings of the running program; none if the system does not tell them.
// from is smaps (proc_pid_smaps(5)), or maps, which takes less time but does not say whether
// a page differs from the file. The mappings are one behind the other: what follows is not read,
// because for smaps the system looks at each page.
func program(from string) (list []mapping) {
	name, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil
	}
	file, err := os.Open("/proc/self/" + from)
	if err != nil {
		return nil
	}
	defer file.Close()
	own := false // the lines are of a mapping of the program
	for lines := bufio.NewScanner(file); lines.Scan(); {
		// Not by fmt.Sscanf, which panics within itself at each line of another form.
		word, rest, _ := strings.Cut(lines.Text(), " ")
		if from, to, ok := strings.Cut(word, "-"); ok {
			own = strings.HasSuffix(rest, " "+name)
			if !own && len(list) > 0 {
				break
			}
			if own {
				permissions, _, _ := strings.Cut(rest, " ")
				list = append(list, mapping{
					from: address(from), to: address(to),
					writable: strings.Contains(permissions, "w"),
					code:     strings.Contains(permissions, "x"),
					changed:  true, // until the system says that none is
				})
			}
		} else if own && word == "Anonymous:" {
			list[len(list)-1].changed = strings.TrimSpace(rest) != "0 kB"
		}
	}
	return list
}

// address parses an address as maps and smaps write it. It returns 0, where a mapping never
// begins, if the text is not an address.
func address(hex string) uintptr {
	x, err := strconv.ParseUint(hex, 16, strconv.IntSize)
	if err != nil {
		return 0
	}
	return uintptr(x)
}
