package unitrecord

import (
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"

	"github.com/btflite/btflite/internal/unit"
)

// Reader reads records, one after the other. Its memory is used again for the next
// one. The zero value is ready.
type Reader struct {
	cols  [numColumns]column
	names nameReader
	refs  refs
	bases bases
	spans []span // of the locations, in colLocation
	raw   []byte
	zstd  *zstd.Decoder
	bad   bool
	seen  []uint64 // scratch of ordered
}

// span is a part of colLocation.
type span struct{ off, n uint32 }

// Read fills u with what its record holds, as ReadLinked does with what its DIEs hold,
// and settles it. u.Exprs is part of the Reader, and valid until the next Read. Errors:
// a damaged record, and a *VersionError.
func (r *Reader) Read(u *unit.Unit, in *unit.Input, n *Names) error {
	if err := r.open(u, n); err != nil {
		return u.UnitError(err.Error())
	}
	h := &r.cols[colHead]
	nodes, members := h.count(&r.cols[colKind]), int(min(h.uint(), uint64(len(r.cols[colName].b))))
	funcs, params := h.count(&r.cols[colFunc]), h.count(&r.cols[colParam])
	vars, tags := h.count(&r.cols[colVar]), h.count(&r.cols[colAnnot])
	locations := h.count(&r.cols[colLocation])
	u.DIEs = h.uint()
	u.FirstInt = h.uint32()
	facts := h.uint()
	u.Hides, u.Arrays = facts&factHides != 0, facts&factArrays != 0
	if u.FirstInt > uint32(nodes) {
		h.bad = true
	}
	if h.bad {
		return u.UnitError(errDamaged.Error())
	}
	r.refs.read(&r.cols[colRef], &r.cols[colRefLow], &r.cols[colRefFar], nodes)
	r.types(u, in, nodes, members)
	r.locations(u, locations)
	r.funcs(u, in, funcs, params)
	r.vars(u, in, vars)
	r.tags(u, in, tags)
	if r.damaged() || !r.ordered(u) {
		return u.UnitError(errDamaged.Error())
	}
	if !in.TypeTag {
		withoutTags(u)
	}
	return in.Settle(u)
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
	r.names.read(n, &r.cols)
	return nil
}

// expand gives the columns of a record. They are valid until the next call.
func (r *Reader) expand(f *frame) ([]byte, error) {
	var err error
	if r.zstd == nil {
		r.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxColumns))
		if err != nil {
			return nil, err
		}
	}
	if cap(r.raw) > maxKept {
		r.raw = nil
	}
	if r.raw, err = r.zstd.DecodeAll(f.packed, r.raw[:0]); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if len(r.raw) != f.length || crc32.Checksum(r.raw, castagnoli) != f.sum {
		return nil, errDamaged
	}
	return r.raw, nil
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
	return r.bad || !r.names.done() || !r.refs.done()
}

// ordered says whether each node has one place in the raw order.
func (r *Reader) ordered(u *unit.Unit) bool {
	n := (len(u.Types.Nodes.S) + 63) / 64
	if cap(r.seen) < n {
		r.seen = make([]uint64, n)
	}
	seen := r.seen[:n]
	clear(seen)
	for _, k := range u.Types.Order.S {
		if seen[k>>6]>>(k&63)&1 != 0 {
			return false
		}
		seen[k>>6] |= 1 << (k & 63)
	}
	return true
}
