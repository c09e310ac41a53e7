package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// unknownCommand is the error if the first word names no command, or if too many
// words follow it.
func unknownCommand(words []string) error {
	word, file := words[0], "FILE"
	if len(words) > 1 && holdsTypes(words[len(words)-1]) {
		file = words[len(words)-1]
	}
	if hint := adviceFor(word); hint != "" {
		return &usageError{what: unknownWord(word), hint: strings.ReplaceAll(hint, "FILE", message.ShellFile(file))}
	}
	e := notACommand(word)
	if e.hint == "" && len(words) <= 2 && (len(words) == 1 || file != "FILE") && mayBeName(word) {
		e.hint = "to print a type of that name, run " + commandLine([]string{"show"}, words...)
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
	what, shows := "nothing to do with "+message.OneLine(paths[0]), commandLine([]string{"show"}, paths[0])+" prints its types"
	if k := kindOf(readKind(paths[0])); k != nil && k.encode == useAsBTF {
		return &usageError{what: what + ", which is BTF", hint: shows}
	}
	return usagef("%s: -J adds BTF to it, --btf_encode_detached=OUT writes its BTF to OUT, %s", what, shows)
}
