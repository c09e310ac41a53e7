package memlimit

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Files that lie in memory (tmpfs) are memory of the control group whose process
// writes them, until they are removed; the system cannot take it back. Used
// counts what CountFiles has found.

var files atomic.Uint64

// Used is the anonymous memory of the process and what CountFiles has found, in
// bytes: all that the system cannot take back. It is 0 if it cannot be read.
func Used() uint64 {
	resident, shared := statm()
	if resident == 0 {
		return 0
	}
	return resident - shared + files.Load()
}

// CountFiles looks how much memory of the process' control group is files, as
// far as the group has a limit.
func CountFiles() {
	if dir := limitedGroup.Load(); dir != nil {
		stat, _ := os.ReadFile(path.Join(*dir, "memory.stat"))
		files.Store(fileBytes(stat))
	}
}

// AddFile counts a file of n bytes that is about to be written, until CountFiles
// looks again.
func AddFile(n uint64) { files.Add(n) }

// Killed counts the processes that the system has ended so far because the memory of the control group
// with the limit was short. It returns 0 if there is no limit, or if the count cannot be read.
func Killed() uint64 {
	dir := limitedGroup.Load()
	if dir == nil {
		return 0
	}
	for _, file := range []string{"memory.events", "memory.oom_control"} { // of version 2 and of version 1
		if events, err := os.ReadFile(path.Join(*dir, file)); err == nil {
			return numberAt(events, "oom_kill")
		}
	}
	return 0
}

// EndFirst makes the system end the process with that id, before others of the control group with the
// limit, if memory gets short. Programs that it starts later inherit that.
func EndFirst(pid int) {
	if limitedGroup.Load() != nil {
		_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("1000"), 0) // only advice
	}
}

// InMemory reports whether the file, or a new one of that name, lies in memory.
func InMemory(name string) bool {
	var fs unix.Statfs_t
	if unix.Statfs(name, &fs) != nil && unix.Statfs(filepath.Dir(name), &fs) != nil {
		return false
	}
	t := int64(fs.Type)
	return t == unix.TMPFS_MAGIC || t == unix.RAMFS_MAGIC
}

// fileBytes is the number of bytes in files of tmpfs, from the text of a
// memory.stat: "total_shmem" with groups below (version 1), "shmem" (version 2).
func fileBytes(stat []byte) (n uint64) {
	return max(numberAt(stat, "shmem"), numberAt(stat, "total_shmem"))
}

// numberAt reads a file whose lines have a key and a number. It returns the number of the key, or 0 if
// no line has the key.
func numberAt(file []byte, key string) uint64 {
	for line := range bytes.Lines(file) {
		if k, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" ")); string(k) == key {
			if n, err := strconv.ParseUint(string(value), 10, 64); err == nil {
				return n
			}
		}
	}
	return 0
}
