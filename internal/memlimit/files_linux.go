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
	for line := range bytes.Lines(stat) {
		key, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		switch string(key) {
		case "shmem", "total_shmem":
			if x, err := strconv.ParseUint(string(value), 10, 64); err == nil {
				n = max(n, x)
			}
		}
	}
	return n
}
