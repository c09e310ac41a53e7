package btffile

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
)

// Tokens implements dedup.Names for a Blob. A token is the string offset at which
// its text was first used, so equal names have equal tokens and there are no
// aliases.
type Tokens struct {
	in     *btf.Blob
	tokens arena.Vec[uint32] // by string offset: 1 + token, or 0
	texts  *dedup.Texts
}

// NewTokens makes the tokens of a Blob without a base.
func NewTokens(in *btf.Blob) *Tokens {
	t := &Tokens{in: in, texts: dedup.NewTexts()}
	t.tokens.Resize(len(in.Strings))
	return t
}

// Free gives the memory back.
func (t *Tokens) Free() {
	t.tokens.Free()
	t.texts.Free()
}

// Bytes is the text of a token; part of dedup.Names.
func (t *Tokens) Bytes(tok dedup.Name) ([]byte, bool) {
	return t.in.NameBytes(tok), tok < t.in.StrEnd()
}

// Alias is part of dedup.Names and never called: each text has one token.
func (t *Tokens) Alias(tok, canon dedup.Name) {}

// Touch is part of dedup.Names.
func (t *Tokens) Touch(toks []dedup.Name) byte { return 0 }

// Token is the name token for a string offset.
func (t *Tokens) Token(off uint32) (dedup.Name, error) {
	if off == 0 {
		return 0, nil
	}
	if tok := t.tokens.S[off]; tok != 0 {
		return tok - 1, nil
	}
	tok, err := t.texts.First(off, t)
	if err != nil {
		return 0, err
	}
	t.tokens.S[off] = tok + 1
	return tok, nil
}

// Reader turns the types of a Blob into Units.
type Reader struct {
	in    *btf.Blob
	token func(off uint32) (dedup.Name, error)
	// Placed has the Set's ids of the types read earlier, by type id. The
	// caller fills it in after each Commit.
	Placed []uint32
	shaped bool   // Placed has the numbers of shapes of types that are not placed
	below  uint32 // ids below it are of the Set's base
}

// NewReader makes a Reader of a Blob. token gives the name token for a string
// offset.
func NewReader(in *btf.Blob, token func(off uint32) (dedup.Name, error)) *Reader {
	return &Reader{in: in, token: token, Placed: arena.Make[uint32](int(in.TypeCount()))}
}

// numberShapes makes Read give units the shapes of their structs and unions without names.
// Placed holds the numbers until these types have ids, so they take no memory.
func (r *Reader) numberShapes() error {
	r.shaped = true
	return numberShapes(r.in, r.token, r.Placed)
}

// Read fills u with the types first..end-1, which refer to no type from end on.
func (r *Reader) Read(u *dedup.Unit, first, end uint32) error {
	ref := func(id uint32) dedup.Ref {
		switch {
		case id == 0:
			return 0
		case id < r.below:
			return dedup.Extern | id
		case id < first:
			return dedup.Extern | r.Placed[id]
		}
		return id - first + 1
	}
	for id := first; id < end; id++ {
		w := r.in.Record(id)
		name, err := r.token(w.Name())
		if err != nil {
			return err
		}
		n := dedup.Node{Info: w.Info(), Name: name, Third: w.Third(), First: uint32(len(u.Members.S))}
		k, vlen := w.Kind(), int(w.Vlen())
		if btf.ThirdIsRef(k) {
			n.Third = ref(w.Third())
		}
		switch k {
		case btf.KindInt, btf.KindVar, btf.KindDeclTag:
			n.Aux = w.Data()
		case btf.KindArray:
			elem, index, count := w.Array()
			n.Third, n.First, n.Aux = ref(elem), ref(index), count
		case btf.KindDatasec:
			m := u.Members.Extend(vlen)
			for j := range m {
				id, offset, size := w.Entry(j)
				m[j] = dedup.Member{Name: offset, Type: ref(id), Val: size}
			}
		case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFuncProto:
			if err := r.elements(u.Members.Extend(vlen), k, w.Extra(), ref); err != nil {
				return err
			}
		default:
			n.First = 0
		}
		u.Order.Append(uint32(len(u.Nodes.S)))
		u.Nodes.Append(n)
	}
	if r.shaped {
		u.Shapes(r.Placed[first:end])
	}
	return nil
}

// elements fills m from the words e of a type of kind k.
func (r *Reader) elements(m []dedup.Member, k btf.Kind, e []uint32, ref func(uint32) dedup.Ref) error {
	stride, _ := btf.NameWords(k, uint32(len(m)))
	for j := range m {
		x := e[j*stride : (j+1)*stride]
		name, err := r.token(x[0])
		if err != nil {
			return err
		}
		m[j] = dedup.Member{Name: name, Type: x[1]}
		if stride == 3 {
			m[j].Val = x[2]
		}
		if k != btf.KindEnum && k != btf.KindEnum64 {
			m[j].Type = ref(x[1])
		}
	}
	return nil
}
