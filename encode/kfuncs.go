package encode

import "github.com/btflite/btflite/compactstate"

// kfuncs holds what .BTF_ids says about kernel functions: pahole-behaviour 4.10.
type kfuncs struct {
	sets  []idSymbol // __BTF_ID__set8__…
	funcs []idSymbol // __BTF_ID__func__NAME__SUFFIX
}

// idSymbol is a symbol in .BTF_ids: its name, address, and size in bytes.
type idSymbol struct {
	name        []byte
	value, size uint64
}

const (
	idSet8 = "__BTF_ID__set8__"
	idFunc = "__BTF_ID__func__"
	// btfSet8Kfuncs in a set's flags marks a set of kfuncs.
	btfSet8Kfuncs = 1
)

// add keeps a symbol of .BTF_ids if its name says that it is a set or a function.
func (k *kfuncs) add(name []byte, value, size uint64) {
	switch {
	case len(name) > len(idSet8) && string(name[:len(idSet8)]) == idSet8:
		k.sets = append(k.sets, idSymbol{name, value, size})
	case len(name) > len(idFunc) && string(name[:len(idFunc)]) == idFunc:
		k.funcs = append(k.funcs, idSymbol{name, value, size})
	}
}

// resolve marks in t the functions that are in a set of kfuncs, with their flags. data is the content of
// .BTF_ids, which is at address addr.
func (k *kfuncs) resolve(f *input, addr uint64, data []byte, t *compactstate.FuncTable) {
	word := func(a uint64) (uint32, bool) {
		if off := a - addr; off < uint64(len(data)) && uint64(len(data))-off >= 4 {
			return f.File.Order().Uint32(data[off:]), true
		}
		return 0, false
	}
	var ranges []idSymbol
	for _, s := range k.sets {
		if flags, ok := word(s.value + 4); ok && flags&btfSet8Kfuncs != 0 {
			ranges = append(ranges, s)
		}
	}
	for _, s := range k.funcs {
		in := false
		for _, r := range ranges {
			in = in || s.value >= r.value && s.value-r.value < r.size
		}
		if !in {
			continue
		}
		name := s.name[len(idFunc):]
		// The suffix starts at the last "_" that another "_" precedes.
		cut := -1
		for i := len(name) - 1; i > 0; i-- {
			if name[i] == '_' && name[i-1] == '_' {
				cut = i - 1
				break
			}
		}
		flags, ok := word(s.value + 4)
		if cut < 0 || !ok {
			continue
		}
		if e := t.Lookup(name[:cut]); e != 0 {
			t.SetKfunc(e, flags)
		}
	}
}
