package main

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestTableOfCommands: the table is sorted by name, and agrees with each command.
func TestTableOfCommands(t *testing.T) {
	c := newCLI(io.Discard, io.Discard, os.LookupEnv)
	table := commands()
	if !slices.IsSortedFunc(table, func(a, b subcommand) int { return strings.Compare(a.name, b.name) }) {
		t.Error("not in the order of names")
	}
	seen := map[string]string{}
	for _, entry := range table {
		cmd := entry.under(newRoot(c), c)
		if cmd.Name() != entry.name || cmd.Short != entry.short || cmd.CommandPath() != programName+" "+entry.name {
			t.Errorf("%s: the command is %s, %q", entry.name, cmd.CommandPath(), cmd.Short)
		}
		if cmd.RunE == nil || cmd.Flags().Lookup("help") == nil {
			t.Errorf("%s: does nothing, or has no --help", entry.name)
		}
		for _, word := range append(strings.Fields(entry.synonyms), entry.name) {
			if seen[word] != "" {
				t.Errorf("%q stands for %s and %s", word, seen[word], entry.name)
			}
			seen[word] = entry.name
		}
	}
	if got := len(wholeTree(c).Commands()); got != len(table) {
		t.Errorf("%d commands in the tree, %d in the table", got, len(table))
	}
}

// TestOneCommandIsBuilt: a run does not build the commands that it does not need.
func TestOneCommandIsBuilt(t *testing.T) {
	for _, tt := range []struct {
		args string
		want string // the words for the command that runs
		n    int    // other commands in its tree
	}{{"--version", "btflite", 0}, {"version", "btflite version", 1}, {"sort --help", "btflite sort", 1}} {
		c, _, _ := testCLI(t)
		if status := c.run(strings.Fields(tt.args)); status != exitOK {
			t.Fatalf("%s: status %d", tt.args, status)
		}
		n := 0
		for _, cmd := range c.running.Root().Commands() {
			if cmd.Name() != "" { // cobra wants a command for the help, which has no name
				n++
			}
		}
		if c.running.CommandPath() != tt.want || n != tt.n {
			t.Errorf("%s: %s of %d commands, want %s of %d", tt.args, c.running.CommandPath(), n, tt.want, tt.n)
		}
	}
}
