package main

import (
	"testing"

	"github.com/btflite/btflite/test/testfile"
	"golang.org/x/sys/unix"
)

// TestCounter counts calls of a function of the running kernel, and adds up the lengths of names. statfs calls
// path_put, which compilers leave whole; they often split vfs_statfs.
func TestCounter(t *testing.T) {
	c, err := attach("-", "path_put", []string{"dentry", "d_name", "len"})
	if err != nil {
		t.Skip("no BPF program can be attached here: ", err)
	}
	defer c.Close()
	path := testfile.New(t, "seventy", "")
	for range calls {
		var st unix.Statfs_t
		if err := unix.Statfs(path, &st); err != nil {
			t.Fatal(err)
		}
	}
	if n, sum, err := c.Read(); err != nil || n < calls || sum < calls*uint64(len("seventy")) {
		t.Errorf("%d calls, sum %d, %v", n, sum, err)
	}
}
