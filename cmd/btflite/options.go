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

// option is the value of an option, and what else is known of it. It is a
// pflag.Value.
type option struct {
	set      func(string) error
	switched *bool // what a toggle sets; nil for a toggle that calls set, and all others
	toggle   bool  // it takes no argument
	heading  string
	rare     bool // not in the help, but in the manual page
	file     bool // the argument names a file or folder
	folder   bool // the argument names a folder
	number   bool // the argument may be a number
	aliases  []string
	words    []string             // all that the argument may be; nil: anything
	offered  cobra.CompletionFunc // what a shell offers for the argument; nil: files
}

// optionOf returns what is known of f.
func optionOf(f *pflag.Flag) *option { return f.Value.(*option) }

// String implements pflag.Value.
func (o *option) String() string {
	if o.switched == nil {
		return ""
	}
	return strconv.FormatBool(*o.switched)
}

// Type implements pflag.Value.
func (o *option) Type() string {
	if o.toggle {
		return "bool"
	}
	return "string"
}

// Set implements pflag.Value.
func (o *option) Set(v string) error {
	switch {
	case o.switched != nil:
		*o.switched = true
		return nil
	case o.words != nil && !slices.Contains(o.words, v):
		return &usageError{what: fmt.Sprintf("unknown value '%s'", message.OneLine(v)), hint: "use " + strings.Join(o.words, " or ")}
	}
	return o.set(v)
}

// accepts tells whether the word looks like an argument of the option.
func (o *option) accepts(word string) bool {
	return slices.Contains(o.words, word) || o.number && isDigits(word)
}

// optionSet adds options to a command, under one heading of its help. A help text
// has the placeholder of the argument in back quotes, as is usual with pflag. A
// function that takes a value is called in the order of the command line; see
// optionError for its errors.
type optionSet struct {
	cmd     *cobra.Command
	heading string
}

// setting is one more fact about an option.
type setting func(*option, *pflag.Flag)

// under returns what adds options to cmd under the heading.
func under(cmd *cobra.Command, heading string) optionSet { return optionSet{cmd, heading} }

// toggle adds an option without an argument that sets *p.
func (s optionSet) toggle(p *bool, name, letter, help string, more ...setting) {
	s.add(&option{switched: p, toggle: true}, name, letter, help, more)
}

// call adds an option without an argument that calls f.
func (s optionSet) call(f func(), name, letter, help string, more ...setting) {
	s.add(&option{set: func(string) error { f(); return nil }, toggle: true}, name, letter, help, more)
}

// value adds an option with an argument, which set takes.
func (s optionSet) value(set func(string) error, name, letter, help string, more ...setting) {
	s.add(&option{set: set}, name, letter, help, more)
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

func (s optionSet) add(o *option, name, letter, help string, more []setting) {
	f := &pflag.Flag{Name: name, Shorthand: letter, Usage: help, Value: o}
	if o.heading = s.heading; o.toggle {
		f.NoOptDefVal = "true"
	}
	for _, m := range more {
		m(o, f)
	}
	s.cmd.Flags().AddFlag(f)
}

// rare leaves an option out of the help, but not out of the manual page.
func rare(o *option, _ *pflag.Flag) { o.rare = true }

// always changes nothing: the option is in the help.
func always(*option, *pflag.Flag) {}

// hidden leaves an option out of the manual page and completion too.
func hidden(_ *option, f *pflag.Flag) { f.Hidden = true }

// alias is another name of an option.
func alias(name string) setting {
	return func(o *option, _ *pflag.Flag) { o.aliases = append(o.aliases, name) }
}

// bare makes the argument optional; without it the option means value.
func bare(value string) setting {
	return func(_ *option, f *pflag.Flag) { f.NoOptDefVal = value }
}

// words makes an option take one of the words.
func words(list ...string) setting {
	return func(o *option, f *pflag.Flag) {
		o.words = list
		offering(list...)(o, f)
	}
}

// offering makes a shell offer the words, though the option takes others too.
func offering(list ...string) setting {
	return func(o *option, _ *pflag.Flag) {
		o.offered = cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
	}
}

// noFiles makes a shell offer no names of files.
func noFiles(o *option, _ *pflag.Flag) { o.offered = cobra.NoFileCompletions }

// numbers says that a number makes sense as the argument of an option.
func numbers(o *option, f *pflag.Flag) {
	o.number = true
	noFiles(o, f)
}

// files says that the argument is the name of a file or folder.
func files(o *option, _ *pflag.Flag) { o.file = true }

// folder says that the argument is the name of a folder.
func folder(o *option, _ *pflag.Flag) { o.folder = true }

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// usageError is a wrong command line: exit status 64. hint may be "".
type usageError struct {
	what string
	hint string
	// lacksWord says that a word is lacking, such as the name of a file.
	lacksWord bool
	// list has the commands listed.
	list bool
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

// lackingWord is a usageError without a hint about a word that is lacking.
func lackingWord(what string) error { return &usageError{what: what, lacksWord: true} }

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
