package encode

import (
	"fmt"
	"hash/maphash"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/mmapelf"
)

// file is one input: its mapping, its debug sections, and what the whole file
// says about functions and variables. It is read-only once opened.
type file struct {
	run  *run
	opt  *Options
	path string
	// alone: the input is bytes in memory, and no file lies beside it.
	alone bool
	elf   *mmapelf.File
	// dwarf is where the debug sections are: elf, or a separate debug file.
	dwarf *mmapelf.File

	bigEndian bool
	addrSize  int
	machine   uint16

	info, abbrev, lineStr, strOffsets, addr, loc, loclists []byte

	infoSec, abbrevSec, locSec, loclistsSec section // of those that are given back as they are read

	rel   *relocs // of an ET_REL file, else nil
	merge *merged // of a file whose units are merged, else nil

	shared   sharedAbbrevs
	names    names.Text
	wantVars bool

	varSections []varSection
	objects     map[objectKey]struct{} // of the symbol table; nil until asked for
	objectSeed  maphash.Seed

	prefix string // of section names: ltoPrefix, else ""
	suffix string // of section names: .dwo (splitdwarf.go), else ""
	packed bool   // of several .dwo files

	whole    map[string][]byte // of a .dwo or .dwp: the sections
	abbrevAt uint64            // of a .dwp: where offsets of the unit in .debug_abbrev start

	types     typeUnits
	typesOnce sync.Once
	typesErr  error
	sawTypes  atomic.Bool // a type unit went by in .debug_info

	first        bool // of the inputs that have a unit to encode; see Output.Lead
	symbolsRead  sync.WaitGroup
	symbolsErr   error
	symbolsCrash any // a panic while the symbols were read
}

// percpuName is the section of the kernel's variables that each CPU has.
const percpuName = ".data..percpu"

const (
	shtProgbits = 1
	shtSymtab   = 2
	shtNobits   = 8
	shfAlloc    = 2
	etRel       = 1
	sttObject   = 1
	sttFunc     = 2

	shfGroup      = 0x200
	shfCompressed = 0x800
	shfExclude    = 0x80000000
)

// openFile maps an input and finds what encoding needs of it. A file without
// DWARF gives ErrNoDwarf; one whose DWARF has no units is open, and its info is
// empty.
func (r *run) openFile(in *mmapelf.Source) (*file, error) {
	e, err := in.Open()
	if err != nil {
		return nil, err
	}
	f := &file{
		run: r, opt: &r.opt, path: in.Path, alone: in.InMemory(), elf: e, dwarf: e,
		bigEndian: e.BigEndian, addrSize: e.AddrSize, machine: e.Machine, names: names.Text{Table: &r.names},
	}
	arena.Bind(r.limit, &f.types.copies)
	if r.stats.CUs == r.stats.CUsFiltered { // all units before are left out
		f.first, r.lead = true, len(r.files)
	}
	if err := f.open(); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// adviseOn says how a file will be read. The system's own read-ahead around each
// page touched can be megabytes; what is read in order is asked for in windows
// instead. Below a limit that has no room for all of it, pages that are done with
// are to be the first to go.
func (f *file) adviseOn(e *mmapelf.File) {
	size := uint64(len(e.Bytes()))
	e.RandomRange(0, size)
	e.Scarce = f.opt.MemoryLimit != 0 && f.opt.MemoryLimit < 2*size
}

func (f *file) open() error {
	f.adviseOn(f.elf)
	f.prefix = slimPrefix(f.elf)
	if f.section(".debug_info") == nil && f.section(".debug_abbrev") == nil {
		if err := f.findDebugFile(); err != nil {
			return err
		}
		if f.dwarf != f.elf {
			f.adviseOn(f.dwarf)
		}
	}
	if err := f.checkBase(); err != nil {
		return err
	}
	if on, err := f.mergeWanted(); err != nil {
		return err
	} else if on {
		f.merge = new(merged)
	}
	for _, s := range []struct {
		name string
		data *[]byte
		sec  *section
	}{
		{".debug_info", &f.info, &f.infoSec}, {".debug_abbrev", &f.abbrev, &f.abbrevSec},
		{".debug_str", &f.names.Data, nil}, {".debug_line_str", &f.lineStr, nil},
		{".debug_str_offsets", &f.strOffsets, nil}, {".debug_addr", &f.addr, nil},
		{".debug_loc", &f.loc, &f.locSec}, {".debug_loclists", &f.loclists, &f.loclistsSec},
	} {
		sec := f.section(s.name)
		if sec == nil {
			continue
		}
		var err error
		if *s.data, err = f.load(sec, s.sec); err != nil {
			return err
		}
	}
	f.locSec.sec = nil // lists of the older kind are not in order in every file
	if len(f.info) == 0 {
		if f.onlyLines() {
			return nil
		}
		return f.noDwarf()
	}
	if err := f.run.checkInput(f); err != nil {
		return err
	}
	if f.elf.Type == etRel {
		if err := f.openRelocs(); err != nil {
			return err
		}
	}
	f.names.ByText = f.rel != nil || f.opt.Base != nil
	if err := f.placeNames(); err != nil {
		return err
	}
	f.sections()
	if f.opt.Jobs <= 1 {
		return f.symbols()
	}
	// Units can be read meanwhile; waitSymbols is where they need it.
	f.symbolsRead.Add(1)
	go func() {
		defer f.symbolsRead.Done()
		debug.SetPanicOnFault(true)
		defer func() {
			if x := recover(); x != nil {
				f.symbolsCrash = asWorkerPanic(x, " symbol table:")
			}
		}()
		f.symbolsErr = f.symbols()
	}()
	return nil
}

// ltoPrefix is what names of debug sections begin with in objects of GCC that
// hold intermediate code. Those that hold no machine code as well (slim ones) have
// no other: types and inline functions, described before optimization.
const ltoPrefix = ".gnu.debuglto_"

// slimPrefix is ltoPrefix for a slim object of GCC, else "".
func slimPrefix(e *mmapelf.File) (prefix string) {
	for i := range e.Sections {
		switch name := e.Sections[i].Name; {
		case strings.HasPrefix(name, ".debug_"), strings.HasPrefix(name, ".zdebug_"):
			return ""
		case name == ltoPrefix+".debug_info":
			prefix = ltoPrefix
		}
	}
	return prefix
}

// section is the debug section of that name, or the one with the name that
// compressed contents had at first; nil if there is none. Of several the one
// counts that does not have type units only (typeunits.go): those are in section
// groups, or were before a .dwo was made of them, which has only what is not in
// one marked as not to be linked.
func (f *file) section(name string) *mmapelf.Section {
	name = f.prefix + name + f.suffix
	s := f.dwarf.Section(name)
	if s == nil && f.prefix == "" {
		s = f.dwarf.Section(".z" + name[1:])
	}
	if s == nil {
		return nil
	}
	want := uint64(0)
	if f.suffix != "" {
		want = shfExclude
	}
	for i := s.Index; i < len(f.dwarf.Sections); i++ {
		if o := &f.dwarf.Sections[i]; o.Flags&(shfGroup|want) == want && o.Name == s.Name {
			return o
		}
	}
	return s
}

// load gives the contents of a debug section. With to, it is one that is given
// back as it is read.
func (f *file) load(sec *mmapelf.Section, to *section) ([]byte, error) {
	if to == nil {
		return f.dwarf.Data(sec)
	}
	st, err := f.dwarf.Stream(sec)
	if err != nil {
		return nil, err
	}
	if st != nil && f.merge != nil {
		st.Close() // it is read more than once
		return f.dwarf.Data(sec)
	}
	if st != nil {
		to.stream = st
		return st.Bytes(), nil
	}
	to.sec = sec
	return f.dwarf.Data(sec)
}

// close gives back the file and what was made of it.
func (f *file) close() {
	f.closeStreams()
	f.types.copies.Free()
	if f.dwarf != f.elf {
		f.dwarf.Close()
	}
	f.elf.Close()
}

// closeStreams ends the expansion of compressed sections.
func (f *file) closeStreams() {
	for _, s := range []*section{&f.infoSec, &f.abbrevSec, &f.locSec, &f.loclistsSec} {
		if s.stream != nil {
			s.stream.Close()
			s.stream = nil
		}
	}
}

// waitSymbols returns when the symbols have been read, with the error of that.
func (f *file) waitSymbols() error {
	f.symbolsRead.Wait()
	if f.symbolsCrash != nil {
		panic(f.symbolsCrash)
	}
	return f.symbolsErr
}

// symbolWork and symbolRepeat bound how much is read of the names of symbols:
// so many bytes, and so many times the size of .strtab. Linkers let a name be the
// end of another, but in a made file each symbol could name a long rest of it.
const (
	symbolWork   = 64 << 20
	symbolRepeat = 16
)

// symtab is the symbol table, its strings, and the file that has it: the input
// itself or a separate debug file.
func (f *file) symtab() (e *mmapelf.File, symtab *mmapelf.Section, strtab []byte, err error) {
	e = f.elf
	if e.Section(".symtab") == nil {
		e = f.dwarf
	}
	symtab = e.Section(".symtab")
	if symtab == nil || symtab.Type != shtSymtab {
		return nil, nil, nil, fmt.Errorf("%s: no .symtab section, so no function can be placed (stripped file?)", f.path)
	}
	strtab, err = e.SymbolStrings(symtab)
	return e, symtab, strtab, err
}

func (f *file) symbolNamesOverlap() error {
	return fmt.Errorf("%s: .strtab: names of symbols overlap, so that too much of it is read again and again", f.path)
}

// symbolBlock is how many functions are added to the function table at once.
const symbolBlock = 64

// symbols reads the symbol table: functions for the function table, and the
// objects that stand at the start of a section with variables.
func (f *file) symbols() error {
	e, symtab, strtab, err := f.symtab()
	if err != nil {
		return err
	}
	e.PrefetchRange(symtab.Offset, symtab.Size)
	if f.run.funcs == nil {
		// Count first: a table that grows leaves its old halves behind.
		n := 0
		err := e.Symbols(symtab, func(i int, s *mmapelf.Symbol) bool {
			if s.Info&0xf == sttFunc {
				n++
			}
			return true
		})
		if err != nil {
			return err
		}
		f.run.funcs = compactstate.NewFuncTable(n)
	}
	t := f.run.funcs
	t.BeginFile(strtab)
	byIndex := map[uint32]int{}
	for i := range f.varSections {
		if f.varSections[i].wanted {
			byIndex[f.varSections[i].index] = i
		}
	}
	idsIndex := uint32(0)
	var ids *mmapelf.Section
	if f.first && f.opt.Features&DeclTagKfuncs != 0 {
		if ids = f.elf.Section(".BTF_ids"); ids != nil {
			idsIndex = uint32(ids.Index)
		}
	}
	var kf kfuncs
	left := symbolWork + symbolRepeat*len(strtab)
	var wait []compactstate.Symbol
	err = e.Symbols(symtab, func(i int, s *mmapelf.Symbol) bool {
		switch s.Info & 0xf {
		case sttFunc:
			if wait = append(wait, compactstate.Symbol{Name: s.Name, Value: s.Value}); len(wait) == symbolBlock {
				left -= t.AddAll(wait)
				wait = wait[:0]
			}
		case sttObject:
			if k, ok := byIndex[s.Shndx]; ok && s.Value == f.varSections[k].start {
				if name, ok := e.StringAt(strtab, s.Name); ok {
					left -= len(name)
					f.varSections[k].atZero = append(f.varSections[k].atZero, name)
				}
			}
		}
		if idsIndex != 0 && s.Shndx == idsIndex {
			if name, ok := e.StringAt(strtab, s.Name); ok {
				left -= len(name)
				kf.add(name, s.Value, s.Size)
			}
		}
		return left >= 0
	})
	if err != nil {
		return err
	}
	if left -= t.AddAll(wait); left < 0 {
		return f.symbolNamesOverlap()
	}
	t.Seal()
	f.run.funcName = append(f.run.funcName, make([]dedup.Name, t.MaxEntry()+1-len(f.run.funcName))...)
	e.ReleaseRange(symtab.Offset, symtab.Size)
	e.Release(strtab)
	if ids != nil && ids.Type == shtNobits && len(kf.sets) > 0 {
		return fmt.Errorf("%s: .BTF_ids: no contents (NOBITS, a debug file?), so kernel functions cannot be told; encode the file itself, or without decl_tag_kfuncs", f.path)
	}
	if ids != nil {
		data, err := f.elf.Data(ids)
		if err != nil {
			return err
		}
		kf.resolve(f, ids.Addr, data, t)
	}
	return nil
}

// sections lists where variables may lie, and which sections are wanted. Only
// the section table of the first file counts, as in pahole.
func (f *file) sections() {
	if !f.first {
		lead := f.run.files[f.run.lead]
		f.varSections, f.wantVars = withoutSymbols(lead.varSections), lead.wantVars
		return
	}
	global := f.opt.Features&GlobalVar != 0
	percpu := f.opt.Features&Var != 0
	for i := range f.elf.Sections {
		s := &f.elf.Sections[i]
		if i == 0 || s.Type != shtProgbits && s.Type != shtNobits || s.Size == 0 {
			continue
		}
		if s.Flags&shfAlloc == 0 && (s.Name == ".BTF" || s.Name == ".BTF.base") {
			continue // what an earlier run has put there, at address 0
		}
		v := varSection{index: uint32(i), addr: s.Addr, start: s.Addr, size: s.Size, name: s.Name}
		if f.rel != nil {
			v.addr, v.start = f.rel.own[i], 0
		}
		v.extra = !global && (!percpu || s.Name != percpuName)
		v.wanted = !v.extra || f.opt.ExtraVars && s.Name != ""
		f.wantVars = f.wantVars || v.wanted
		f.varSections = append(f.varSections, v)
	}
}

// kfuncs collects what .BTF_ids says of kernel functions: pahole-behaviour
// 4.10.
type kfuncs struct {
	sets  []idSymbol // __BTF_ID__set8__…
	funcs []idSymbol // __BTF_ID__func__NAME__SUFFIX
}

type idSymbol struct {
	name        []byte
	value, size uint64
}

const (
	idSet8 = "__BTF_ID__set8__"
	idFunc = "__BTF_ID__func__"
	// btfSet8Kfuncs in a set's flags says that its functions are kfuncs.
	btfSet8Kfuncs = 1
)

func (k *kfuncs) add(name []byte, value, size uint64) {
	switch {
	case len(name) > len(idSet8) && string(name[:len(idSet8)]) == idSet8:
		k.sets = append(k.sets, idSymbol{name, value, size})
	case len(name) > len(idFunc) && string(name[:len(idFunc)]) == idFunc:
		k.funcs = append(k.funcs, idSymbol{name, value, size})
	}
}

func (k *kfuncs) resolve(f *file, addr uint64, data []byte, t *compactstate.FuncTable) {
	word := func(a uint64) (uint32, bool) {
		if off := a - addr; off < uint64(len(data)) && uint64(len(data))-off >= 4 {
			return f.order().Uint32(data[off:]), true
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
		// The suffix starts at the last "_" that follows another one.
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
