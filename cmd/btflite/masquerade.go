package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Links to this program that are called as compilers, in a folder in front of PATH, as
// compiler caches have them.

// otherProgram is the program of a name that a link to this one stands for: the next in
// PATH behind the folder of the link, or the first if that is in no folder of PATH. It is
// "" if there is none. path is PATH for that program: the folders of links to this one are at its
// end, because a compiler cache looks for the compiler in PATH again, and the two would call
// each other without an end. The folders may have linkers and other tools besides.
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
