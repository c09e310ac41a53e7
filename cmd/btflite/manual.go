package main

import (
	"github.com/spf13/cobra"

	"github.com/btflite/btflite/docs/man"
)

// manualCommand is "btflite manual [COMMAND]".
func (c *cli) manualCommand() *cobra.Command {
	return &cobra.Command{
		Use: "manual [COMMAND]", Short: "print a manual page", SuggestFor: []string{"man"},
		Long:    "Print the manual page of btflite or of one of its commands, for man -l.",
		Example: "  btflite manual verify | man -l -", ValidArgsFunction: commandNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, err := commandNamed(cmd.Root(), args)
			if err != nil {
				c.running = cmd.Root() // the list is in its help
				return err
			}
			page, err := man.Page(pageName(about))
			if err == nil {
				_, err = c.stdout.Write(page)
			}
			return stdoutError(err)
		},
	}
}

// pageName is the name of a command's page, for package man.
func pageName(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return ""
	}
	return cmd.Name()
}
