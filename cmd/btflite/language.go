package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// languages are pahole 1.32's names of DW_LANG codes. It has none for codes above 0x25,
// for instance C17.
var languages = []struct {
	name string
	code uint16
}{
	{"c89", 0x01}, {"c", 0x02}, {"ada83", 0x03}, {"c++", 0x04}, {"cobol74", 0x05}, {"cobol85", 0x06},
	{"fortran77", 0x07}, {"fortran90", 0x08}, {"pascal83", 0x09}, {"modula2", 0x0a}, {"java", 0x0b},
	{"c99", 0x0c}, {"ada95", 0x0d}, {"fortran95", 0x0e}, {"pli", 0x0f}, {"objc", 0x10},
	{"objc++", 0x11}, {"upc", 0x12}, {"d", 0x13}, {"python", 0x14}, {"opencl", 0x15}, {"go", 0x16},
	{"modula3", 0x17}, {"haskell", 0x18}, {"c++03", 0x19}, {"c++11", 0x1a}, {"ocaml", 0x1b},
	{"rust", 0x1c}, {"c11", 0x1d}, {"swift", 0x1e}, {"julia", 0x1f}, {"dylan", 0x20}, {"c++14", 0x21},
	{"fortran03", 0x22}, {"fortran08", 0x23}, {"renderscript", 0x24}, {"bliss", 0x25},
	{"asm", 0x8001},
}

func languageNames() []string {
	names := make([]string, 0, len(languages))
	for i := range languages {
		names = append(names, languages[i].name)
	}
	slices.Sort(names)
	return names
}

// codeOf returns the DW_LANG code of a name, in any case, 0 for none.
func codeOf(name string) uint16 {
	name = strings.ToLower(name)
	for i := range languages {
		if languages[i].name == name {
			return languages[i].code
		}
	}
	return 0
}

// excluding is the option that leaves out the units in these languages; "" if it has a name for
// none of them.
func excluding(codes []uint16) (option string) {
	var names []string
	for _, code := range codes {
		for i := range languages {
			if languages[i].code == code {
				names = append(names, languages[i].name)
			}
		}
	}
	if names == nil {
		return ""
	}
	return "--lang_exclude=" + strings.Join(names, ",")
}

// parseLanguages turns a comma-separated list of names, in any case, into codes. An empty
// element is an unknown name, as in pahole.
func parseLanguages(list string) ([]uint16, error) {
	var codes []uint16
	for name := range strings.SplitSeq(list, ",") {
		code := codeOf(name)
		if code == 0 {
			e := &usageError{what: fmt.Sprintf("unknown language \"%s\"", message.OneLine(name))}
			if meant := closest(languageNames(), name); meant != "" {
				e.hint = fmt.Sprintf("did you mean %q?", meant)
			}
			return nil, e
		}
		codes = append(codes, code)
	}
	return codes, nil
}

// langFilter collects --lang and --lang_exclude. If both are given, the last list counts,
// and it excludes, as in pahole.
type langFilter struct {
	list             []uint16
	include, exclude bool // whether the option was given
}

func (l *langFilter) set(list string, exclude bool) error {
	codes, err := parseLanguages(list)
	if err != nil {
		return err
	}
	l.list = codes
	if exclude {
		l.exclude = true
	} else {
		l.include = true
	}
	return nil
}

// resolve returns the lists for encode.Options, at most one of them set. Without an
// option, the environment's PAHOLE_LANG_EXCLUDE counts, if it is set.
func (l *langFilter) resolve(lookupEnv func(string) (string, bool)) (lang, exclude []uint16, err error) {
	switch {
	case l.exclude:
		return nil, l.list, nil
	case l.include:
		return l.list, nil, nil
	}
	list, ok := lookupEnv("PAHOLE_LANG_EXCLUDE")
	if !ok {
		return nil, nil, nil
	}
	exclude, err = parseLanguages(list)
	if err != nil {
		return nil, nil, errors.New("PAHOLE_LANG_EXCLUDE: " + err.Error()) // the fault is not on the command line
	}
	return nil, exclude, nil
}
