package main

import (
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/btf/dump"
	"github.com/btflite/btflite/internal/message"
)

// dumpCommand is "btflite dump".
type dumpCommand struct {
	in     *typeReader
	format string // "" for raw, unless style says that it is JSON
	style  dump.Style
	json   bool // one of the options for JSON
	names  []string
	ids    []uint32
}

func newDumpCommand(c *cli) *cobra.Command {
	d := dumpCommand{in: newTypeReader(c.lookupEnv)}
	cmd := &cobra.Command{
		Use: "dump [OPTION...] [FILE...]",
		Long: `Print the types of FILE as bpftool btf dump does: raw BTF, an ELF file with
.BTF or with DWARF only, the name of a loaded module; without FILE those of
the running kernel.`,
		Example: `  btflite dump vmlinux.btf
  btflite dump --name='tcp_*' --format=json vmlinux`,
		RunE: func(_ *cobra.Command, args []string) error { return d.run(c, args) },
	}
	d.in.options(cmd, groupPrinted)
	s := under(cmd, groupPrinted)
	s.value(d.addName, "name", "", "only types that `GLOB` fits, and what they need", noFiles)
	s.value(d.addID, "id", "", "only the type `N`; repeatable", numbers)
	r := under(cmd, groupReport)
	r.value(func(v string) error { d.format = v; return nil }, "format", "",
		"print `FORMAT`: raw (default) or json", words("raw", "json"))
	style := func(s dump.Style) func() { return func() { d.json, d.style = true, s } }
	r.call(style(dump.Compact), "json", "j", "JSON in one line")
	r.call(style(dump.Pretty), "pretty", "p", "JSON with indentation")
	r.call(style(dump.Lines), "json-lines", "", "JSON with an object for each type on a line", alias("json_lines"))
	return cmd
}

// groupPrinted is the heading of what to print.
const groupPrinted = "What to print"

func (d *dumpCommand) addName(v string) error {
	switch {
	case v == "":
		return usagef("empty pattern")
	case dump.CheckPattern(v) != nil:
		return usagef("'%s' lacks a bracket, or a character behind a backslash", message.OneLine(v))
	}
	d.names = append(d.names, v)
	return nil
}

func (d *dumpCommand) addID(v string) error {
	id, err := strconv.ParseUint(v, 10, 32)
	if err != nil || id == 0 {
		return usagef("'%s' is no type id: they count from 1", message.OneLine(v))
	}
	d.ids = append(d.ids, uint32(id))
	return nil
}

func (d *dumpCommand) run(c *cli, words []string) error {
	asJSON := d.json || d.format == "json"
	switch {
	case d.json && d.format != "" && d.format != "json":
		return usagef("--format=%s and options for JSON exclude each other", d.format)
	case len(words) > 1:
		return usagef("dump takes one file")
	}
	files, err := d.in.open(words)
	defer d.in.close()
	if err != nil {
		return err
	}
	t := &files[0]
	if t.odd != "" {
		c.warn(mismatchText(t.path, t.odd))
	}
	ids, err := d.selected(c, t)
	if err != nil {
		return err
	}
	if asJSON {
		err = dump.JSON(c.stdout, t.Blob, ids, d.style)
	} else {
		err = dump.Raw(c.stdout, t.Blob, ids)
	}
	return stdoutError(err)
}

// selected are the ids of what to print of a file, nil for all.
func (d *dumpCommand) selected(c *cli, t *types) ([]uint32, error) {
	if len(d.names)+len(d.ids) == 0 {
		return nil, nil
	}
	ids := []uint32{}
	for _, id := range d.ids {
		if t.Record(id) == nil {
			return nil, &usageError{what: "there is no type " + strconv.Itoa(int(id)),
				hint: message.OneLine(t.path) + " has 1 to " + strconv.Itoa(int(t.TypeCount()-1))}
		}
		ids = append(ids, id)
	}
	if len(d.names) > 0 {
		named, unmatched, err := dump.Select(t.Blob, d.names)
		if err != nil {
			return nil, err
		}
		for _, p := range unmatched {
			c.warn("note: --name=" + p + " fits no name in " + message.OneLine(t.path))
		}
		ids = append(ids, dump.Needed(t.Blob, named)...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}
