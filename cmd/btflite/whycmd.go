package main

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strconv"

	"github.com/btflite/btflite"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/funcs"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/attach"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
	"github.com/spf13/cobra"
)

// whyCommand is "btflite why".
type whyCommand struct {
	file    string
	code    codeFile
	names   []string
	at      map[string][]int // the indexes of a name in names, which may have it twice
	places  whyPlaces
	symbols [][]whySymbol   // by name
	found   [][]whyFunction // by name
	set     *funcs.Set      // nil if there is no BTF
	attach  *attach.Symbols
}

func newWhyCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "why [OPTION...] NAME... VMLINUX",
		Long: `Say why functions are or are not in the BTF that VMLINUX, which has DWARF, would
get with the default features: the reason in pahole's words and in others, each
symbol with its address, its definitions with unit and line, where their
parameters are, and what a tracer can attach to.`,
		Example: `  btflite why tcp_v4_rcv vmlinux
  btflite why veth_xmit drivers/net/veth.ko`,
		RunE: func(_ *cobra.Command, args []string) error { return new(whyCommand).run(c, args) },
	}
}

// ownReason explains a reason in pahole's words, or returns "".
func ownReason(pahole string) string {
	switch pahole {
	case "unexpected register usage for parameter":
		return "a parameter is not where the calling convention puts it, so a tracer would read another value"
	case "inconsistet prototype":
		return "functions of this name have different prototypes"
	case "uncertain parameter location":
		return "a packed struct is passed on the stack, and the places of the parameters after it are uncertain"
	case "reordered parameters":
		return "the compiler passes the parameters in another order than the source"
	case "optimized parameters":
		return "the compiler has removed a parameter, so a tracer would take others for it"
	case "ambiguous address":
		return "code of this name is at several addresses, and a tracer cannot say which is meant"
	}
	return ""
}

// whySymbol is a symbol of the function, or of a part or variant of it.
type whySymbol struct {
	name          string
	address, size uint64
}

// whyFunction is a copy of a Function of the encoder.
type whyFunction struct {
	btflite.Function
	defs []btflite.Definition
}

func (w *whyCommand) run(c *cli, words []string) error {
	if len(words) < 2 {
		return lackingWord("why takes names of functions and a file")
	}
	names, file, err := namesThenFile("why", words)
	if err != nil {
		return err
	}
	if w.file, err = elfInput(file); err != nil {
		return err
	}
	w.ask(names)
	find := newDebugFinder(c)
	w.code = codeFile{mmapelf.Source{Path: w.file}, encode.DebugFiles{Find: find}}
	w.found = make([][]whyFunction, len(w.names))
	var failed error // error of reading names of files
	query := &btflite.FunctionQuery{
		Wanted: w.wanted,
		Tell: func(f *btflite.Function) {
			defs, err := f.Definitions()
			if err != nil && failed == nil {
				failed = err
			}
			for _, i := range w.at[f.Name] {
				w.found[i] = append(w.found[i], whyFunction{*f, defs})
			}
		},
	}
	got, err := btflite.Encode(context.Background(), btflite.Paths(w.file), btflite.Options{
		Jobs: runtime.GOMAXPROCS(0), AllowRefused: true, Functions: query, FindDebug: find,
	})
	if err != nil {
		return err
	}
	defer got.Close()
	if failed != nil {
		return message.NamingFile([]string{w.file}, failed)
	}
	if len(got.BTF) > 0 {
		b, err := btf.ParseShared(got.BTF, nil)
		if err != nil {
			return message.NamingFile([]string{w.file}, err)
		}
		w.set = funcs.New(view.New(b))
	}
	if err := w.findSymbols(); err != nil {
		return err
	}
	return w.printAll(c)
}

// ask sets the names that the user asks for.
func (w *whyCommand) ask(names []string) {
	w.names, w.at = names, map[string][]int{}
	for i, name := range names {
		w.at[name] = append(w.at[name], i)
	}
}

// wanted reports whether the user asks for a name. It is called for each DIE of a
// function.
func (w *whyCommand) wanted(name []byte) bool {
	_, ok := w.at[string(name)]
	return ok
}

// findSymbols finds the symbols of each name: NAME, and NAME.isra.0 and the like.
func (w *whyCommand) findSymbols() error {
	w.symbols = make([][]whySymbol, len(w.names))
	return withSymbols(w.code, func(image, symbols *mmapelf.File) (err error) {
		w.places.machine = image.Machine
		if w.attach, err = attach.Read(image, symbols, w.wanted); err != nil {
			return err
		}
		return attach.Each(image, symbols, func(symbol []byte, s *mmapelf.Symbol, _ bool) {
			if !attach.IsFunction(s) {
				return
			}
			stem, _, part := bytes.Cut(symbol, []byte("."))
			if w.add(stem, symbol, s); part {
				w.add(symbol, symbol, s)
			}
		})
	})
}

// add adds a symbol to a name, if the user asks for the name.
func (w *whyCommand) add(name, symbol []byte, s *mmapelf.Symbol) {
	for _, i := range w.at[string(name)] {
		w.symbols[i] = append(w.symbols[i], whySymbol{string(symbol), s.Value, s.Size})
	}
}

// printAll prints the facts about all names, if there are any about each of them.
func (w *whyCommand) printAll(c *cli) error {
	out := newLineWriter(c.stdout)
	for i, name := range w.names {
		if len(w.found[i]) > 0 || len(w.symbols[i]) > 0 {
			continue
		}
		hint := ""
		if w.set != nil {
			hint = nearFunction(w.set, name)
		}
		return fmt.Errorf("%s: no function and no symbol %q%s", message.OneLine(w.file), message.OneLine(name), hint)
	}
	for i, name := range w.names {
		t := whyPrinter{w: w, name: name, symbols: w.symbols[i], found: w.found[i],
			line: func(format string, args ...any) { out.line(message.OneLine(fmt.Sprintf(format, args...))) }}
		t.print()
	}
	return stdoutError(out.flush())
}

// whyPrinter prints the facts about one name.
type whyPrinter struct {
	w       *whyCommand
	name    string
	symbols []whySymbol
	found   []whyFunction
	line    func(format string, args ...any)
}

// print prints the facts about the name.
func (t *whyPrinter) print() {
	var f whyFunction
	if len(t.found) > 0 {
		f = t.found[0]
	}
	inBTF := t.printState(&f)
	told := make([]bool, len(f.defs))
	for _, s := range t.symbols {
		t.line("    symbol %s at %#x, %s", s.name, s.address, countOf(int(min(s.size, 1<<31)), "byte"))
		for i := range f.defs {
			if d := &f.defs[i]; d.Address == s.address && (d.Symbol == s.name || d.Symbol == "") && d.Code && !told[i] {
				told[i] = true
				t.define("        ", d, f.Reason)
			}
		}
	}
	described, first := 0, 0
	for i := range f.defs {
		switch {
		case told[i]:
		case f.defs[i].Code:
			t.define("    ", &f.defs[i], f.Reason)
		default:
			if described++; described == 1 {
				first = i
			}
		}
	}
	switch {
	case described == len(f.defs) && described > 0:
		t.described(&f.defs[first], described)
	case described > 0 && f.Mismatch != "":
		t.otherwise(f.defs)
	}
	t.attach(inBTF)
}

// printState prints whether the BTF has the function, and the reason if not.
func (t *whyPrinter) printState(f *whyFunction) (inBTF bool) {
	if t.w.set != nil && f.Encoded {
		if all := t.w.set.Named(t.name); len(all) > 0 {
			t.line("%s: in BTF, [%d]: %s", t.name, all[0].ID, funcs.Style{}.AppendPrototype(nil, all[0]))
			return true
		}
	}
	reason := f.Reason
	for i := range f.defs {
		if reason == "" {
			reason = f.defs[i].Fault
		}
	}
	switch {
	case reason != "":
		t.line("%s: not in BTF: %s", t.name, reason)
		if own := ownReason(reason); own != "" {
			t.line("    %s", own)
		}
		if f.Mismatch != "" {
			t.line("    the first difference: %s", f.Mismatch)
		}
	case len(t.symbols) == 0:
		t.line("%s: not in BTF: it has no symbol", t.name)
	case len(f.defs) == 0:
		t.line("%s: not in BTF: DWARF has no function of this name; it may come from assembly, or from a unit that is left out", t.name)
	default:
		t.line("%s: not in BTF, and not left out", t.name)
	}
	return false
}

// define prints a definition with code. reason is the reason that was printed for the
// function.
func (t *whyPrinter) define(indent string, d *btflite.Definition, reason string) {
	at := "several places"
	if d.Address != 0 || d.Section != "" {
		at = fmt.Sprintf("%#x", d.Address)
		if d.Section != "" {
			at += " of " + d.Section
		}
	}
	t.line("%sdefined in %s, unit %s, code at %s", indent, placeText(d), d.Unit, at)
	if d.Fault != "" && d.Fault != reason {
		t.line("%s    would be left out: %s", indent, d.Fault)
	}
	for n := range d.Params {
		p := &d.Params[n]
		name := p.Name
		if name == "" {
			name = "(no name)"
		}
		t.line("%sparameter %d, %s: %s", indent, n+1, name, t.w.places.text(p.Place))
	}
}

// placeText returns the file and line of a definition.
func placeText(d *btflite.Definition) string {
	file := d.File
	if file == "" {
		file = "an unknown file"
	}
	if d.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, d.Line)
}

// described prints that n units have no code for it, and no unit has.
func (t *whyPrinter) described(d *btflite.Definition, n int) {
	more := ""
	if n > 1 {
		more = fmt.Sprintf(" and %s", countOf(n-1, "other unit"))
	}
	t.line("    described in %s, unit %s%s, without code: it is inlined into its callers", placeText(d), d.Unit, more)
}

// otherwise prints where the function is described without code, each place once: its
// prototype may differ in one of them. Unit records have no places.
func (t *whyPrinter) otherwise(defs []btflite.Definition) {
	told := map[string]bool{}
	for i := range defs {
		d := &defs[i]
		at := placeText(d)
		place := at
		if d.File == "" {
			place = "unit " + d.Unit
		}
		if !d.Code && !told[place] {
			told[place] = true
			t.line("    described in %s, unit %s, without code", at, d.Unit)
		}
	}
}

// attach prints what tracers can attach to.
func (t *whyPrinter) attach(inBTF bool) {
	f := attach.Function{Name: t.name}
	if inBTF {
		f = functionToAttach(t.w.set, t.name)
	}
	advice := t.w.attach.Advise(f)
	for _, l := range advice.Lines() {
		t.line("    %s", l)
	}
}

// whyPlaces describes where parameters are, with the names of a machine's registers.
type whyPlaces struct{ machine uint16 }

func (w *whyPlaces) text(p encode.Place) string {
	at := ""
	switch p.Kind {
	case encode.PlaceNone:
		return "nowhere: optimized away"
	case encode.PlaceConstant:
		return "nowhere: always the same value"
	case encode.PlaceRegister:
		at = "in register " + w.register(p.Register)
	case encode.PlaceStack:
		at = "on the stack"
	case encode.PlaceFixed:
		at = "at a fixed address"
	case encode.PlaceCompute:
		at = "computed"
	default:
		return "in an unknown place"
	}
	if p.Moves {
		return "at first " + at
	}
	return at
}

// amd64Registers are the registers of x86-64 by their numbers in DWARF.
var amd64Registers = [...]string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}

// amd64Vectors is the number of the first of 16 vector registers.
const amd64Vectors = 17

// register returns the name of a register, or its number in DWARF.
func (w *whyPlaces) register(n uint16) string {
	number := strconv.Itoa(int(n))
	switch {
	case w.machine == elfabi.EMX8664 && int(n) < len(amd64Registers):
		return amd64Registers[n]
	case w.machine == elfabi.EMX8664 && n >= amd64Vectors && n < amd64Vectors+16:
		return "xmm" + strconv.Itoa(int(n)-amd64Vectors)
	case w.machine == elfabi.EMAArch64 && n < 31:
		return "x" + number
	case w.machine == elfabi.EMS390 && n < 16, w.machine == elfabi.EMARM && n < 16:
		return "r" + number
	}
	return number
}
