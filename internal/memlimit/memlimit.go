// Package memlimit says how much memory the process may use before the system
// ends it, and how much of it is taken.
package memlimit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Reserve is the memory in bytes that a memory cgroup needs in addition to anonymous
// memory. It is the sum of three things: the kernel's for the process (measured: 0.9 MiB); the
// page tables of mapped files, eight bytes for each page of 4 KiB; and the pages of
// files that the workers need in order to go on, which are some of the input, and the
// program itself if no other process has it in memory. With 2.3 MiB for these pages,
// the kernel has been seen to end the process.
func Reserve(mapped uint64, workers int) uint64 {
	return 4<<20 + mapped/512 + uint64(max(workers, 1))<<18
}

// units are the suffixes of sizes, each 1024 times the one before.
const units = "kmgt"

// Parse reads a size as "64M": a number, which may have a fraction, and a suffix
// K, M, G or T (also KiB, KB and so on, in either case) for powers of 1024, or B for
// bytes. A number alone is refused: most who write 512 mean MiB.
func Parse(s string) (uint64, error) {
	digits := strings.TrimRight(s, "kmgtibKMGTIB")
	unit := strings.ToLower(s[len(digits):])
	shift, ok := 0, unit == "" || unit == "b"
	if !ok {
		shift = 10 * (strings.IndexByte(units, unit[0]) + 1)
		ok = shift > 0 && (len(unit) == 1 || unit[1:] == "b" || unit[1:] == "ib")
	}
	n, err := strconv.ParseFloat(digits, 64)
	if strings.Trim(digits, "0123456789.") != "" { // no sign, exponent, or name of a number
		ok = false
	}
	bytes := math.Floor(math.Ldexp(n, shift))
	if !ok || err != nil || bytes < 1 || bytes > 1<<63 {
		return 0, fmt.Errorf("'%s' is not a size such as 64M or 1.5G", s)
	}
	if unit == "" {
		mib := uint64(bytes)
		if mib >= 1<<20 {
			mib >>= 20
		}
		return 0, fmt.Errorf("'%s' bytes? write %dM, or %sB", s, mib, s)
	}
	return uint64(bytes), nil
}
