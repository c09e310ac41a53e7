package stats

import (
	"bytes"
	"cmp"
	"slices"
	"sort"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// Strings are the strings that one sort of user uses first.
type Strings struct {
	Of    string `json:"of"`
	Count uint32 `json:"count"`
	Bytes uint64 `json:"bytes"` // with their NUL
}

// What uses strings.
const (
	ofTypes  = "types"
	ofUnused = "nothing"
)

var elementNames = [btf.NumKinds]string{
	btf.KindStruct: "members", btf.KindUnion: "members",
	btf.KindEnum: "enum values", btf.KindEnum64: "enum values",
	btf.KindFuncProto: "parameters",
}

var ownNames = [btf.NumKinds]string{
	btf.KindFunc: "functions", btf.KindVar: "variables", btf.KindDatasec: "sections",
	btf.KindDeclTag: "tags", btf.KindTypeTag: "tags",
}

// stringUse counts each string for what uses it first, in the order of types. An
// offset inside of a string counts as a use of the whole.
type stringUse struct {
	blob   *btf.Blob
	starts []uint32 // in blob.Strings, ascending
	used   []bool
	by     map[string]*Strings
}

func newStringUse(b *btf.Blob) *stringUse {
	s := &stringUse{blob: b, by: map[string]*Strings{}}
	for at := 0; at < len(b.Strings); {
		s.starts = append(arena.Room(s.starts, 1), uint32(at))
		n := bytes.IndexByte(b.Strings[at:], 0)
		if n < 0 {
			break
		}
		at += n + 1
	}
	s.used = make([]bool, len(s.starts))
	return s
}

// add counts the strings of t that are new and gives their bytes.
func (s *stringUse) add(t view.Type) (n uint64) {
	r := t.Record()
	of := cmp.Or(ownNames[t.Kind()], ofTypes)
	n = s.use(r.Name(), of)
	stride, count := btf.NameWords(r.Kind(), r.Vlen())
	for i := range count {
		n += s.use(r.Extra()[i*stride], elementNames[t.Kind()])
	}
	return n
}

func (s *stringUse) use(off uint32, of string) uint64 {
	if off == 0 || off < s.blob.StrBase {
		return 0
	}
	off -= s.blob.StrBase
	i := sort.Search(len(s.starts), func(i int) bool { return s.starts[i] > off }) - 1
	if i < 0 || s.used[i] {
		return 0
	}
	s.used[i] = true
	return s.count(i, of)
}

func (s *stringUse) count(i int, of string) uint64 {
	end := len(s.blob.Strings)
	if i+1 < len(s.starts) {
		end = int(s.starts[i+1])
	}
	n := uint64(end) - uint64(s.starts[i])
	x := s.by[of]
	if x == nil {
		x = &Strings{Of: of}
		s.by[of] = x
	}
	x.Count++
	x.Bytes += n
	return n
}

// report gives the sums, with what nothing uses. The empty string at the
// beginning belongs to all.
func (s *stringUse) report() []Strings {
	for i, used := range s.used {
		if !used && !(i == 0 && s.blob.StrBase == 0) {
			s.count(i, ofUnused)
		}
	}
	list := []Strings{}
	for _, x := range s.by {
		list = append(list, *x)
	}
	slices.SortFunc(list, func(x, y Strings) int { return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Of, y.Of)) })
	return list
}
