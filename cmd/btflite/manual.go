package main

import (
	"github.com/spf13/cobra"

	"github.com/btflite/btflite/docs/man"
)

// newManualCommand is "btflite manual [COMMAND]".
func newManualCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:     "manual [COMMAND]",
		Long:    "Print the manual page of btflite or of one of its commands, for man -l.",
		Example: "  btflite manual verify | man -l -", ValidArgsFunction: commandNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
				if _, ok := commandCalled(name); !ok || len(args) > 1 {
					c.running = cmd.Root() // the list is in its help
					return unknownCommand(args)
				}
			}
			page, err := man.Page(name)
			if err == nil {
				_, err = c.stdout.Write(page)
			}
			return stdoutError(err)
		},
	}
}
