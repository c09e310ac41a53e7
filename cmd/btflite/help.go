package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/btflite/btflite/docs/man"
	"github.com/btflite/btflite/internal/message"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpColumn is where the explanation of an option begins. A longer option
// pushes its own explanation to the right.
const helpColumn = 34

// helpWidth is the width of help on a terminal that is not narrower.
const helpWidth = 79

// optionGroup are the options of a command under one heading.
type optionGroup struct {
	heading string
	options []*pflag.Flag
}

// groupsOf returns the options of cmd that are not hidden, in the order in which they
// were added.
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

// writeHelp prints what cmd does and one line for each option that is not rare. The help
// of the encoder fits a screen of 24 lines.
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
			b.WriteString(foldedLine(environmentHeading+strings.Join(names, ", ")+".", helpWidth, len(environmentHeading)))
		}
	}
	switch {
	case hasCompat(cmd):
		b.WriteString("All other options of pahole, exit statuses, environment: \"btflite manual\".\n")
	case someRare:
		fmt.Fprintf(&b, "More options are in the manual page: btflite manual %s.\n", cmd.Name())
	}
	text := b.String()
	if f, ok := fileOf(w); ok && isTerminal(f) {
		text = folded(text, width(f))
	}
	_, err := io.WriteString(w, text)
	return err
}

// folded breaks a help text for a narrow terminal. Paragraphs are filled again. Further
// lines of an option start below its explanation or, if that leaves little room, a bit to
// the right of the option.
func folded(text string, columns int) string {
	const least, further = 20, 6 // columns for the text, and of the indent
	var b, paragraph strings.Builder
	long := false
	flush := func() {
		text := paragraph.String()
		if long {
			text = foldedLine(strings.Join(strings.Fields(text), " "), columns, 0)
		}
		b.WriteString(text)
		paragraph.Reset()
		long = false
	}
	for line := range strings.Lines(text) {
		if isProse(line) {
			paragraph.WriteString(line)
			long = long || utf8.RuneCountInString(line) > columns+1
			continue
		}
		flush()
		line = strings.TrimSuffix(line, "\n")
		indent := further
		if option, help, ok := strings.Cut(line[min(len(line), further):], "  "); ok && columns < helpColumn+least {
			line = line[:further] + option + "  " + strings.TrimLeft(help, " ") // without the column
		} else if strings.HasPrefix(line, " ") && columns >= helpColumn+least {
			indent = helpColumn - 1
		}
		b.WriteString(foldedLine(line, columns, indent))
	}
	flush()
	return b.String()
}

// isProse reports whether a line of a help text belongs to a paragraph.
func isProse(line string) bool {
	return line != "\n" && !strings.HasPrefix(line, " ") && !strings.HasSuffix(line, ":\n") &&
		!strings.HasPrefix(line, "Usage: ") && !strings.HasPrefix(line, environmentHeading)
}

// foldedLine breaks a line. Further lines get an indent.
func foldedLine(line string, columns, indent int) string {
	var b strings.Builder
	for begin := 0; utf8.RuneCountInString(line) > columns; begin = indent {
		at := strings.LastIndex(line[:columns+1], " ")
		if strings.TrimSpace(line[:max(at, 0)]) == "" || at <= begin {
			break // the word is too long
		}
		b.WriteString(strings.TrimRight(line[:at], " ") + "\n")
		line = strings.Repeat(" ", indent) + strings.TrimLeft(line[at:], " ")
	}
	return b.String() + line + "\n"
}

// environmentHeading starts the line of variables.
const environmentHeading = "Environment: "

// usageText says how to call cmd and what it does.
func usageText(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return fmt.Sprintf("Usage: %-34s%s\n%s", cmd.UseLine(), cmd.Short, commandLines())
	}
	return "Usage: " + cmd.UseLine() + "\n" + cmd.Long + "\n"
}

// commandLines lists the commands, one on each line.
func commandLines() string {
	const indent = "       "
	var b strings.Builder
	line := indent + programName + " COMMAND --help            "
	for i, entry := range commands() {
		word := entry.name
		if i < len(commands())-1 {
			word += ","
		}
		if len(line)+len(word) > helpWidth {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		line += word + " "
	}
	return b.String() + strings.TrimRight(line, " ") + "\n"
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
			} else if err := oneCommand(c, cmd, args); err != nil {
				return err
			} else {
				entry, _ := commandCalled(args[0])
				about = entry.under(newRoot(c), c)
			}
			return stdoutError(writeHelp(c.stdout, about))
		},
	}
}

// oneCommand returns an error unless the words are the name of one command.
func oneCommand(c *cli, cmd *cobra.Command, args []string) error {
	if _, ok := commandCalled(args[0]); !ok {
		c.running = cmd.Root() // its help lists the commands
		return notACommand(args[0])
	}
	if len(args) > 1 {
		return usagef("%s takes the name of one command; '%s' is too many", cmd.Name(), message.OneLine(args[1]))
	}
	return nil
}

func commandNames(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	for _, entry := range commands() {
		if len(args) == 0 {
			names = append(names, cobra.CompletionWithDesc(entry.name, entry.short))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// newManualCommand is "btflite manual [COMMAND]".
func newManualCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "manual [COMMAND]",
		Long: `Show the manual page of btflite or of one of its commands, as man does. What is
not a terminal gets the source of the page, for man -l.`,
		Example: "  btflite manual verify | man -l -", ValidArgsFunction: commandNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
				if err := oneCommand(c, cmd, args); err != nil {
					return err
				}
			}
			build := thisBuild()
			page, err := man.Page(name, build.version, build.date)
			if err != nil {
				return err
			}
			if f, ok := fileOf(c.stdout); ok && isTerminal(f) {
				page = man.Plain(page, width(f), c.colored(colorAuto))
			}
			to, end := c.pager("MANPAGER", "PAGER") // as in man
			defer end()
			_, err = to.Write(page)
			return stdoutError(err)
		},
	}
}

// variable is an environment variable that affects a run.
type variable struct {
	name, text string
	commands   string // names of the commands that it affects, separated by blanks; "" for all
}

// environment returns all of them. The manual pages list the same.
func environment() []variable {
	const paged = "show dump diff funcs inline stats manual"
	return []variable{
		{"PAHOLE_LANG_EXCLUDE", "Counts as --lang_exclude if no option names languages.", ""},
		{kernelBTFEnv, "The base of BTF below /sys/kernel/btf, in place of vmlinux there, and the file that is read without FILE.", ""},
		{serversVariable, "Servers that debuginfod-find asks for the debug file of a file without DWARF, with -J and when types are read.", ""},
		{"GOMEMLIMIT", "A limit for the Go heap. Without it, the memory limit decides.", ""},
		{"MAKEFLAGS", "Under make -s no progress is shown.", ""},
		{"TERM", "On a dumb terminal there are no colours, no pager and no progress.", ""},
		{"NO_COLOR", "If it is not empty, there are no colours unless --color=always is given.", "show dump diff manual"},
		{"PAGER", "The program that shows long text on a terminal; less if it is not set. There is none if it is empty or cat.", paged},
		{"MANPAGER", "Counts in place of PAGER, as for man.", "manual"},
		{"LESS", "Options of less; FRX if it is not set.", paged},
		{"LV", "Options of lv; -c if it is not set.", paged},
		{keepVariable, "Counts as --keep-dwarf, for links and for make CC=\"btflite cc gcc\".", compilerName},
		{nestedVariable, "How many runs of btflite cc are around this one; it sets the variable itself.", compilerName},
		{kernelVariable, "Where the configuration of a kernel is that is built: a message is about that, if unit records are not enough for it. What has been said once is noted there.", compilerName},
		{moduleVariable, "Where the external module is that is built: what has been said once is noted there.", compilerName},
		{"PAHOLE", "The pahole that doctor asks for its version, as kernel builds have it.", "doctor"},
		{"PATH", "Where programs are found: compilers, the pager and, for a link with the name of a compiler, the next program of that name.", ""},
		{"TMPDIR", "Where temporary files go.", "fullcircle"},
	}
}

// environmentOf returns the variables that are listed with a command: those that affect only some commands,
// and this is one. The main page, for "", lists all.
func environmentOf(command string) (list []variable) {
	for _, v := range environment() {
		if command == "" || slices.Contains(strings.Fields(v.commands), command) {
			list = append(list, v)
		}
	}
	return list
}
