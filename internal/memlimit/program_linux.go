package memlimit

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ReadProgramSingly has the pages of the running program read one by one. Else
// the system reads what is around a page with it, as far as is set for the disk:
// at times megabytes, the whole program, again and again if that is more than
// a control group has left, until the kernel gives up and ends the process.
func ReadProgramSingly() { adviseProgram("", unix.MADV_RANDOM) }

// DropCode takes the code and the constants of the running program out of the memory
// of the process. What is needed again comes back as it is used, 16 pages at a time.
// The start of a Go program runs a bit of every package, so that nearly all of the
// program is resident afterwards, and most of it is never used again.
//
// Constants stay in a program that can be loaded anywhere (-buildmode=pie): the start
// writes addresses into them.
func DropCode() {
	adviseProgram("r-xp", unix.MADV_DONTNEED)
	if atFixedPlace() {
		adviseProgram("r--p", unix.MADV_DONTNEED)
	}
}

// atFixedPlace reports whether the program is linked for one address: e_type of its
// ELF header is ET_EXEC.
func atFixedPlace() bool {
	const typeAt, executable = 16, 2
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return false
	}
	defer f.Close()
	var head [typeAt + 2]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && binary.NativeEndian.Uint16(head[typeAt:]) == executable
}

// adviseProgram gives advice about the mappings of the program that have these
// permissions (proc_pid_maps(5)), or about all for "".
func adviseProgram(permissions string, advice uintptr) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to uintptr
		var has string
		if !strings.HasSuffix(lines.Text(), " "+program) {
			continue
		}
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s ", &from, &to, &has); err == nil && (permissions == "" || has == permissions) {
			unix.Syscall(unix.SYS_MADVISE, from, to-from, advice) // only advice
		}
	}
}
