package doctor

import (
	"io"
	"os"
	"regexp"
	"strconv"
	"sync"

	"github.com/btflite/btflite/internal/expand"
	"github.com/btflite/btflite/internal/message"
)

// pattern compiles a regular expression when it is used first.
func pattern(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

// exam is one examination.
type exam struct {
	report *Report
	host   Host

	bases          []string       // what the file's BTF builds upon, if it was given
	distilled      bool           // the file's BTF has a base of its own
	format         *expand.Format // how the file is compressed, nil if it is not
	release        string         // of the kernel, "" if it is not known
	makefilePahole string         // what the Makefile of a tree sets PAHOLE to, "" for nothing
	skipsEnum64    bool           // the scripts of a tree tell pahole to write no ENUM64
}

var releaseForm = pattern(`^(\d{1,3})\.(\d{1,3})`)

// older reports whether the kernel is known to be older than a release.
func (x *exam) older(major, minor int) bool {
	m := releaseForm().FindStringSubmatch(x.release)
	if m == nil {
		return false
	}
	a, _ := strconv.Atoi(m[1]) // digits, by releaseForm
	b, _ := strconv.Atoi(m[2])
	return a < major || a == major && b < minor
}

// setRelease notes the release of the kernel, if it is known.
func (x *exam) setRelease(release string) {
	if release != "" {
		x.release, x.report.Release = release, release
	}
}

// maxHead is how many first bytes tell what a file is.
const maxHead = 16 << 10

// firstBytes reads the beginning of a file, at most n bytes.
func firstBytes(path string, n int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, message.FileError(path, "cannot open", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, n))
	return data, message.FileError(path, "cannot read", err)
}

// olddefconfig ends the cures of configurations.
const olddefconfig = " && make olddefconfig"

// useBtflite builds a kernel with btflite in place of pahole.
const useBtflite = `make PAHOLE="$(command -v btflite)" olddefconfig && make PAHOLE="$(command -v btflite)"`
