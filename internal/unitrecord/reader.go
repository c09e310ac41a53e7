package unitrecord

import (
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/s2"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/unit"
)

// Reader reads records, one after the other. Its memory is used again for the next
// one. The zero value is ready.
type Reader struct {
	cols  [numColumns]column
	names nameReader
	chunk chunkReader
	bases bases
	spans []span // of the locations, in colLocation
	raw   []byte
	bad   bool
	seen  []uint64 // scratch of order
}

// span is a part of colLocation.
type span struct{ off, n uint32 }

// Read fills u with what its record holds, as ReadLinked does with what its DIEs hold,
// and settles it. Types that set knows are left out: what refers to them is Extern. They
// are not if set is nil. u.Exprs is part of the Reader, and valid until the next Read.
// Errors: a damaged record, and a *VersionError.
func (r *Reader) Read(u *unit.Unit, in *unit.Input, n *Names, set *dedup.Set) error {
	if err := r.open(u, n); err != nil {
		return u.UnitError(err.Error())
	}
	h := &r.cols[colHead]
	nodes := h.count(&r.cols[colNode])
	funcs, params := h.count(&r.cols[colFunc]), h.count(&r.cols[colParam])
	vars, tags := h.count(&r.cols[colVar]), h.count(&r.cols[colAnnot])
	locations := h.count(&r.cols[colLocation])
	u.DIEs = h.uint()
	firstInt := h.uint()
	facts := h.uint()
	u.Hides, u.Arrays = facts&factHides != 0, facts&factArrays != 0
	if firstInt > uint64(nodes) {
		h.bad = true
	}
	if h.bad {
		return u.UnitError(errDamaged.Error())
	}
	withTypeTags := facts&factTypeTags != 0
	if tags > 0 || withTypeTags && !in.TypeTag {
		set = nil // they need the nodes themselves
	}
	r.types(u, in, nodes, set)
	if r.bad {
		return u.UnitError(errDamaged.Error())
	}
	if firstInt != 0 {
		u.FirstInt = r.chunk.nodes[firstInt-1]
	}
	r.locations(u, locations)
	r.funcs(u, in, funcs, params)
	r.vars(u, in, vars)
	r.tags(u, in, tags)
	if r.damaged() {
		return u.UnitError(errDamaged.Error())
	}
	if withTypeTags && !in.TypeTag {
		withoutTags(u)
	}
	return in.Settle(u)
}

// ref reads a reference that is not part of a node.
func (r *Reader) ref() dedup.Ref {
	return readRef(0, r.chunk.nodes, &r.cols[colRef], &r.cols[colRefLow], &r.cols[colRefFar])
}

// name reads a name that is not part of a node.
func (r *Reader) name() dedup.Name {
	return r.names.name(&r.cols[colName], &r.cols[colNameLow], &r.cols[colNameFar])
}

// open parses the frame and the columns of the record of u.
func (r *Reader) open(u *unit.Unit, n *Names) error {
	size := int(u.Hdr.AddrSize)
	f, err := parseFrame(u.Record, size)
	if err != nil {
		return err
	}
	raw, err := r.expand(&f)
	if err != nil {
		return err
	}
	if err := unpack(raw, &r.cols); err != nil {
		return err
	}
	r.bad = false
	r.bases = bases{f.bases, size, u.Hdr.BigEndian}
	r.names.read(n, &r.cols[colDict], &r.cols[colText])
	return nil
}

// expand gives the columns of a record. They are valid until the next call.
func (r *Reader) expand(f *frame) ([]byte, error) {
	if n, err := s2.DecodedLen(f.packed); err != nil || n != f.length {
		return nil, errDamaged
	}
	if cap(r.raw) < f.length || cap(r.raw) > maxKept {
		r.raw = make([]byte, f.length+f.length/2)
	}
	raw, err := s2.Decode(r.raw[:cap(r.raw)], f.packed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if len(raw) != f.length || crc32.Checksum(raw, castagnoli) != f.sum {
		return nil, errDamaged
	}
	return raw, nil
}

// maxKept is how much memory for columns is kept from unit to unit, in bytes.
const maxKept = 1 << 20

// damaged says whether a column was read wrong, or not all of it.
func (r *Reader) damaged() bool {
	for i := range r.cols {
		if r.cols[i].bad || r.cols[i].left() != 0 {
			return true
		}
	}
	return r.bad || !r.names.done()
}
