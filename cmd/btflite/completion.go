package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completionCommand is "btflite completion SHELL": a script with which the shell
// asks btflite how to complete a command line.
func (c *cli) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion SHELL", Short: "print a script that completes command lines",
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
				err = cmd.Root().GenBashCompletionV2(c.stdout, true)
			case "zsh":
				err = cmd.Root().GenZshCompletion(c.stdout)
			case "fish":
				err = cmd.Root().GenFishCompletion(c.stdout, true)
			case "powershell":
				err = cmd.Root().GenPowerShellCompletionWithDesc(c.stdout)
			default:
				return usagef("completion takes the name of a shell: %s", strings.Join(shells, ", "))
			}
			return stdoutError(err)
		},
	}
}

// listOf completes comma-separated lists of the names.
func listOf(names func() []string) setting {
	return func(cmd *cobra.Command, f *pflag.Flag) {
		cmd.RegisterFlagCompletionFunc(f.Name, func(_ *cobra.Command, _ []string, begun string) (list []string, _ cobra.ShellCompDirective) {
			done := begun[:strings.LastIndexAny(begun, ",+")+1]
			for _, n := range names() {
				list = append(list, done+n)
			}
			return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		})
	}
}

// completionArgs are the words of a request of a shell, the last of which is to be
// completed, as cobra takes them. A line with a mistake stays as it is.
func completionArgs(root *cobra.Command, args []string) []string {
	if len(args) < 3 {
		return args
	}
	request, typed, last := args[0], args[1:len(args)-1], args[len(args)-1]
	out := []string{request}
	cmd := root
	if sub := subcommand(root, typed[0]); sub != nil {
		out, cmd, typed = append(out, typed[0]), sub, typed[1:]
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
