package memlimit

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ReadProgramSingly has the pages of the running program read one by one. Else
// the system reads what is around a page with it, as far as is set for the disk:
// at times megabytes, the whole program, again and again if that is more than
// a control group has left, until the kernel gives up and ends the process.
func ReadProgramSingly() {
	for _, m := range program() {
		unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_RANDOM) // only advice
	}
}

// DropCode takes the code and the constants of the running program out of the memory
// of the process. What is needed again comes back as it is used, 16 pages at a time.
// The start of a Go program runs a bit of every package, so that nearly all of the
// program is resident afterwards, and most of it is never used again.
//
// A mapping of which a page is not as in the file stays: a debugger may have put
// breakpoints there, a tracer probes, or the start addresses (-buildmode=pie).
func DropCode() {
	for _, m := range program() {
		if !m.writable && !m.changed {
			unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_DONTNEED) // only advice
		}
	}
}

// mapping is a part of the running program in memory.
type mapping struct {
	from, to uintptr
	writable bool
	changed  bool // a page is no longer that of the file
}

// program lists the mappings of the running program (proc_pid_smaps(5)); none if the
// system does not tell them. They are one behind the other: what follows is not read,
// because the system looks at each page for its lines.
func program() (list []mapping) {
	name, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil
	}
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil
	}
	defer smaps.Close()
	own := false // the lines are of a mapping of the program
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
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
					changed:  true, // until the system says that none is
				})
			}
		} else if own && word == "Anonymous:" {
			list[len(list)-1].changed = strings.TrimSpace(rest) != "0 kB"
		}
	}
	return list
}

// address is what smaps writes for an address; 0, which no mapping begins at, if it
// is none.
func address(hex string) uintptr {
	x, err := strconv.ParseUint(hex, 16, strconv.IntSize)
	if err != nil {
		return 0
	}
	return uintptr(x)
}
