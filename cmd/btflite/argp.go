package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
	"github.com/btflite/btflite/internal/message"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// pahole parses its command line with argp, which keeps to getopt_long's rules:
// options and file names in any order, "--" ends the options, letters may be
// clustered (-JV), a required argument is attached or is the next word, an
// optional one must be attached (-j4, --jobs=4), and a long option may be cut
// short as long as only one option begins that way. pflag has other rules; this
// file translates.

// argp turns the words that follow the name of cmd into words that mean the same
// to pflag: --name or --name=value for each option, "--", and all other words.
func argp(cmd *cobra.Command, args []string) ([]string, error) {
	p := argpParser{cmd: cmd, flags: cmd.Flags(), words: args}
	return p.parse()
}

// parse does the work of argp.
func (p *argpParser) parse() ([]string, error) {
	args := p.words
	_, inOrder := p.cmd.Annotations[inOrderKey]
	for len(p.words) > 0 {
		word := p.next()
		var err error
		switch {
		case word == "--":
			p.operands = append(p.operands, p.words...)
			p.words = nil
		case strings.HasPrefix(word, "--"):
			err = p.long(word)
		case len(word) > 1 && word[0] == '-':
			err = p.letters(word[1:])
		case inOrder:
			p.operands, p.words = append(p.operands, args[len(args)-len(p.words)-1:]...), nil
		default:
			p.operands = append(p.operands, word)
		}
		if err != nil {
			return nil, orFile(err, word)
		}
	}
	return append(append(p.options, "--"), p.operands...), nil
}

// orFile adds to an error about a word that begins with a dash how to name the file of that name, if there is one.
func orFile(err error, word string) error {
	var usage *usageError
	if _, missing := os.Stat(word); missing == nil && errors.As(err, &usage) {
		usage.hint = "the file of that name is " + message.ShellFile(word)
	}
	return err
}

// inOrderKey is the annotation of commands whose options end at the first word that is
// not an option.
const inOrderKey = "inorder"

// detachedName is the option that people expect to be -o.
const detachedName = "btf_encode_detached"

// argpParser is the state of one call of argp.
type argpParser struct {
	cmd               *cobra.Command
	flags             *pflag.FlagSet
	words             []string  // not read yet
	options, operands []string  // result
	taken             takenWord // the last option that took the next word
}

func (p *argpParser) next() string {
	word := p.words[0]
	p.words = p.words[1:]
	return word
}

func (p *argpParser) set(f *pflag.Flag, value string) {
	p.options = append(p.options, "--"+f.Name+"="+value)
}

// long handles --name and --name=value.
func (p *argpParser) long(word string) error {
	name, value, attached := strings.Cut(word[2:], "=")
	f, err := lookupLong(p.cmd, word[2:])
	switch {
	case err != nil:
		return err
	case !attached:
		return p.withNextWord(f, "--"+name)
	case isToggle(f):
		return usagef("option '--%s' doesn't allow an argument", f.Name)
	}
	p.set(f, value)
	return nil
}

// letters handles the letters that follow a single dash.
func (p *argpParser) letters(letters string) error {
	for i := range len(letters) {
		f := lookupLetter(p.flags, letters[i])
		if f == nil {
			return p.unknownLetter(letters, i)
		}
		if rest := letters[i+1:]; rest != "" && !isToggle(f) {
			p.set(f, rest)
			return nil
		}
		if err := p.withNextWord(f, "-"+letters[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// unknownLetter is the error for letter i.
func (p *argpParser) unknownLetter(letters string, i int) error {
	letter := letters[i : i+1]
	e := &usageError{what: fmt.Sprintf("invalid option -- '%s'", letter)}
	other := strings.ToUpper(letter)
	if other == letter {
		other = strings.ToLower(letter)
	}
	name, _, _ := strings.Cut(letters, "=")
	switch f := lookupLetter(p.flags, other[0]); {
	case len(name) > 2: // -btf_encode for --btf_encode
		e.suggest("--", closestOption(p.flags, name))
	case otherOption(p.cmd, letter) != "":
		e.suggest("", otherOption(p.cmd, letter))
	case f != nil && !f.Hidden:
		e.suggest("-", other)
	}
	return e
}

// withNextWord handles an option without an attached value. written is how the option was
// spelt.
func (p *argpParser) withNextWord(f *pflag.Flag, written string) error {
	switch {
	case f.NoOptDefVal != "":
		p.options = append(p.options, "--"+f.Name)
		return p.checkSpace(f, written)
	case len(p.words) == 0 && len(written) == 2:
		return usagef("option requires an argument -- '%s'", written[1:])
	case len(p.words) == 0:
		return usagef("option '%s' requires an argument", written)
	}
	value := p.next()
	if p.isOption(value) {
		if optionOf(f).file {
			value = "./" + value
		}
		return &usageError{what: fmt.Sprintf("option '%s' requires an argument, but an option follows", written),
			hint: fmt.Sprintf("if it is the argument, write --%s=%s", f.Name, message.OneLine(value))}
	}
	p.taken = takenWord{written, value}
	p.set(f, value)
	return nil
}

// isOption reports whether the word looks like an option of the command. getopt_long
// takes such a word as an argument. Here it is refused, because a forgotten argument
// would otherwise swallow the option and turn the option's own argument into an input.
func (p *argpParser) isOption(word string) bool {
	name, long := strings.CutPrefix(word, "--")
	if !long {
		return len(word) > 1 && word[0] == '-' && lookupLetter(p.flags, word[1]) != nil
	}
	name, _, _ = strings.Cut(name, "=")
	candidates, _ := namesWith(p.flags, name)
	return len(candidates) > 0
}

// checkSpace returns an error if the next word must have been meant as the
// optional argument of f.
func (p *argpParser) checkSpace(f *pflag.Flag, written string) error {
	if len(p.words) == 0 || !optionOf(f).accepts(p.words[0]) {
		return nil
	}
	word := p.words[0]
	if _, err := os.Stat(word); err == nil {
		return nil
	}
	meant := written + word
	if strings.HasPrefix(written, "--") {
		meant = written + "=" + word
	}
	return &usageError{
		what: fmt.Sprintf("%s: no such file, and '%s %s' has a space too many", word, written, word),
		hint: fmt.Sprintf("did you mean %s?", meant)}
}

// isToggle reports whether f takes no argument.
func isToggle(f *pflag.Flag) bool { return optionOf(f).toggle }

// lookupLetter finds the option with the letter, or nil.
func lookupLetter(flags *pflag.FlagSet, letter byte) *pflag.Flag {
	if letter == '?' {
		return flags.Lookup("help")
	}
	return flags.ShorthandLookup(string(rune(letter)))
}

// lookupLong finds the option with the name in word, or with the unambiguous beginning of
// one. word may have "=" and a value after it. Several names of one option are not
// ambiguous.
func lookupLong(cmd *cobra.Command, word string) (*pflag.Flag, error) {
	flags := cmd.Flags()
	name, _, _ := strings.Cut(word, "=")
	found, names := namesWith(flags, name)
	if i := slices.Index(names, name); i >= 0 {
		return found[i], nil
	}
	if len(found) > 0 {
		for _, f := range found[1:] {
			if f != found[0] {
				return nil, usagef("option '--%s' is ambiguous; possibilities: '--%s'", word, strings.Join(names, "' '--"))
			}
		}
		return found[0], nil
	}
	e := &usageError{what: fmt.Sprintf("unrecognized option '--%s'", word)}
	if e.suggest("", otherOption(cmd, name)); e.hint == "" {
		e.suggest("--", closestOption(flags, name))
	}
	if cmd.Name() == "show" && name == "json" {
		e.hint = "btflite dump --json prints types as JSON"
	}
	return nil, e
}

// namesWith returns the long names that begin with the given letters, and their options.
func namesWith(flags *pflag.FlagSet, begin string) (found []*pflag.Flag, names []string) {
	flags.VisitAll(func(f *pflag.Flag) {
		for _, n := range namesOf(f) {
			if strings.HasPrefix(n, begin) {
				found, names = append(found, f), append(names, n)
			}
		}
	})
	return found, names
}

// namesOf returns the long names of f.
func namesOf(f *pflag.Flag) []string {
	return append([]string{f.Name}, optionOf(f).aliases...)
}

// closestOption returns the long name that is most like the misspelt one, or "". It
// ignores hidden options.
func closestOption(flags *pflag.FlagSet, misspelt string) string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, namesOf(f)...)
		}
	})
	return closest(names, misspelt)
}

// closest returns the name that is most like the misspelt one, or "" if none is near.
// Near means at most one edit for two or three letters, else two edits or one for each four
// letters. Hyphens count as underscores. Of equally near names, the first one wins.
func closest(names []string, misspelt string) string {
	const longest = 64 // no name comes near; bounds the work
	letters := utf8.RuneCountInString(misspelt)
	if letters > longest {
		return ""
	}
	cost := func(name string) int { return levenshtein.ComputeDistance(normalName(misspelt), normalName(name)) }
	best := slices.MinFunc(append(names, ""), func(a, b string) int { return cost(a) - cost(b) })
	most := 0
	switch {
	case letters > 3:
		most = max(2, letters/4)
	case letters > 1:
		most = 1
	}
	if cost(best) > most {
		return ""
	}
	return best
}

func normalName(s string) string {
	return strings.ReplaceAll(strings.ToLower(s), "-", "_")
}

// takenWord is a word that an option took as its argument.
type takenWord struct{ option, word string }

// lacking returns the text of err. If err says that a word is missing, the text also
// names the word that an option took.
func (t takenWord) lacking(err error) string {
	var usage *usageError
	if t.word == "" || !errors.As(err, &usage) || !usage.lacksWord {
		return err.Error()
	}
	return fmt.Sprintf("%s; '%s' was taken as the argument of '%s'", err, message.OneLine(t.word), t.option)
}

// otherOptions lists names of options in other programs, with our names for the same. If
// there are several, the first one that the command has is meant.
var otherOptions = []struct{ tried, meant string }{
	{"B", "btf_base"},
	{"base base-btf base_btf btf-base vmlinux", "btf_base"},
	{"o", detachedName + " output"},
	{"out output outfile out-file detached", detachedName + " output"},
	{"threads workers parallel", "jobs"},
	{"C", "class_name name"},
	{"class class_name type filter", "class_name name function"},
	{"name names", "class_name function"},
	{"function", "name"},
	{"exclude_lang exclude-lang", "lang_exclude"},
}

// otherOption returns the option of a command that a name from another program stands
// for, "" if none is known.
func otherOption(cmd *cobra.Command, tried string) string {
	for _, o := range otherOptions {
		if !slices.Contains(strings.Fields(o.tried), tried) {
			continue
		}
		for name := range strings.FieldsSeq(o.meant) {
			if f := cmd.Flags().Lookup(name); f != nil && !f.Hidden {
				column := optionColumn(f)
				return column[strings.Index(column, "--"):]
			}
		}
	}
	return ""
}

// optionColumn returns "-j, --jobs[=N]" and the like.
func optionColumn(f *pflag.Flag) string {
	s := "    --" + f.Name
	if f.Shorthand != "" {
		s = "-" + f.Shorthand + ", --" + f.Name
	}
	arg, _ := pflag.UnquoteUsage(f)
	switch {
	case isToggle(f):
		return s
	case f.NoOptDefVal != "":
		return s + "[=" + arg + "]"
	}
	return s + "=" + arg
}
