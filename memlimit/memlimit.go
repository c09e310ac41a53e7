// Package memlimit says how much memory the process may use before the system
// ends it, and how much of it is taken.
package memlimit

import (
	"fmt"
	"strconv"
	"strings"
)

// Reserve is what a memory cgroup takes beside anonymous memory, in bytes: what
// the kernel needs for the process (measured: 0.9 MiB), the page tables of the
// mapped bytes of files, eight bytes a page of 4 KiB, and the pages of files that
// must be there for the workers to go on: some of the input, and those of the
// program itself, if nobody else has it in memory. With 2.3 MiB for them the kernel
// has been seen to give up.
func Reserve(mapped uint64, workers int) uint64 {
	return 4<<20 + mapped/512 + uint64(max(workers, 1))<<18
}

// Parse reads a size as "64M": bytes, or with a suffix K, M, G (also KiB, MiB,
// GiB, KB, MB, GB, in either case) multiples of 1024.
func Parse(s string) (uint64, error) {
	digits := strings.TrimRight(s, "kmgibKMGIB")
	unit := strings.ToLower(s[len(digits):])
	shift, ok := map[string]uint{
		"": 0, "b": 0, "k": 10, "kb": 10, "kib": 10, "m": 20, "mb": 20, "mib": 20, "g": 30, "gb": 30, "gib": 30,
	}[unit]
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || n == 0 || n > 1<<63>>shift {
		return 0, fmt.Errorf("'%s' is not a size such as 64M or 2G", s)
	}
	return n << shift, nil
}
