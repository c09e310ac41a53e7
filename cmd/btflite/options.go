package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/btflite/btflite/internal/message"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Headings of the help.
const (
	groupOutput   = "Output"
	groupFeatures = "What to encode"
	groupUnits    = "Which compile units (LIST: names as c99, rust, asm; comma-separated)"
	groupRules    = "Rules"
	groupReport   = "Reports"
	groupCompat   = "Compatibility" // of options that are all rare
)

// Keys of annotations of options.
const (
	headingKey = "btflite_heading"
	rareKey    = "btflite_rare"
	fileKey    = "btflite_file"
	aliasKey   = "btflite_alias"
)

// optionSet adds options to a command, under one heading of its help. A help text
// has the placeholder of the argument in back quotes, as is usual with pflag. A
// function that takes a value is called in the order of the command line; see
// optionError for its errors.
type optionSet struct {
	cmd     *cobra.Command
	heading string
}

// setting is one more fact about an option.
type setting func(*cobra.Command, *pflag.Flag)

// under returns what adds options to cmd under the heading.
func under(cmd *cobra.Command, heading string) optionSet { return optionSet{cmd, heading} }

// toggle adds an option without an argument that sets *p.
func (s optionSet) toggle(p *bool, name, letter, help string, more ...setting) {
	s.cmd.Flags().BoolVarP(p, name, letter, false, help)
	s.finish(name, more)
}

// call adds an option without an argument that calls f.
func (s optionSet) call(f func(), name, letter, help string, more ...setting) {
	s.cmd.Flags().BoolFuncP(name, letter, help, func(string) error { f(); return nil })
	s.finish(name, more)
}

// value adds an option with an argument, which set takes.
func (s optionSet) value(set func(string) error, name, letter, help string, more ...setting) {
	s.cmd.Flags().VarP(&setter{set: set}, name, letter, help)
	s.finish(name, more)
}

// file is value for the name of a file or folder, stored in *p. It cannot be
// empty.
func (s optionSet) file(p *string, name, letter, help string, more ...setting) {
	s.value(func(v string) error {
		if v == "" {
			return usagef("empty file name")
		}
		*p = v
		return nil
	}, name, letter, help, append(more, files)...)
}

// bases adds --btf_base, or as it is called, which may be given several times.
func (s optionSet) bases(p *[]string, name, help string) {
	s.value(func(v string) error {
		if v == "" {
			return usagef("empty file name")
		}
		*p = append(*p, v)
		return nil
	}, name, "", help, files)
}

func (s optionSet) finish(name string, more []setting) {
	f := s.cmd.Flags().Lookup(name)
	f.Annotations = map[string][]string{headingKey: {s.heading}}
	for _, m := range more {
		m(s.cmd, f)
	}
}

// rare leaves an option out of the help, but not out of the manual page.
func rare(_ *cobra.Command, f *pflag.Flag) { f.Annotations[rareKey] = []string{} }

// always is no setting: the option stands in the help.
func always(*cobra.Command, *pflag.Flag) {}

// hidden leaves an option out of the manual page and completion too.
func hidden(_ *cobra.Command, f *pflag.Flag) { f.Hidden = true }

// alias is another name of an option.
func alias(name string) setting {
	return func(_ *cobra.Command, f *pflag.Flag) { f.Annotations[aliasKey] = append(f.Annotations[aliasKey], name) }
}

// bare makes the argument optional; without it the option means value.
func bare(value string) setting {
	return func(_ *cobra.Command, f *pflag.Flag) { f.NoOptDefVal = value }
}

// words makes an option take one of the words.
func words(list ...string) setting {
	return func(cmd *cobra.Command, f *pflag.Flag) {
		f.Value.(*setter).words = list
		cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
	}
}

// numbers says that a number makes sense as the argument of an option.
func numbers(cmd *cobra.Command, f *pflag.Flag) {
	f.Value.(*setter).number = true
	cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions)
}

// files says that the argument is the name of a file or folder.
func files(_ *cobra.Command, f *pflag.Flag) { f.Annotations[fileKey] = []string{} }

// isFile tells whether the argument of f is the name of a file or folder.
func isFile(f *pflag.Flag) bool { return f.Annotations[fileKey] != nil }

// folder makes an option complete names of folders.
func folder(cmd *cobra.Command, f *pflag.Flag) { cmd.MarkFlagDirname(f.Name) }

// setter is the value of an option with an argument.
type setter struct {
	set    func(string) error
	words  []string // all that set takes; nil: anything
	number bool     // set takes numbers
}

func (s *setter) String() string { return "" }
func (s *setter) Type() string   { return "string" }

func (s *setter) Set(v string) error {
	if s.words != nil && !slices.Contains(s.words, v) {
		return &usageError{what: fmt.Sprintf("unknown value '%s'", message.OneLine(v)), hint: "use " + strings.Join(s.words, " or ")}
	}
	return s.set(v)
}

// accepts tells whether the word looks like an argument of the option.
func (s *setter) accepts(word string) bool {
	return slices.Contains(s.words, word) || s.number && isDigits(word)
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// usageError is a wrong command line: exit status 64. hint may be "".
type usageError struct {
	what string
	hint string
}

func (e *usageError) Error() string {
	if e.hint == "" {
		return e.what
	}
	return e.what + "; " + e.hint
}

// suggest makes the name, if there is one, the hint.
func (e *usageError) suggest(before, name string) {
	if name != "" {
		e.hint = fmt.Sprintf("did you mean %s%s?", before, name)
	}
}

// usagef returns a usageError without a hint.
func usagef(format string, args ...any) error {
	return &usageError{what: fmt.Sprintf(format, args...)}
}

// optionError is err, an error of pflag, as an error of ours: a usageError gets
// the name of the option that has refused its argument, and others stay as the
// option has returned them.
func optionError(_ *cobra.Command, err error) error {
	var refused *pflag.InvalidValueError
	if !errors.As(err, &refused) {
		return usagef("%s", err)
	}
	err = refused.Unwrap()
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		return &usageError{what: fmt.Sprintf("option '--%s': %s", refused.GetFlag().Name, usage.what), hint: usage.hint}
	case errors.Is(err, strconv.ErrSyntax) || errors.Is(err, strconv.ErrRange):
		return usagef("option '--%s': '%s' is not a number", refused.GetFlag().Name, message.OneLine(refused.GetValue()))
	}
	return err
}
