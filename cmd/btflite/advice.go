package main

import (
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/btflite/btflite/btf/show"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/expand"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
)

// Hints for command lines that are nearly right: which command or option was probably
// meant, and where the file belongs.

// adviceFor returns a hint for a word that people may take for a command; "" for all other
// words.
func adviceFor(word string) string {
	switch word {
	case "encode", "convert", "generate":
		return "to add BTF to FILE, run btflite -J FILE"
	case "print", "cat", "list":
		return "to print the types of FILE, run btflite show FILE or btflite dump FILE"
	case "btf":
		return onlyDump
	case "info", "inspect":
		return "btflite stats FILE says what is in its BTF, btflite verify FILE whether kernels take it, and btflite why NAME FILE why a function is or is not there"
	case "estimate", "measure":
		return "to measure an encoding of FILE and keep nothing, run btflite -J --stats --btf_encode_detached=/dev/null FILE"
	case "gen", "skeleton":
		return "btflite min does what bpftool gen min_core_btf does; gen is a command of bpftool; btflite dump --format=c --for=PROG FILE prints the types that the BPF object PROG needs"
	}
	return ""
}

// mayBeName reports whether the word may be the name of a type, or a pattern of names.
func mayBeName(word string) bool {
	return word != "" && strings.Trim(word, "_*?[]!abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// fileLast returns an error if the words of a command, which takes names and then a file,
// end with a name and have a file before it.
func fileLast(command string, words []string) error {
	last := len(words) - 1
	if last < 1 || isFile(words[last]) {
		return nil
	}
	i := slices.IndexFunc(words[:last], holdsTypes)
	if i < 0 {
		return nil
	}
	line := commandLine(slices.Concat([]string{command}, words[:i], words[i+1:]), words[i])
	return &usageError{what: message.OneLine(words[last]) + ": no such file", hint: "FILE must be the last word: " + line}
}

// namesThenFile divides the words of a command that takes names, which may be none, and then a file.
func namesThenFile(command string, words []string) (names []string, file string, err error) {
	names, file = words[:len(words)-1], words[len(words)-1]
	if err = fileLast(command, words); err == nil && slices.Contains(names, "") {
		err = usagef("empty name")
	}
	return names, file, err
}

// byOption returns an error if one of the words, which should be files, is a name. The
// command takes names as arguments of the option.
func byOption(command, option string, words []string) error {
	line := []string{command}
	var name string
	var files []string
	for _, w := range words {
		switch {
		case isFile(w) || !mayBeName(w):
			files = append(files, w)
		default:
			name = w
			line = append(line, "--"+option+"="+w)
		}
	}
	if name == "" {
		return nil
	}
	if files == nil {
		return fmt.Errorf("%s: cannot open: no such file or directory; if it is a name, run %s", message.OneLine(name), commandLine(line))
	}
	return &usageError{what: message.OneLine(name) + ": no such file",
		hint: fmt.Sprintf("a name is the argument of --%s: %s", option, commandLine(line, files...))}
}

// isFile reports whether the word can only mean a file, or a file of that name exists.
func isFile(word string) bool {
	_, err := os.Lstat(word) // opening a link that leads nowhere says so
	return err == nil || word == dash || strings.Contains(word, "/")
}

// holdsTypes reports whether the word names a file that may have DWARF or BTF.
func holdsTypes(word string) bool {
	head := readKind(word)
	k := kindOf(head)
	return loadbtf.IsELF(head) || expand.Of(head) != nil || k != nil && k.encode == useAsBTF
}

// commandLine is a command line of btflite that people can paste.
func commandLine(words []string, files ...string) string {
	line := programName
	for _, w := range words {
		line += " " + message.ShellWord(w)
	}
	for _, f := range files {
		line += " " + message.ShellFile(f)
	}
	return line
}

// nearType returns the struct, union, enum or typedef whose name is most like a misspelt one, "" if
// none is near.
func nearType(v *view.View, misspelt string) string {
	return nearest(misspelt, func(yield func([]byte) bool) {
		for t := range v.OfKinds(true, show.Kinds("")...) {
			if !yield(t.Name()) {
				return
			}
		}
	})
}

// nearest returns the name that is most like a misspelt one, "" if none is near.
func nearest(misspelt string, names iter.Seq[[]byte]) string {
	var list []string
	letters := utf8.RuneCountInString(misspelt)
	edits := max(2, letters/4)
	for name := range names {
		// Names of other lengths cannot be near: skip the comparison.
		if n := utf8.RuneCount(name) - letters; n <= edits && n >= -edits {
			list = append(list, string(name))
		}
	}
	return closest(list, misspelt)
}

// onlyDump says which part of bpftool there is.
const onlyDump = "btflite has bpftool's btf dump file FILE [format raw|c] [root_id N], with -j, -p and -B; for all else run bpftool itself"
