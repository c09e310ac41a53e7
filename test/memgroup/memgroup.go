// Package memgroup runs commands in a memory control group, for tests and benchmarks. It knows cgroup
// versions 1 and 2, and needs root.
package memgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Group is a memory control group without swap.
type Group struct {
	dir   string
	limit string // path of the file that takes the limit in bytes
}

// New makes a group with a limit in MiB. Its name has the number of this process, so that there is one at a
// time. An error says that groups cannot be made on this machine.
func New(mib int) (*Group, error) {
	root, limit, swap := "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.swappiness"
	if _, err := os.Stat(filepath.Join(root, limit)); err != nil {
		root, limit, swap = "/sys/fs/cgroup", "memory.max", "memory.swap.max"
		// Harmless if the controller is on, or not ours to turn on.
		os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+memory"), 0)
	}
	dir := filepath.Join(root, fmt.Sprintf("btflite-%d", os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, fmt.Errorf("memory cgroups cannot be made here: %w", err)
	}
	g := &Group{dir: dir, limit: filepath.Join(dir, limit)}
	if err := g.Limit(mib); err != nil {
		return nil, fmt.Errorf("memory cgroups cannot be made here: %w", errors.Join(err, g.Remove()))
	}
	os.WriteFile(filepath.Join(dir, swap), []byte("0"), 0) // absent without swap accounting
	return g, nil
}

// Limit sets the limit in MiB.
func (g *Group) Limit(mib int) error {
	return os.WriteFile(g.limit, []byte(strconv.Itoa(mib<<20)), 0)
}

// Command is a command line that runs args in the group. A shell that joins the group and is then replaced
// by the program adds next to nothing to the group.
func (g *Group) Command(args ...string) []string {
	return append([]string{"/bin/sh", "-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(g.dir, "cgroup.procs")}, args...)
}

// Remove deletes the group, which may be busy for a moment after its last process.
func (g *Group) Remove() error {
	var err error
	for range 50 {
		if err = os.Remove(g.dir); err == nil || !errors.Is(err, syscall.EBUSY) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
