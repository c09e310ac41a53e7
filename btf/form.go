package btf

import "bytes"

// Form describes the header and the layout section of a blob. The zero value is a
// header of 24 bytes without a layout section. Every reader accepts that.
type Form struct {
	// HeaderLen is the length of the header in bytes. libbpf writes 24 up to release 1.7,
	// and 32 from 1.8 on. 0 stands for 24, or for 32 if there is a Layout. The header of a
	// file may be longer; the bytes that this package does not know are zero.
	HeaderLen uint32
	// Layout is the layout section, in the byte order of the blob; see func Layout. Linux
	// accepts it since 7.1.
	Layout []byte
}

// LongHeader is the form that libbpf 1.8 gives to BTF without a layout section.
var LongHeader = Form{HeaderLen: layoutHeaderLen}

// WithLayout returns the form of BTF with the layout section that libbpf 1.8 writes.
func WithLayout() Form { return Form{HeaderLen: layoutHeaderLen, Layout: Layout()} }

// Len returns the length in bytes of the header and the layout section together.
func (f Form) Len() int { return int(f.headerLen()) + len(f.Layout) }

func (f Form) headerLen() uint32 {
	switch {
	case len(f.Layout) > 0:
		return max(f.HeaderLen, layoutHeaderLen)
	case f.HeaderLen == 0:
		return HeaderLen
	}
	return f.HeaderLen
}

// AppendHeader appends the header of a blob with typeLen bytes of types and strLen
// bytes of strings. The types follow, then the layout section, then the strings.
func (f Form) AppendHeader(dst []byte, bigEndian bool, typeLen, strLen uint32) []byte {
	o := Order(bigEndian)
	start, n, layout := len(dst), f.headerLen(), uint32(len(f.Layout))
	dst = o.AppendUint16(dst, magic)
	dst = append(dst, version, 0)
	for _, w := range [...]uint32{n, 0, typeLen, typeLen + layout, strLen} {
		dst = o.AppendUint32(dst, w)
	}
	if layout > 0 {
		dst = o.AppendUint32(o.AppendUint32(dst, typeLen), layout)
	}
	return append(dst, make([]byte, int(n)-(len(dst)-start))...)
}

// join returns the form for BTF made of blobs of the forms f and g. A reader of either
// form can read it.
func (f Form) join(g Form) Form {
	if len(f.Layout) < len(g.Layout) {
		f.Layout = g.Layout
	}
	f.HeaderLen = max(f.headerLen(), g.headerLen())
	return f
}

// JoinForms returns the form for BTF that is merged from blobs. It has the longest
// header and the longest layout section of them.
func JoinForms(blobs []*Blob) (f Form) {
	for _, b := range blobs {
		f = f.join(b.Form)
	}
	return f
}

// sizes says how long the records of a kind are: 12 bytes, fixed bytes more, and
// element bytes for each element.
type sizes struct{ fixed, element uint8 }

// layoutEntry is the length in bytes of an entry of the layout section: sizes.fixed,
// sizes.element, and 16 flags, all of them 0.
const layoutEntry = 4

// Layout returns the layout section that libbpf 1.8 writes. It has an entry of 4 bytes for
// each kind from KindVoid to KindEnum64: how long the records of this kind are. With it, a
// reader can skip kinds that it does not know. The bytes are the same in both byte orders.
func Layout() []byte {
	return layoutOfKinds(KindEnum64)
}

// LongLayout returns the layout section for BTF with the kinds of inlined functions. It
// has all kinds that this package knows.
func LongLayout() []byte { return layoutOfKinds(lastKind) }

func layoutOfKinds(last Kind) []byte {
	layout := make([]byte, 0, layoutEntry*NumKinds)
	for _, s := range shapes[:last+1] {
		layout = append(layout, 4*s.fixed, 4*s.stride, 0, 0)
	}
	return layout
}

// layoutOf looks a kind up in the layout section. ok is false if the section does not have
// the kind, or if a size is not a multiple of 4.
func layoutOf(layout []byte, k Kind) (s sizes, ok bool) {
	at := layoutEntry * int(k)
	if at+layoutEntry > len(layout) {
		return s, false
	}
	s = sizes{layout[at], layout[at+1]}
	return s, s.fixed%4 == 0 && s.element%4 == 0
}

// words returns how many words a record with vlen elements has.
func (s sizes) words(vlen uint32) int {
	return recordHead + int(s.fixed)/4 + int(s.element)/4*int(vlen)
}

// UnknownWords returns how many words a record with vlen elements has, if it is of a kind
// that only the layout section describes. ok is false if the section does not.
func UnknownWords(layout []byte, k Kind, vlen uint32) (n int, ok bool) {
	s, ok := layoutOf(layout, k)
	return s.words(vlen), ok
}

// LayoutFor chooses the layout section for the own types of BTF: its own section if it
// has one, otherwise the section of its base (base may be nil). libbpf does the same.
func LayoutFor(own []byte, base *Blob) []byte {
	if len(own) == 0 && base != nil {
		return base.Form.Layout
	}
	return own
}

// clone returns a copy of f that shares no memory with it.
func (f Form) clone() Form {
	f.Layout = bytes.Clone(f.Layout)
	return f
}
