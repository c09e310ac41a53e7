package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
)

// sample is a row of the table in docs/results/mutants.md.
type sample struct {
	pkg, tests               string
	seed                     uint64
	tried, noticed, possible int
}

// The rows are between these lines, behind the two lines of the table's head.
const (
	reportBegin = "<!-- What follows is written by make mutants. -->\n"
	reportEnd   = "<!-- What is above is written by make mutants. -->"
	reportHead  = 2
)

// key begins the row: there is one row for each package, choice of tests and seed. A bar between names
// of tests would end the column.
func (s *sample) key() string {
	tests := strings.ReplaceAll(cmp.Or(s.tests, "its own"), "|", `\|`)
	return fmt.Sprintf("| %s | %s | %d |", strings.TrimPrefix(s.pkg, "./"), tests, s.seed)
}

// write puts the row into the table of a file, in place of an older one.
func (s *sample) write(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(data), reportBegin)
	table, after, ends := strings.Cut(rest, reportEnd)
	lines := strings.SplitAfter(table, "\n")
	if !begins || !ends || len(lines) < reportHead+1 {
		return fmt.Errorf("%s: no table between %q and %q", path, strings.TrimSpace(reportBegin), reportEnd)
	}
	rows := slices.DeleteFunc(lines[reportHead:len(lines)-1], func(l string) bool { return strings.HasPrefix(l, s.key()) })
	rows = append(rows, fmt.Sprintf("%s %d | %d | %d |\n", s.key(), s.tried, s.noticed, s.possible))
	slices.Sort(rows)
	text := before + reportBegin + strings.Join(lines[:reportHead], "") + strings.Join(rows, "") + reportEnd + after
	return os.WriteFile(path, []byte(text), 0o644)
}
