package memlimit

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Cgroup returns the smallest memory limit of the control groups that the process is in, in bytes. It
// returns 0 without a limit, or if the limits cannot be read. It reads both versions of control groups,
// including the groups above, but only once: later calls return what the first one found.
func Cgroup() uint64 { return cgroup() }

var cgroup = sync.OnceValue(func() uint64 {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	limit, dir := smallest(groups, os.ReadFile)
	if limit != 0 {
		limitedGroup.Store(&dir)
	}
	return limit
})

// limitedGroup is the folder of the group with the limit, once it is known.
var limitedGroup atomic.Pointer[string]

// smallest does the work of Cgroup on the text of /proc/self/cgroup (cgroups(7):
// lines of hierarchy, controllers and path, separated by colons).
// It returns the folder of the group that has the limit, too.
func smallest(groups []byte, readFile func(string) ([]byte, error)) (least uint64, group string) {
	for line := range bytes.Lines(groups) {
		f := strings.SplitN(strings.TrimSuffix(string(line), "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		if f[0] != "0" || f[1] != "" {
			if !hasController(f[1], "memory") {
				continue
			}
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		// In a container the path may be the host's, with only the end of it mounted,
		// or nothing: then the root's limit is ours.
		for dir := path.Clean("/" + f[2]); ; dir = path.Dir(dir) {
			if b, err := readFile(path.Join(root, dir, file)); err == nil {
				if n := limit(b); n != 0 && (least == 0 || n < least) {
					least, group = n, path.Join(root, dir)
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	return least, group
}

func hasController(list, name string) bool {
	for c := range strings.SplitSeq(list, ",") {
		if c == name {
			return true
		}
	}
	return false
}

// unlimited is the least value with which version 1 means "no limit"; it
// depends on the page size there, and no machine has that much.
const unlimited = 1 << 60

// limit is the number in a limit file, 0 for none.
func limit(b []byte) uint64 {
	n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	if err != nil || n >= unlimited {
		return 0
	}
	return n
}

// Resident is all memory of the process, pages of mapped files and of the program
// among it, in bytes: VmRSS of proc_pid_status(5), whose peak is VmHWM. It is 0 if
// it cannot be read.
func Resident() uint64 {
	resident, _ := statm()
	return resident
}

// Peak is the largest value that Resident has had (VmHWM), 0 if it is unknown.
func Peak() uint64 { return kibibytes("/proc/self/status", "VmHWM:") }

// Available is how many bytes programs may still take: what Linux says, or the limit of the
// control group if that is lower. It is 0 if both are unknown.
func Available() uint64 {
	free, group := kibibytes("/proc/meminfo", "MemAvailable:"), Cgroup()
	if free == 0 || group != 0 && group < free {
		return group
	}
	return free
}

// kibibytes reads a file with lines such as "VmHWM:   32768 kB". It returns how many bytes the line
// that begins with key says, and 0 if no line does.
func kibibytes(file, key string) uint64 {
	text, _ := os.ReadFile(file)
	return kibibytesIn(string(text), key)
}

// kibibytesIn is kibibytes for the text of the file.
func kibibytesIn(text, key string) uint64 {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			if f := strings.Fields(rest); len(f) == 2 && f[1] == "kB" {
				n, _ := strconv.ParseUint(f[0], 10, 54)
				return n << 10
			}
		}
	}
	return 0
}

// statm reads how much is resident, and what of that are pages of files, in bytes
// (proc_pid_statm(5): size, resident, shared, …); 0 if that cannot be read.
func statm() (resident, shared uint64) {
	f, err := os.Open("/proc/self/statm")
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	var buf [128]byte
	n, _ := f.Read(buf[:])
	resident, shared = parseStatm(string(buf[:n]))
	page := uint64(os.Getpagesize())
	return resident * page, shared * page
}

// parseStatm is statm for the text of the file, in pages.
func parseStatm(text string) (resident, shared uint64) {
	f := strings.Fields(text)
	if len(f) < 3 {
		return 0, 0
	}
	resident, err := strconv.ParseUint(f[1], 10, 64)
	shared, err2 := strconv.ParseUint(f[2], 10, 64)
	if err != nil || err2 != nil || shared > resident {
		return 0, 0
	}
	return resident, shared
}
