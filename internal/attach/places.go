package attach

import (
	"slices"
	"strings"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elfreloc"
	"github.com/btflite/btflite/mmapelf"
)

// places are the places in memory that the kernel's tables name. Sections of a
// relocatable file are laid out one behind the other.
type places struct {
	bases    []uint64 // of the sections
	before   uint64   // how far before its function a place of ftrace may be
	traced   []uint64 // places of ftrace, sorted; nil if the file does not tell
	noProbe  []span   // code without kprobes
	gone     []span   // code that is gone after boot or loading
	denied   map[string]bool
	noReturn map[string]bool
}

// span are places from low to below high.
type span struct{ low, high uint64 }

func within(spans []span, at uint64) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return at >= s.low && at < s.high })
}

// at is where a symbol is.
func (p *places) at(s *symbol) uint64 {
	if uint64(s.section) < uint64(len(p.bases)) {
		return p.bases[s.section] + s.value
	}
	return s.value
}

// isTraced reports whether there is a place of ftrace in a function.
func (p *places) isTraced(s *symbol) bool {
	if p.traced == nil {
		return true
	}
	low := p.at(s)
	i, _ := slices.BinarySearch(p.traced, low-min(p.before, low))
	return i < len(p.traced) && p.traced[i] < low+max(s.size, 1)
}

// placeReader finds the tables, which symbols mark in a kernel and sections in a module.
type placeReader struct {
	f       *mmapelf.File
	symbols *mmapelf.File // the file that has the symbols of f
	bases   []uint64
	marks   map[string]uint64 // the symbols of marked, by name
	sets    map[string]idMark // lists of BTF ids, by name
	ids     []idMark          // functions in any of them
}

// idMark is a symbol of .BTF_ids.
type idMark struct {
	name        string
	value, size uint64
}

// marked are the symbols at both ends of a table or of code.
var marked = map[string]bool{
	"__start_mcount_loc": true, "__stop_mcount_loc": true,
	"__start_kprobe_blacklist": true, "__stop_kprobe_blacklist": true,
	"__init_begin": true, "__init_end": true,
	"__noinstr_text_start": true, "__noinstr_text_end": true,
	"__kprobes_text_start": true, "__kprobes_text_end": true,
	"__entry_text_start": true, "__entry_text_end": true,
}

func newPlaceReader(f, symbols *mmapelf.File) *placeReader {
	p := &placeReader{f: f, symbols: symbols, bases: make([]uint64, len(f.Sections)), marks: map[string]uint64{}, sets: map[string]idMark{}}
	const firstBase = 1 << 16
	end := uint64(firstBase)
	for i := range f.Sections {
		if s := &f.Sections[i]; f.Type == elfabi.ETRel && s.Flags&elfabi.SHFAlloc != 0 {
			p.bases[i] = end
			end += (s.Size + 0xfff) &^ 0xfff
		}
	}
	return p
}

// mark keeps a symbol that tells where something is.
func (p *placeReader) mark(name []byte, s *mmapelf.Symbol) {
	const function = "__BTF_ID__func__"
	switch {
	case name[0] != '_':
	case marked[string(name)]:
		p.marks[string(name)] = s.Value
	case string(name) == denySet || string(name) == noReturnSet:
		p.sets[string(name)] = idMark{string(name), s.Value, s.Size}
	case len(name) > len(function) && string(name[:len(function)]) == function:
		// A number that tells ids of one name apart follows behind two more "_".
		if own := string(name[len(function):]); strings.Contains(own, "__") {
			p.ids = append(p.ids, idMark{own[:strings.LastIndex(own, "__")], s.Value, s.Size})
		}
	}
}

// The kernel's sets of functions that BPF programs may not be attached to.
const (
	denySet     = "__BTF_ID__set__btf_id_deny"   // by fentry and fexit
	noReturnSet = "__BTF_ID__set__noreturn_deny" // by fexit
)

func (p *placeReader) read() (at places, err error) {
	at.bases = p.bases
	if p.f.Machine == elfabi.EMAArch64 {
		at.before = 16 // patchable-function-entry has words there
	}
	if at.traced, err = p.table("__start_mcount_loc", "__stop_mcount_loc", "__mcount_loc", "__patchable_function_entries"); err != nil {
		return at, err
	}
	noProbe, err := p.table("__start_kprobe_blacklist", "__stop_kprobe_blacklist", "_kprobe_blacklist")
	if err != nil {
		return at, err
	}
	for _, x := range noProbe {
		at.noProbe = append(at.noProbe, span{x, x + 1})
	}
	for _, name := range []string{"noinstr", "kprobes", "entry"} {
		at.noProbe = p.between(at.noProbe, "__"+name+"_text_start", "__"+name+"_text_end", "."+name+".text")
	}
	at.gone = p.between(nil, "__init_begin", "__init_end", ".init.text")
	at.denied, at.noReturn = p.inSet(denySet), p.inSet(noReturnSet)
	return at, nil
}

// between adds the code between two symbols, or the section of a relocatable file.
func (p *placeReader) between(to []span, from, end, section string) []span {
	low, ok := p.marks[from]
	if high, also := p.marks[end]; ok && also && p.bases[0] == 0 && low < high {
		return append(to, span{low, high})
	}
	for i := range p.f.Sections {
		if s := &p.f.Sections[i]; p.bases[i] != 0 && (s.Name == section || strings.HasPrefix(s.Name, section+".")) {
			to = append(to, span{p.bases[i], p.bases[i] + s.Size})
		}
	}
	return to
}

// inSet are the functions of a set of BTF ids. The ids are sorted when the kernel is
// built, so that a name lies somewhere in its set, and not at its own id.
func (p *placeReader) inSet(name string) map[string]bool {
	found := map[string]bool{}
	set := p.sets[name]
	for _, id := range p.ids {
		if id.value >= set.value && id.value-set.value < set.size {
			found[id.name] = true
		}
	}
	return found
}

// table reads a table of addresses: between two symbols of a kernel or, in a relocatable
// file, the first of the sections that there is. It is sorted; nil if there is none, or
// if the file does not have its contents.
func (p *placeReader) table(from, end string, sections ...string) ([]uint64, error) {
	low, ok := p.marks[from]
	high, also := p.marks[end]
	if ok && also && low < high {
		for i := range p.f.Sections {
			s := &p.f.Sections[i]
			if s.Flags&elfabi.SHFAlloc == 0 || low < s.Addr || high-s.Addr > s.Size {
				continue
			}
			data, err := p.contents(s)
			if err != nil || data == nil {
				return nil, err
			}
			return p.addresses(data[low-s.Addr : high-s.Addr]), nil
		}
		return nil, nil
	}
	for _, name := range sections {
		s := p.f.Section(name)
		// The other section is for something else on machines that have the first.
		if s == nil || name == sections[0] && s.Size == 0 || name == "__patchable_function_entries" && p.f.Machine == elfabi.EMX8664 {
			continue
		}
		data, err := p.contents(s)
		if err != nil || data == nil {
			return nil, err
		}
		if data, err = p.relocated(s, slices.Clone(data)); err != nil {
			return nil, err
		}
		return p.addresses(data), nil
	}
	return nil, nil
}

// contents are the bytes of a section; nil if only its debug information was kept.
func (p *placeReader) contents(s *mmapelf.Section) ([]byte, error) {
	if s.Type == elfabi.SHTNobits {
		return nil, nil
	}
	data, err := p.f.Data(s)
	if err != nil || uint64(len(data)) < s.Size {
		return nil, err
	}
	return data, nil
}

// relocated applies the relocations of a section to its bytes.
func (p *placeReader) relocated(s *mmapelf.Section, data []byte) ([]byte, error) {
	for i := range p.f.Sections {
		r := &p.f.Sections[i]
		if r.Type != elfabi.SHTRela && r.Type != elfabi.SHTRel || uint64(r.Info) != uint64(s.Index) {
			continue
		}
		symtab, err := p.symbols.Data(p.symbols.Section(".symtab"))
		if err != nil {
			return nil, err
		}
		extended, err := p.symbols.ExtendedIndexes(p.symbols.Section(".symtab"))
		if err != nil {
			return nil, err
		}
		list, err := p.f.Data(r)
		if err != nil {
			return nil, err
		}
		object, err := elfreloc.NewObject(elfreloc.Format{Machine: p.f.Machine, Class64: p.f.Class64, BigEndian: p.f.BigEndian}, symtab, extended, p.bases)
		if err != nil {
			return nil, err
		}
		t, err := object.NewTable(s.Name, s.Size, list, r.Type == elfabi.SHTRela)
		if err != nil {
			return nil, err
		}
		return data, t.Apply(data, 0, 0, t.Len())
	}
	return data, nil
}

// addresses are the words of a table that are not 0, sorted; nil if all are 0, since then
// something else fills them.
func (p *placeReader) addresses(data []byte) (list []uint64) {
	width := p.f.AddrSize
	for ; len(data) >= width && width > 0; data = data[width:] {
		x := uint64(0)
		if width == 8 {
			x = p.f.Order().Uint64(data)
		} else {
			x = uint64(p.f.Order().Uint32(data))
		}
		if p.f.Machine == elfabi.EMARM {
			x &^= 1
		}
		if x != 0 {
			list = append(list, x)
		}
	}
	slices.Sort(list)
	return list
}
