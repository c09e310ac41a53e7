package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/btflite/btflite/internal/message"
	"github.com/spf13/cobra"
)

// dispatch runs the command. Only the first word can be the name of one; a file
// of that name is reached as ./name.
func (c *cli) dispatch(args []string) error {
	cmd := c.commands(newEncodeCommand())
	c.running = cmd
	name := ""
	if len(args) > 0 {
		c.firstWord = args[0]
		switch sub := subcommand(cmd, args[0]); {
		case strings.HasPrefix(args[0], cobra.ShellCompRequestCmd): // from a shell
			cmd.SetArgs(completionArgs(cmd, args))
			return cmd.Execute()
		case sub != nil:
			cmd, name, args = sub, args[0], args[1:]
		}
	}
	c.running = cmd
	words, err := argp(cmd, args)
	if err != nil {
		return err
	}
	if name != "" {
		words = append([]string{name}, words...)
	}
	cmd.Root().SetArgs(words)
	return errors.Join(cmd.Root().Execute(), c.helpError)
}

// commands is the main command, with options in e, and all others in it.
func (c *cli) commands(e *encodeCommand) *cobra.Command {
	root := c.rootCommand(e)
	root.AddCommand(c.modulesCommand(), c.dedupCommand(), c.sortCommand(), c.verifyCommand(), c.diffCommand(),
		c.versionCommand(), c.manualCommand(), c.completionCommand())
	root.SetHelpCommand(c.helpCommand())
	root.InitDefaultHelpCmd()
	for _, cmd := range append(root.Commands(), root) {
		cmd.Flags().SortFlags = false
		cmd.Args = cobra.ArbitraryArgs
		cmd.DisableFlagsInUseLine = true
		c.commonOptions(cmd)
	}
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	root.SetFlagErrorFunc(optionError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { c.helpError = stdoutError(writeHelp(c.stdout, cmd)) })
	return root
}

// commonOptions adds the options that every command has.
func (c *cli) commonOptions(cmd *cobra.Command) {
	s := under(cmd, groupReport)
	room := always
	if hasCompat(cmd) {
		room = rare
	}
	s.toggle(&c.quiet, "quiet", "q", "print nothing but errors", room)
	help := false // cobra asks for it by name
	s.toggle(&help, "help", "h", "print this list", alias("usage"))
}

// subcommand is the command with the name, or nil.
func subcommand(root *cobra.Command, name string) *cobra.Command {
	for _, cmd := range root.Commands() {
		if cmd.Name() == name {
			return cmd
		}
	}
	return nil
}

// otherWords are what people may take for commands, and what to do instead.
var otherWords = map[string]string{
	"encode": encodingAdvice, "convert": encodingAdvice, "generate": encodingAdvice,
	"dump": printingAdvice, "print": printingAdvice, "show": printingAdvice, "cat": printingAdvice, "list": printingAdvice,
}

const (
	encodingAdvice = "to add BTF to FILE, run btflite -J FILE"
	printingAdvice = "btflite does not print types; to print those of FILE, run bpftool btf dump file FILE"
)

// unknownCommand is the error for words of which the first names no command, or
// is followed by too many.
func unknownCommand(root *cobra.Command, words []string) error {
	word, file := words[0], "FILE"
	if len(words) > 1 {
		file = message.OneLine(words[1])
	}
	e := &usageError{what: fmt.Sprintf("unknown command %q", message.OneLine(word)), hint: strings.ReplaceAll(otherWords[word], "FILE", file)}
	var names []string
	means := map[string]string{} // names of commands by the words for them
	for _, cmd := range root.Commands() {
		for _, name := range append([]string{cmd.Name()}, cmd.SuggestFor...) {
			names = append(names, name)
			means[name] = cmd.Name()
		}
	}
	if name := closest(names, word); e.hint == "" && name != "" {
		e.hint = fmt.Sprintf("did you mean %q?", means[name])
	}
	return e
}

// asCommand returns an error if the first input is no file but the first word of
// the command line, and stands there like a command.
func (c *cli) asCommand(paths []string) error {
	if len(paths) == 0 || paths[0] != c.firstWord || strings.ContainsAny(paths[0], "/.") {
		return nil
	}
	if _, err := os.Stat(paths[0]); err == nil {
		return nil
	}
	return unknownCommand(c.running, paths)
}

// nothingToDo is the error for a command line without -J.
func (c *cli) nothingToDo(paths []string) error {
	if c.calledAs == paholeName {
		return fmt.Errorf("this pahole is btflite, which encodes BTF (pahole -J) and prints no types; %s", otherPahole())
	}
	if len(paths) == 0 {
		return usagef("nothing to do: -J or --btf_encode_detached=OUT is needed")
	}
	if subcommand(c.running, paths[0]) != nil {
		return usagef("a command is the first word: btflite %s OPTIONS", paths[0])
	}
	if err := checkInputs(paths[:1]); err != nil {
		return err
	}
	return usagef("nothing to do with %s: -J adds BTF to it, --btf_encode_detached=OUT writes its BTF to OUT", message.OneLine(paths[0]))
}

// paholeName is how a link to this program is called that stands in for pahole.
const paholeName = "pahole"

// otherPahole says how to reach the program that this one stands in for.
func otherPahole() string {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	own, _ := os.Stat(self)
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, paholeName)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && !os.SameFile(own, info) {
			return path + " is the other one"
		}
	}
	return "the other one is in the package dwarves or pahole of distributions"
}
