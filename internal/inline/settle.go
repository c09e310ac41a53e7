package inline

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// The contents of a Store become BTF in two steps. Settle turns names and types into string
// offsets and type ids, while the set of types still exists. Later, when the main BTF is finished,
// Append looks up the functions and prototypes that it has already, and writes the other records.

// Settled has the records that are added to BTF. Its Free also frees the Store.
type Settled struct {
	*Store
	// protoTypes are FUNC_PROTO records. functions are the names of functions and the
	// indexes of their prototypes; they take the place of Store.funcs.
	protoTypes, functions table
}

// Settle replaces names by string offsets (name) and types by type ids (id). Add nothing to the
// Store afterwards. An error of name ends it.
func (s *Store) Settle(name func(uint32) (uint32, error), id func(uint32) uint32) (*Settled, error) {
	t := &Settled{Store: s}
	arena.Bind(s.sites.Limit(), t)
	became := s.sites.Another()
	defer became.Free()
	var w []uint32
	for i := range s.funcs.len() {
		r := s.funcs.record(uint32(i))
		w = append(w[:0], 0, btf.Info(btf.KindFuncProto, uint32(len(r)-2)/2, false), id(r[1]))
		for p := r[2:]; len(p) > 0; p = p[2:] {
			n, err := name(p[0])
			if err != nil {
				return nil, err
			}
			w = append(w, n, id(p[1]))
		}
		n, err := name(r[0])
		if err != nil {
			return nil, err
		}
		became.Append(siteRec{fn: t.functions.intern([]uint32{n, t.protoTypes.intern(w)})})
	}
	s.funcs.free()
	for i := range s.sites.S {
		x := &s.sites.S[i]
		x.fn = became.S[x.fn].fn
	}
	return t, nil
}

// Retype replaces each type id by the result of id for it. Prototypes and functions that become equal
// are merged.
func (t *Settled) Retype(id func(uint32) uint32) {
	var old Settled
	old.protoTypes, old.functions = t.protoTypes, t.functions
	t.protoTypes, t.functions = table{}, table{}
	arena.Bind(t.sites.Limit(), t)
	var w []uint32
	became := make([]uint32, 0, old.functions.len())
	for i := range old.functions.len() {
		r := old.functions.record(uint32(i))
		w = append(w[:0], old.protoTypes.record(r[1])...)
		btf.EachRef(w, func(p *uint32) { *p = id(*p) })
		became = append(became, t.functions.intern([]uint32{r[0], t.protoTypes.intern(w)}))
	}
	for i := range t.sites.S {
		t.sites.S[i].fn = became[t.sites.S[i].fn]
	}
	old.protoTypes.free()
	old.functions.free()
}

// Free gives the memory back.
func (t *Settled) Free() {
	t.Store.Free()
	t.protoTypes.free()
	t.functions.free()
}

// known has the ids of prototypes and functions in the main BTF, by their index in Settled; 0 for
// those that it lacks.
type known struct{ protos, funcs arena.Vec[uint32] }

// Beside is the main BTF, to which the records are added.
type Beside struct {
	Order binary.ByteOrder
	Types []byte // its type section
	First uint32 // its first type id
	End   uint32 // the type id after its last one
}

// word is word i of the types.
func (b *Beside) word(i int) uint32 { return b.Order.Uint32(b.Types[4*i:]) }

// each calls fn with the id, the first word's index and the info word of each type.
func (b *Beside) each(fn func(id uint32, at int, info uint32)) {
	id := b.First
	for at := 0; 4*at+12 <= len(b.Types); id++ {
		info := b.word(at + 1)
		fn(id, at, info)
		at += 3 + btf.ExtraWords(btf.InfoKind(info), btf.InfoVlen(info))
	}
}

// find looks up the functions and their prototypes in the main BTF.
func (t *Settled) find(b *Beside) (k known) {
	arena.Bind(t.sites.Limit(), &k)
	k.protos.Resize(t.protoTypes.len())
	k.funcs.Resize(t.functions.len())
	pairs := t.runs.Another() // ids of prototypes with their indexes, by id
	defer pairs.Free()
	var w []uint32
	b.each(func(id uint32, at int, info uint32) {
		if btf.InfoKind(info) != btf.KindFuncProto {
			return
		}
		w = w[:0]
		for i := range 3 + 2*int(btf.InfoVlen(info)) {
			w = append(w, b.word(at+i))
		}
		if i, ok := t.protoTypes.find(w); ok && k.protos.S[i] == 0 {
			k.protos.S[i] = id
			pairs.Append(run{id, i})
		}
	})
	b.each(func(id uint32, at int, info uint32) {
		if btf.InfoKind(info) != btf.KindFunc {
			return
		}
		j, ok := slices.BinarySearchFunc(pairs.S, b.word(at+2), func(p run, id uint32) int { return cmp.Compare(p.section, id) })
		if !ok {
			return
		}
		if i, ok := t.functions.find([]uint32{b.word(at), pairs.S[j].first}); ok && k.funcs.S[i] == 0 {
			k.funcs.S[i] = id
		}
	})
	return k
}

// maxSites is the most sites of a LOCSEC. If a section has more, it gets several.
const maxSites = btf.MaxVlen

// Append appends the records for b to dst: LOC_PARAMs, LOC_PROTOs, FUNC_PROTOs, FUNCs,
// LOCSECs. name returns the string offset of a section's LOCSEC.
func (t *Settled) Append(dst *arena.Vec[byte], b *Beside, name func(section uint32) uint32) {
	from := len(dst.S)
	k := t.find(b)
	defer k.protos.Free()
	defer k.funcs.Free()
	put := func(words ...uint32) {
		d := dst.Extend(4 * len(words))
		for i, w := range words {
			b.Order.PutUint32(d[4*i:], w)
		}
	}
	id := b.End
	params := id
	for i := range t.params.len() {
		r := t.params.record(uint32(i)) // size, flags, values
		put(0, btf.Info(btf.KindLocParam, uint32(len(r)-2), false), r[0], r[1])
		put(r[2:]...)
		id++
	}
	protos := id
	for i := range t.protos.len() {
		r := t.protos.record(uint32(i))
		put(0, btf.Info(btf.KindLocProto, uint32(len(r)), false), 0)
		for _, p := range r {
			if p != 0 {
				p += params - 1
			}
			put(p)
		}
		id++
	}
	for i := range t.protoTypes.len() {
		if k.protos.S[i] == 0 {
			put(t.protoTypes.record(uint32(i))...)
			k.protos.S[i] = id
			id++
		}
	}
	t.Stats.Funcs = t.functions.len()
	for i := range t.functions.len() {
		if k.funcs.S[i] == 0 {
			r := t.functions.record(uint32(i))
			put(r[0], btf.Info(btf.KindFunc, 0, false), k.protos.S[r[1]])
			k.funcs.S[i] = id
			id++
			t.Stats.Added++
		}
	}
	t.Stats.Params, t.Stats.Protos = t.params.len(), t.protos.len()
	t.protoTypes.free()
	t.functions.free()
	t.sections(ranks(k.funcs.S), func(section uint32, sites []siteRec) {
		for len(sites) > 0 {
			n := min(len(sites), maxSites)
			put(name(section), btf.Info(btf.KindLocsec, uint32(n), false), 0)
			d := dst.Extend(12 * n)
			for i, s := range sites[:n] {
				e := d[12*i:][:12]
				b.Order.PutUint32(e, k.funcs.S[s.fn])
				b.Order.PutUint32(e[4:], protos+s.proto)
				b.Order.PutUint32(e[8:], s.off)
			}
			sites = sites[n:]
		}
	})
	t.Stats.Types = len(dst.S) - from
	t.texts()
}

// ranks returns, for each element of ids, how many of them are smaller.
func ranks(ids []uint32) []uint32 {
	order := make([]uint32, len(ids))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(ids[a], ids[b]) })
	rank := make([]uint32, len(ids))
	for i, k := range order {
		rank[k] = uint32(i)
	}
	return rank
}

// texts fills the exported counts by reason of Stats.
func (s *Store) texts() {
	st := &s.Stats
	st.Missing, st.Dropped = map[string]int{}, map[string]int{}
	for i, n := range st.missing {
		if n > 0 {
			st.Missing[Reason(i).String()] = n
		}
	}
	for i, n := range st.dropped {
		if n > 0 {
			st.Dropped[dropText[i]] = n
		}
	}
}
