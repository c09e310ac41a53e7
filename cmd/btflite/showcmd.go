package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/btflite/btflite/btf/show"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/message"
	"github.com/spf13/cobra"
)

// showCommand is "btflite show". The main command uses it for pahole's printing options.
type showCommand struct {
	in          *typeReader
	opt         show.Options
	filter      show.Filter
	form        show.Form
	names       []string // names and patterns
	list        []string // names of the last -C, -i or -f
	lastWord    string   // the last of several names without a file; it may be meant as a file
	skipMissing bool
	separator   string
	enumerator  string // --contains_enumerator
	sorted      bool
	times       bool                       // -T: the list follows the types, if these are printed
	methods     bool                       // -m
	where       bool                       // -u
	packable    bool                       // -P
	reorganize  bool                       // -R
	declExclude []string                   // -D
	usedAt      bool                       // -I
	formats     string                     // -F
	place       func(view.Type) show.Place // where a type is declared, for -I, -u and -D
	placed      bool                       // some places are known
	format      string                     // of a picture; "" for text
	color       string                     // --color
	wordSize    int                        // -w; 0: the word size for which the types are laid out
	raw         rawData                    // --prettify and its options
}

// newShow returns a showCommand without any option.
func newShow(c *cli) *showCommand {
	s := &showCommand{in: newTypeReader(c), separator: "\t"}
	s.in.orDWARF = true
	return s
}

func newShowCommand(c *cli) *cobra.Command {
	s := newShow(c)
	cmd := s.command()
	under(cmd, groupPrinted).toggle(&s.filter.Bases, "with_base", "", "the types of the base, too", rare)
	colorOption(cmd, &s.color)
	under(cmd, groupReport).text(&s.format, "format", "", "draw layouts in `FORMAT`: html, or svg for one", words("text", "html", "svg"))
	cmd.RunE = func(_ *cobra.Command, words []string) error {
		names, file := s.split(words)
		if err := fileLast("show", words); err != nil && file == "" {
			return err
		}
		if err := s.addNames(names); err != nil {
			return err
		}
		return s.run(c, file)
	}
	return cmd
}

func (s *showCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show [OPTION...] [NAME|GLOB...] [FILE]",
		Long: `Print structs, unions, enums and typedefs of FILE as pahole does, with offsets,
sizes, holes and cache lines; without names all structs and unions (of DWARF not
those in functions). FILE is as for btflite dump; without it the kernel's.`,
		Example: `  btflite show task_struct
  btflite show -E 'tcp_*' vmlinux.btf
  btflite show --sizes --holes=3 vmlinux`,
	}
	s.in.options(cmd, groupPrinted)
	s.whatOptions(cmd)
	s.formOptions(cmd)
	s.unitOptions(cmd)
	s.raw.options(cmd)
	return cmd
}

// whatOptions adds the options that say which types are printed.
func (s *showCommand) whatOptions(cmd *cobra.Command) {
	o := under(cmd, groupPrinted)
	o.value(func(v string) (err error) {
		s.list, err = namesIn(v)
		s.names = append(s.names, s.list...)
		return err
	}, "class_name", "C", "types by a `LIST` of names and patterns", noFiles)
	o.toggle(&s.filter.Structs, "structs", "", "no unions", rare)
	o.toggle(&s.filter.Unions, "unions", "", "only unions", rare)
	o.value(least0(&s.filter.Holes), "holes", "H", "structs with `N` holes or more", numbers)
	o.value(func(v string) error {
		if err := least0(&s.filter.BitHoles)(v); err != nil {
			return &usageError{what: err.Error(), hint: "the base of split BTF is --btf_base=" + message.ShellWord(v)}
		}
		return nil
	}, "bit_holes", "B", "structs with `N` holes of bits or more", numbers, rare)
	o.value(func(v string) error {
		if !s.opt.Counts { // if -V comes first, as in pahole
			s.form = show.Names
		}
		return least0(&s.filter.HoleSize)(v)
	},
		"hole_size_ge", "z", "names of structs with a hole of `N` bytes or more", numbers, rare)
	o.value(least0(&s.filter.Padding), "padding_ge", "", "structs with `N` unused bytes or more at the end", numbers, rare)
	o.toggle(&s.filter.Packed, "packed", "", "packed structs", rare)
	o.toggle(&s.filter.Flexible, "with_flexible_array", "", "structs that end with a flexible array", rare)
	o.toggle(&s.filter.Embedded, "with_embedded_flexible_array", "", "structs with a member that has one", rare)
	list := func(p *[]string) func(string) error {
		return func(v string) error { *p = append(*p, v); return nil }
	}
	o.value(list(&s.filter.Prefixes), "prefix_filter", "y", "types whose names begin with `PREFIX`", rare, noFiles)
	o.value(list(&s.filter.Without), "exclude", "x", "no types whose names begin with `PREFIX`", rare, noFiles)
	o.value(func(v string) (err error) {
		s.form, s.filter.Contains = show.Names, v
		s.list, err = namesIn(v)
		return err
	},
		"contains", "i", "names of types that have a member of type `NAME`", noFiles)
	o.value(func(v string) (err error) {
		s.form, s.filter.PointTo = show.Pointers, v
		s.list, err = namesIn(v)
		return err
	},
		"find_pointers_to", "f", "members that point to the struct `NAME`", noFiles)
	o.value(least0(&s.wordSize), "word_size", "w", "an error unless words have `N` bytes", numbers, rare)
	o.value(list(&s.declExclude), "decl_exclude", "D", "with DWARF: no types declared in files that begin with `PREFIX`", rare, noFiles)
	o.text(&s.enumerator, "contains_enumerator", "", "the enum with the enumerator `NAME`", noFiles)
	o.toggle(&s.filter.Anonymous, "anon_include", "a", "structs without a name too, if a typedef gives them one", rare)
	o.toggle(&s.filter.Nested, "nested_anon_include", "A", "with -a: structs without any name", rare)
	o.toggle(&s.skipMissing, "skip_missing", "", "go on if there is no type of a name", rare)
	o.value(s.setFormats, "format_path", "F", "formats to read, `LIST` of btf and dwarf: the first that FILE has counts; with btf first, -I, -u and -D ask no DWARF", rare, noFiles)
}

// formOptions adds the options that say how types are printed.
func (s *showCommand) formOptions(cmd *cobra.Command) {
	o := under(cmd, groupReport)
	o.toggle(&s.opt.Expand, "expand_types", "E", "write out structs in structs, and typedefs")
	o.toggle(&s.opt.Pointers, "expand_pointers", "p", "write out what members point to", rare)
	o.toggle(&s.opt.Compile, "compile", "", "print what types need before them", rare)
	o.call(func() { s.form, s.times, s.methods = show.Nothing, true, false }, "nr_definitions", "T", "names and how often they are defined", rare)
	o.call(func() { s.form, s.times, s.methods = show.Nothing, false, true }, "nr_methods", "m", "names of structs, and how many parameters of functions point to them", rare)
	o.toggle(&s.where, "defined_in", "u", "with -C: the name of the compile unit, or of the file of BTF", rare)
	form := func(f show.Form) func() { return func() { s.form = f } }
	o.call(form(show.Sizes), "sizes", "s", "names, sizes and numbers of holes")
	o.call(form(show.Members), "nr_members", "n", "names and numbers of members")
	o.call(form(show.NameLength), "class_name_len", "N", "names and their lengths", rare)
	o.toggle(&s.opt.Hex, "hex", "", "offsets and sizes in hexadecimal")
	o.toggle(&s.opt.Relative, "rel_offset", "r", "offsets of inner structs begin at 0")
	o.toggle(&s.sorted, "sort", "", "in the order of names")
	o.value(between(&s.opt.CacheLine, 1, maxCacheLine, fmt.Sprintf("a number of bytes from 1 to %d", maxCacheLine)), "cacheline_size", "c", "cache lines of `N` bytes; 64 if not given", numbers)
	o.text(&s.separator, "separator", "t", "`TEXT` between the fields of a line", rare, noFiles)
	o.toggle(&s.opt.Biggest, "show_first_biggest_size_base_type_member", "l", "the first number of the most bytes in a struct", rare)
	o.toggle(&s.reorganize, "reorganize", "R", "with names: members in an order of fewer holes", rare)
	o.toggle(&s.opt.Steps, "show_reorg_steps", "S", "with -R: each step on the way", rare)
	o.toggle(&s.packable, "packable", "P", "structs that another order makes smaller", rare)
	o.toggle(&s.usedAt, "show_decl_info", "I", "unit, file and line before each type, if FILE has DWARF", rare)
	o.toggle(&s.opt.Recursive, "recursive", "d", "with -i: under each name its members that have such members", rare)
	o.toggle(&s.opt.Counts, "verbose", "V", "with -i: the number of such members; before -z: not only names", rare)
	o.toggle(&s.opt.Flat, "flat_arrays", "", "arrays of one dimension", rare)
	o.toggle(&s.opt.NoAligned, "suppress_aligned_attribute", "", "no __aligned__", rare)
	o.toggle(&s.opt.NoPacked, "suppress_packed", "", "no __packed__", rare)
	for _, name := range strings.Fields(noEffectShown) {
		name, letter, _ := strings.Cut(name, ",")
		o.call(func() {}, name, letter, "no effect", rare)
	}
	o.value(func(string) error { return nil }, "kabi_prefix", "", "no effect; `TEXT` is a prefix of names", rare, noFiles)
}

// unitOptions adds the options about compile units, for DWARF.
func (s *showCommand) unitOptions(cmd *cobra.Command) {
	o := under(cmd, groupPrinted)
	o.value(func(v string) error { return s.in.lang.set(v, false) }, "lang", "", "only compile units in a language of `LIST`; BTF counts as c", rare, listOf(languageNames))
	o.value(func(v string) error { return s.in.lang.set(v, true) }, "lang_exclude", "", "no compile units in a language of `LIST`", rare, listOf(languageNames))
	o.text(&s.in.cuExclude, "cu_exclude", "X", "no compile units whose names begin with `PREFIX`", rare, noFiles)
}

const maxCacheLine = 1 << 20

// noEffectShown are options of pahole that do not change how it prints BTF.
const noEffectShown = `show_only_data_members,M show_private_classes first_obj_only classes_as_structs
	suppress_force_paddings skip_emitting_atomic_typedefs`

func (s *showCommand) setFormats(v string) error {
	s.formats = v
	return s.in.setFormats(v)
}

// split divides words into names of types and the file, which is "" for the running
// kernel. The file is the last word, if there is such a file or the word can only mean
// one.
func (s *showCommand) split(words []string) (names []string, file string) {
	for i, w := range words {
		if i > 0 && slices.Contains(kindWords, words[i-1]) { // struct NAME, as in C
			names = names[:len(names)-1]
			w = words[i-1] + " " + w
		}
		names = append(names, strings.Split(w, ",")...)
	}
	if len(words) == 0 {
		return nil, ""
	}
	last := words[len(words)-1]
	if !isFile(last) && s.in.resolve(last) == last {
		s.lastWord = last
		return names, ""
	}
	return names[:len(names)-len(strings.Split(last, ","))], last
}

// run prints the types that the options ask for.
func (s *showCommand) run(c *cli, file string) (err error) {
	var words []string
	if file != "" {
		words = []string{file}
	}
	if err := s.settle(); err != nil {
		return err
	}
	s.in.printsAll = len(s.names) == 0 && s.enumerator == ""
	s.in.marks, s.in.tellsLost, s.in.orFuller = true, true, !strings.HasPrefix(s.formats, "btf")
	files, err := s.in.open(words)
	defer s.in.close()
	if err != nil {
		return err
	}
	t := &files[0]
	v := t.view()
	if s.wordSize != 0 && s.wordSize != v.PointerSize() {
		return fmt.Errorf("%s: the types are laid out for words of %d bytes, and BTF has no other layout", message.OneLine(t.path), v.PointerSize())
	}
	if err := s.checkLastWord(t.path, v); err != nil {
		return err
	}
	s.opt.Quiet = c.quiet
	s.filter.Hidden = map[uint32]bool{}
	for _, id := range t.inFunctions { // as in pahole, only their names print them
		s.filter.Hidden[id] = true
	}
	if len(s.declExclude) > 0 && len(s.names) == 0 && s.enumerator == "" {
		s.filter.Keep = s.isElsewhere
	}
	if s.usedAt || s.where || s.filter.Keep != nil {
		if err := s.findPlaces(c, t, v); err != nil {
			return err
		}
	}
	if s.usedAt {
		s.opt.UsedAt = s.place
	}
	if s.format == "html" || s.format == "svg" {
		return s.draw(c, t.path, v)
	}
	if note := s.leftOut(t); note != "" {
		c.warn(message.OneLine(t.path) + ": " + note)
		return nil
	}
	out, end := c.screen(s.color, (*painter).paintC)
	defer end()
	checked := &checkedWriter{w: out}
	p := show.New(checked, v, s.opt)
	switch {
	case s.raw.path != "" && (len(s.names) > 0 || s.raw.header != ""):
		err = s.raw.print(checked, v, s.names, s.opt.Hex)
		if err != nil && checked.err == nil {
			return err
		}
	case s.where && len(s.names) > 0:
		err = s.defined(c, v, checked)
	case s.enumerator != "":
		err = s.withEnumerator(p, v)
	case len(s.names) > 0:
		err = s.named(c, p, v)
	default:
		err = s.asked(c, p, v)
	}
	if note := gapsText(t, p); note != "" && c.calledAs != paholeName { // scripts expect exactly pahole's output
		c.warn(note)
	}
	if of := missingOf(t.path, err); of != nil {
		p.Flush()
		return errors.Join(stdoutError(checked.err), of)
	}
	if checked.err != nil || err == nil {
		return stdoutError(checked.err)
	}
	return message.NamingFile([]string{t.path}, err)
}

// leftOut says why no type is printed, "" if some are. Like pahole, it treats raw BTF as
// a compile unit in C with the name of the file, whose types are not declared in any
// file.
func (s *showCommand) leftOut(t *types) string {
	const c = 2
	switch filter := s.in.lang; {
	case s.filter.Keep != nil && !s.placed && s.asksNoDWARF(t):
		return "note: --decl_exclude leaves out all types: only DWARF says which files declare them, and -F btf does not read it"
	case s.filter.Keep != nil && !s.placed:
		return "note: --decl_exclude leaves out all types: only DWARF says which files declare them, and there is none"
	case t.encoded:
		return ""
	case filter.exclude && slices.Contains(filter.list, c), filter.include && !filter.exclude && !slices.Contains(filter.list, c):
		return "note: BTF counts as a compile unit in C, and this language is left out"
	case s.in.cuExclude != "" && strings.HasPrefix(t.path, s.in.cuExclude):
		return "note: BTF counts as a compile unit with the name of its file, and this unit is left out"
	}
	return ""
}

// gapsText returns a note about gaps in structs from BTF that alignment does not explain;
// "" if there are none. DWARF would have the members.
func gapsText(t *types, p *show.Printer) string {
	n, first := p.Gaps()
	if n == 0 || t.encoded {
		return ""
	}
	what := "structs have"
	if n == 1 {
		what = "struct has"
	}
	return fmt.Sprintf("%s: note: %s %s gaps that no alignment explains, first: %s; what BTF cannot say may lie there (atomic members, references, base classes), or a bit-field without a name",
		message.OneLine(t.path), grouped(uint64(n)), what, message.OneLine(first))
}

// defined prints the units in which types are defined.
func (s *showCommand) defined(c *cli, v *view.View, out io.Writer) error {
	w := newLineWriter(out)
	err := s.eachNamed(c, v, func(t view.Type) { w.line(message.OneLine(s.place(t).Unit)) })
	return errors.Join(err, w.flush())
}

// named prints the types with the names.
func (s *showCommand) named(c *cli, p *show.Printer, v *view.View) error {
	err := s.eachNamed(c, v, func(t view.Type) {
		p.Entry(t, &s.filter, s.form, s.separator)
		if !s.opt.Reorganize {
			p.End()
		}
	})
	if err != nil {
		return err
	}
	return p.Flush()
}

// kindWords may stand before a name.
var kindWords = []string{"struct", "union", "enum"}

// idsOf returns the types for a name on the command line, and the two parts of the name.
func (s *showCommand) idsOf(v *view.View, name string) (kind, bare string, ids []uint32, err error) {
	kind, bare, ok := strings.Cut(name, " ")
	if !ok || !slices.Contains(kindWords, kind) {
		kind, bare = "", name
	}
	if ids, err = show.Find(v, kind, bare, s.filter.Bases); err != nil {
		err = checkPattern(bare)
	}
	return kind, bare, ids, err
}

// eachNamed calls fn for the types with the names, if there are types for all of them.
func (s *showCommand) eachNamed(c *cli, v *view.View, fn func(view.Type)) error {
	var all []uint32
	for _, name := range s.names {
		kind, bare, ids, err := s.idsOf(v, name)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			missing := &missingType{what: "type", name: name, meant: nearType(v, bare), is: otherThanType(v, bare)}
			if kind != "" {
				missing.what, missing.name = kind, bare
			}
			if !s.skipMissing {
				return missing
			}
			c.warn("note: " + missing.Error())
		}
		all = append(all, ids...)
	}
	for _, id := range all {
		fn(v.Type(id))
	}
	return nil
}

// nearEnumerator returns the enumerator that is most like the name, "" if none is near.
func nearEnumerator(v *view.View, name string) string {
	return nearest(name, func(yield func([]byte) bool) {
		for t := range v.All() {
			for _, e := range t.Values() {
				if !yield(e.Name()) {
					return
				}
			}
		}
	})
}

// withEnumerator prints the enum of the enumerator.
func (s *showCommand) withEnumerator(p *show.Printer, v *view.View) error {
	t, ok := show.WithEnumerator(v, s.enumerator)
	if !ok {
		return &missingType{what: "enumerator", name: s.enumerator, meant: nearEnumerator(v, s.enumerator)}
	}
	p.Enum(t)
	return p.Flush()
}
