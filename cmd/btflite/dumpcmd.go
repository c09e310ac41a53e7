package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/core"
	"github.com/btflite/btflite/btf/dump"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/dedup/btffile"
	"github.com/btflite/btflite/internal/message"
	"github.com/spf13/cobra"
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
	object string // --for
	color  string // --color
}

func newDumpCommand(c *cli) *cobra.Command {
	d := dumpCommand{in: newTypeReader(c)}
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
	s.pattern(&d.names, "name", "", "only types that `GLOB` fits, and what they need")
	s.file(&d.object, "for", "", "only types that the BPF object `PROG` wants")
	s.value(d.addID, "id", "", "only the type `N`; repeatable", numbers)
	r := under(cmd, groupReport)
	r.text(&d.format, "format", "", "print `FORMAT`: raw (default), c or json", words("raw", "c", "json"))
	r.toggle(&d.c.Unsorted, "unsorted", "", "C in the order of ids, not by kind and name")
	r.toggle(&d.c.Strict, "strict-c", "", "C that compilers take without a warning", alias("strict_c"))
	style := func(s dump.Style) func() { return func() { d.json, d.style = true, s } }
	r.call(style(dump.Compact), "json", "j", "JSON in one line")
	r.call(style(dump.Pretty), "pretty", "p", "JSON with indentation")
	colorOption(cmd, &d.color)
	r.call(style(dump.Lines), "json-lines", "", "JSON with an object for each type on a line", alias("json_lines"))
	return cmd
}

func (d *dumpCommand) addID(v string) error {
	id, err := strconv.ParseUint(v, 10, 32)
	if err != nil || id == 0 {
		return usagef("'%s' is not a type id: they count from 1", message.OneLine(v))
	}
	d.ids = append(d.ids, uint32(id))
	return nil
}

func (d *dumpCommand) run(c *cli, words []string) error {
	asJSON := d.json || d.format == "json"
	switch {
	case d.json && d.format != "" && d.format != "json":
		return usagef("--format=%s and options for JSON exclude each other", d.format)
	case d.c.Strict && d.format == "" && !d.json:
		d.format = formatC
	case d.c.Strict && d.format != formatC:
		return usagef("--strict-c is for --format=c")
	case d.c.Unsorted && d.format != formatC:
		return usagef("--unsorted is for --format=c")
	}
	if err := d.misplaced(words); err != nil {
		return err
	}
	switch {
	case len(words) > 1 && d.format != formatC:
		return usagef("several files can only be merged with --format=c: type ids change when files are merged")
	case len(words) > 1 && len(d.ids) > 0:
		return usagef("--id is for one FILE: type ids change when files are merged")
	}
	d.in.printsAll = len(d.names)+len(d.ids) == 0 && d.object == ""
	d.in.tellsLost = true
	d.in.marks = d.format == formatC && !d.c.Strict || asJSON
	files, err := d.in.open(eachOnce(words))
	defer d.in.close()
	if err != nil {
		return err
	}
	t, err := merged(files)
	if err != nil {
		return err
	}
	// If a kernel is among the files, its types are selected like the types of its
	// modules.
	ids, err := d.selected(c, t, len(files) > 1 && t.Base == files[0].Blob)
	if err != nil {
		return err
	}
	paint := (*painter).paintRecord
	switch {
	case d.format == formatC:
		paint = (*painter).paintC
	case asJSON:
		paint = nil
	}
	return printTypes(c, t.path, d.color, paint, func(out io.Writer) error {
		switch {
		case d.format == formatC:
			d.c.IDs, d.c.PointerSize = ids, t.pointerSize
			return dump.C(out, t.Blob, d.c)
		case asJSON:
			return dump.JSON(out, t.Blob, ids, d.style)
		}
		return dump.Raw(out, t.Blob, ids)
	})
}

// misplaced looks for words that cannot be files: words of bpftool, and names of types.
func (d *dumpCommand) misplaced(words []string) error {
	rest := d.in.unresolved(words)
	lost := func(w string) bool { return (w == "file" || w == "format") && !isFile(w) }
	if i := slices.IndexFunc(rest, lost); i >= 0 {
		meant := slices.Clone(words)
		if meant[0] != "file" { // FILE format c
			meant = append([]string{"file"}, meant...)
		}
		hint := onlyDump
		if files, options, err := bpftoolSource(meant); err == nil {
			hint = "write " + commandLine(slices.Concat([]string{"dump"}, options), files...) + ", or bpftool's words after btf dump"
		}
		return &usageError{what: fmt.Sprintf("%s: no such file", rest[i]), hint: hint}
	}
	return byOption("dump", "name", rest)
}

// formatC is the --format of C.
const formatC = "c"

// selected returns the ids to print of a file, nil for all. bases is for dump.Select.
func (d *dumpCommand) selected(c *cli, t *types, bases bool) ([]uint32, error) {
	names := d.names
	if d.object != "" {
		more, err := relocatedNames(d.object)
		if err != nil {
			return nil, err
		}
		names = slices.Concat(names, more)
	}
	if len(names)+len(d.ids) == 0 && d.object == "" {
		return nil, nil
	}
	ids := []uint32{}
	for _, id := range d.ids {
		if t.Record(id) == nil {
			has := " has no types"
			if last := t.TypeCount() - 1; last > 0 {
				has = " has 1 to " + strconv.Itoa(int(last))
			}
			return nil, &usageError{what: "there is no type " + strconv.Itoa(int(id)), hint: message.OneLine(t.path) + has}
		}
		ids = append(ids, id)
	}
	if len(names) > 0 {
		named, unmatched, err := dump.Select(t.Blob, names, bases)
		if err != nil {
			return nil, err
		}
		if len(named) == 0 && len(ids) == 0 && len(d.names) > 0 {
			missing := &missingType{what: "type has a name that fits", name: strings.Join(d.names, ", ")}
			if len(d.names) == 1 {
				missing.meant = nearType(view.New(t.Blob), d.names[0])
			}
			return nil, message.NamingFile([]string{t.path}, missing)
		}
		for _, p := range unmatched {
			c.warn("note: " + message.OneLine(p) + " fits no name in " + message.OneLine(t.path))
		}
		ids = append(ids, named...)
		if d.format != formatC { // C needs no base: dump finds the types that it needs
			ids = append(ids, dump.Needed(t.Blob, named)...)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if d.format == formatC {
		ids = dump.Named(t.Blob, ids)
	}
	return ids, nil
}

// relocatedNames returns the names of the types to which the CO-RE relocations of a BPF
// object refer.
func relocatedNames(path string) (names []string, err error) {
	err = withRelocations(path, func(b *btf.Blob, ext []byte) error {
		names, err = core.RelocatedNames(ext, b)
		return err
	})
	return names, err
}

// eachOnce returns the files without repetitions under whatever name: if a kernel were
// read twice, the second reading would not be the base of its modules.
func eachOnce(paths []string) (once []string) {
	var known []os.FileInfo
	for _, p := range paths {
		info, err := os.Stat(p)
		if err == nil && slices.ContainsFunc(known, func(old os.FileInfo) bool { return os.SameFile(old, info) }) {
			continue
		}
		if err == nil {
			known = append(known, info)
		}
		once = append(once, p)
	}
	return once
}

// merged returns all types of the files: a kernel and its modules, or files that stand
// alone. Equal types appear once.
func merged(files []types) (*types, error) {
	t := files[0]
	if len(files) == 1 {
		return &t, nil
	}
	if err := oneMachine(files); err != nil {
		return nil, err
	}
	base, rest := t.Base, files
	if files[1].Base == t.Blob {
		base, rest = t.Blob, files[1:]
	}
	var blobs []*btf.Blob
	paths := []string{t.path}
	for _, f := range rest {
		if f.Base != base {
			return nil, fmt.Errorf("%s: it is not over the same base as the others", message.OneLine(f.path))
		}
		blobs = append(blobs, f.Blob)
		paths = append(paths, f.path)
	}
	b, err := btffile.Dedup(blobs, base, false)
	if err != nil {
		return nil, message.NamingFile(paths, err)
	}
	b.Marked = slices.ContainsFunc(files, func(f types) bool { return f.Marked })
	t.Blob = b
	return &t, nil
}

// oneMachine returns an error if the files are for machines with different byte orders or
// pointer sizes.
func oneMachine(files []types) error {
	measured := &files[0] // the first file with a known pointer size
	for i := range files {
		f := &files[i]
		if f.BigEndian != files[0].BigEndian {
			return fmt.Errorf("%s: its byte order differs from %s: the files are for different machines", message.OneLine(f.path), message.OneLine(files[0].path))
		}
		size, first := f.LongSize(), measured.LongSize()
		if first == 0 {
			measured = f
		} else if size != 0 && size != first {
			return fmt.Errorf("%s: its pointers have %d bits, and in %s they have %d: the files are for different machines",
				message.OneLine(f.path), 8*size, message.OneLine(measured.path), 8*first)
		}
	}
	return nil
}
