package memlimit

import (
	"bufio"
	"bytes"
	"os"
	"strconv"

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
			if at&piece == 0 { // every other one, by its address, so that a second call changes nothing
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
// a page differs from the file. Neighbours of one kind are one mapping of the list. All mappings are
// one behind the other: what follows is not read, because for smaps the system looks at each page.
//
// After LimitReadAhead there are thousands of lines, and memory is scarce. So they do not become
// strings, and the list stays short.
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
	end := []byte(" " + name)
	var m mapping // whose lines are read, if it is not empty
	for lines := bufio.NewScanner(file); lines.Scan(); {
		// Not by fmt.Sscanf, which panics within itself at each line of another form.
		word, rest, _ := bytes.Cut(lines.Bytes(), []byte(" "))
		if from, to, ok := bytes.Cut(word, []byte("-")); ok {
			list = appendMapping(list, m)
			if m = (mapping{}); bytes.HasSuffix(rest, end) {
				permissions, _, _ := bytes.Cut(rest, []byte(" "))
				m = mapping{
					from: address(from), to: address(to),
					writable: bytes.Contains(permissions, []byte("w")),
					code:     bytes.Contains(permissions, []byte("x")),
					changed:  true, // until the system says that none is
				}
			} else if len(list) > 0 {
				break
			}
		} else if string(word) == "Anonymous:" {
			m.changed = string(bytes.TrimSpace(rest)) != "0 kB"
		}
	}
	return appendMapping(list, m)
}

// appendMapping appends m, if it is not empty, to the list, or to the last mapping of the list.
func appendMapping(list []mapping, m mapping) []mapping {
	if m.from == m.to {
		return list
	}
	if n := len(list); n > 0 {
		last := &list[n-1]
		if last.to == m.from && last.writable == m.writable && last.code == m.code && last.changed == m.changed {
			last.to = m.to
			return list
		}
	}
	return append(list, m)
}

// address parses an address as maps and smaps write it. It returns 0, where a mapping never
// begins, if the text is not an address.
func address(hex []byte) uintptr {
	x, err := strconv.ParseUint(string(hex), 16, strconv.IntSize)
	if err != nil {
		return 0
	}
	return uintptr(x)
}
