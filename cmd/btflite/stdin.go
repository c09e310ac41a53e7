package main

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync/atomic"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/mmapelf"
)

// dash stands for the standard input, where a file is read as a whole, and for the
// standard output, where one is written.
const dash = loadbtf.Dash

// btfFiles reads the BTF of files.
var btfFiles = loadbtf.Loader{
	Stdin:  func() (*os.File, error) { return openFile(dash) },
	Refuse: notToRead,
	NoBase: "BTF of a module needs --btf_base",
	NoBTF:  fromDWARF,
	Limit:  &memoryLimit,
}

// fromDWARF says how a file gets BTF that has DWARF; "" for others.
func fromDWARF(path string, f *mmapelf.File) string {
	if f.Section(".debug_info") == nil && f.Section(".zdebug_info") == nil || f.Machine == elfabi.EMBPF {
		return ""
	}
	return "btflite -J --btf_encode_detached=OUT " + shellWord(path) + " makes it from the DWARF"
}

// btfFilesOver returns a loader for BTF over a base that was read from these files.
func btfFilesOver(bases []string) loadbtf.Loader {
	l := btfFiles
	l.BaseFiles = bases
	return l
}

// stdinTaken is set once the standard input has been opened.
var stdinTaken atomic.Bool

// openFile opens a file that is read once, from start to end.
func openFile(path string) (*os.File, error) {
	switch {
	case path != dash:
		return os.Open(path)
	case isClosed(0):
		return nil, errors.New("standard input is closed")
	case stdinTaken.Swap(true):
		return nil, errReadOnce
	}
	return os.Stdin, nil
}

// errReadOnce is the error if standard input is named twice.
var errReadOnce = errors.New("standard input can be read only once")

// elfInputs replaces dash among files that are mapped, or read several times: the standard input
// has to be a whole file then. With inPlace it is an error, as BTF cannot be added to it.
func elfInputs(paths []string, inPlace bool) ([]string, error) {
	if !slices.Contains(paths, dash) {
		return paths, nil
	}
	if inPlace {
		return nil, usagef("nothing is added to standard input: give --btf_encode_detached=OUT")
	}
	if info, err := os.Stdin.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("standard input is not a file: use < FILE")
	}
	if at, err := os.Stdin.Seek(0, io.SeekCurrent); err != nil || at != 0 { // opened again, it would begin at 0
		return nil, errors.New("standard input does not begin where its file does: copy the rest to a file")
	}
	paths = slices.Clone(paths)
	for i := range paths {
		if paths[i] == dash {
			paths[i] = "/dev/stdin"
		}
	}
	return paths, nil
}

// memoryLimit is the limit of commands that do not encode. There is one for the process,
// because there is one memory.
var memoryLimit arena.Limit
