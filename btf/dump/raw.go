package dump

import (
	"io"
	"strconv"

	"github.com/btflite/btflite/btf"
)

// Raw writes the types of b that ids name, in their order, or all types of b
// without its base if ids is nil: one line per type, and one for each element, as
// "bpftool btf dump file FILE format raw". It returns the first error of w, or one
// that says which id does not exist.
func Raw(w io.Writer, b *btf.Blob, ids []uint32) error {
	if err := checkIDs(b, ids); err != nil {
		return err
	}
	r := rawWriter{out: newOut(w), namer: newNamer(b)}
	for id, rec := range each(b, ids) {
		r.record(id, rec)
		if r.keepUp(); r.to.Err != nil {
			break
		}
	}
	return r.end()
}

type rawWriter struct {
	*out
	namer
}

func (r *rawWriter) number(text string, n uint32) {
	r.buf = appendUint32(append(r.buf, text...), n)
}

// signed is number for one with a sign.
func (r *rawWriter) signed(text string, n int64) {
	r.buf = strconv.AppendInt(append(r.buf, text...), n, 10)
}

func (r *rawWriter) text(s string) { r.buf = append(r.buf, s...) }

// name writes a name between quotes, after a text that ends with the first one.
func (r *rawWriter) name(text string, off uint32) {
	r.buf = append(r.namer.append(append(r.buf, text...), off), '\'')
}

func (r *rawWriter) record(id uint32, rec btf.Record) {
	k := rec.Kind()
	r.number("[", id)
	r.text("] ")
	r.text(kindWord(k))
	r.name(" '", rec.Name())
	switch k {
	case btf.KindInt:
		encoding, offset, bits := intParts(rec.Data())
		r.number(" size=", rec.Third())
		r.number(" bits_offset=", offset)
		r.number(" nr_bits=", bits)
		r.text(" encoding=")
		r.text(btf.EncodingName(encoding))
	case btf.KindArray:
		elem, index, n := rec.Array()
		r.number(" type_id=", elem)
		r.number(" index_type_id=", index)
		r.number(" nr_elems=", n)
	case btf.KindStruct, btf.KindUnion:
		r.members(rec)
	case btf.KindEnum, btf.KindEnum64:
		r.values(rec)
	case btf.KindFwd:
		r.text(" fwd_kind=")
		r.text(fwdKind(btf.InfoKflag(rec.Info())))
	case btf.KindFunc:
		r.number(" type_id=", rec.Third())
		r.text(" linkage=")
		r.text(btf.LinkageName(rec.Vlen()))
	case btf.KindFuncProto:
		r.params(rec)
	case btf.KindVar:
		r.number(" type_id=", rec.Third())
		r.text(", linkage=")
		r.text(btf.LinkageName(rec.Data()))
	case btf.KindDatasec:
		r.section(rec)
	case btf.KindFloat:
		r.number(" size=", rec.Third())
	case btf.KindDeclTag:
		r.number(" type_id=", rec.Third())
		r.signed(" component_idx=", int64(int32(rec.Data())))
	case btf.KindLocParam, btf.KindLocProto, btf.KindLocsec:
		r.location(rec)
	case btf.KindVoid:
	default: // they refer to a type, and nothing else
		r.number(" type_id=", rec.Third())
	}
	r.text("\n")
}

func (r *rawWriter) members(rec btf.Record) {
	r.number(" size=", rec.Third())
	r.number(" vlen=", rec.Vlen())
	kflag := btf.InfoKflag(rec.Info())
	for j := range int(rec.Vlen()) {
		name, typ, place := rec.Member(j)
		off, bits := memberPlace(kflag, place)
		r.name("\n\t'", name)
		r.number(" type_id=", typ)
		r.number(" bits_offset=", off)
		if bits != 0 {
			r.number(" bitfield_size=", bits)
		}
		r.keepUp()
	}
}

func (r *rawWriter) values(rec btf.Record) {
	signed := btf.InfoKflag(rec.Info())
	r.text(" encoding=")
	r.text(signedness(signed))
	r.number(" size=", rec.Third())
	r.number(" vlen=", rec.Vlen())
	stride, n := btf.NameWords(rec.Kind(), rec.Vlen())
	for j := range n {
		e := rec.Extra()[j*stride:]
		r.name("\n\t'", e[0])
		switch {
		case stride == 3 && signed:
			r.signed(" val=", int64(value64(e[1], e[2])))
			r.text("LL")
		case stride == 3:
			r.buf = strconv.AppendUint(append(r.buf, " val="...), value64(e[1], e[2]), 10)
			r.text("ULL")
		case signed:
			r.signed(" val=", int64(int32(e[1])))
		default:
			r.number(" val=", e[1])
		}
		r.keepUp()
	}
}

func (r *rawWriter) params(rec btf.Record) {
	r.number(" ret_type_id=", rec.Third())
	r.number(" vlen=", rec.Vlen())
	for j := range int(rec.Vlen()) {
		name, typ := rec.Param(j)
		r.name("\n\t'", name)
		r.number(" type_id=", typ)
		r.keepUp()
	}
}

// section writes the variables of a DATASEC.
func (r *rawWriter) section(rec btf.Record) {
	r.number(" size=", rec.Third())
	r.number(" vlen=", rec.Vlen())
	for j := range int(rec.Vlen()) {
		e := rec.Extra()[3*j:]
		r.number("\n\ttype_id=", e[0])
		r.number(" offset=", e[1])
		r.number(" size=", e[2])
		if v := r.b.Record(e[0]); v != nil {
			r.text(" (")
			r.text(v.Kind().String())
			r.name(" '", v.Name())
			r.text(")")
		}
		r.keepUp()
	}
}
