package main

import (
	"slices"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// Names of links to this program that stand for other programs.
const (
	paholeName  = "pahole"
	pfunctName  = "pfunct"
	bpftoolName = "bpftool"
)

// habit turns a command line of pfunct or bpftool into ours: below a link of that name,
// or bpftool's words "btf dump", as in btflite btf dump file FILE format c.
func (c *cli) habit(args []string) ([]string, error) {
	switch {
	case c.calledAs == pfunctName:
		for _, w := range args {
			if w == "--version" || w == "--numeric_version" || w == "--devel_version" {
				return []string{w}, nil
			}
		}
		return append([]string{"funcs"}, args...), nil
	case c.calledAs == bpftoolName, asksBpftool(args):
		entry, _ := commandCalled("dump")
		c.running = entry.under(newRoot(c), c)
		return bpftoolWords(args)
	}
	return args, nil
}

// bpftoolOptions are bpftool's options that dump has, too, and that take no argument.
var bpftoolOptions = map[string]string{"-j": "--json", "--json": "--json", "-p": "--pretty", "--pretty": "--pretty", "-jp": "--pretty", "-pj": "--pretty"}

// asksBpftool reports whether the words are bpftool's, about BTF.
func asksBpftool(args []string) bool {
	_, words, err := splitBpftool(args)
	return err == nil && len(words) > 1 && words[0] == "btf" &&
		slices.ContainsFunc([]string{"dump", "show", "list", "help"}, func(w string) bool { return begins(words[1], w) })
}

// begins reports whether word is the beginning of name, as bpftool allows.
func begins(word, name string) bool { return word != "" && strings.HasPrefix(name, word) }

// splitBpftool divides a command line of bpftool into options, as dump has them, and words.
func splitBpftool(args []string) (options, words []string, err error) {
	for len(args) > 0 {
		w := args[0]
		args = args[1:]
		base, hasBase := strings.CutPrefix(w, "--base-btf=")
		switch {
		case bpftoolOptions[w] != "":
			options = append(options, bpftoolOptions[w])
		case hasBase:
			options = append(options, "--btf_base="+base)
		case w == "-B" || w == "--base-btf":
			if len(args) == 0 {
				return nil, nil, lackingWord("option '" + w + "' requires an argument")
			}
			options = append(options, "--btf_base="+args[0])
			args = args[1:]
		case len(w) > 2 && w[:2] == "-B":
			options = append(options, "--btf_base="+w[2:])
		case len(w) > 1 && w[0] == '-':
			return nil, nil, &usageError{what: "option '" + message.OneLine(w) + "' is not an option of bpftool that btflite has", hint: onlyDump}
		default:
			words = append(words, w)
		}
	}
	return options, words, nil
}

// bpftoolWords turns a command line of bpftool into one of btflite.
func bpftoolWords(args []string) ([]string, error) {
	if len(args) == 1 && slices.Contains([]string{"version", "-V", "--version"}, args[0]) {
		return []string{"version"}, nil
	}
	if len(args) == 1 && slices.Contains([]string{"help", "-h", "--help"}, args[0]) {
		return []string{"dump", "--help"}, nil
	}
	options, words, err := splitBpftool(args)
	if err != nil {
		return nil, err
	}
	if len(words) > 1 && words[0] == "btf" && begins(words[1], "help") {
		return []string{"dump", "--help"}, nil
	}
	if len(words) > 1 && words[0] == "gen" && begins(words[1], "min_core_btf") {
		return nil, &usageError{what: "gen min_core_btf is a command of bpftool", hint: "btflite min does the same: " +
			"btflite min --btf=KERNEL -o OUT PROGRAM..."}
	}
	if len(words) < 2 || words[0] != "btf" || !begins(words[1], "dump") {
		return nil, &usageError{what: strings.TrimRight("bpftool "+message.OneLine(strings.Join(words[:min(2, len(words))], " ")), " ") + " is not btflite's", hint: onlyDump}
	}
	files, more, err := bpftoolSource(words[2:])
	if err != nil {
		return nil, err
	}
	return slices.Concat([]string{"dump"}, options, more, []string{"--"}, files), nil
}

// bpftoolSource turns the words after "btf dump" into files and options.
func bpftoolSource(words []string) (files, options []string, err error) {
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		if word == "unsorted" && slices.Contains(options, "--format=c") {
			options = append(options, "--unsorted")
			continue
		}
		if slices.Contains([]string{"id", "prog", "map"}, word) && files == nil {
			return nil, nil, &usageError{what: "bpftool btf dump " + word + " reads BTF that is loaded in the kernel, which btflite does not", hint: onlyDump}
		}
		if !slices.Contains([]string{"file", "format", "root_id"}, word) {
			return nil, nil, &usageError{what: "'" + message.OneLine(word) + "' is not a word of bpftool btf dump", hint: onlyDump}
		}
		if len(words) == 0 {
			return nil, nil, lackingWord("'" + word + "' lacks what should follow it")
		}
		value := words[0]
		words = words[1:]
		switch word {
		case "file":
			files = append(files, value)
		case "format":
			options = append(options, "--format="+value)
		case "root_id":
			options = append(options, "--id="+value)
		}
	}
	if files == nil {
		return nil, nil, lackingWord("bpftool btf dump needs file FILE")
	}
	return files, options, nil
}
