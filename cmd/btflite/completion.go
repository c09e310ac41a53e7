package main

import (
	"bytes"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newCompletionCommand is "btflite completion SHELL": a script with which the shell
// asks btflite how to complete a command line.
func newCompletionCommand(c *cli) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:       "completion SHELL",
		Long:      "Print a script with which SHELL completes command lines of btflite:\nbash, zsh, fish or powershell.",
		Example:   "  source <(btflite completion bash)",
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			shell := ""
			if len(args) == 1 {
				shell = args[0]
			}
			switch shell {
			case "bash":
				err = bashCompletion(c, cmd.Root())
			case "zsh":
				err = cmd.Root().GenZshCompletion(c.stdout)
			case "fish":
				err = fishCompletion(c, cmd.Root())
			case "powershell":
				err = cmd.Root().GenPowerShellCompletionWithDesc(c.stdout)
			default:
				return usagef("completion takes the name of a shell: %s", strings.Join(shells, ", "))
			}
			return stdoutError(err)
		},
	}
}

// commasInBash wraps the function that bash calls. cobra's function escapes commas, and the
// backslashes would stay in the word.
const commasInBash = `
__btflite_complete()
{
    __start_btflite "$@"
    local status=$?
    COMPREPLY=("${COMPREPLY[@]//\\,/,}")
    return $status
}

if [[ $(type -t compopt) = "builtin" ]]; then`

// bashCompletion prints the script for bash.
func bashCompletion(c *cli, root *cobra.Command) error {
	var script bytes.Buffer
	if err := root.GenBashCompletionV2(&script, true); err != nil {
		return err
	}
	text := strings.Replace(script.String(), "\nif [[ $(type -t compopt) = \"builtin\" ]]; then", commasInBash, 1)
	_, err := c.stdout.Write([]byte(strings.ReplaceAll(text, "-F __start_btflite btflite", "-F __btflite_complete btflite")))
	return err
}

// fishCompletion prints cobra's script for fish with two corrections. cobra calls string split
// without "--", which takes --name=value for its own option. Where no blank should follow a
// word, cobra also offers the word with a dot; here a comma can follow, so that offers the comma.
func fishCompletion(c *cli, root *cobra.Command) error {
	var script bytes.Buffer
	if err := root.GenFishCompletion(&script, true); err != nil {
		return err
	}
	text := strings.NewReplacer(`string split --max 1 \t $`, `string split --max 1 -- \t $`, "$split[1] $split[1].", "$split[1] $split[1],").Replace(script.String())
	_, err := c.stdout.Write([]byte(text))
	return err
}

// listOf completes comma-separated lists of the names. It offers no name twice.
func listOf(names func() []string) setting {
	return func(o *option, _ *pflag.Flag) {
		o.offered = func(_ *cobra.Command, _ []string, begun string) (list []string, _ cobra.ShellCompDirective) {
			done := begun[:strings.LastIndexAny(begun, ",+")+1]
			there := strings.FieldsFunc(done, func(r rune) bool { return r == ',' || r == '+' })
			for _, n := range names() {
				if !slices.Contains(there, n) {
					list = append(list, done+n)
				}
			}
			return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
	}
}

// offerWords tells cobra what to offer for each option of the commands in the tree.
func offerWords(root *cobra.Command) {
	for _, cmd := range append(root.Commands(), root) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			_, f.Usage = pflag.UnquoteUsage(f) // it is shown without change
			o := optionOf(f)
			if o.offered != nil {
				cmd.RegisterFlagCompletionFunc(f.Name, o.offered)
			}
			if o.folder {
				cmd.MarkFlagDirname(f.Name)
			}
		})
	}
}

// completionArgs translates the words that a shell sends into words for cobra. The last
// word is the one to complete. A line with a mistake stays as it is.
func completionArgs(root *cobra.Command, args []string) []string {
	if len(args) < 3 {
		return args
	}
	request, typed, last := args[0], args[1:len(args)-1], args[len(args)-1]
	out := []string{request}
	cmd := root
	for _, sub := range root.Commands() {
		if sub.Name() == typed[0] {
			out, cmd, typed = append(out, typed[0]), sub, typed[1:]
			break
		}
	}
	words, err := argp(cmd, typed)
	if err != nil {
		return args
	}
	if !slices.Contains(typed, "--") {
		words = slices.DeleteFunc(words, func(w string) bool { return w == "--" })
	}
	return append(append(out, words...), last)
}
