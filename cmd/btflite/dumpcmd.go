package main

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/btf/dump"
	"github.com/btflite/btflite/internal/message"
)

// dumpCommand is "btflite dump".
type dumpCommand struct {
	in     *typeReader
	format string // "" for raw, or JSON if json is set
	c      dump.COptions
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
  btflite dump --format=c vmlinux > vmlinux.h
  btflite dump --format=c --name=task_struct > task.h
  btflite dump --name='tcp_*' --format=json vmlinux`,
		RunE: func(_ *cobra.Command, args []string) error { return d.run(c, args) },
	}
	d.in.options(cmd, groupPrinted)
	s := under(cmd, groupPrinted)
	s.value(d.addName, "name", "", "only types that `GLOB` fits, and what they need", noFiles)
	s.value(d.addID, "id", "", "only the type `N`; repeatable", numbers)
	r := under(cmd, groupReport)
	r.value(func(v string) error { d.format = v; return nil }, "format", "",
		"print `FORMAT`: raw (default), c or json", words("raw", "c", "json"))
	r.toggle(&d.c.Unsorted, "unsorted", "", "C in the order of ids, not by kind and name")
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
	case d.c.Unsorted && d.format != formatC:
		return usagef("--unsorted is for --format=c")
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
	out := &checkedWriter{w: c.stdout}
	switch {
	case d.format == formatC:
		d.c.IDs, d.c.PointerSize = ids, t.pointerSize
		err = dump.C(out, t.Blob, d.c)
	case asJSON:
		err = dump.JSON(out, t.Blob, ids, d.style)
	default:
		err = dump.Raw(out, t.Blob, ids)
	}
	if out.err != nil {
		return stdoutError(out.err)
	}
	if err != nil {
		return message.NamingFile([]string{t.path}, err)
	}
	return nil
}

// formatC is the --format of C.
const formatC = "c"

// checkedWriter remembers an error of writing, which another package returns among
// its own.
type checkedWriter struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (c *checkedWriter) Write(p []byte) (n int, err error) {
	n, err = c.w.Write(p)
	c.err = cmp.Or(c.err, err)
	return n, err
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
