package btf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btflite/btflite/arena"
)

// Blob is the content of one BTF object: its own types as words in host byte
// order, its own strings, and for split BTF the base they build upon. The
// slices belong to the Blob; see Parse and ParseShared.
type Blob struct {
	// BigEndian is the byte order of the encoded form.
	BigEndian bool
	// Words holds the type records back to back.
	Words []uint32
	// Off is the index in Words of each own record; Off[0] belongs to FirstID.
	Off []uint32
	// Strings is the own string section: NUL-terminated strings.
	Strings []byte
	// StrBase is the string offset of Strings[0]; 0 without a base.
	StrBase uint32
	// FirstID is the id of the first own type; 1 without a base.
	FirstID uint32
	// Base is the BTF this one splits from, or nil.
	Base *Blob
	// Form describes the header and the layout section.
	Form Form
	// Skipped says which own types are of kinds that this package does not know: by
	// the layout section they were skipped. They keep their ids, as records of
	// KindVoid without name and contents.
	Skipped []Skipped
	// Mapping is the mapping of a file that Words may lie in, if that is known.
	Mapping []byte
	// Marked says that names may be marks, which only BTF in memory has: see MarkKind.
	Marked bool

	longNames bool // a string of this or of a base is longer than names may be
}

// Skipped is how many types are of a kind that this package does not know.
type Skipped struct {
	Kind  Kind
	Types int
}

// ErrNoBase is in the errors of Parse for data that goes beyond its own end, or
// begins in a way that only split BTF does, if no base was given: it may be
// whole over the base that it was split from.
var ErrNoBase = errors.New("as in BTF split from a base that is missing here")

// Parse decodes BTF data of either byte order. base is the BTF that data was
// split from, or nil. Every record, name offset and type id is checked (libbpf's
// sanity check: names resolvable, ids below the type count, FUNC pointing to a
// FUNC_PROTO), so that the methods of Blob cannot fail on the result. Records of
// unknown kinds are refused, unless the layout section of data, or without one that
// of base, says how long they are: see Blob.Skipped. data may be reused afterwards.
func Parse(data []byte, base *Blob) (*Blob, error) { return parse(data, base, false) }

// ParseShared is Parse for data that is not changed as long as the Blob is in
// use: the Blob keeps slices of it where its form allows that.
func ParseShared(data []byte, base *Blob) (*Blob, error) { return parse(data, base, true) }

func parse(data []byte, base *Blob, share bool) (*Blob, error) {
	s, err := parseHeader(data)
	if err != nil {
		return nil, err
	}
	b, err := newBlob(s.bigEndian, base)
	if err != nil {
		return nil, err
	}
	if err := checkStrings(s.strings, base != nil); err != nil {
		return nil, err
	}
	if uint64(b.StrBase)+uint64(len(s.strings)) > MaxStrOff {
		return nil, fmt.Errorf("btf: strings: %d bytes over a base of %d exceed the limit", len(s.strings), b.StrBase)
	}
	b.Words = toWords(s.types, s.bigEndian, share)
	b.Strings, b.Form = s.strings, s.form
	if !share {
		b.Strings, b.Form = arena.Clone(s.strings), s.form.clone()
	}
	if err := b.scan(); err != nil {
		return nil, err
	}
	if err := b.checkNames(); err != nil {
		return nil, err
	}
	return b, nil
}

// toWords decodes data. With share, the result may be data itself, seen as words.
func toWords(data []byte, bigEndian, share bool) []uint32 {
	if bigEndian == hostBigEndian {
		if w, ok := arena.Words(data); ok && share {
			return w
		} else if ok {
			return arena.Clone(w)
		}
	}
	w := arena.Make[uint32](len(data) / 4)
	if bigEndian {
		for i := range w {
			w[i] = binary.BigEndian.Uint32(data[4*i:])
		}
		return w
	}
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return w
}

var hostBigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// newBlob returns an empty Blob placed after base.
func newBlob(bigEndian bool, base *Blob) (*Blob, error) {
	b := &Blob{BigEndian: bigEndian, FirstID: 1, Base: base}
	if base == nil {
		return b, nil
	}
	if base.BigEndian != bigEndian {
		return nil, fmt.Errorf("btf: header: byte order differs from the base's")
	}
	b.FirstID = base.TypeCount()
	b.StrBase = base.StrEnd()
	return b, nil
}

func checkStrings(s []byte, split bool) error {
	if len(s) == 0 {
		if split {
			return nil
		}
		return fmt.Errorf("btf: strings: empty section, %w", ErrNoBase)
	}
	if !split && s[0] != 0 {
		return fmt.Errorf("btf: strings: offset 0 is not the empty string, %w", ErrNoBase)
	}
	if s[len(s)-1] != 0 {
		return fmt.Errorf("btf: strings: no NUL at the end, offset %d", len(s)-1)
	}
	return nil
}

// scan finds the records in b.Words, fills b.Off and checks the records.
func (b *Blob) scan() error {
	words := b.Words
	x := scanned{off: arena.Make[uint32](len(words)/6 + 1), first: b.FirstID, protos: true} // kernels have more than six words a type
	for w := x.run(words, 0); w < len(words); w = x.run(words, w) {
		r := words[w:]
		if len(r) < 3 {
			return fmt.Errorf("btf: types: truncated record at offset %d", 4*w)
		}
		k := InfoKind(r[1])
		if !k.known() && (k != KindVoid || len(b.Skipped) == 0) {
			if err := b.skipUnknown(); err != nil {
				return err
			}
			return b.scan()
		}
		s := &shapes[k]
		size := 3 + int(s.fixed) + int(s.stride)*int(InfoVlen(r[1]))
		if size > len(r) {
			return fmt.Errorf("btf: types: truncated %s at offset %d", k, 4*w)
		}
		if x.n == len(x.off) {
			x.off = append(arena.Room(x.off, x.n/4+1), make([]uint32, x.n/4+1)...)
		}
		x.off[x.n] = uint32(w)
		x.n++
		x.record(b, k, r[:size])
		w += size
	}
	b.Off = x.off[:x.n]
	if uint64(b.FirstID)+uint64(len(b.Off)) > MaxID {
		return fmt.Errorf("btf: types: %d types exceed the limit", len(b.Off))
	}
	if x.protos && x.ref < b.TypeCount() && (x.name == 0 || x.name < b.StrEnd()) {
		return nil
	}
	return b.check()
}

// scanned holds what scan has found so far.
type scanned struct {
	off       []uint32 // as Blob.Off, with room for more
	n         int      // how many of off are known
	first     uint32   // as Blob.FirstID
	name, ref uint32   // the highest string offset and type id
	protos    bool     // each FUNC has been seen to refer to a FUNC_PROTO
}

// run reads the records from word w on. It returns the first word of a record that is of a rare
// kind or not as it should be, or for which x.off has no room. It calls nothing, so
// that what it needs stays in registers: these records are nearly all of a kernel.
func (x *scanned) run(words []uint32, w int) int {
	off, n, name, ref := x.off, x.n, x.name, x.ref
records:
	for n < len(off) && w >= 0 && w <= len(words)-3 {
		off[n] = uint32(w)
		info, third, next := words[w+1], words[w+2], w+3
		name = max(name, words[w])
		switch k := InfoKind(info); k {
		case KindPtr, KindConst, KindVolatile, KindTypedef:
			ref = max(ref, third)
		case KindFunc:
			i := third - x.first
			if uint(i) > uint(n) || InfoKind(words[off[i]+1]) != KindFuncProto {
				break records
			}
		case KindStruct, KindUnion:
			next += 3 * int(InfoVlen(info))
			if next > len(words) {
				break records
			}
			e := words[w+3 : next]
			for j := 2; j < len(e); j += 3 {
				name, ref = max(name, e[j-2]), max(ref, e[j-1])
			}
		case KindFuncProto:
			next += 2 * int(InfoVlen(info))
			if next > len(words) {
				break records
			}
			ref = max(ref, third)
			e := words[w+3 : next]
			for j := 1; j < len(e); j += 2 {
				name, ref = max(name, e[j-1]), max(ref, e[j])
			}
		case KindEnum:
			next += 2 * int(InfoVlen(info))
			if next > len(words) {
				break records
			}
			e := words[w+3 : next]
			for j := 1; j < len(e); j += 2 {
				name = max(name, e[j-1])
			}
		case KindArray:
			next += 3
			if next > len(words) {
				break records
			}
			e := words[w+3 : next]
			ref = max(ref, e[0], e[1])
		default:
			break records
		}
		n, w = n+1, next
	}
	x.n, x.name, x.ref = n, name, ref
	return w
}

// record reads a record of any kind.
func (x *scanned) record(b *Blob, k Kind, r []uint32) {
	x.name = max(x.name, r[0])
	if ThirdIsRef(k) {
		x.ref = max(x.ref, r[2])
	}
	if k == KindFunc {
		proto := b.Kind(r[2]) // of the base; one that comes later is not known yet
		if i := r[2] - x.first; i < uint32(x.n) {
			proto = InfoKind(b.Words[x.off[i]+1])
		}
		x.protos = x.protos && proto == KindFuncProto
	}
	info := r[1]
	stride, n := NameWords(k, InfoVlen(info))
	for i := range n {
		x.name = max(x.name, r[3+i*stride])
	}
	start, stride, n := RefWords(k, InfoVlen(info))
	for i := range n {
		x.ref = max(x.ref, r[start+i*stride])
		if RefPairs(k) {
			x.ref = max(x.ref, r[start+i*stride+1])
		}
	}
}

// check validates the string offsets and type ids of all own records. It finds the fault
// if scan has noticed that there is one.
func (b *Blob) check() error {
	count, strEnd := b.TypeCount(), b.StrEnd()
	for i, off := range b.Off {
		r := b.Words[off:]
		k, vlen := InfoKind(r[1]), InfoVlen(r[1])
		bad := func(what string, v uint32) error {
			err := fmt.Errorf("btf: types: %s [%d] at offset %d: %s %d out of range", k, b.FirstID+uint32(i), 4*off, what, v)
			if b.Base == nil {
				err = fmt.Errorf("%w, %w", err, ErrNoBase)
			}
			return err
		}
		nameOK := func(v uint32) bool { return v == 0 || v < strEnd }
		if !nameOK(r[0]) {
			return bad("name offset", r[0])
		}
		if ThirdIsRef(k) && r[2] >= count {
			return bad("type id", r[2])
		}
		start, stride, n := RefWords(k, vlen)
		for j := 0; j < n; j++ {
			if v := r[start+j*stride]; v >= count {
				return bad("type id", v)
			}
			if RefPairs(k) && r[start+j*stride+1] >= count {
				return bad("type id", r[start+j*stride+1])
			}
		}
		stride, n = NameWords(k, vlen)
		for j := 0; j < n; j++ {
			if v := r[3+j*stride]; !nameOK(v) {
				return bad("name offset", v)
			}
		}
		if k == KindFunc && b.Kind(r[2]) != KindFuncProto {
			return fmt.Errorf("btf: types: FUNC [%d] at offset %d: type id %d is %s, not FUNC_PROTO",
				b.FirstID+uint32(i), 4*off, r[2], b.Kind(r[2]))
		}
	}
	return nil
}

// TypeCount returns the number of types of the base chain and b together, void
// included; valid ids are below it.
func (b *Blob) TypeCount() uint32 { return b.FirstID + uint32(len(b.Off)) }

// StrEnd returns the first string offset after b's own strings.
func (b *Blob) StrEnd() uint32 { return b.StrBase + uint32(len(b.Strings)) }

// Record returns the record of type id, from b or its base chain. The slice
// aliases the Blob. It returns nil for void and ids that do not exist.
func (b *Blob) Record(id uint32) Record {
	for b != nil && id < b.FirstID {
		b = b.Base
	}
	if b == nil || id >= b.TypeCount() {
		return nil
	}
	w := b.Off[id-b.FirstID]
	info := b.Words[w+1]
	end := w + 3 + uint32(ExtraWords(InfoKind(info), InfoVlen(info)))
	return b.Words[w:end:end]
}

// Head is Record with all that follows the record, which takes less time.
func (b *Blob) Head(id uint32) Record {
	for b != nil && id < b.FirstID {
		b = b.Base
	}
	if b == nil || id-b.FirstID >= uint32(len(b.Off)) {
		return nil
	}
	return b.Words[b.Off[id-b.FirstID]:]
}

// Kind returns the kind of type id, KindVoid for void and for ids that do not
// exist.
func (b *Blob) Kind(id uint32) Kind {
	for b != nil && id < b.FirstID {
		b = b.Base
	}
	if b == nil || id >= b.TypeCount() {
		return KindVoid
	}
	return InfoKind(b.Words[b.Off[id-b.FirstID]+1])
}

// NameBytes returns the string at offset off without its NUL. The slice
// aliases the Blob. Offset 0 and offsets that do not exist give an empty name.
func (b *Blob) NameBytes(off uint32) []byte {
	if off == 0 {
		return nil
	}
	for b != nil && off < b.StrBase {
		b = b.Base
	}
	if b == nil || off >= b.StrEnd() {
		return nil
	}
	s := b.Strings[off-b.StrBase:]
	if n := bytes.IndexByte(s, 0); n >= 0 {
		s = s[:n]
	}
	return s
}

// HasName reports whether the string at offset off is not empty; see NameBytes.
func (b *Blob) HasName(off uint32) bool {
	for b != nil && off < b.StrBase {
		b = b.Base
	}
	return b != nil && off < b.StrEnd() && b.Strings[off-b.StrBase] != 0
}

// Name returns the string at offset off as a string; see NameBytes.
func (b *Blob) Name(off uint32) string { return string(b.NameBytes(off)) }
