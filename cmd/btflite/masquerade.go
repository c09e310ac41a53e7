package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Links to this program with names of compilers, in a folder at the front of PATH, as
// compiler caches have them.

// otherProgram returns the program that a link to this one stands for: the next of its name in
// PATH after the folder of the link, or the first if PATH lacks that folder; "" if there is none.
// path is the PATH for that program. Folders with links to this one move to its end, but stay,
// because they may have other tools. A compiler cache looks for the compiler in PATH again, and
// would otherwise call this program in a loop.
func otherProgram(name string) (program, path string) {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	own, err := os.Stat(self)
	if err != nil {
		return "", ""
	}
	dirs := filepath.SplitList(os.Getenv("PATH"))
	isOwn := func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && os.SameFile(own, info)
	}
	var others, links []string
	for _, dir := range dirs {
		if isOwn(dir) {
			links = append(links, dir)
		} else {
			others = append(others, dir)
		}
	}
	path = strings.Join(append(others, links...), string(filepath.ListSeparator))
	behind := dirs[slices.IndexFunc(dirs, isOwn)+1:]
	for _, dir := range behind {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 && !os.SameFile(own, info) {
			return file, path
		}
	}
	return "", ""
}
