package encode

import (
	"encoding/binary"
	"errors"

	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/mmapelf"
)

// Files whose units refer to each other, as link-time optimization leaves
// them. pahole makes one unit of all units of such a file
// (pahole-behaviour 1.4). What shows of that in the result:
//
//   - references lead to any unit of the file;
//   - language, producer and address size are those of the first unit;
//   - array indexes are the first int of the file;
//   - declaration tags follow all types, then the names of functions'
//     parameters, then variables.
//
// All of it can be had unit by unit, but for the references. So the file is
// looked through first (mergeplan.go), and only neighbouring units between
// which references to types lead are read as one group (mergeread.go). For
// the deduplication a group is a unit; where one ends does not show. Most of
// the types of such groups exist once, which is why their units refer to each
// other, so that memory still follows the output.
//
// Functions may refer to functions in other groups: then all functions of
// the file wait until its last unit has been read (mergefuncs.go).

// merged is what the units of such a file have in common, and what waits for
// the end of the file. Workers read it; the committer changes it.
type merged struct {
	units  []mergeUnit
	groups []mergeGroup

	language uint16 // these three are the first unit's
	clang    bool
	addrSize uint8
	dropped  bool // the language filter leaves out the file

	tags      []mergedTag
	names     []dedup.Name // of function states, in the order in which they came
	vars      []mergedVar
	finishing bool // the last unit has been committed
	// varsEnd is set when a variable has ended the variables of the file.
	varsEnd bool
	alt     *file // the alternate file, nil if there is none
	all     bool  // units are imported: all functions are judged in their group
	// late holds all functions if some lead to other groups, else nil.
	late *lateFuncs
}

// mergedTag is a declaration tag of a type in the Set.
type mergedTag struct {
	id, raw   uint32 // raw is that of -V
	value     dedup.Name
	component int32
}

// mergedVar is a variable that passed the checks. Its type is an id of the Set.
type mergedVar struct {
	v    varRec
	raw  uint32 // type id of -V
	size uint64
	tags []annotRec
}

// errMerge says that units of a file refer to each other. As almost no file
// has such units, that is noticed on the way.
var errMerge = errors.New("units refer to each other")

// Notes (System V ABI, Linux include/linux/elfnote-lto.h).
const (
	shtNote      = 7
	noteLinuxLTO = 0x101
)

// mergeWanted reports whether the units are to be merged whatever they refer
// to: by option, or because the kernel's note says that it was optimized at
// link time.
func (f *file) mergeWanted() (bool, error) {
	if f.opt.Features&ForceCUMerging != 0 || f.run.trial.merge[len(f.run.files)] {
		return true, nil
	}
	for i := range f.elf.Sections {
		if s := &f.elf.Sections[i]; s.Type == shtNote {
			if on, err := f.noteLTO(s); on || err != nil {
				return on, err
			}
		}
	}
	return false, nil
}

// noteLTO reports whether a section has the kernel's note of link-time
// optimization with a value other than 0.
func (f *file) noteLTO(s *mmapelf.Section) (bool, error) {
	b, err := f.elf.Data(s)
	if err != nil {
		return false, err
	}
	on := false
	eachNote(b, f.bigEndian, func(name []byte, typ uint32, desc []byte) bool {
		on = typ == noteLinuxLTO && string(name) == "Linux\x00" && len(desc) >= 4 && f.order().Uint32(desc) != 0
		return !on
	})
	return on, nil
}

// eachNote calls fn for the notes of a section as long as it returns true.
func eachNote(b []byte, bigEndian bool, fn func(name []byte, typ uint32, desc []byte) bool) {
	var o binary.ByteOrder = binary.LittleEndian
	if bigEndian {
		o = binary.BigEndian
	}
	for len(b) >= 12 {
		namesz, descsz, typ := uint64(o.Uint32(b)), uint64(o.Uint32(b[4:])), o.Uint32(b[8:])
		desc := 12 + (namesz+3)&^3
		if desc > uint64(len(b)) || descsz > uint64(len(b))-desc {
			return
		}
		if !fn(b[12:12+namesz], typ, b[desc:][:descsz]) {
			return
		}
		b = b[min(desc+(descsz+3)&^3, uint64(len(b))):]
	}
}

// takeMerged keeps of a committed group what waits for the end of the file.
func (f *file) takeMerged(u *unit) error {
	m := f.merge
	u.sortTags()
	for _, t := range u.tags.S {
		m.tags = append(m.tags, mergedTag{u.types.ID.S[t.Node], f.run.raw.rawOf(u, t.Node+1), t.Value, t.Component})
	}
	if m.late != nil {
		m.late.add(u, f.run.raw)
	} else if err := f.saveStates(u); err != nil {
		return err
	}
	for i := range u.vars.S {
		v := u.vars.S[i]
		if m.varsEnd && !v.Extra {
			continue
		}
		size, keep, err := f.keepVar(u, &v)
		if err == errVoidVar {
			m.varsEnd = m.varsEnd || !v.Extra
			continue
		}
		if err != nil {
			return err
		}
		switch {
		case !keep:
		case v.Extra:
			f.run.addExtra(&v, u.id(v.Type), size, u.annots.S[v.FirstAn:][:v.NAn])
		default:
			raw := f.run.raw.rawOf(u, v.Type)
			v.Type = u.id(v.Type)
			tags := append([]annotRec(nil), u.annots.S[v.FirstAn:][:v.NAn]...)
			m.vars = append(m.vars, mergedVar{v, raw, size, tags})
		}
	}
	return nil
}

// later keeps the names of a function state for when all types are known.
func (m *merged) later(params []compactstate.Param, an []compactstate.Annotation) {
	for _, p := range params {
		m.names = append(m.names, p.Name)
	}
	for _, a := range an {
		m.names = append(m.names, a.Value)
	}
}

// finishMerged adds what has waited for the last unit of the file.
func (f *file) finishMerged() error {
	r, m := f.run, f.merge
	fail := func(err error) error {
		return &Error{File: f.path, Section: ".debug_info", What: err.Error()}
	}
	m.finishing = true
	for _, t := range m.tags {
		if err := r.addTag(t.value, t.id, t.component); err != nil {
			return fail(err)
		}
		if r.raw != nil {
			r.raw.tag(r, f.names.Text(t.value), t.raw, t.component)
		}
	}
	for _, t := range m.names {
		if _, err := r.intern(t); err != nil {
			return fail(err)
		}
	}
	if m.late != nil {
		if err := f.finishLate(m.late); err != nil {
			return err
		}
	}
	f.logSearch(nil)
	for i := range m.vars {
		v := &m.vars[i]
		if err := r.addVar(&v.v, v.v.Type, v.size, v.tags, v.raw, nil); err != nil {
			return fail(err)
		}
	}
	return nil
}

// addFormat notes the format of the functions that follow.
func (u *unit) addFormat(h *dwarf.Unit) {
	u.formats.Append(callconv.FormatRun{First: uint32(len(u.funcs.S)), Version: h.Version, Dwarf64: h.Dwarf64})
}
