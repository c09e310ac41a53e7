package dedup

import (
	"errors"
	"fmt"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// Streaming deduplication of a BTF file.
//
// A file has no compile units, so its types are cut into runs that may each be
// merged as a Unit (see cutter). A run refers to itself and to earlier runs; the
// latter by the ids that the Set gave them.

// unitKeep is how many bytes of each of a Unit's tables survive a run.
const unitKeep = 1 << 20

// streamDedup deduplicates in run by run and returns a new Blob; in, which must
// have no base, is left unchanged. The few inputs that the Set does not take
// are handed to Exact: irregular records (see irregular) and references nested
// deeper than the Set follows.
func streamDedup(in *btf.Blob) (*btf.Blob, error) {
	out, _, err := streamWithMap(in)
	return out, err
}

// streamWithMap is streamDedup that also returns what became of each type; see
// ExactWithMap.
func streamWithMap(in *btf.Blob) (out *btf.Blob, m []uint32, err error) {
	if in.Base != nil {
		return nil, nil, errors.New("dedup: split BTF cannot be streamed")
	}
	if in.TypeCount() >= MaxIDs {
		return nil, nil, fmt.Errorf("dedup: more than %d types", MaxIDs-1)
	}
	for id := uint32(1); id < in.TypeCount(); id++ {
		if irregular(in.Record(id)) {
			return ExactWithMap(in, ExactOptions{})
		}
	}
	out, m, err = streamRuns(in)
	if errors.Is(err, errChain) {
		return ExactWithMap(in, ExactOptions{}) // takes any depth, and names the type of a loop
	}
	return out, m, err
}

// irregular reports records that no compiler writes and for which the Set's
// short cuts do not hold: stray names, flags or words on kinds that have none,
// missing names, and anonymous enumerations without values, which stand for
// any anonymous enumeration.
func irregular(r []uint32) bool {
	info := r[1]
	switch k := btf.InfoKind(info); k {
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict:
		return r[0] != 0 || info != btf.Info(k, 0, false)
	case btf.KindArray:
		return r[0] != 0 || r[2] != 0 || info != btf.Info(k, 0, false)
	case btf.KindFuncProto:
		return r[0] != 0
	case btf.KindFwd:
		return r[0] == 0 || r[2] != 0 || btf.InfoVlen(info) != 0
	case btf.KindTypedef:
		return r[0] == 0
	case btf.KindEnum, btf.KindEnum64:
		return r[0] == 0 && btf.InfoVlen(info) == 0
	}
	return false
}

// streamRuns feeds the runs of in to a Set and builds the result.
func streamRuns(in *btf.Blob) (*btf.Blob, []uint32, error) {
	r := newBTFReader(in)
	defer r.free()
	s := NewSet(r, len(in.Off)/8)
	defer s.Free()
	c := newCutter(in)
	var u Unit
	defer u.Free()
	for first := uint32(1); first < in.TypeCount(); {
		end := c.next(first)
		u.Reset(unitKeep)
		if err := r.read(&u, first, end); err != nil {
			return nil, nil, err
		}
		s.Resolve(&u)
		if err := s.Commit(&u); err != nil {
			return nil, nil, fmt.Errorf("btf: types [%d] to [%d]: %w", first, end-1, err)
		}
		copy(r.placed[first:end], u.ID.S)
		first = end
	}
	return s.blob(in.BigEndian, r.placed)
}

// blob finishes the Set and returns what it holds as a Blob. placed holds ids
// of the Set and becomes the ids of the result.
func (s *Set) blob(bigEndian bool, placed []uint32) (*btf.Blob, []uint32, error) {
	n := s.Finish()
	defer n.Free()
	strs := s.Strings()
	if len(strs) > btf.MaxStrOff {
		return nil, nil, fmt.Errorf("btf: strings: %d bytes exceed the limit", len(strs))
	}
	data := make([]byte, 0, btf.HeaderLen+n.TypeBytes+len(strs))
	data = btf.AppendHeader(data, bigEndian, uint32(n.TypeBytes), uint32(len(strs)))
	types := data[len(data):][:n.TypeBytes]
	n.PutTypes(types, bigEndian, 1)
	data = append(data[:len(data)+len(types)], strs...)
	for id := range placed {
		placed[id] = n.ID(placed[id])
	}
	out, err := btf.Parse(data, nil)
	return out, placed, err
}

// btfReader turns the types of a Blob into Units. It implements Names: a token
// is the lowest string offset at which the text was used first, so that equal
// names have equal tokens and no aliases occur.
type btfReader struct {
	in     *btf.Blob
	placed []uint32          // by id: id of the Set, of runs read earlier
	tokens arena.Vec[uint32] // by string offset: 1 + token, or 0
	texts  stringTable
}

func newBTFReader(in *btf.Blob) *btfReader {
	r := &btfReader{in: in, placed: make([]uint32, in.TypeCount())}
	r.tokens.Resize(len(in.Strings))
	r.texts.init()
	return r
}

func (r *btfReader) free() {
	r.tokens.Free()
	r.texts.free()
}

// Bytes is the text of token t; part of Names.
func (r *btfReader) Bytes(t Name) ([]byte, bool) {
	return r.in.NameBytes(t), t < r.in.StrEnd()
}

// Alias is part of Names and never called: read gives out one token a text.
func (r *btfReader) Alias(t, canon Name) {}

// Touch is part of Names.
func (r *btfReader) Touch(t []Name) byte { return 0 }

// token is the name token for string offset off.
func (r *btfReader) token(off uint32) (Name, error) {
	if off == 0 {
		return 0, nil
	}
	if t := r.tokens.S[off]; t != 0 {
		return t - 1, nil
	}
	t, err := r.texts.intern(off, r)
	if err != nil {
		return 0, err
	}
	r.tokens.S[off] = t + 1
	return t, nil
}

// read fills u with the types first..end-1, which refer to no type from end on.
func (r *btfReader) read(u *Unit, first, end uint32) error {
	ref := func(id uint32) Ref {
		switch {
		case id == 0:
			return 0
		case id < first:
			return Extern | r.placed[id]
		}
		return id - first + 1
	}
	for id := first; id < end; id++ {
		w := r.in.Record(id)
		name, err := r.token(w[0])
		if err != nil {
			return err
		}
		n := Node{Info: w[1], Name: name, Third: w[2], First: uint32(len(u.Members.S))}
		k, vlen := btf.InfoKind(w[1]), int(btf.InfoVlen(w[1]))
		if btf.ThirdIsRef(k) {
			n.Third = ref(w[2])
		}
		switch e := w[3:]; k {
		case btf.KindInt, btf.KindVar, btf.KindDeclTag:
			n.Aux = e[0]
		case btf.KindArray:
			n.Third, n.First, n.Aux = ref(e[0]), ref(e[1]), e[2]
		case btf.KindDatasec:
			m := u.Members.Extend(vlen)
			for j := range m {
				m[j] = Member{Name: e[3*j+1], Type: ref(e[3*j]), Val: e[3*j+2]}
			}
		case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFuncProto:
			if err := r.elements(u.Members.Extend(vlen), k, e, ref); err != nil {
				return err
			}
		default:
			n.First = 0
		}
		u.Order.Append(uint32(len(u.Nodes.S)))
		u.Nodes.Append(n)
	}
	return nil
}

// elements fills m from the words e of a type of kind k.
func (r *btfReader) elements(m []Member, k btf.Kind, e []uint32, ref func(uint32) Ref) error {
	stride, _ := btf.NameWords(k, uint32(len(m)))
	for j := range m {
		x := e[j*stride : (j+1)*stride]
		name, err := r.token(x[0])
		if err != nil {
			return err
		}
		m[j] = Member{Name: name, Type: x[1]}
		if stride == 3 {
			m[j].Val = x[2]
		}
		if k != btf.KindEnum && k != btf.KindEnum64 {
			m[j].Type = ref(x[1])
		}
	}
	return nil
}
