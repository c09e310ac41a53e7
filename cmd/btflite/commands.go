package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// subcommand is an entry of the table of commands. A run builds only the command that it
// needs, because making options takes time.
type subcommand struct {
	name, short string
	synonyms    string // other words that people try, separated by blanks
	build       func(c *cli) *cobra.Command
}

// commands is the table of commands, by name.
func commands() []subcommand {
	return []subcommand{
		{"archive", "store the BTF of the kernels in packages", "btfhub", newArchiveCommand},
		{compilerName, "compile to unit records in place of DWARF", "gcc clang compiler compile", newCompilerCommand},
		{"completion", "print a script that completes command lines", "", newCompletionCommand},
		{"dedup", "merge BTF and deduplicate it", "merge deduplicate", newDedupCommand},
		{"diff", "say what differs between the BTF of two files", "compare cmp", newDiffCommand},
		{"doctor", "say why a kernel has no BTF, or a bad one", "diagnose", newDoctorCommand},
		{"dump", "print types as bpftool btf dump does", "", newDumpCommand},
		{"flatten", "join the BTF of a kernel and its modules", "merge_modules", newFlattenCommand},
		{"fullcircle", "say what is lost from DWARF to C and back", "roundtrip", newFullcircleCommand},
		{"funcs", "print functions as pfunct does", "functions prototypes pfunct", newFuncsCommand},
		{"help", "print the help of a command", "", newHelpCommand},
		{"inline", "list where functions are inlined", "inlined sites", newInlineCommand},
		{"lower", "make BTF fit older kernels and programs", "downgrade sanitize", newLowerCommand},
		{"manual", "show a manual page", "man", newManualCommand},
		{"min", "write the part of BTF that CO-RE programs need", "minimize min_core_btf core", newMinCommand},
		{"modules", "encode kernel modules, each by itself", "batch", newModulesCommand},
		{"show", "print structs as pahole does", "struct structs", newShowCommand},
		{"sort", "put the types of BTF into another order", "", newSortCommand},
		{"stats", "say what the bytes of BTF are spent on", "statistics size bloat", newStatsCommand},
		{"verify", "check BTF by the rules of the kernel", "check validate lint", newVerifyCommand},
		{"version", "print the version of btflite", "", newVersionCommand},
		{"why", "say why a function is or is not in BTF", "explain", newWhyCommand},
	}
}

// commandCalled returns the entry with the name.
func commandCalled(name string) (entry subcommand, ok bool) {
	for _, entry = range commands() {
		if entry.name == name {
			return entry, true
		}
	}
	return subcommand{}, false
}

// readsFiles reports whether the command reads files with types.
func (entry *subcommand) readsFiles() bool {
	return !slices.Contains([]string{compilerName, "completion", "help", "manual", "version"}, entry.name)
}

// under builds the command as a child of root.
func (entry *subcommand) under(root *cobra.Command, c *cli) *cobra.Command {
	cmd := entry.build(c)
	cmd.Short = entry.short
	root.AddCommand(cmd)
	complete(cmd, c)
	if entry.readsFiles() {
		c.bound(cmd)
	}
	return cmd
}

// newRoot makes the parent of a command. It has the name of the program and the settings
// that all commands share.
func newRoot(c *cli) *cobra.Command {
	root := &cobra.Command{Use: programName, SilenceErrors: true, SilenceUsage: true}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{Hidden: true}) // our own is in the table
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	root.SetFlagErrorFunc(optionError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { c.helpError = stdoutError(writeHelp(c.stdout, cmd)) })
	return root
}

// newMain makes the main command, with its options in e.
func newMain(c *cli, e *encodeCommand) *cobra.Command {
	root := newRoot(c)
	e.describe(c, root)
	complete(root, c)
	c.bound(root)
	return root
}

// wholeTree makes the main command with all others below it.
func wholeTree(c *cli) *cobra.Command {
	root := newMain(c, newEncodeCommand())
	for _, entry := range commands() {
		entry.under(root, c)
	}
	return root
}

// complete adds to cmd what all commands have.
func complete(cmd *cobra.Command, c *cli) {
	cmd.Flags().SortFlags = false
	cmd.Args = cobra.ArbitraryArgs
	cmd.DisableFlagsInUseLine = true
	s := under(cmd, groupReport)
	room := always
	if hasCompat(cmd) {
		room = rare
	}
	s.toggle(&c.quiet, "quiet", "q", quietHelp(cmd.Name()), room)
	help := false // cobra looks it up by name
	s.toggle(&help, "help", "h", "print this list", alias("usage"))
}

// quietHelp says what --quiet does. What a user has asked to be printed is printed.
func quietHelp(command string) string {
	switch command {
	case "show":
		return "no offsets, sizes and holes; no notes"
	case "completion", "dump", "funcs", "help", "inline", "manual", "stats", "version", "why":
		return "no notes and warnings"
	}
	return "print nothing but errors"
}

// dispatch runs the command. Only the first word can be the name of a command. A file
// with the name of a command is reached as ./name.
func (c *cli) dispatch(args []string) error {
	c.running = &cobra.Command{}
	if is, err := c.asCompiler(args); is {
		return err
	}
	args, err := c.habit(args)
	if err != nil {
		return err
	}
	if len(args) > 1 && args[0] == compilerName && args[1] != "" && !strings.HasPrefix(args[1], "-") {
		// A build calls this thousands of times: no time for a command with options.
		return new(compilerCommand).run(c, args[1:])
	}
	var cmd *cobra.Command
	var name []string
	if len(args) > 0 {
		c.firstWord, c.words = args[0], args
		if strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // called by a shell's completion
			c.running = wholeTree(c)
			offerWords(c.running)
			c.running.SetArgs(completionArgs(c.running, args))
			return c.running.Execute()
		}
		if entry, ok := commandCalled(args[0]); ok {
			cmd, name, args = entry.under(newRoot(c), c), args[:1], args[1:]
		}
	}
	if cmd == nil {
		cmd = newMain(c, newEncodeCommand())
	}
	c.running = cmd
	p := argpParser{cmd: cmd, flags: cmd.Flags(), words: args}
	words, err := p.parse()
	c.taken = p.taken
	if err != nil {
		if unknown := asCommand(c.firstWord, args); unknown != nil && name == nil && c.calledAs != paholeName {
			return unknown // its options are not ours
		}
		return err
	}
	root := cmd.Root()
	root.SetArgs(slices.Concat(name, words))
	return errors.Join(root.Execute(), c.helpError)
}
