package main

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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
	case "info", "doctor", "inspect":
		return "btflite stats FILE says what is in its BTF, btflite verify FILE whether kernels take it, and btflite why NAME FILE why a function is or is not there"
	case "estimate", "measure":
		return "to measure an encoding of FILE and keep nothing, run btflite -J --stats --btf_encode_detached=/dev/null FILE"
	case "gen", "skeleton":
		return "btflite min does what bpftool gen min_core_btf does; gen is a command of bpftool; btflite dump --format=c --for=PROG FILE prints the types that the BPF object PROG needs"
	}
	return ""
}

// unknownCommand is the error if the first word names no command, or if too many
// words follow it.
func unknownCommand(words []string) error {
	word, file := words[0], "FILE"
	if len(words) > 1 && holdsTypes(words[len(words)-1]) {
		file = words[len(words)-1]
	}
	if hint := adviceFor(word); hint != "" {
		return &usageError{what: unknownWord(word), hint: strings.ReplaceAll(hint, "FILE", shellWord(file))}
	}
	e := notACommand(word)
	if e.hint == "" && len(words) <= 2 && (len(words) == 1 || file != "FILE") && mayBeName(word) {
		e.hint = "to print a type of that name, run " + commandLine(append([]string{"show"}, words...))
	}
	return e
}

func unknownWord(word string) string {
	return fmt.Sprintf("unknown command %q", message.OneLine(word))
}

// notACommand returns the error for a word that names no command. Its hint is the name that
// is most like the word.
func notACommand(word string) *usageError {
	e := &usageError{what: unknownWord(word)}
	var names []string
	means := map[string]string{} // names of commands by the words for them
	for _, entry := range commands() {
		for _, name := range append([]string{entry.name}, strings.Fields(entry.synonyms)...) {
			names = append(names, name)
			means[name] = entry.name
		}
	}
	if name := closest(names, word); name != "" {
		e.hint = fmt.Sprintf("did you mean %q?", means[name])
	}
	return e
}

// mayBeName reports whether the word may be the name of a type, or a pattern of names.
func mayBeName(word string) bool {
	return word != "" && strings.Trim(word, "_*?[]!abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// asCommand returns an error if the first input is the first word of the command line
// and there is no such file: it was probably meant as a command.
func asCommand(first string, paths []string) error {
	if len(paths) == 0 || paths[0] == "" || paths[0] != first || strings.ContainsAny(paths[0], "/.") || strings.HasPrefix(paths[0], "-") {
		return nil
	}
	if _, err := os.Stat(paths[0]); err == nil {
		return nil
	}
	return unknownCommand(paths)
}

// nothingToDo is the error for a command line without -J.
func nothingToDo(first string, paths []string) error {
	if len(paths) == 0 {
		return &usageError{what: "nothing to do: -J or --btf_encode_detached=OUT is needed", lacksWord: true, list: first == ""}
	}
	if _, ok := commandCalled(paths[0]); ok {
		return usagef("a command must be the first word: btflite %s OPTIONS", paths[0])
	}
	if err := checkInputs(paths[:1]); err != nil {
		return err
	}
	what, shows := "nothing to do with "+message.OneLine(paths[0]), commandLine([]string{"show", paths[0]})+" prints its types"
	if k := kindOf(readKind(paths[0])); k != nil && k.encode == useAsBTF {
		return &usageError{what: what + ", which is BTF", hint: shows}
	}
	return usagef("%s: -J adds BTF to it, --btf_encode_detached=OUT writes its BTF to OUT, %s", what, shows)
}

// fileLast returns an error if the words of a command, which takes names and then a file,
// end with a name and have a file before it. more are options for the hint.
func fileLast(command string, words []string, more ...string) error {
	last := len(words) - 1
	if last < 1 || isFile(words[last]) {
		return nil
	}
	i := slices.IndexFunc(words[:last], holdsTypes)
	if i < 0 {
		return nil
	}
	line := slices.Concat([]string{command}, more, words[:i], words[i+1:], words[i:i+1])
	return &usageError{what: message.OneLine(words[last]) + ": no such file", hint: "FILE must be the last word: " + commandLine(line)}
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
	line = append(line, files...)
	return &usageError{what: message.OneLine(name) + ": no such file",
		hint: fmt.Sprintf("a name is the argument of --%s: %s", option, commandLine(line))}
}

// isFile reports whether the word can only mean a file, or a file of that name exists.
func isFile(word string) bool {
	_, err := os.Stat(word)
	return err == nil || word == dash || strings.Contains(word, "/")
}

// holdsTypes reports whether the word names a file that may have DWARF or BTF.
func holdsTypes(word string) bool {
	head := readKind(word)
	k := kindOf(head)
	return loadbtf.IsELF(head) || loadbtf.CompressionOf(head) != nil || k != nil && k.encode == useAsBTF
}

// commandLine is a command line of btflite that people can paste.
func commandLine(words []string) string {
	line := programName
	for _, w := range words {
		line += " " + shellWord(w)
	}
	return line
}

// shellWord quotes a word for a shell, if needed.
func shellWord(word string) string { return message.ShellWord(word) }

// otherOptions lists names of options in other programs, with our names for the same. If
// there are several, the first one that the command has is meant.
var otherOptions = []struct{ tried, meant string }{
	{"B", "btf_base"},
	{"base base-btf base_btf btf-base vmlinux", "btf_base"},
	{"o", detachedName + " output"},
	{"out output outfile out-file detached", detachedName + " output"},
	{"threads workers parallel", "jobs"},
	{"C", "class_name name"},
	{"class class_name type filter", "class_name name function"},
	{"name names", "class_name function"},
	{"function", "name"},
	{"exclude_lang exclude-lang", "lang_exclude"},
}

// otherOption returns the option of a command that a name from another program stands
// for, "" if none is known.
func otherOption(cmd *cobra.Command, tried string) string {
	for _, o := range otherOptions {
		if !slices.Contains(strings.Fields(o.tried), tried) {
			continue
		}
		for name := range strings.FieldsSeq(o.meant) {
			if f := cmd.Flags().Lookup(name); f != nil && !f.Hidden {
				column := optionColumn(f)
				return column[strings.Index(column, "--"):]
			}
		}
	}
	return ""
}

// nearest returns the name that is most like a misspelt one, "" if none is near.
func nearest(misspelt string, names iter.Seq[[]byte]) string {
	var list []string
	for name := range names {
		// Names of other lengths cannot be near: skip the comparison.
		if n := len(name); n >= len(misspelt)-2 && n <= len(misspelt)+2 {
			list = append(list, string(name))
		}
	}
	return closest(list, misspelt)
}

// takenWord is a word that an option took as its argument.
type takenWord struct{ option, word string }

// lacking returns the text of err. If err says that a word is missing, the text also
// names the word that an option took.
func (t takenWord) lacking(err error) string {
	var usage *usageError
	if t.word == "" || !errors.As(err, &usage) || !usage.lacksWord {
		return err.Error()
	}
	return fmt.Sprintf("%s; '%s' was taken as the argument of '%s'", err, message.OneLine(t.word), t.option)
}
