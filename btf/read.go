package btf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btflite/btflite/arena"
)

// Blob is the content of one BTF object: its own types as words in the host's byte
// order, its own strings and, for split BTF, the base. Callers must not change the
// slices; see Parse and ParseShared for how long they are valid.
type Blob struct {
	// BigEndian is the byte order of the encoded form.
	BigEndian bool
	// Words has the own records one after another.
	Words []uint32
	// Off has, for each own record, its index in Words. Off[0] belongs to FirstID.
	Off []uint32
	// Strings is the own string section. Each string ends with a NUL.
	Strings []byte
	// StrBase is the string offset of Strings[0]. It is 0 without a base.
	StrBase uint32
	// FirstID is the id of the first own type. It is 1 without a base.
	FirstID uint32
	// Base is the BTF that this one is split from, or nil.
	Base *Blob
	// Form describes the header and the layout section.
	Form Form
	// Skipped counts the own types of kinds that this package does not know. The layout
	// section says how long their records are. These types keep their ids, but their
	// records are empty ones of KindVoid.
	Skipped []Skipped
	// Mapping is the mapped file in which Words lie. It is nil if they do not lie in one, or if
	// whoever opened the file has not set it.
	Mapping []byte
	// Marked says that names may be marks; see MarkKind.
	Marked bool

	shortNames bool // no string of this or of a base is longer than names may be; unset: it is not known
}

// Skipped says how many types are of a kind that this package does not know.
type Skipped struct {
	Kind  Kind
	Types int
}

// ErrNoBase is wrapped by an error of Parse if data may be split BTF and no base was
// given: it refers to types or strings beyond its end, or it begins as only split BTF
// does.
var ErrNoBase = errors.New("as in BTF split from a base that is missing here")

// Parse decodes BTF of either byte order. base is the BTF that data was split from, or
// nil. Parse checks every record, as libbpf does: that all name offsets and type ids
// exist, and that a FUNC refers to a FUNC_PROTO. So the methods of Blob cannot fail on the
// result. A record of an unknown kind is an error, unless the layout section says how long
// it is (see Blob.Skipped). If data has no layout section, base's applies. The caller may
// use data for something else afterwards.
func Parse(data []byte, base *Blob) (*Blob, error) { return parse(data, base, false) }

// ParseShared is like Parse, but the Blob may keep slices of data instead of copies. data
// must not change as long as the Blob is in use.
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

// scanned has what scan knows about the records that it has read.
type scanned struct {
	off       []uint32 // Blob.Off, with room for more records
	n         int      // number of records that have been read
	first     uint32   // Blob.FirstID
	name, ref uint32   // the highest string offset and the highest type id
	protos    bool     // each FUNC refers to a FUNC_PROTO that was read before it
}

// run reads the records from word w on, as long as they are of the kinds that nearly all records of a
// kernel have. It returns the word where a record of another kind or a faulty one begins, or one for
// which x.off has no room. It calls no function, so that its variables stay in registers.
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
		proto := b.Kind(r[2]) // if it is in the base; a FUNC_PROTO that comes later is not known yet
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

// check checks the string offsets and type ids of all own records one by one. scan only finds out
// whether there may be a fault; check finds it.
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

// TypeCount returns the number of types of b and all its bases, including void. Valid
// ids are below it.
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

// Head is like Record, but the slice goes on after the record's end. It is faster, because it
// does not compute where that is.
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
