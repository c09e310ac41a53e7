package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpColumn is where the explanation of an option begins. A longer option
// pushes its own explanation to the right.
const helpColumn = 34

// optionGroup is the options of a command under one heading.
type optionGroup struct {
	heading string
	options []*pflag.Flag
}

// groupsOf are the options of cmd that are not hidden, in the order in which
// they were added.
func groupsOf(cmd *cobra.Command) []optionGroup {
	var groups []optionGroup
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		heading := optionOf(f).heading
		i := slices.IndexFunc(groups, func(g optionGroup) bool { return g.heading == heading })
		if i < 0 {
			i = len(groups)
			groups = append(groups, optionGroup{heading: heading})
		}
		groups[i].options = append(groups[i].options, f)
	})
	return groups
}

// writeHelp prints what cmd is for and one line for each option that is not
// rare. The help of the encoder fits a screen of 24 lines.
func writeHelp(w io.Writer, cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString(usageText(cmd))
	someRare := false
	for _, g := range groupsOf(cmd) {
		heading := g.heading + ":\n"
		for _, f := range g.options {
			if optionOf(f).rare {
				someRare = true
				continue
			}
			_, help := pflag.UnquoteUsage(f)
			fmt.Fprintf(&b, "%s%-*s%s\n", heading, helpColumn-1, "  "+optionColumn(f)+" ", help)
			heading = ""
		}
	}
	if cmd.HasParent() {
		var names []string
		for _, v := range environmentOf(cmd.Name()) {
			names = append(names, v.name)
		}
		if names != nil {
			fmt.Fprintf(&b, "Environment: %s.\n", strings.Join(names, ", "))
		}
	}
	switch {
	case hasCompat(cmd):
		b.WriteString("All other options of pahole, exit statuses, environment: \"btflite manual\".\n")
	case someRare:
		fmt.Fprintf(&b, "More options are in the manual page: btflite manual %s.\n", cmd.Name())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// usageText is how cmd is called and what it is for.
func usageText(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return fmt.Sprintf("Usage: %-34s%s\n%s", cmd.UseLine(), cmd.Short, commandLines())
	}
	return "Usage: " + cmd.UseLine() + "\n" + cmd.Long + "\n"
}

// commandLines are the lines that name the commands.
func commandLines() string {
	const indent, width = "       ", 79
	var b strings.Builder
	line := indent + programName + " COMMAND --help            "
	for i, entry := range commands() {
		word := entry.name
		if i < len(commands())-1 {
			word += ","
		}
		if len(line)+len(word) > width {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		line += word + " "
	}
	return b.String() + strings.TrimRight(line, " ") + "\n"
}

// optionColumn is "-j, --jobs[=N]" and the like.
func optionColumn(f *pflag.Flag) string {
	s := "    --" + f.Name
	if f.Shorthand != "" {
		s = "-" + f.Shorthand + ", --" + f.Name
	}
	arg, _ := pflag.UnquoteUsage(f)
	switch {
	case isToggle(f):
		return s
	case f.NoOptDefVal != "":
		return s + "[=" + arg + "]"
	}
	return s + "=" + arg
}

// newHelpCommand is "btflite help [COMMAND]".
func newHelpCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Long:    "Print the help of btflite or of one of its commands.",
		Example: "  btflite help verify", ValidArgsFunction: commandNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			var about *cobra.Command
			if len(args) == 0 {
				about = newMain(c, newEncodeCommand())
			} else if entry, ok := commandCalled(args[0]); ok && len(args) == 1 {
				about = entry.under(newRoot(c), c)
			} else {
				c.running = cmd.Root() // the list is in its help
				return unknownCommand(args)
			}
			return stdoutError(writeHelp(c.stdout, about))
		},
	}
}

// commandNames completes names of commands.
func commandNames(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	for _, entry := range commands() {
		if len(args) == 0 {
			names = append(names, cobra.CompletionWithDesc(entry.name, entry.short))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
