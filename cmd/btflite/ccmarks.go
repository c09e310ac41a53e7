package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/btflite/btflite/internal/fileid"
)

// Marks of btflite cc: a mark is a file that says that a build has been told something
// once. Marks lie in a folder that belongs to the user alone. Whoever makes a mark
// removes those of builds that have ended.

// buildTools are the programs that run the compilers of a build.
var buildTools = []string{"make", "gmake", "remake", "ninja", "ninja-build", "samu"}

// oldestMark is when a mark means nothing any more, whatever the build does. The leader
// of a session may live for months.
const oldestMark = 24 * time.Hour

// process is what is known of a process. A process id alone is used again.
type process struct {
	name                 string
	pid, parent, session int
	start                uint64 // in ticks since the system has started
}

// processOf reads what is known of a process; false where there is no such process or
// where the system does not say.
func processOf(pid int) (p process, ok bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, false
	}
	text := string(b)
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')') // the name may have any character
	if open < 0 || end < open {
		return p, false
	}
	fields := strings.Fields(text[end+1:])
	if len(fields) < 20 {
		return p, false
	}
	p.name, p.pid = text[open+1:end], pid
	var errs [3]error
	p.parent, errs[0] = strconv.Atoi(fields[1])
	p.session, errs[1] = strconv.Atoi(fields[3])
	p.start, errs[2] = strconv.ParseUint(fields[19], 10, 64)
	return p, errors.Join(errs[:]...) == nil
}

// buildProcess is the process that stands for the build that this one is a part of: the
// outermost make or ninja around it. Without one, as in a script that runs compilers, it
// is the leader of the session, which may be gone.
func buildProcess() process {
	self, ok := processOf(os.Getpid())
	if !ok {
		return process{pid: os.Getppid()}
	}
	build := process{pid: self.session}
	for at := self; ok; at, ok = processOf(at.parent) {
		if slices.Contains(buildTools, at.name) || at.pid == self.session && build.name == "" {
			build = at
		}
	}
	return build
}

// mark makes a mark for what, once for each build and folder that it runs in. It returns
// false if there is one. If none can be made, it returns true, and why.
func mark(what string) (first bool, err error) {
	folder, err := markFolder(os.Getenv("XDG_RUNTIME_DIR"), os.TempDir())
	if err != nil {
		return true, err
	}
	defer folder.Close()
	dir, _ := os.Getwd()
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s", dir, what)
	build := buildProcess()
	name := fmt.Sprintf("%d-%d-%016x", build.pid, build.start, h.Sum64())
	dropMarks(folder)
	f, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err == nil {
		err = f.Close()
	}
	return true, err
}

// dropMarks removes the marks of builds that have ended, and old ones.
func dropMarks(folder *os.Root) {
	marks, err := fs.ReadDir(folder.FS(), ".")
	if err != nil {
		return
	}
	for _, m := range marks {
		var pid int
		var start, hash uint64
		if n, _ := fmt.Sscanf(m.Name(), "%d-%d-%x", &pid, &start, &hash); n != 3 {
			continue // it is not a mark
		}
		info, err := m.Info()
		old := err == nil && time.Since(info.ModTime()) > oldestMark
		if p, ok := processOf(pid); old || start != 0 && (!ok || p.start != start) {
			_ = folder.Remove(m.Name()) // another process may have been faster
		}
	}
}

// markFolder opens the folder of marks. It is made in the first of the places that will
// have it, and must belong to this user and to nobody else: where others can write, they
// may have put a folder or a link there before.
func markFolder(runtime, temp string) (*os.Root, error) {
	var last error
	if filepath.IsAbs(runtime) {
		folder, err := ownFolder(filepath.Join(runtime, "btflite-cc"))
		if err == nil {
			return folder, nil
		}
		last = err
	}
	folder, err := ownFolder(filepath.Join(temp, fmt.Sprintf("btflite-cc-%d", os.Geteuid())))
	if err != nil {
		return nil, errors.Join(err, last)
	}
	return folder, nil
}

// ownFolder opens a folder that nobody else can read or write, and makes it if it is
// missing.
func ownFolder(path string) (*os.Root, error) {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	named, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	folder, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	info, err := folder.Stat(".")
	if err == nil && (!os.SameFile(named, info) || !fileid.IsOwn(info) || info.Mode().Perm()&0o077 != 0) {
		err = fmt.Errorf("%s is not a folder of this user alone", path)
	}
	if err != nil {
		folder.Close()
		return nil, err
	}
	return folder, nil
}
