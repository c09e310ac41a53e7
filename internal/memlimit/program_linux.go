package memlimit

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ReadProgramSingly has the pages of the running program read one by one. Else
// the system reads what is around a page with it, as far as is set for the disk:
// at times megabytes, the whole program, again and again if that is more than
// a control group has left, until the kernel gives up and ends the process.
func ReadProgramSingly() {
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
		if !strings.HasSuffix(lines.Text(), " "+program) {
			continue
		}
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); err == nil {
			unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_RANDOM) // only advice
		}
	}
}
