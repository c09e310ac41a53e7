// Package memlimit says how much memory the process may use before the system
// ends it, and how much of it is taken.
package memlimit

import (
	"fmt"
	"strconv"
	"strings"
)

// Reserve is what a memory cgroup takes beside anonymous memory, in bytes: page
// tables, and the pages of files that must be there to go on. Measured with
// kernels of 260 MiB of DWARF: the smallest group in which a run passes is this
// much larger than its anonymous memory at most.
const Reserve = 2 << 20

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
