package archive

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// Find returns where the archive has the BTF of kernels whose build-id begins with buildID. If no
// kernel has it, Find looks for modules. It asks the index in the folder dir first. If there is no
// index, or it does not know the build-id, or a file that it names is gone, Find reads all records.
func Find(dir, buildID string) ([]string, error) {
	s := &search{dir: dir, prefix: buildID, without: map[string]bool{}}
	if x, err := readIndex(dir); err == nil {
		found, err := s.in(x)
		if err != nil || len(found) > 0 && existing(dir, found) == nil {
			return found, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	x, err := Merge(dir)
	if err != nil {
		return nil, err
	}
	found, err := s.in(x)
	if err == nil {
		err = existing(dir, found)
	}
	return found, err
}

// search looks for a build-id.
type search struct {
	dir, prefix string
	// without are the records of modules that do not have it. They are most of an archive's records, and have
	// megabytes, so none is read twice.
	without map[string]bool
	buf     []byte // has the record that was read last
}

// existing returns an error for a path in the archive that is not there.
func existing(dir string, names []string) error {
	for _, name := range names {
		at := PathOf(dir, name)
		if _, err := os.Stat(at); err != nil {
			return message.FileError(at, "cannot open", err)
		}
	}
	return nil
}

func readIndex(dir string) (*Index, error) {
	at := filepath.Join(dir, indexName)
	data, err := readBounded(at, "an index", maxIndex)
	if err != nil {
		return nil, err
	}
	x := new(Index)
	return x, decodeJSON(at, data, x)
}

// in returns the paths of kernels whose build-id begins with the prefix, or else of modules. It returns kernels
// from damaged packages only if no other kernel fits.
func (s *search) in(x *Index) (found []string, err error) {
	var doubtful []string
	for i := range x.Kernels {
		switch k := &x.Kernels[i]; {
		case !strings.HasPrefix(k.BuildID, s.prefix) || k.BTF == "":
		case k.PackageDamaged:
			doubtful = append(doubtful, k.BTF)
		default:
			found = append(found, k.BTF)
		}
	}
	if len(found) == 0 {
		found = doubtful
	}
	if len(found) > 0 {
		return found, nil
	}
	return s.modules(x)
}

// modules returns the paths in the archive of modules whose build-id begins with the prefix.
func (s *search) modules(x *Index) (found []string, err error) {
	for i := range x.Kernels {
		name := x.Kernels[i].ModulesFile()
		if x.Kernels[i].Modules == nil || s.without[name] {
			continue
		}
		list, err := s.modulesOf(PathOf(s.dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the index is older
			return nil, err
		}
		s.without[name] = len(list) == 0
		found = append(found, list...)
	}
	return found, nil
}

// modulesOf does the same for one record.
func (s *search) modulesOf(at string) (found []string, err error) {
	data, err := readInto(s.buf, at, "a record", maxRecord)
	if s.buf = data; err != nil || !s.mayHave(data) {
		return nil, err // most records: decoding one takes longer than this
	}
	var rec ModulesRecord
	if err := decodeJSON(at, data, &rec); err != nil {
		return nil, err
	}
	for _, m := range rec.List {
		if strings.HasPrefix(m.BuildID, s.prefix) && m.BTF != "" {
			found = append(found, m.BTF)
		}
	}
	return found, nil
}

// mayHave tells whether a string in a record begins with the prefix. It looks for the quote last, as that is the most frequent
// byte of a record.
func (s *search) mayHave(record []byte) bool {
	for {
		i := bytes.Index(record, []byte(s.prefix))
		if i < 0 {
			return false
		}
		if i > 0 && record[i-1] == '"' {
			return true
		}
		record = record[i+1:]
	}
}
