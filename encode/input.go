package encode

import (
	"fmt"
	"runtime/debug"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/unit"
	"github.com/btflite/btflite/mmapelf"
)

// openInput maps an input and loads what encoding needs. A file without DWARF gives
// ErrNoDwarf. A file whose DWARF has no units is returned open, with an empty Info.
func (r *run) openInput(in *mmapelf.Source) (opened *input, err error) {
	d, err := debuginfo.Open(in, debuginfo.Settings{
		Names: &r.names, ByText: r.opt.Base != nil, Limit: r.limit, Expanding: r.expanding(), DebugFiles: r.opt.DebugFiles, Workers: r.opt.Jobs,
		Declared: r.session.takeDeclared(),
		Scarce:   func(size uint64) bool { return r.opt.MemoryLimit != 0 && r.opt.MemoryLimit < 2*size },
	})
	if err != nil {
		return nil, r.whileExpanding(in.Path, err)
	}
	defer func() {
		if opened == nil { // after an error, or while a panic is under way: no memory, or a context that is done
			d.Close()
		}
	}()
	f := &input{run: r, opt: &r.opt, Input: unit.Input{File: d, Options: r.opt.reading(), ArrayIndex: &r.arrayIndex, Limit: r.limit}}
	if r.stats.CUs == r.stats.CUsFiltered { // all units so far were filtered out
		f.first, r.lead = true, len(r.inputs)
	}
	if err := f.open(); err != nil {
		return nil, r.whileExpanding(in.Path, err)
	}
	return f, nil
}

// reading returns the options that concern the reading of units.
func (opt *Options) reading() unit.Options {
	has := func(f Features) bool { return opt.Features&f != 0 }
	return unit.Options{
		Float: has(Float), DeclTag: has(DeclTag), TypeTag: has(TypeTag), Enum64: has(Enum64),
		WholeBitfields: opt.WholeBitfields, LongVlen: opt.Libbpf == Libbpf18, ForKernel: opt.For == ForKernel, KeepSigns: opt.Verbose != nil, Marks: opt.For == ForReaders,
		Lang: opt.Lang, LangExclude: opt.LangExclude, CUExclude: opt.CUExclude,
	}
}

func (f *input) open() error {
	if b := f.opt.Base; b != nil && b.d.BigEndian() != f.File.BigEndian {
		return fmt.Errorf("%s: ELF header: byte order differs from the base's; give the kernel that it was built with", f.File.Path)
	}
	if err := f.File.Look(); err != nil {
		return err
	}
	// The option merges all units whatever they refer to. So does the kernel's note about
	// link-time optimization.
	forced := f.opt.Features&ForceCUMerging != 0
	if !forced {
		var err error
		if forced, err = f.File.LinkTimeOptimized(); err != nil {
			return err
		}
	}
	// Merging reads units more than once.
	compares := comparesSizes(f)
	if err := f.File.Load(forced || f.File.Survey.Cross || f.File.Damaged || compares); err != nil {
		return err
	}
	if len(f.File.Info) == 0 {
		if f.File.OnlyLines() {
			return nil
		}
		return f.File.NoDwarf()
	}
	if err := f.run.checkInput(f.File); err != nil {
		return err
	}
	if forced || f.refers() {
		f.merge = new(merged)
		f.Merged = &f.merge.Merged
	}
	if compares {
		var err error
		if f.replaced, err = readReplaced(f); err != nil {
			return err
		}
	}
	f.listSections()
	if f.opt.Jobs <= 1 {
		return f.readSymbols()
	}
	// Units are read meanwhile; they call waitSymbols when they need the symbols.
	f.read.Add(1)
	go func() {
		defer f.read.Done()
		debug.SetPanicOnFault(true)
		defer func() {
			if x := recover(); x != nil {
				f.crash = asWorkerPanic(x, " symbol table:")
			}
		}()
		f.err = f.readSymbols()
	}()
	return nil
}

// refers reports whether a unit to be read is partial or may refer to other units,
// judging by the abbreviations that it uses. It ignores a unit that cannot be read: that
// is an error later, when the unit is read.
func (f *input) refers() bool {
	if !f.File.Survey.Cross && !f.File.Damaged {
		return false
	}
	defer f.File.Rewind()
	var c debuginfo.Cursor
	arena.Bind(f.run.limit, &c)
	defer c.Free()
	for n := 0; f.opt.CULimit <= 0 || n < f.opt.CULimit; n++ {
		c.Reset(arena.KeepBytes)
		ok, err := f.File.Next(&c)
		if !ok && err == nil {
			break
		}
		if err != nil || c.Start() != nil {
			return false
		}
		a, _, have, err := c.UnitDIE()
		if err != nil {
			return false
		}
		if a != nil && (a.Tag == dwarf.TagPartialUnit || c.Abbrevs.Cross() && c.ReadSkeleton(have) == nil) {
			return true
		}
		f.File.Passed(&c)
	}
	return f.File.Survey.Cross && f.File.HasTypes() // type units in their own sections
}
