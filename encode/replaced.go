package encode

import (
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/unit"
	"github.com/btflite/btflite/internal/unitrecord"
	"github.com/btflite/btflite/mmapelf"
)

// pahole finds the section of a variable by its address. Debug sections have the address 0. So a large
// debug section may seem to contain a variable, if the variable's own section comes later in the file, as
// ld.lld places some, or does not count, as notes do: pahole-behaviour 5.1. This happens in modules, and
// in kernels that are linked to low addresses. Unit records keep the sizes of the sections that they
// replaced, so that the same can be done in a file with records. It makes pahole's bytes, not a better
// answer, so only --btf_compat asks for it.

// largestDebug is more than any debug section has, in bytes: their offsets have 32 bits.
const largestDebug = 1 << 32

// comparesSizes reports whether it matters how large the debug sections were: variables
// may have an address in them, and no section of variables before them has it.
func comparesSizes(f *input) bool {
	if !f.File.Survey.Records || f.opt.Libbpf == LibbpfAny || f.opt.Features&(Var|GlobalVar) == 0 && !f.opt.ExtraVars {
		return false
	}
	info := f.File.ELF.Section(debugInfo)
	if info == nil {
		return false
	}
	addrs := f.File.Addresses()
	return slices.ContainsFunc(f.File.ELF.Sections, func(s mmapelf.Section) bool {
		before := s.Index < info.Index && hasVariables(&s)
		return s.Flags&elfabi.SHFAlloc != 0 && s.Size != 0 && !before && addrs[s.Index] < largestDebug
	})
}

const debugInfo = ".debug_info"

// readReplaced reads the records of all units.
func readReplaced(f *input) (*replaced, error) {
	defer f.File.Rewind()
	var c debuginfo.Cursor
	arena.Bind(f.run.limit, &c)
	defer c.Free()
	r := &replaced{size: map[string]uint64{}, next: uint32(len(f.File.ELF.Sections))}
	for i := range f.File.ELF.Sections {
		s := &f.File.ELF.Sections[i]
		r.size[s.Name] = s.Size
	}
	merged := map[string]uint64{}
	for {
		c.Reset(arena.KeepBytes)
		if ok, err := f.File.Next(&c); !ok {
			if err != nil {
				return nil, err
			}
			break
		}
		if err := c.Start(); err != nil {
			return nil, err
		}
		if _, _, _, err := c.UnitDIE(); err != nil {
			return nil, err
		}
		if c.Record.Bytes != nil {
			old, now, err := unitrecord.Replaced(&c)
			if err != nil {
				return nil, err
			}
			r.add(f.File.ELF, old, now, merged)
		}
		f.File.Passed(&c)
	}
	for name, n := range merged {
		r.size[name] = max(r.size[name], n)
	}
	return r, nil
}

// add counts the sections that one unit's record replaced (old) in place of those that the
// record needs (now). The linker keeps each string once, and most objects have the same
// strings, so the largest string section of all objects stands for the merged one.
func (r *replaced) add(e *mmapelf.File, old, now []unitrecord.Size, merged map[string]uint64) {
	for _, s := range now {
		r.size[s.Section] -= min(s.Bytes, r.size[s.Section])
	}
	if len(old) > 0 && r.before == nil && r.behind == nil {
		to := &r.before
		for _, s := range old {
			switch {
			case s.Section == debugInfo:
				to = &r.behind
			case e.Section(s.Section) == nil:
				*to = append(*to, s.Section)
			}
		}
	}
	for _, s := range old {
		switch s.Section {
		case ".debug_str", ".debug_line_str":
			merged[s.Section] = max(merged[s.Section], s.Bytes)
		default:
			r.size[s.Section] += s.Bytes
		}
	}
}

// withDwarf returns the sections that the file would have in place of v if it had DWARF: v with its size
// there and, if v is .debug_info, the missing sections around it. It returns none if r is nil.
func (r *replaced) withDwarf(v unit.VarSection) (list []unit.VarSection) {
	if r == nil {
		return nil
	}
	missing := func(names []string) {
		for _, name := range names {
			list = append(list, unit.VarSection{Index: r.next, Addr: v.Addr, Size: r.size[name], Name: name})
			r.next++
		}
	}
	if v.Name == debugInfo {
		missing(r.before)
	}
	v.Size = r.size[v.Name]
	list = append(list, v)
	if v.Name == debugInfo {
		missing(r.behind)
	}
	return list
}
