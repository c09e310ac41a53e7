package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/internal/glob"
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
	groupCompat   = "Compatibility" // all of its options are rare
)

// option is the value of an option, and other facts about it. It is a pflag.Value.
type option struct {
	set      func(string) error
	switched *bool // set by a toggle; nil for a toggle that calls set, and for other options
	toggle   bool  // it takes no argument
	heading  string
	rare     bool // not in the help, but in the manual page
	file     bool // the argument names a file or folder
	folder   bool // the argument names a folder
	number   bool // the argument may be a number
	aliases  []string
	words    []string             // all possible arguments; nil: anything
	offered  cobra.CompletionFunc // offered by a shell for the argument; nil: files
}

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

// accepts reports whether the word looks like an argument of the option.
func (o *option) accepts(word string) bool {
	return slices.Contains(o.words, word) || o.number && isDigits(word)
}

// optionSet adds options to a command, under one heading of its help. As usual with
// pflag, a help text has the placeholder of the argument in back quotes. Functions that
// take values are called in the order of the command line. See optionError for their
// errors.
type optionSet struct {
	cmd     *cobra.Command
	heading string
}

// setting sets another fact about an option.
type setting func(*option, *pflag.Flag)

// under returns an optionSet for cmd and the heading.
func under(cmd *cobra.Command, heading string) optionSet { return optionSet{cmd, heading} }

// toggle adds an option without an argument that sets *p.
func (s optionSet) toggle(p *bool, name, letter, help string, settings ...setting) {
	s.add(&option{switched: p, toggle: true}, name, letter, help, settings)
}

// call adds an option without an argument that calls f.
func (s optionSet) call(f func(), name, letter, help string, settings ...setting) {
	s.add(&option{set: func(string) error { f(); return nil }, toggle: true}, name, letter, help, settings)
}

// value adds an option with an argument, which it passes to set.
func (s optionSet) value(set func(string) error, name, letter, help string, settings ...setting) {
	s.add(&option{set: set}, name, letter, help, settings)
}

// text adds an option with an argument that is stored in *p as it is.
func (s optionSet) text(p *string, name, letter, help string, settings ...setting) {
	s.value(func(v string) error { *p = v; return nil }, name, letter, help, settings...)
}

// file adds an option for the name of a file or folder, stored in *p. An empty name is an
// error.
func (s optionSet) file(p *string, name, letter, help string, settings ...setting) {
	s.fileName(func(v string) { *p = v }, name, letter, help, settings...)
}

// bases adds --btf_base, or the same under another name. It may be given several times.
func (s optionSet) bases(p *[]string, name, help string) {
	s.fileName(func(v string) { *p = append(*p, v) }, name, "", help)
}

// fileName adds an option for the name of a file or folder, which it passes to set.
func (s optionSet) fileName(set func(string), name, letter, help string, settings ...setting) {
	s.value(func(v string) error {
		if v == "" {
			return usagef("empty file name")
		}
		set(v)
		return nil
	}, name, letter, help, append(settings, files)...)
}

// release adds an option for a release of Linux, stored in *p.
func (s optionSet) release(p *verify.Release, name, help string, settings ...setting) {
	s.value(func(v string) (err error) {
		if *p, err = verify.ParseRelease(message.OneLine(v)); err != nil {
			return usagef("%v", err)
		}
		return nil
	}, name, "", help, append(settings, offering(verify.Releases()...))...)
}

// between returns a function that stores a number from least to most. what is said of other words: 'x' is not WHAT.
func between(p *int, least, most int, what string) func(string) error {
	return func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return usagef("'%s' is not %s", message.OneLine(v), what)
		}
		*p = n
		return nil
	}
}

// least0 returns a function that stores a number.
func least0(p *int) func(string) error { return between(p, 0, math.MaxInt, "a number") }

// nonEmpty returns a function that stores a name.
func nonEmpty(p *string) func(string) error {
	return func(v string) error {
		if v == "" {
			return usagef("empty name")
		}
		*p = v
		return nil
	}
}

// pattern adds an option for a pattern of names, which it appends to *p.
func (s optionSet) pattern(p *[]string, name, letter, help string) {
	s.value(func(v string) error {
		if v == "" {
			return usagef("empty pattern")
		}
		if err := checkPattern(v); err != nil {
			return err
		}
		*p = append(*p, v)
		return nil
	}, name, letter, help, noFiles)
}

// checkPattern returns an error for a pattern that is not complete.
func checkPattern(pattern string) error {
	if _, err := glob.Parse(pattern); err != nil {
		return usagef("'%s' is not a valid pattern: %v", message.OneLine(pattern), err)
	}
	return nil
}

func (s optionSet) add(o *option, name, letter, help string, settings []setting) {
	f := &pflag.Flag{Name: name, Shorthand: letter, Usage: help, Value: o}
	if o.heading = s.heading; o.toggle {
		f.NoOptDefVal = "true"
	}
	for _, m := range settings {
		m(o, f)
	}
	s.cmd.Flags().AddFlag(f)
}

// rare hides an option from the help, but not from the manual page.
func rare(o *option, _ *pflag.Flag) { o.rare = true }

// always changes nothing: the option is in the help.
func always(*option, *pflag.Flag) {}

// hidden hides an option from the manual page and completion too.
func hidden(_ *option, f *pflag.Flag) { f.Hidden = true }

// alias adds another name for an option.
func alias(name string) setting {
	return func(o *option, _ *pflag.Flag) { o.aliases = append(o.aliases, name) }
}

// bare makes the argument optional; without it the option means value.
func bare(value string) setting {
	return func(_ *option, f *pflag.Flag) { f.NoOptDefVal = value }
}

// words restricts the argument to these words.
func words(list ...string) setting {
	return func(o *option, f *pflag.Flag) {
		o.words = list
		offering(list...)(o, f)
	}
}

// offering makes a shell offer the words. The option accepts others too.
func offering(list ...string) setting {
	return func(o *option, _ *pflag.Flag) {
		o.offered = cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
	}
}

// noFiles makes a shell offer no names of files.
func noFiles(o *option, _ *pflag.Flag) { o.offered = cobra.NoFileCompletions }

// numbers declares that the argument may be a number.
func numbers(o *option, f *pflag.Flag) {
	o.number = true
	noFiles(o, f)
}

// files declares that the argument is the name of a file or folder.
func files(o *option, _ *pflag.Flag) { o.file = true }

// folder declares that the argument is the name of a folder.
func folder(o *option, _ *pflag.Flag) { o.folder = true }

// firstGiven returns the first option of the command line whose name fits, with its hyphens. It returns "" if
// no name fits.
func firstGiven(cmd *cobra.Command, fits func(name string) bool) (option string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if option == "" && fits(f.Name) {
			option = "--" + f.Name
		}
	})
	return option
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// usageError is a wrong command line: exit status 64. hint may be "".
type usageError struct {
	what string
	hint string
	// lacksWord says that a word is missing, such as the name of a file.
	lacksWord bool
	// list adds the list of commands to the message.
	list bool
}

func (e *usageError) Error() string {
	if e.hint == "" {
		return e.what
	}
	return e.what + "; " + e.hint
}

// suggest makes name the hint, if it is not empty.
func (e *usageError) suggest(before, name string) {
	if name != "" {
		e.hint = fmt.Sprintf("did you mean %s%s?", before, name)
	}
}

// lackingWord returns a usageError about a missing word, without a hint.
func lackingWord(what string) error { return &usageError{what: what, lacksWord: true} }

// usagef returns a usageError without a hint.
func usagef(format string, args ...any) error {
	return &usageError{what: fmt.Sprintf(format, args...)}
}

// optionError turns an error of pflag into ours. A usageError gets the name of the option
// that has refused its argument. Other errors stay as the option has returned them.
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

// groupPrinted is the heading of what to print.
const groupPrinted = "What to print"
