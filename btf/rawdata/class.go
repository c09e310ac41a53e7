// Package rawdata prints raw data as the structs that its bytes are, in the text of
// pahole 1.32 (--prettify). A Class says what a record is: a struct, and which of its
// members have the size of the record and the kind of record that it is.
//
//	class.go   what a record is, as the command line says it
//	read.go    records, one after another; the header of a file
//	print.go   their text
//
// The stable API is package btflite. What it does not use of this package may change.
package rawdata

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/message"
)

// Class is a type of records.
type Class struct {
	Type  view.Type
	size  *view.Row // the member with the size of the record; nil: every record has the size of Type
	kind  *view.Row // the member with the kind of record; nil: there is none
	enums []view.Type
	only  *uint64 // the kind of the records that are printed; nil: all

	names map[uint64]string // of kinds
	forms map[uint64]view.Type
}

// ParseClass reads a class: the name of a type or, with arguments,
//
//	NAME(sizeof=MEMBER,type=MEMBER,type_enum=ENUM+ENUM,filter=MEMBER==VALUE)
//
// where sizeof and type without a member mean "size" and "type", and filter= may be
// left out. A record whose kind is an enumerator is of the struct that has its name in
// small letters, if there is one.
func ParseClass(v *view.View, text string) (*Class, error) {
	name, args, ok := strings.Cut(text, "(")
	if ok {
		if args, ok = strings.CutSuffix(args, ")"); !ok {
			return nil, fmt.Errorf("%s lacks a closing parenthesis", message.OneLine(text))
		}
	}
	c := &Class{names: map[uint64]string{}, forms: map[uint64]view.Type{}}
	var err error
	if c.Type, err = find(v, name); err != nil || args == "" {
		return c, err
	}
	filter := ""
	for arg := range strings.SplitSeq(args, ",") {
		word, value, given := strings.Cut(arg, "=")
		switch {
		case word == "filter":
			filter = value
		case strings.Contains(arg, "=="):
			filter = arg
		case word == "sizeof" && !given, word == "type" && !given:
			value = map[string]string{"sizeof": "size", "type": "type"}[word]
			fallthrough
		case word == "sizeof", word == "type":
			m, err := member(v, c.Type, value)
			if err != nil {
				return nil, err
			}
			if word == "type" {
				c.kind = m
			} else {
				c.size = m
			}
		case word == "type_enum":
			for name := range strings.SplitSeq(value, "+") {
				ids := v.Named(name, btf.KindEnum, btf.KindEnum64)
				if len(ids) == 0 {
					return nil, fmt.Errorf("no enum %s", message.OneLine(name))
				}
				c.enums = append(c.enums, v.Type(ids[0]))
			}
		default:
			return nil, fmt.Errorf("%s is not an argument of a class, which are sizeof, type, type_enum and filter", message.OneLine(word))
		}
	}
	return c, c.filter(filter)
}

// find is the first type of the name that data can have.
func find(v *view.View, name string) (view.Type, error) {
	for _, id := range v.Named(name, btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindTypedef, btf.KindInt) {
		if t := v.Type(id); t.Size() > 0 {
			return t, check(t)
		}
	}
	return view.Type{}, fmt.Errorf("no type %s with a size", message.OneLine(name))
}

// maxRecord is the most bytes that a record may have.
const maxRecord = 16 << 20

func check(t view.Type) error {
	if t.Size() > maxRecord {
		return fmt.Errorf("type %s has %d bytes; records of up to %d are printed", message.OneLine(string(t.Name())), t.Size(), maxRecord)
	}
	return nil
}

// member is a member that is a number. Names with dots lead into inner structs.
func member(v *view.View, t view.Type, path string) (*view.Row, error) {
	var found view.Row
	base := uint64(0)
	lays := view.NewLayouts(v)
	in := t
	for name := range strings.SplitSeq(path, ".") {
		l := lays.Of(in.Resolved())
		ok := false
		for i := range l.Rows {
			if string(l.Rows[i].Name()) == name {
				found, ok = l.Rows[i], true
				break
			}
		}
		lays.Done(l)
		if !ok {
			return nil, fmt.Errorf("%s has no member %s", message.OneLine(string(t.Name())), message.OneLine(path))
		}
		found.Byte += base
		base, in = found.Byte, found.Type()
	}
	if of := in.Resolved(); of.IsEnum() || of.Kind() == btf.KindInt {
		switch of.Size() {
		case 1, 2, 4, 8:
			return &found, nil
		}
	}
	return nil, fmt.Errorf("member %s of %s is not a number", message.OneLine(path), message.OneLine(string(t.Name())))
}

// filter parses the text after "filter=".
func (c *Class) filter(text string) error {
	if text == "" {
		return nil
	}
	left, right, ok := strings.Cut(text, "==")
	if !ok || c.kind == nil || left != string(c.kind.Name()) {
		return fmt.Errorf("filter %s is not MEMBER==VALUE with the member of type", message.OneLine(text))
	}
	if n, err := strconv.ParseUint(right, 0, 64); err == nil {
		c.only = &n
		return nil
	}
	for _, e := range c.enums {
		prefix := commonPrefix(e)
		for _, x := range e.Values() {
			if name := string(x.Name()); name == right || name == prefix+right {
				n := uint64(x.Value)
				c.only = &n
				return nil
			}
		}
	}
	return fmt.Errorf("%s is neither a number nor in an enum of type_enum", message.OneLine(right))
}

// commonPrefix is the longest prefix that the names of all enumerators share.
func commonPrefix(e view.Type) string {
	prefix := ""
	for i, x := range e.Values() {
		name := string(x.Name())
		if i == 0 {
			prefix = name
		}
		for !strings.HasPrefix(name, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return prefix
}

// kindName is the enumerator of a kind, "" if there is none.
func (c *Class) kindName(n uint64) string {
	name, ok := c.names[n]
	if ok {
		return name
	}
	for _, e := range c.enums {
		for _, x := range e.Values() {
			if uint64(x.Value) == n && name == "" {
				name = string(x.Name())
			}
		}
	}
	if len(c.names) < maxKinds {
		c.names[n] = name
	}
	return name
}

// form is the type of the records of a kind.
func (c *Class) form(n uint64) view.Type {
	t, ok := c.forms[n]
	if ok {
		return t
	}
	t = c.Type
	if name := c.kindName(n); name != "" {
		if ids := t.View().Named(strings.ToLower(name), btf.KindStruct); len(ids) > 0 && check(t.View().Type(ids[0])) == nil {
			t = t.View().Type(ids[0])
		}
	}
	if len(c.forms) < maxKinds {
		c.forms[n] = t
	}
	return t
}

// maxKinds is of how many kinds of records the names are kept.
const maxKinds = 1 << 12
