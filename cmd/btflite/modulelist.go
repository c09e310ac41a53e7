package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/btflite/btflite/internal/expand"
	"github.com/btflite/btflite/internal/fileid"
	"github.com/btflite/btflite/internal/findbase"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
)

// module is one input of "btflite modules".
type module struct {
	path   string // as given or found, for messages
	out    string // detached file; "" for in place
	extra  string // file of extra variables; "" for none
	inline string // file of inlined functions; "" for none
	root   string // the folder below which btflite makes up the names out, extra and inline
	rel    string // path below the folder of detached files, without the suffix
	size   int64
	err    error // why it cannot be encoded; nil if nothing is known
}

// moduleSuffix is the suffix of modules in a folder. One of findbase.Compressed may follow it if
// the modules were installed compressed.
const moduleSuffix = ".ko"

// maxList bounds a list of modules, in bytes.
const maxList = 64 << 20

// findModules finds the modules for words: a folder stands for all modules below it, a
// text file for the modules that it lists, one a line, and any other file for itself. A
// module that is named twice is taken once. An unreadable file becomes an entry with an
// error, so that the other modules are still encoded. If findModules itself returns an
// error, no module is encoded.
func findModules(words []string) ([]module, error) {
	l := moduleList{seen: map[string]bool{}}
	for _, w := range words {
		l.add(w)
	}
	if len(l.found) == 0 {
		return nil, fmt.Errorf("%s: no modules", message.OneLine(words[0]))
	}
	return l.found, nil
}

// moduleList collects modules.
type moduleList struct {
	found []module
	seen  map[string]bool // by path without symbolic links
}

func (l *moduleList) add(word string) {
	if word == dash {
		if _, err := l.addList(word); err != nil {
			l.addFailed(word, err)
		}
		return
	}
	info, err := os.Stat(word)
	switch {
	case err != nil:
		l.addFailed(word, message.FileError(word, "cannot open", err))
	case info.IsDir():
		l.addFolder(word)
	case isModuleName(word):
		l.addModule(module{path: word, rel: ownRel(word), size: info.Size()})
	default:
		isList, err := l.addList(word)
		if err != nil {
			l.addFailed(word, err)
		} else if !isList {
			l.addModule(module{path: word, rel: ownRel(word), size: info.Size()})
		}
	}
}

func (l *moduleList) addFolder(root string) {
	t := folderWalk{wanted: isModuleName, take: func(path string, err error) {
		info, gone := os.Lstat(path)
		if err == nil && gone != nil {
			err = message.FileError(path, "cannot read", gone)
		}
		if err != nil {
			l.addFailed(path, err)
			return
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			rel = ownRel(path)
		}
		l.addModule(module{path: path, rel: rel, size: info.Size()})
	}}
	t.each(root)
}

// isModuleName reports whether a file of a folder is a module.
func isModuleName(name string) bool {
	for _, s := range findbase.Compressed {
		if strings.HasSuffix(name, moduleSuffix+s) {
			return true
		}
	}
	return strings.HasSuffix(name, moduleSuffix)
}

// addList adds the modules that a list names. It returns false if the file is a module
// itself: an ELF file or a compressed one.
func (l *moduleList) addList(path string) (isList bool, err error) {
	f, err := openFile(path)
	if err != nil {
		return false, message.FileError(path, "cannot open", err)
	}
	defer f.Close()
	head, err := loadbtf.ReadHead(f)
	if err != nil {
		return false, message.FileError(path, "cannot read", err)
	}
	if loadbtf.IsELF(head) || expand.Of(head) != nil {
		return false, nil
	}
	data := bytes.NewBuffer(head)
	if err := loadbtf.ReadLimited(data, f, maxList); err != nil {
		return false, message.FileError(path, "cannot read", err)
	}
	if bytes.ContainsFunc(data.Bytes(), isBinary) {
		return false, fmt.Errorf("%s: neither a module nor a list of modules", message.OneLine(path))
	}
	for line := range strings.Lines(data.String()) {
		name := strings.TrimRight(line, "\r\n")
		if name == "" {
			continue
		}
		info, err := os.Stat(name)
		if err == nil && info.IsDir() {
			err = errors.New("is a directory")
		}
		if err != nil {
			l.addFailed(name, fmt.Errorf("%s: %w", message.OneLine(path), message.FileError(name, "cannot open", err)))
			continue
		}
		l.addModule(module{path: name, rel: ownRel(name), size: info.Size()})
	}
	return true, nil
}

// isBinary reports whether r is in no list of modules: a control character. Names of files may have one, but names of
// modules do not, and nearly all other files do.
func isBinary(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' }

// addFailed adds an entry for an unreadable file.
func (l *moduleList) addFailed(path string, err error) {
	l.addModule(module{path: path, rel: ownRel(path), err: err})
}

// addModule adds m, unless it is there.
func (l *moduleList) addModule(m module) {
	path := m.path
	key := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		key = real
	}
	if abs, err := filepath.Abs(key); err == nil {
		key = abs
	}
	if !l.seen[key] {
		l.seen[key] = true
		l.found = append(l.found, m)
	}
}

// ownRel returns the place for the detached file of a module that was not found in a
// folder: its path, if that is relative and leads downwards, else its name.
func ownRel(path string) string {
	if filepath.IsLocal(path) {
		return filepath.Clean(path)
	}
	return filepath.Base(path)
}

// placeOutputs decides where the outputs of each module go: its BTF below dir, or into the
// module if dir is "", and its side files to the same place with other suffixes. It returns
// an error if an output would replace another one, a module or a base, by whatever name.
func placeOutputs(mods []module, dir string, suffixes sideFiles, bases []string) error {
	taken := takenPlaces{}
	for _, b := range bases {
		taken.add(b, "is the base")
	}
	for i := range mods {
		if m := &mods[i]; m.err == nil {
			taken.add(m.path, "is a module of this run")
		}
	}
	for i := range mods {
		m := &mods[i]
		if m.err != nil {
			continue
		}
		m.root = filepath.Dir(m.path)
		stem := m.path
		if dir != "" {
			m.root, stem = dir, filepath.Join(dir, m.rel)
			m.out = stem + findbase.Suffix
		}
		if suffixes.extraVars != "" {
			m.extra = stem + suffixes.extraVars
		}
		if suffixes.inlineTo != "" {
			m.inline = stem + suffixes.inlineTo
		}
		for _, o := range []struct{ path, what string }{
			{m.out, "the BTF"}, {m.extra, "the extra variables"}, {m.inline, "the inlined functions"},
		} {
			what := o.what + " of " + message.OneLine(m.path)
			if why := taken.add(o.path, "is for "+what); why != "" {
				return fmt.Errorf("%s: %s would be written there, and it %s", message.OneLine(o.path), what, why)
			}
		}
	}
	return nil
}

// takenPlaces says for each place what file of the run is there.
type takenPlaces map[fileid.Place]string

// add takes the place of path. If it is taken already, add returns by what. An empty
// path, or one that cannot be looked up, takes no place: opening it will fail.
func (t takenPlaces) add(path, what string) (taken string) {
	if path == "" {
		return ""
	}
	p, err := fileid.PlaceOf(path)
	if err != nil {
		return ""
	}
	if taken = t[p]; taken == "" {
		t[p] = what
	}
	return taken
}

// largestFirst sorts modules so that a large one does not come last, when the
// other workers have nothing left to do.
func largestFirst(mods []module) {
	slices.SortStableFunc(mods, func(a, b module) int { return cmp.Compare(b.size, a.size) })
}
