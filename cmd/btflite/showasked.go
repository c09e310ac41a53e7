package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/show"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/message"
)

// inFile is the prefix for a file with names, one on each line.
const inFile = "file://"

// namesIn returns the names of a list, including names in its files.
func namesIn(list string) (names []string, err error) {
	start, depth := 0, 0 // classes of --prettify have arguments in parentheses
	for i := range len(list) + 1 {
		switch {
		case i < len(list) && list[i] == '(':
			depth++
		case i < len(list) && list[i] == ')':
			depth--
		case i == len(list) || list[i] == ',' && depth <= 0:
			path, file := strings.CutPrefix(list[start:i], inFile)
			if start = i + 1; !file {
				names = append(names, path)
				continue
			}
			if path == "" {
				return nil, usagef("empty file name")
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, message.FileError(path, "cannot open", err)
			}
			for line := range strings.Lines(string(data)) {
				names = append(names, strings.TrimSpace(line))
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" }), nil
}

// addNames adds names that are separate words.
func (s *showCommand) addNames(names []string) error {
	if slices.Contains(names, "") {
		return usagef("empty name")
	}
	if len(names) > 0 && (s.filter.Contains != "" || s.filter.PointTo != "") {
		return usagef("'%s' is one name too many: -i and -f already name the types", message.OneLine(names[0]))
	}
	s.names = append(s.names, names...)
	return nil
}

// checkLastWord returns an error if the last of several words names neither a file nor a
// type. If it is a misspelt file, the other types would be printed from the wrong file.
func (s *showCommand) checkLastWord(path string, v *view.View) error {
	if s.lastWord == "" || len(s.names) < 2 || s.skipMissing || s.lastWord != s.names[len(s.names)-1] {
		return nil
	}
	if _, _, ids, err := s.idsOf(v, s.lastWord); err != nil || len(ids) > 0 {
		return err
	}
	missing := &missingType{what: "type", name: s.lastWord, meant: nearType(v, s.lastWord), is: otherThanType(v, s.lastWord)}
	return fmt.Errorf("%s: no such file, and %s: %w", message.OneLine(s.lastWord), message.OneLine(path), missing)
}

// otherThanType looks for something else that has the name: it says what it is, and how
// to print it; "" if there is nothing.
func otherThanType(v *view.View, name string) string {
	for t := range v.All() {
		switch t.Kind() {
		case btf.KindFunc:
			if string(t.Name()) == name {
				return "a function: btflite funcs --function=" + message.ShellWord(name) + " prints it"
			}
		case btf.KindVar:
			if string(t.Name()) == name {
				return "a variable: btflite dump --name=" + message.ShellWord(name) + " prints its type"
			}
		case btf.KindEnum, btf.KindEnum64:
			for _, e := range t.Values() {
				if string(e.Name()) == name {
					return "an enumerator: btflite show --contains_enumerator=" + message.ShellWord(name) + " prints its enum"
				}
			}
		}
	}
	return ""
}

// settle decides between options that exclude each other. As in pahole, the last of -C,
// -i and -f has the names; -u wins over -i, and -i over -f.
func (s *showCommand) settle() error {
	asks := s.filter.Contains != "" || s.filter.PointTo != ""
	if (s.times || s.methods) && (asks || len(s.names) > 0) {
		return usagef("-T and -m list all types; leave out -C, -i, -f and names")
	}
	if asks {
		s.names = nil
	}
	if s.where && asks {
		s.names = s.list
		s.filter.Contains, s.filter.PointTo = "", ""
	}
	s.opt.Reorganize = s.reorganize && len(s.names) > 0
	switch {
	case s.filter.Contains != "":
		s.form, s.filter.PointTo = show.Names, ""
	case s.filter.PointTo != "":
		s.form = show.Pointers
	case s.packable && len(s.names) == 0:
		s.form = show.Packable
	case s.reorganize && len(s.names) > 0:
		s.form = show.Text
	}
	s.filter.Anonymous = s.filter.Anonymous && !asks
	return nil
}

// asked prints the types that pass the filter, for each name of -i or -f in turn. It
// lists a type once, under the first name that the type contains.
func (s *showCommand) asked(c *cli, p *show.Printer, v *view.View) error {
	of := &s.filter.Contains
	if *of == "" {
		of = &s.filter.PointTo
	}
	if *of == "" {
		return s.all(p)
	}
	var names []string
	for _, name := range s.list {
		found := v.Named(name, btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindTypedef, btf.KindFwd)
		missing := &missingType{what: "type", name: name}
		if len(found) == 0 {
			missing.meant = nearType(v, name)
		}
		switch {
		case len(found) == 0 && !s.skipMissing:
			return missing
		case len(found) == 0:
			c.warn("note: " + missing.Error())
		case !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	for _, name := range names {
		*of = name
		if err := s.all(p); err != nil {
			return err
		}
		if of == &s.filter.Contains {
			s.filter.ContainsNot = append(s.filter.ContainsNot, name)
		}
	}
	return nil
}

// all prints all types that pass the filter.
func (s *showCommand) all(p *show.Printer) error {
	list := p.List
	if s.sorted {
		list = p.Sorted
	}
	s.filter.Anonymous = s.filter.Anonymous && s.form != show.NameLength
	if s.form != show.Nothing && !s.methods {
		if err := list(&s.filter, s.form, s.separator); err != nil {
			return err
		}
	}
	s.filter.Anonymous = false
	switch {
	case s.methods:
		return p.Methods(&s.filter, s.separator)
	case !s.times:
		return nil
	}
	return list(&s.filter, show.Times, s.separator)
}
