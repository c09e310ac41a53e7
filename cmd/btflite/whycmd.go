package main

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/funcs"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// whyCommand is "btflite why".
type whyCommand struct{}

func newWhyCommand(c *cli) *cobra.Command {
	var w whyCommand
	return &cobra.Command{
		Use: "why [OPTION...] NAME... VMLINUX",
		Long: `Say why functions are or are not in the BTF that VMLINUX, which has DWARF, would
get with the default features: the reason in pahole's words and in others, each
symbol with its address, its definition with unit and line, where its
parameters are, and what a tracer can attach to.`,
		Example: `  btflite why tcp_v4_rcv vmlinux
  btflite why veth_xmit drivers/net/veth.ko`,
		RunE: func(_ *cobra.Command, args []string) error { return w.run(c, args) },
	}
}

// ownReasons are other words for those of pahole.
var ownReasons = map[string]string{
	"unexpected register usage for parameter": "a parameter is not where the calling convention puts it, so a tracer would read another value",
	"inconsistet prototype":                   "functions of this name have different prototypes",
	"uncertain parameter location":            "a packed struct is passed on the stack, and the places behind it are not certain",
	"reordered parameters":                    "the compiler passes the parameters in another order than the source",
	"optimized parameters":                    "the compiler has removed a parameter, so a tracer would take others for it",
	"ambiguous address":                       "code of this name is at several addresses, and a tracer cannot say which is meant",
}

// whySymbol is a symbol of the function, or of a part or variant of it.
type whySymbol struct {
	name          string
	address, size uint64
}

func (w *whyCommand) run(c *cli, words []string) error {
	if len(words) < 2 {
		return usagef("why takes names of functions and a file")
	}
	file, names := words[len(words)-1], words[:len(words)-1]
	if err := checkInputs([]string{file}); err != nil {
		return err
	}
	if why := notToEncode(file); why != "" {
		return fmt.Errorf("%s: %s", message.OneLine(file), why)
	}
	got, err := btflite.Encode(context.Background(), btflite.Paths(file), btflite.Options{Jobs: runtime.GOMAXPROCS(0), AllowRefused: true})
	if err != nil {
		return err
	}
	defer got.Close()
	var set *funcs.Set
	if len(got.BTF) > 0 {
		b, err := btf.ParseShared(got.BTF, nil)
		if err != nil {
			return message.NamingFile([]string{file}, err)
		}
		set = funcs.New(view.New(b))
	}
	symbols, err := whySymbols(file, names)
	if err != nil {
		return err
	}
	info, err := openWhyDWARF(file)
	if err == nil {
		defer info.close()
	}
	out := newLineWriter(c.stdout)
	missing := ""
	for i, name := range names {
		known := w.tell(out, name, set, got.LeftOut, symbols[i], info)
		if !known && missing == "" {
			missing = name
		}
	}
	if err := out.flush(); err != nil {
		return stdoutError(err)
	}
	if missing != "" {
		hint := ""
		if set != nil {
			hint = nearFunction(set, missing)
		}
		return fmt.Errorf("%s: no function and no symbol %q%s", message.OneLine(file), message.OneLine(missing), hint)
	}
	return nil
}

// whySymbols finds the symbols of each name: NAME, and NAME.isra.0 and the like.
func whySymbols(file string, names []string) ([][]whySymbol, error) {
	found := make([][]whySymbol, len(names))
	err := eachFunctionSymbol(file, func(symbol []byte, s *mmapelf.Symbol) {
		stem, _, _ := bytes.Cut(symbol, []byte("."))
		for i, name := range names {
			if string(stem) == name || string(symbol) == name {
				found[i] = append(found[i], whySymbol{string(symbol), s.Value, s.Size})
			}
		}
	})
	return found, err
}

// tell prints what is known of a function, and tells whether that is anything.
func (w *whyCommand) tell(out *lineWriter, name string, set *funcs.Set, left []btflite.LeftOut, symbols []whySymbol, info *whyDWARF) bool {
	line := func(format string, args ...any) { out.line(message.OneLine(fmt.Sprintf(format, args...))) }
	var inBTF []funcs.Func
	if set != nil {
		inBTF = set.Named(name)
	}
	i := slices.IndexFunc(left, func(l btflite.LeftOut) bool { return l.Name == name })
	switch {
	case len(inBTF) > 0:
		line("%s: in BTF, [%d]: %s", name, inBTF[0].ID, funcs.Style{}.AppendPrototype(nil, inBTF[0]))
	case i >= 0:
		line("%s: not in BTF: %s", name, left[i].Reason)
		if own := ownReasons[left[i].Reason]; own != "" {
			line("    %s", own)
		}
	case len(symbols) == 0:
		return false
	default:
		line("%s: not in BTF, and not left out", name)
		line("    DWARF has no function of this name that has parameters with names; it may come from assembly, or from a unit that is left out")
	}
	for _, s := range symbols {
		line("    symbol %s at %#x, %s", s.name, s.address, countOf(int(min(s.size, 1<<31)), "byte"))
		if info == nil {
			continue
		}
		d := info.at(name, s.address)
		if d == nil {
			line("        no definition in DWARF begins there")
			continue
		}
		line("        defined in %s:%d, unit %s", d.file, d.line, d.unit)
		for n, p := range d.params {
			line("        parameter %d, %s: %s", n, p.name, p.place)
		}
	}
	w.attach(line, name, len(inBTF) > 0, symbols)
	return true
}

// attach says what a tracer can attach to.
func (w *whyCommand) attach(line func(string, ...any), name string, inBTF bool, symbols []whySymbol) {
	var whole []string // without parts that are entered in the middle
	for _, s := range symbols {
		if !strings.Contains(s.name, ".cold") && !strings.Contains(s.name, ".part.") && !slices.Contains(whole, "kprobe:"+s.name) {
			whole = append(whole, "kprobe:"+s.name)
		}
	}
	switch {
	case inBTF:
		line("    attach to it by fentry:%s, fexit:%s or kprobe:%s", name, name, name)
	case len(whole) == 0:
		line("    there is nothing to attach to: its code is in its callers")
	case len(whole) == 1:
		line("    attach to it by %s", whole[0])
	default:
		line("    attach to each by %s", strings.Join(whole, ", "))
	}
}
