package memlimit

import (
	"bufio"
	"bytes"
	"encoding/binary"
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
	for _, m := range program() {
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
	pages, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return
	}
	defer pages.Close()
	for _, m := range program() {
		if !m.writable && !changed(pages, m) {
			unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_DONTNEED) // only advice
		}
	}
}

// What pagemap says of a page (Linux, Documentation/admin-guide/mm/pagemap.rst).
const (
	pageSize    = 8       // bytes of an entry
	pageOfFile  = 1 << 61 // or shared between processes
	pageSwapped = 1 << 62
	pagePresent = 1 << 63
)

// changed reports whether a page of m differs from the file, or pages, which is
// /proc/self/pagemap, does not tell. smaps tells it, too, but takes three times as long.
func changed(pages *os.File, m mapping) bool {
	var b [512 * pageSize]byte
	size := uintptr(os.Getpagesize())
	for at := m.from; at < m.to; {
		n := min((m.to-at)/size*pageSize, uintptr(len(b)))
		if _, err := pages.ReadAt(b[:n], int64(at/size*pageSize)); err != nil {
			return true
		}
		for e := b[:n]; len(e) > 0; e = e[pageSize:] {
			if x := binary.NativeEndian.Uint64(e); x&(pagePresent|pageSwapped) != 0 && x&pageOfFile == 0 {
				return true
			}
		}
		at += n / pageSize * size
	}
	return false
}

// mapping is a part of the running program in memory.
type mapping struct {
	from, to uintptr
	writable bool
	code     bool // it may be executed
}

// program lists the mappings of the running program; none if the system does not tell them
// (proc_pid_maps(5)). Neighbours of one kind are one mapping of the list. All mappings are one
// behind the other, so what follows them is not read.
//
// After LimitReadAhead there are thousands of lines, and memory is scarce. So they do not become
// strings, and the list stays short.
func program() (list []mapping) {
	name, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil
	}
	file, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil
	}
	defer file.Close()
	end := []byte(" " + name)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		// Not by fmt.Sscanf, which panics within itself at each line of another form.
		word, rest, _ := bytes.Cut(lines.Bytes(), []byte(" "))
		from, to, _ := bytes.Cut(word, []byte("-"))
		permissions, _, _ := bytes.Cut(rest, []byte(" "))
		if bytes.HasSuffix(rest, end) {
			list = appendMapping(list, mapping{
				from: address(from), to: address(to),
				writable: bytes.Contains(permissions, []byte("w")),
				code:     bytes.Contains(permissions, []byte("x")),
			})
		} else if len(list) > 0 {
			break
		}
	}
	return list
}

// appendMapping appends m, if it is not empty, to the list, or to the last mapping of the list.
func appendMapping(list []mapping, m mapping) []mapping {
	if m.from == m.to {
		return list
	}
	if n := len(list); n > 0 {
		last := &list[n-1]
		if last.to == m.from && last.writable == m.writable && last.code == m.code {
			last.to = m.to
			return list
		}
	}
	return append(list, m)
}

// address parses an address as maps has it. It returns 0, where a mapping never
// begins, if the text is not an address.
func address(hex []byte) uintptr {
	x, err := strconv.ParseUint(string(hex), 16, strconv.IntSize)
	if err != nil {
		return 0
	}
	return uintptr(x)
}
