package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/docs/man"
)

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
			info, _ := debug.ReadBuildInfo()
			build := thisBuild(info)
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
