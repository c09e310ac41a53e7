// Package attach knows what the kernel lets tracers attach to, as far as the ELF file of
// a kernel or module shows it.
//
// fentry and fexit take the FUNC of BTF, and ask the kernel's symbols for its name. A
// kprobe asks them for a name that it is given. So advice depends on the symbols: a
// function that the compiler has changed may have one of another name only, as
// "f.isra.0", and a name that several symbols have, be they functions or variables, is
// none for a kprobe. It depends on the code as well: both need a place of ftrace in the
// function, which attributes such as notrace leave out, and code of .init.text is gone
// after boot. The kernel keeps kprobes out of some functions, and BPF programs out of
// others. Places of ftrace are in __mcount_loc, the functions without kprobes in
// _kprobe_blacklist and in sections of their own. A file that has no such table is taken
// to have no such function.
//
// scripts/attach-kernels.sh compares all this with real kernels.
package attach

import (
	"bytes"

	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/mmapelf"
)

// Symbols are the symbols of a file, with what the kernel makes of them.
type Symbols struct {
	module  string              // "" for the kernel itself
	release string              // of Linux; "" if the file does not tell
	byName  map[string][]symbol // symbols of the wanted functions, by the whole name
	family  map[string][]string // the names of a function's symbols, itself among them, by its own
	anchor  map[uint32]symbol   // what other places of a section are told by
	places  places
}

// Read collects what an ELF file says about functions; symbols is the file that has its
// symbols. wanted selects functions by their name in the source.
func Read(f, symbols *mmapelf.File, wanted func(name []byte) bool) (*Symbols, error) {
	s := &Symbols{module: moduleName(f), release: basematch.ReleaseOf(f), byName: map[string][]symbol{}, family: map[string][]string{}, anchor: map[uint32]symbol{}}
	p := newPlaceReader(f, symbols)
	err := Each(f, symbols, func(name []byte, sym *mmapelf.Symbol, code bool) {
		p.mark(name, sym)
		const global = 1 // STB_GLOBAL
		one := symbol{section: sym.Shndx, value: sym.Value, size: sym.Size, code: code, function: IsFunction(sym), global: sym.Info>>4 == global}
		s.addAnchor(name, one)
		stem, _, _ := bytes.Cut(name, []byte("."))
		if len(stem) == 0 || len(name) >= maxSymbol || !wanted(stem) && !wanted(name) {
			return
		}
		one.name = string(name)
		if s.byName[one.name] == nil {
			s.family[string(stem)] = append(s.family[string(stem)], one.name)
		}
		s.byName[one.name] = append(s.byName[one.name], one)
	})
	if err != nil {
		return nil, err
	}
	s.places, err = p.read()
	return s, err
}

// maxSymbol is KSYM_NAME_LEN: the kernel has no longer names, and room for a zero byte.
const maxSymbol = 512

// addAnchor keeps a symbol that others of its section can be told by. Its name must be
// the only one: the start of the kernel, or in a module a function that others may call.
func (s *Symbols) addAnchor(name []byte, one symbol) {
	old, have := s.anchor[one.section]
	start := string(name) == "_stext" // which every architecture has
	switch {
	case !start && (s.module == "" || !one.global || !one.function), !one.code:
		return
	case start, !have, one.value < old.value && old.name != "_stext":
		one.name = string(name)
		s.anchor[one.section] = one
	}
}

// moduleName is the name that the kernel has for the module, "" for what is none.
func moduleName(f *mmapelf.File) string {
	s := f.Section(".modinfo")
	if f.Section(".gnu.linkonce.this_module") == nil || s == nil {
		return ""
	}
	info, err := f.Data(s)
	if err != nil {
		return ""
	}
	for field := range bytes.SplitSeq(info, []byte{0}) {
		if name, ok := bytes.CutPrefix(field, []byte("name=")); ok {
			return string(name)
		}
	}
	return ""
}
