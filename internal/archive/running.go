package archive

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"

	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// runningNotes has the notes of the running kernel, its build-id among them. Tests replace it.
var runningNotes = "/sys/kernel/notes"

// LeastBuildID is how many digits of a build-id must be known to find a kernel.
const LeastBuildID = 8

// RunningBuildID returns the build-id of the running kernel, in hex.
func RunningBuildID() (string, error) {
	notes, err := os.ReadFile(runningNotes)
	if err != nil {
		return "", message.FileError(runningNotes, "cannot read the build-id of the running kernel", err)
	}
	id := debuginfo.BuildIDIn(notes, binary.NativeEndian.Uint16([]byte{0, 1}) == 1)
	if id == nil {
		return "", errors.New(runningNotes + ": the running kernel has no build-id")
	}
	return hex.EncodeToString(id), nil
}

// BuildIDOf returns the build-id of an ELF file, in hex.
func BuildIDOf(path string) (string, error) {
	f, err := mmapelf.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	id := debuginfo.BuildID(f)
	if id == nil {
		return "", errors.New(message.OneLine(path) + ": it has no build-id")
	}
	return hex.EncodeToString(id), nil
}

// PathOf returns where a path in the archive is; dir is the folder of the archive.
func PathOf(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
