package main

import (
	"fmt"
	"slices"
	"strings"
)

// The parser follows getopt_long and argp, which pahole uses: options and file
// names in any order, "--" ends the options, short options may be clustered
// (-JV), a required argument is attached or is the next word, an optional one
// must be attached (-j4, --jobs=4), and a long option may be cut short as long
// as only one option begins that way.

// argKind says whether an option takes an argument.
type argKind uint8

const (
	noArg argKind = iota
	optionalArg
	requiredArg
)

// option is one row of an option table.
type option struct {
	long    []string // names without dashes; help shows the first
	short   byte     // letter, or 0
	arg     argKind
	argName string // placeholder in the help
	group   string // heading in help and manual page; "" leaves the option out
	rare    bool   // in the manual page, not in the help
	help    string
	// apply stores the option in c. value is "" when none was given. It is
	// called in command-line order.
	apply func(c *config, value string) error
	// misplaced, if set, tells whether a word that follows the bare option
	// was probably meant to be its optional argument ("-j 4").
	misplaced func(word string) bool
}

// name is how the option is shown in messages.
func (o *option) name() string { return "--" + o.long[0] }

// operand is a word of the command line that is no option.
type operand struct {
	text string
	// bare is the option without its optional argument that stands right
	// before the word, and bareText how it was written; nil and "" otherwise.
	bare     *option
	bareText string
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

// usagef returns a usageError without a hint.
func usagef(format string, args ...any) error {
	return &usageError{what: fmt.Sprintf(format, args...)}
}

// parse applies the options in args to c and returns the other words.
func parse(table []option, args []string, c *config) ([]operand, error) {
	p := parser{table: table, args: args, c: c}
	for len(p.args) > 0 {
		word := p.args[0]
		p.args = p.args[1:]
		var err error
		switch {
		case word == "--":
			p.bare = operand{}
			for _, w := range p.args {
				p.addOperand(w)
			}
			return p.operands, nil
		case strings.HasPrefix(word, "--"):
			p.bare = operand{}
			err = p.longOption(word[2:])
		case len(word) > 1 && word[0] == '-':
			p.bare = operand{}
			err = p.shortOptions(word[1:])
		default:
			p.addOperand(word)
		}
		if err != nil {
			return nil, err
		}
	}
	return p.operands, nil
}

// parser is the state of one parse call.
type parser struct {
	table    []option
	args     []string // words not looked at yet
	c        *config
	operands []operand
	bare     operand // bare and bareText for a file name that comes next
}

func (p *parser) addOperand(word string) {
	p.bare.text = word
	p.operands = append(p.operands, p.bare)
	p.bare = operand{}
}

// longOption handles --word, word being "name" or "name=value".
func (p *parser) longOption(word string) error {
	name, value, attached := strings.Cut(word, "=")
	o, err := lookupLong(p.table, name)
	if err != nil {
		return err
	}
	if attached {
		if o.arg == noArg {
			return usagef("option '%s' doesn't allow an argument", o.name())
		}
		return o.apply(p.c, value)
	}
	return p.withNextWord(o, "--"+name)
}

// shortOptions handles -letters.
func (p *parser) shortOptions(letters string) error {
	for i := 0; i < len(letters); i++ {
		o := lookupShort(p.table, letters[i])
		if o == nil {
			e := &usageError{what: fmt.Sprintf("invalid option -- '%s'", letters[i:i+1])}
			// -btf_encode for --btf_encode
			if name, _, _ := strings.Cut(letters, "="); len(name) > 2 && closest(p.table, name) != "" {
				e.hint = fmt.Sprintf("did you mean --%s?", closest(p.table, name))
			}
			return e
		}
		rest := letters[i+1:]
		if o.arg != noArg && rest != "" {
			return o.apply(p.c, rest)
		}
		if err := p.withNextWord(o, "-"+letters[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// withNextWord applies o, which has no attached argument; written is how the
// option was spelt.
func (p *parser) withNextWord(o *option, written string) error {
	switch o.arg {
	case requiredArg:
		if len(p.args) == 0 {
			return usagef("option '%s' requires an argument", written)
		}
		value := p.args[0]
		p.args = p.args[1:]
		return o.apply(p.c, value)
	case optionalArg:
		p.bare = operand{bare: o, bareText: written}
	}
	return o.apply(p.c, "")
}

// lookupShort finds the option with the letter, or nil.
func lookupShort(table []option, letter byte) *option {
	for i := range table {
		if table[i].short == letter {
			return &table[i]
		}
	}
	return nil
}

// lookupLong finds the option with the name or the unambiguous beginning of
// one. Names of the same option do not compete.
func lookupLong(table []option, name string) (*option, error) {
	var found *option
	var names []string
	ambiguous := false
	for i := range table {
		o := &table[i]
		if slices.Contains(o.long, name) {
			return o, nil
		}
		for _, l := range o.long {
			if !strings.HasPrefix(l, name) {
				continue
			}
			names = append(names, "'--"+l+"'")
			ambiguous = ambiguous || (found != nil && found != o)
			found = o
		}
	}
	if ambiguous {
		return nil, usagef("option '--%s' is ambiguous; possibilities: %s", name, strings.Join(names, " "))
	}
	if found != nil {
		return found, nil
	}
	e := &usageError{what: fmt.Sprintf("unrecognized option '--%s'", name)}
	if s := closest(table, name); s != "" {
		e.hint = fmt.Sprintf("did you mean --%s?", s)
	}
	return nil, e
}
