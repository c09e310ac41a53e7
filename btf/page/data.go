package page

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/ctype"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/message"
)

// data is read by the script of the page, which explains the fields.
type data struct {
	About   string   `json:"about"`
	Line    int      `json:"line"`
	Sides   []string `json:"sides,omitempty"`
	Open    int      `json:"open"` // index in Types of what is shown first, or -1
	Classes []class  `json:"classes"`
	List    []int    `json:"list"`
	Types   [][]any  `json:"types"`
	Strings []string `json:"strings"`
	text    map[string]int
}

// Parts of a layout that are not members have one of these in place of a name.
const (
	partHole    = -1
	partPadding = -2
)

func newData(o Options) *data {
	return &data{Line: o.line(), Open: -1, Classes: classes[:], List: []int{}, Types: [][]any{}, Strings: []string{}, text: map[string]int{}}
}

// intern is the index of a text.
func (d *data) intern(s string) int {
	i, ok := d.text[s]
	if !ok {
		i = len(d.Strings)
		d.text[s] = i
		d.Strings = append(arena.Room(d.Strings, 1), message.OneLine(s)) // browsers show no control characters
	}
	return i
}

func (d *data) listNames() {
	for i := range d.Types {
		if d.name(i) != "" {
			d.List = append(d.List, i)
		}
	}
	d.sortList()
}

// sortList puts the list into the order of names.
func (d *data) sortList() {
	slices.SortStableFunc(d.List, func(a, b int) int { return cmp.Compare(d.name(a), d.name(b)) })
}

func (d *data) name(i int) string { return d.Strings[d.Types[i][0].(int)] }

// count says how many types are listed.
func (d *data) count() string {
	n := [2]uint64{}
	for _, i := range d.List {
		n[d.Types[i][1].(int)]++
	}
	switch structs, unions := counted(n[0], "struct"), counted(n[1], "union"); {
	case n[1] == 0:
		return structs
	case n[0] == 0:
		return unions
	default:
		return structs + " and " + unions
	}
}

// counted is n things.
func counted(n uint64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return message.Grouped(n) + " " + thing
}

// first returns the listed type that has most of something, -1 if none is listed. If there
// are several, it takes the first by name.
func (d *data) first(most func(i int) uint64) int {
	best, value := -1, uint64(0)
	for _, i := range d.List {
		if v := most(i); best < 0 || v > value {
			best, value = i, v
		}
	}
	return best
}

// holes is how many holes a type has.
func (d *data) holes(i int) (n uint64) {
	e := d.Types[i][3].([]int64)
	for ; len(e) > 0; e = e[entryWidth:] {
		if e[0] == partHole {
			n++
		}
	}
	return n
}

// side adds the types of one file.
type side struct {
	d     *data
	v     *view.View
	index map[uint32]int    // of types in d.Types, by id
	texts map[uint32]string // of types, by id
	work  []uint32          // ids whose members are still to be added
}

func (d *data) side(v *view.View) *side {
	return &side{d: d, v: v, index: map[uint32]int{}, texts: map[uint32]string{}}
}

// add gives the struct or union its place. finish does the rest.
func (s *side) add(id uint32) error {
	if _, ok := s.index[id]; ok {
		return nil
	}
	t := s.v.Type(id)
	if !t.IsComposite() {
		return ErrNotComposite
	}
	kind := 0
	if t.Kind() == btf.KindUnion {
		kind = 1
	}
	s.index[id] = len(s.d.Types)
	s.d.Types = append(arena.Room(s.d.Types, 1), []any{s.d.intern(string(t.Name())), kind, t.Size(), nil})
	s.work = append(s.work, id)
	return nil
}

// finish adds the members of all types, and the types that are members.
func (s *side) finish() error {
	var all []uint32 // types whose members are filled in when all places are known
	for len(s.work) > 0 {
		id := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		all = append(all, id)
		for _, m := range s.v.Type(id).Members() {
			if in := m.Type().Resolved(); in.IsComposite() {
				if err := s.add(in.ID); err != nil {
					return err
				}
			}
		}
	}
	for _, id := range all {
		s.d.Types[s.index[id]][3] = s.entries(s.v.Type(id))
	}
	return nil
}

// entryWidth is how many numbers each part of a layout has.
const entryWidth = 7

// entries is the layout of t.
func (s *side) entries(t view.Type) []int64 {
	out := make([]int64, 0, entryWidth*t.Vlen())
	for _, p := range layout(t) {
		if p.kind != 0 {
			out = append(out, p.kind, int64(s.d.intern("")), int64(p.at), int64(p.size), -1, -1, -1)
			continue
		}
		text, ok := s.texts[p.m.TypeID]
		if !ok {
			text = typeText(p.m.Type())
			s.texts[p.m.TypeID] = text
		}
		if p.m.Bits != 0 {
			text += ":" + strconv.Itoa(int(p.m.Bits))
		}
		out = append(out, int64(s.d.intern(string(p.m.Name()))), int64(s.d.intern(text)), int64(p.at), int64(p.size),
			s.at(p.m.Type().Resolved()), s.at(pointee(p.m.Type())), int64(classOf(p.m.Type())))
	}
	return out
}

// at is the index of a type, -1 if it is not on the page.
func (s *side) at(t view.Type) int64 {
	if i, ok := s.index[t.ID]; ok {
		return int64(i)
	}
	return -1
}

// pointee follows pointers, arrays, typedefs and qualifiers from t to their end.
func pointee(t view.Type) view.Type {
	return t.Behind(btf.Pointers | btf.Arrays | btf.Typedefs | btf.Modifiers)
}

// part is a member of a layout, or a place between members.
type part struct {
	m        view.Member
	kind     int64  // 0: a member; else partHole or partPadding
	at, size uint64 // bits
}

// layout gives the members of t, with the gaps between and after them. Members of a
// union all begin at 0, so a union has no gaps between them.
func layout(t view.Type) (parts []part) {
	end, whole := uint64(0), 8*min(t.Size(), 1<<40)
	for _, m := range t.Members() {
		p := part{m: m, at: uint64(m.Offset), size: uint64(m.Bits)}
		if m.Bits == 0 {
			p.size = 8 * min(m.Type().Size(), 1<<40)
		}
		if t.Kind() == btf.KindStruct && p.at > end {
			parts = append(parts, part{kind: partHole, at: end, size: p.at - end})
		}
		parts = append(parts, p)
		end = max(end, p.at+p.size)
	}
	if t.Kind() == btf.KindStruct && end < whole {
		parts = append(parts, part{kind: partPadding, at: end, size: whole - end})
	}
	return parts
}

// typeText is the type in C, without a name of a variable.
func typeText(t view.Type) string {
	v := t.View()
	d := ctype.Declarer{Blob: v.Blob(), Name: func(off uint32) string { return shownName(v.Name(off)) }, Cut: "…"}
	return d.Declare(t.ID, "")
}

// shownName returns a name in the form in which it is shown.
func shownName(name []byte) string {
	if len(name) > maxName {
		return string(name[:maxName]) + "…"
	}
	return string(name)
}

// plainName returns the name of a type without what is around the type.
func plainName(t view.Type) string {
	switch name := t.Name(); {
	case t.Kind() == btf.KindVoid:
		return "void"
	case len(name) == 0:
		return t.Keyword() + "(anonymous)"
	default:
		return t.Keyword() + shownName(name)
	}
}

// maxName is how many bytes of a type's name are shown in a text about another type.
// Names in kernels have 128 at most.
const maxName = 256
