package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/dump"
	"github.com/btflite/btflite/btf/funcs"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/glob"
	"github.com/btflite/btflite/internal/message"
	"github.com/spf13/cobra"
)

// funcsCommand is "btflite funcs".
type funcsCommand struct {
	in *typeReader

	// The functions to print.
	names         []string // --function
	class, takes  string
	externals     bool
	withBase      bool
	address       *uint64 // --addr
	found, symbol string  // the function at address, and the symbol there

	// What to print of them.
	prototypes, all, verbose bool
	number                   funcsNumber
	params, json             bool
	style                    funcs.Style
	compile, expand          bool // C with the types that the functions need
}

// funcsNumber is a number to print for each function.
type funcsNumber uint8

const (
	noNumber funcsNumber = iota
	nameLength
	paramCount
	codeSize
)

// groupWhich is the heading for options that select functions.
const groupWhich = "Which functions"

func newFuncsCommand(c *cli) *cobra.Command {
	f := funcsCommand{in: newTypeReader(c)}
	cmd := &cobra.Command{
		Use: "funcs [OPTION...] [FILE]",
		Long: `Print the functions of the BTF of FILE as pfunct does: their names or, with
--function, --all or --prototypes, their prototypes. Without FILE it is the
running kernel.`,
		Example: `  btflite funcs --function=tcp_v4_rcv vmlinux
  btflite funcs --params --function='tcp_*_cb' vmlinux
  btflite funcs --takes=sk_buff --prototypes vmlinux.btf`,
		RunE: func(_ *cobra.Command, args []string) error { return f.run(c, args) },
	}
	f.whichOptions(cmd)
	f.printOptions(cmd)
	return cmd
}

func (f *funcsCommand) whichOptions(cmd *cobra.Command) {
	s := under(cmd, groupWhich)
	s.value(f.addName, "function", "f", "the prototype of `NAME` or of all that fit a glob", noFiles)
	s.value(nonEmpty(&f.class), "class", "c", "only those with a parameter 'struct `NAME` *'", noFiles)
	s.value(nonEmpty(&f.takes), "takes", "", "functions with a parameter that leads to `NAME`", noFiles)
	s.toggle(&f.externals, "externals", "E", "only those that other files can call")
	s.value(f.setAddress, "addr", "a", "the function at `ADDR`, by the symbols of FILE", noFiles)
	s.toggle(&f.withBase, "with_base", "", "the functions of the base, too", rare)
	f.in.options(cmd, groupWhich)
}

func (f *funcsCommand) printOptions(cmd *cobra.Command) {
	s := under(cmd, groupPrinted)
	s.toggle(&f.prototypes, "prototypes", "P", "prototypes instead of names")
	s.toggle(&f.all, "all", "A", "prototypes in the order of the file")
	s.toggle(&f.params, "params", "", "prototypes, parameters and their sizes")
	s.toggle(&f.style.NoParamNames, "no_parm_names", "", "prototypes without the names of parameters")
	s.call(func() { f.number = paramCount }, "nr_parms", "p", "names with the number of parameters")
	s.call(func() { f.number = nameLength }, "function_name_len", "N", "names with their length", rare)
	s.call(func() { f.number = codeSize }, "sizes", "s", "names with the size of code, by FILE's symbols")
	s.toggle(&f.verbose, "verbose", "V", "prototypes with a count of definitions, which is always 1 in BTF", rare)
	s.toggle(&f.json, "json", "", "print one JSON object")
	s.value(f.setCompile, "compile", "", "C that compiles, of `NAME` or all, with their types", bare(allFuncs), noFiles, rare)
	s.toggle(&f.expand, "expand_types", "b", "the same with prototypes only", rare)
	s.value(f.in.setFormats, "format_path", "F", "formats to read, `LIST` of btf and dwarf: the first that FILE has counts", rare, noFiles)
	for _, o := range onlyPfunct {
		name, letter, _ := strings.Cut(o.option, ",")
		refuse := func(string) error {
			return &usageError{what: "only pfunct has this option: BTF lacks what it prints", hint: o.hint}
		}
		s.value(refuse, name, letter, "", hidden, bare("true"))
	}
}

// onlyPfunct are pfunct's options that need more than BTF has, and what to do instead.
var onlyPfunct = []struct {
	option string // name and letter
	hint   string
}{
	{"goto_labels,g", ""},
	{"cc_uninlined,G", ""},
	{"cc_inlined,H", "btflite inline NAME FILE lists where a function is inlined"},
	{"inline_expansions,i", "btflite inline NAME FILE lists where a function is inlined"},
	{"inline_expansions_stats,I", "btflite inline NAME FILE lists where a function is inlined"},
	{"total_inline_stats,t", "btflite inline NAME FILE lists where a function is inlined"},
	{"decl_info,l", "btflite why NAME FILE says where a function is defined"},
	{"nr_variables,S", ""},
	{"variables,T", ""},
	{"symtab", "readelf -s prints symbols"},
}

// allFuncs as the name of a function stands for all functions.
const allFuncs = "*"

func (f *funcsCommand) setCompile(v string) error {
	if f.compile = true; v == allFuncs {
		return nil
	}
	return f.addName(v)
}

func (f *funcsCommand) addName(v string) error {
	if v == "" {
		return usagef("empty name")
	}
	f.names = append(f.names, v)
	return nil
}

func (f *funcsCommand) setAddress(v string) error {
	n, err := strconv.ParseUint(v, 0, 64)
	if err != nil {
		return usagef("'%s' is not an address; use 0x...", message.OneLine(v))
	}
	f.address = &n
	return nil
}

func (f *funcsCommand) run(c *cli, words []string) error {
	if err := byOption("funcs", "function", f.in.unresolved(words)); err != nil {
		return err
	}
	switch {
	case len(words) > 1:
		return usagef("funcs takes one file")
	case (f.compile || f.expand) && (f.json || f.params):
		return usagef("--compile and --expand_types print C, and exclude --json and --params")
	case f.number != noNumber && (f.json || f.params):
		return usagef("--json and --params exclude the options that print a number: -N, -p and -s")
	}
	defer f.in.close()
	f.in.printsAll = len(f.names) == 0 && f.address == nil && f.class == ""
	f.in.tellsLost, f.in.marks = true, !f.compile && !f.expand // these print only C
	files, err := f.in.open(words)
	if err != nil {
		return err
	}
	v := files[0].view()
	if err := f.checkTypes(v); err != nil {
		return message.NamingFile([]string{files[0].path}, err)
	}
	set := funcs.New(v)
	list, err := f.selected(set, &files[0])
	if err != nil {
		return err
	}
	if f.address != nil && len(list) > 0 && string(list[0].Name()) == f.found { // else --class and the like left it out
		note, err := adviceNote(f.in.image(&files[0]), set, f.found, f.symbol)
		if err != nil {
			return err
		}
		if note != "" {
			c.warn(note)
		}
	}
	if f.compile || f.expand {
		return f.printC(c, list, &files[0])
	}
	to, end := c.screen(colorNever, nil)
	defer end()
	out := newTextWriter(to)
	if err := f.print(out, list, &files[0]); err != nil {
		return err
	}
	return stdoutError(out.flush())
}

// checkTypes returns an error if no type has the name of --class or --takes.
func (f *funcsCommand) checkTypes(v *view.View) error {
	if f.class != "" && len(v.Named(f.class, btf.KindStruct, btf.KindFwd)) == 0 {
		if len(v.Named(f.class)) > 0 {
			return fmt.Errorf("no struct %s; --takes=%s finds functions that take another type", message.OneLine(f.class), message.ShellWord(f.class))
		}
		return &missingType{what: "struct", name: f.class, meant: nearType(v, f.class)}
	}
	if f.takes == "" || len(v.Named(f.takes, btf.KindInt, btf.KindFloat, btf.KindStruct, btf.KindUnion, btf.KindFwd,
		btf.KindEnum, btf.KindEnum64, btf.KindTypedef)) > 0 {
		return nil
	}
	return &missingType{what: "type", name: f.takes, meant: nearType(v, f.takes)}
}

// selected returns the functions to print, in pfunct's order: for prototypes the order of
// the file, otherwise the reverse.
func (f *funcsCommand) selected(set *funcs.Set, file *types) ([]funcs.Func, error) {
	if len(f.names) > 0 || f.address != nil {
		return f.named(set, file)
	}
	from := set.Own()
	if f.withBase {
		from = set.All()
	}
	var list []funcs.Func
	if takes := f.filter(set); takes == nil {
		list = slices.AppendSeq(arena.Make[funcs.Func](set.Len())[:0], from)
	} else {
		for x := range from {
			if takes(x) {
				list = append(list, x)
			}
		}
	}
	if !f.inOrder() {
		list = slices.DeleteFunc(list, func(x funcs.Func) bool { return len(x.Name()) == 0 })
		slices.Reverse(list)
	}
	return list, nil
}

// inOrder reports whether functions are printed in the order of the file.
func (f *funcsCommand) inOrder() bool {
	return f.all || f.class != "" || f.takes != "" || f.json || f.params
}

// filter returns a function that reports whether the options accept a function; nil if
// they accept all.
func (f *funcsCommand) filter(set *funcs.Set) func(funcs.Func) bool {
	if !f.externals && f.class == "" && f.takes == "" {
		return nil
	}
	taking, pointing := set.Taking(f.takes), set.Pointing(f.class)
	return func(x funcs.Func) bool {
		return (!f.externals || x.Global()) && (f.class == "" || pointing.Has(x)) && (f.takes == "" || taking.Has(x))
	}
}

// named returns the functions of --addr and --function. For a name that is not a pattern
// it takes the first definition.
func (f *funcsCommand) named(set *funcs.Set, file *types) (list []funcs.Func, err error) {
	names := f.names
	if f.address != nil {
		name, symbol, err := functionAt(f.in.image(file), set, *f.address)
		if err != nil {
			return nil, err
		}
		f.found, f.symbol = name, symbol
		names = append([]string{name}, names...)
	}
	for _, name := range names {
		found := set.Named(name)
		pattern, err := glob.Parse(name)
		switch {
		case len(found) > 0: // names of Rust can look like patterns
			found = found[:1]
		case err != nil:
			return nil, checkPattern(name)
		case glob.Is(name):
			for x := range set.All() {
				if pattern.Fits(x.Name()) {
					found = append(found, x)
				}
			}
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: no function %q%s", message.OneLine(file.path), message.OneLine(name), nearFunction(set, name))
		}
		list = append(list, found...)
	}
	if takes := f.filter(set); takes != nil {
		list = slices.DeleteFunc(list, func(x funcs.Func) bool { return !takes(x) })
	}
	return list, nil
}

// nearFunction suggests a function of another name.
func nearFunction(set *funcs.Set, name string) string {
	near := nearest(name, func(yield func([]byte) bool) {
		for x := range set.All() {
			if !yield(x.Name()) {
				return
			}
		}
	})
	if near != "" {
		return fmt.Sprintf("; did you mean %s?", message.OneLine(near))
	}
	return ""
}

func (f *funcsCommand) print(out *lineWriter, list []funcs.Func, file *types) error {
	if f.json {
		f.printJSON(out, list)
		return nil
	}
	one := len(f.names) > 0 || f.address != nil
	var sizes map[string]uint64
	if f.number == codeSize && !f.all && !one {
		var err error
		if sizes, err = symbolSizes(f.in.image(file)); err != nil {
			return err
		}
	}
	var buf []byte
	for _, x := range list {
		buf = buf[:0]
		switch {
		case f.params:
			buf = f.appendParams(buf, x)
		case one || f.all && f.class == "" || f.verbose && (f.number == noNumber || f.class != ""):
			buf = append(f.style.AppendPrototype(buf, x), '\n')
			if f.verbose && !f.prototypes && f.class == "" && !one && !f.all {
				buf = append(buf, "/* definitions: 1 */\n\n"...)
			}
		case f.class != "":
			buf = append(append(buf, x.Name()...), '\n')
		case f.number == nameLength:
			buf = fmt.Appendf(buf, "%s: %d\n", x.Name(), len(x.Name()))
		case f.number == paramCount:
			buf = fmt.Appendf(buf, "%s: %d\n", x.Name(), x.NumParams())
		case f.number == codeSize:
			if n := sizes[string(x.Name())]; n != 0 {
				buf = fmt.Appendf(buf, "%s: %d\n", x.Name(), n)
			}
		case f.prototypes:
			buf = append(f.style.AppendPrototype(buf, x), '\n')
		default:
			buf = append(append(buf, x.Name()...), '\n')
		}
		out.bytes(message.Printable(buf))
	}
	return nil
}

// printC prints the functions as C with the types that they need.
func (f *funcsCommand) printC(c *cli, list []funcs.Func, t *types) error {
	o := dump.COptions{Strict: true, PointerSize: t.pointerSize, Declare: !f.compile, IDs: []uint32{}}
	for _, x := range list {
		o.Stubs = append(o.Stubs, x.ID)
	}
	o.IDs = append(o.IDs, dump.Named(t.Blob, o.Stubs)...)
	return printTypes(c, t.path, colorNever, nil, func(out io.Writer) error { return dump.C(out, t.Blob, o) })
}

// appendParams adds the prototype and lines for the parameters, in pahole's columns for
// members: type, name, number, size.
func (f *funcsCommand) appendParams(buf []byte, x funcs.Func) []byte {
	buf = append(f.style.AppendPrototype(buf, x), '\n')
	line := func(t view.Type, name []byte, place string) {
		text := bytes.TrimRight(f.style.AppendType(nil, t), " ")
		buf = fmt.Appendf(buf, "\t%-26s %-21s /* %6s %5d */\n", text, append(bytes.Clone(name), ';'), place, t.Size())
	}
	for i, p := range x.Params() {
		line(p.Type(), p.Name(), strconv.Itoa(i))
	}
	if x.Result().Kind() != btf.KindVoid {
		line(x.Result(), nil, "result")
	}
	return append(buf, '\n')
}

// funcJSON is a function in the output of "btflite funcs --json".
type funcJSON struct {
	ID        uint32      `json:"id"`
	Name      string      `json:"name"`
	Linkage   string      `json:"linkage"`
	Prototype string      `json:"prototype"`
	Result    paramJSON   `json:"result"`
	Params    []paramJSON `json:"params"`
	Variadic  bool        `json:"variadic,omitempty"`
	Tags      []string    `json:"tags,omitempty"`
}

// paramJSON is a parameter or a result. Size is in bytes, 0 for void and for types
// that are only declared.
type paramJSON struct {
	Name string   `json:"name,omitempty"`
	ID   uint32   `json:"type_id"`
	Type string   `json:"type"`
	Size uint64   `json:"size"`
	Tags []string `json:"tags,omitempty"`
}

// printJSON prints one object, with one function on each line.
func (f *funcsCommand) printJSON(out *lineWriter, list []funcs.Func) {
	out.line(`{"version":1,"functions":[`)
	for _, x := range list {
		out.element(f.object(x))
	}
	out.endArray("]}")
}

func (f *funcsCommand) object(x funcs.Func) *funcJSON {
	o := &funcJSON{
		ID: x.ID, Name: string(x.Name()), Linkage: btf.LinkageName(x.Linkage()),
		Prototype: string(f.style.AppendPrototype(nil, x)),
		Result:    f.param(x.Result()), Params: []paramJSON{},
		Variadic: x.Variadic(), Tags: tagTexts(x, -1),
	}
	for i, p := range x.Params() {
		j := f.param(p.Type())
		j.Name, j.Tags = string(p.Name()), tagTexts(x, i)
		o.Params = append(o.Params, j)
	}
	return o
}

func (f *funcsCommand) param(t view.Type) paramJSON {
	return paramJSON{ID: t.ID, Type: string(f.style.AppendType(nil, t)), Size: t.Size()}
}

func tagTexts(x funcs.Func, i int) (texts []string) {
	for _, tag := range slices.Collect(x.Tags(i)) {
		texts = append(texts, string(tag))
	}
	return texts
}
