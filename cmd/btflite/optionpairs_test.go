package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// namesOfSmall are, for names in readerLines, what testdata/small/small has.
var namesOfSmall = map[string]string{
	"user": "node", "called": "shared", "inlined": "shared", "main": "walk", "use": "print", "--at=.text+16": "--at=.text+0x10", "--addr=0x1000": "--addr=0x401150",
	"--class=list_head": "--class=node", "--class_name=user": "--class_name=node", "--contains_enumerator=V": "--contains_enumerator=RED",
	"--find_pointers_to=user": "--find_pointers_to=node", "--takes=user": "--takes=node", "--name=user": "--name=node", "--header_type=user": "--header_type=node",
}

// answers are the commands whose status says what they found, so that nothing need be said.
var answers = []string{"verify", "diff", "doctor"}

// TestPairsOfOptions: each line of readerLines with each other option of its command ends with
// a status that is documented. One that fails says why, in lines that have the form of all messages, prints nothing
// else, and leaves no output.
func TestPairsOfOptions(t *testing.T) {
	dir := t.TempDir()
	lines, options := map[string][][]string{}, map[string][]string{}
	for i := range readerLines {
		words := strings.Fields(readerLines[i].words)
		entry, ok := commandCalled(words[0])
		if !ok || entry.name == "modules" || entry.name == "fullcircle" { // which report as they go on, and keep C on request
			continue
		}
		c, _, _ := testCLI(t)
		words, err := argp(entry.under(newRoot(c), c), words[1:])
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range words {
			words[i] = cmp.Or(namesOfSmall[w], w)
		}
		at := slices.Index(words, "--")
		if at < 0 {
			at = len(words)
		}
		for _, o := range words[:at] {
			if strings.HasPrefix(o, "-") && !slices.Contains(options[entry.name], o) {
				options[entry.name] = append(options[entry.name], o)
			}
		}
		lines[entry.name] = append(lines[entry.name], words)
	}
	runs := 0
	for name, list := range lines {
		for _, line := range list {
			for _, more := range options[name] {
				runs++
				pairOfOptions(t, dir, slices.Concat([]string{name, more}, line))
			}
		}
	}
	t.Log(runs, "runs")
}

// pairOfOptions runs a command line.
func pairOfOptions(t *testing.T, dir string, words []string) {
	for _, file := range []string{smallFile, smallFile + ".btf"} {
		replace := strings.NewReplacer("FILE", file, "GOOD", smallFile+".btf", "OUT", filepath.Join(dir, "out"), "MORE", filepath.Join(dir, "more"), "ELF", smallFile, "PROG", "../../encode/testdata/golden/bpf-clang5-o.elf", "IMAGE", dir)
		args := make([]string, len(words))
		for i, w := range words {
			args[i] = replace.Replace(w)
		}
		c, out, errs := testCLI(t)
		status := c.run(args)
		said := errs.String()
		answer := slices.Contains(answers, words[0])
		var bad []string
		switch {
		case strings.Contains(said, "internal error"):
			bad = append(bad, "internal error")
		case status != exitOK && status != exitFailure && status != exitUsage && (status != exitTrouble || !answer):
			bad = append(bad, "status")
		}
		if status != exitOK && said == "" && !answer {
			bad = append(bad, "silent")
		}
		if status != exitOK && out.Len() > 0 && !answer {
			bad = append(bad, "prints")
		}
		for line := range strings.Lines(said) {
			if !strings.HasPrefix(line, "btflite: ") && !strings.HasPrefix(line, "Try '") && !strings.HasPrefix(line, "  ") {
				bad = append(bad, "form of a line")
			}
		}
		left, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range left {
			if status != exitOK || strings.HasPrefix(f.Name(), ".") {
				bad = append(bad, "left "+f.Name())
			}
			os.RemoveAll(filepath.Join(dir, f.Name()))
		}
		if bad != nil {
			t.Errorf("%q: %s, status %d: %s", args, strings.Join(bad, ", "), status, said)
		}
	}
}

// TestEmptyWords: an empty word in place of a file or name, as of a variable that a script
// has not set, is never taken for none.
func TestEmptyWords(t *testing.T) {
	replace := strings.NewReplacer("FILE", smallFile, "GOOD", smallFile+".btf", "OUT", filepath.Join(t.TempDir(), "out"), "ELF", smallFile,
		"PROG", "../../encode/testdata/golden/bpf-clang5-o.elf", "COPY", smallFile, "MODULES", smallFile)
	lines := []string{"archive -o OUT FILE", "archive -o OUT find FILE", "cc FILE", "help dump", "manual dump", "completion bash"}
	for _, l := range readerLines {
		lines = append(lines, l.words)
	}
	for _, l := range lines {
		c, _, _ := testCLI(t)
		command, words := []string(nil), strings.Fields(l)
		cmd := newMain(c, newEncodeCommand())
		if entry, ok := commandCalled(words[0]); ok {
			cmd, command, words = entry.under(newRoot(c), c), words[:1], words[1:]
		}
		words, err := argp(cmd, words)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range words {
			words[i] = replace.Replace(cmp.Or(namesOfSmall[w], w))
		}
		for i := slices.Index(words, "--") + 1; i > 0 && i < len(words); i++ {
			c, out, errs := testCLI(t)
			args := slices.Concat(command, words[:i], []string{""}, words[i+1:])
			if status := c.run(args); status != exitUsage || out.Len() > 0 {
				t.Errorf("%q: status %d: %s", args, status, errs)
			}
		}
	}
}

// TestQuiet: --quiet does with each line of readerLines what the help of its command says.
func TestQuiet(t *testing.T) {
	dir := t.TempDir()
	replace := strings.NewReplacer("FILE", smallFile+".btf", "GOOD", smallFile+".btf", "OUT", filepath.Join(dir, "out"), "MORE", filepath.Join(dir, "more"), "ELF", smallFile,
		"PROG", "../../encode/testdata/golden/bpf-clang5-o.elf", "IMAGE", filepath.Join(dir, "folder"), "CC", "false")
	lines := []string{"help show", "manual show", "completion bash", "version", "why walk ELF", "inline walk ELF", "dump ELF", "show ELF"}
	for _, l := range readerLines {
		lines = append(lines, l.words)
	}
	for _, l := range lines {
		words := strings.Fields(l)
		entry, ok := commandCalled(words[0])
		if !ok || strings.Contains(l, "COPY") || strings.Contains(l, "MODULES") {
			continue
		}
		for i, w := range words {
			words[i] = replace.Replace(cmp.Or(namesOfSmall[w], w))
		}
		run := func(args []string) (status int, out, errs string) {
			c, stdout, stderr := testCLI(t)
			return c.run(args), stdout.String(), stderr.String()
		}
		status, usual, _ := run(words)
		args := slices.Insert(slices.Clone(words), 1, "--quiet")
		quiet, out, errs := run(args)
		if quiet != status || status == exitOK && errs != "" {
			t.Errorf("%q: status %d, want %d: %s", args, quiet, status, errs)
		}
		same := out == usual
		switch c, _, _ := testCLI(t); quietHelp(entry.under(newRoot(c), c).Name()) {
		case "no notes and warnings":
			if !same {
				t.Errorf("%q: %.200s, want %.200s", args, out, usual)
			}
		case "print nothing but errors":
			if status == exitOK && out != "" && !slices.Contains(words, "--json") {
				t.Errorf("%q: %.200s", args, out)
			}
		default: // as pahole, also for what --compile adds
			if strings.Contains(out, "/*    ") && !strings.Contains(l, "--format=html") && !slices.Contains(words, "--compile") {
				t.Errorf("%q: %.200s", args, out)
			}
		}
	}
}
