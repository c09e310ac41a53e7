package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/btflite/btflite/internal/fileid"
	"github.com/btflite/btflite/internal/message"
)

// btflite cc prints each message once for a build. It notes printed messages in a file in the
// folder of the build, one on each line. The name of the file ends like temporary files of the
// kernel, so make clean removes it and git ignores it.

// Environment variables of a kernel's makefiles: the kernel's build folder, and the
// external module's folder.
const (
	kernelVariable = "objtree"
	moduleVariable = "KBUILD_EXTMOD"
)

// buildTools are the programs that run the compilers of a build.
var buildTools = []string{"make", "gmake", "remake", "ninja", "ninja-build", "samu"}

// process describes a process. It has the start time, because process ids are used again.
type process struct {
	name               string
	pid, parent, group int
	start              uint64 // in ticks since the system has started
}

// processOf describes the process pid. It returns false if there is none, or if the
// system has no /proc.
func processOf(pid int) (p process, ok bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, false
	}
	text := string(b)
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')') // the name may contain any character
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
	p.group, errs[1] = strconv.Atoi(fields[2])
	p.start, errs[2] = strconv.ParseUint(fields[19], 10, 64)
	return p, errors.Join(errs[:]...) == nil
}

// buildProcess returns the process that stands for this build: the outermost make or ninja
// above this process. If there is none, as in a script that runs compilers, it is the leader
// of the process group, which may be gone. A shell makes a group for each command that a user
// enters.
func buildProcess() process {
	self, ok := processOf(os.Getpid())
	if !ok {
		return process{pid: os.Getppid()}
	}
	build := process{pid: self.group}
	for at := self; ok; at, ok = processOf(at.parent) {
		if slices.Contains(buildTools, at.name) || at.pid == self.group && build.name == "" {
			build = at
		}
	}
	return build
}

// The name of the file, and the beginning of each of its lines. After it, a line has the
// process of the build with its start time, the message, and the process that printed it.
const (
	toldName  = ".btflite-cc.tmp"
	toldBegin = "btflite cc has told the build "
)

// maxTold is the size in bytes from which the file starts anew.
const maxTold = 64 << 10

// firstTime notes that a message is printed, and reports whether it is the first time in this build.
// If it cannot write the note, it returns true and the reason.
func firstTime(what string) (first bool, err error) {
	build := buildProcess()
	for _, folder := range buildFolders(build) {
		if first, err = noteIn(folder, build, what); err == nil {
			return first, nil
		}
	}
	return true, err
}

// buildFolders returns the folders that may hold the note, the best one first: the external
// module, the kernel, where make or ninja runs, where this process runs.
func buildFolders(build process) (folders []string) {
	for _, folder := range []string{os.Getenv(moduleVariable), os.Getenv(kernelVariable)} {
		if folder != "" {
			folders = append(folders, folder)
		}
	}
	if slices.Contains(buildTools, build.name) {
		folders = append(folders, fmt.Sprintf("/proc/%d/cwd", build.pid))
	}
	return append(folders, ".")
}

// noteIn is firstTime for one folder. Compilers run side by side: each appends a line,
// and the first line wins. It refuses a folder that everybody can write to, because
// another user may have put a file or a link there.
func noteIn(folder string, build process, what string) (first bool, err error) {
	info, err := os.Stat(folder)
	switch {
	case err != nil:
		return true, err
	case info.Mode().Perm()&0o002 != 0:
		return true, fmt.Errorf("%s: everybody can write to this folder", folder)
	}
	path := filepath.Join(folder, toldName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|fileid.NoFollow|syscall.O_NONBLOCK, 0o666)
	if err != nil {
		return true, err
	}
	defer f.Close()
	key := fmt.Sprintf("%s%d-%d: %s: ", toldBegin, build.pid, build.start, message.OneLine(what))
	before, err := toldIn(f)
	if err != nil || strings.Contains(before, key) {
		return err != nil, err
	}
	own := fmt.Sprintf("%s%d\n", key, os.Getpid())
	if _, err := f.WriteString(own); err != nil {
		return true, err
	}
	after, err := toldIn(f)
	return err != nil || isFirst(after, key, own), err
}

// isFirst reports whether own is the first of the lines that begin with key.
func isFirst(lines, key, own string) bool {
	return strings.Index(lines, key) == strings.Index(lines, own)
}

// toldIn reads the file of notes, and empties it if it is long. It refuses a file of another user,
// and one that does not begin like a file of notes.
func toldIn(f *os.File) (string, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || !fileid.IsOwn(info):
		return "", fmt.Errorf("%s is not a file of this user", f.Name())
	case info.Size() > maxTold:
		return "", f.Truncate(0)
	}
	b, err := io.ReadAll(io.NewSectionReader(f, 0, maxTold))
	if err == nil && len(b) > 0 && !strings.HasPrefix(string(b), toldBegin) {
		err = fmt.Errorf("%s is another file", f.Name())
	}
	return string(b), err
}
