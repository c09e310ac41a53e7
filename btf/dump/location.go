package dump

import (
	"strconv"

	"github.com/btflite/btflite/btf"
)

// The kinds of inlined functions, in the form that bpftool had when they came into
// bpf-next (September 2026). It has changed that since, in a way that is not known here.

// location writes what follows the name of the kind.
func (r *rawWriter) location(rec btf.Record) {
	switch rec.Kind() {
	case btf.KindLocParam:
		r.number(" size=", rec.Third())
		r.text(" flags=0x")
		r.buf = strconv.AppendUint(r.buf, uint64(rec.Extra()[0]), 16)
		r.number(" vlen=", rec.Vlen())
		r.text(" values='")
		r.text(btf.LocText(rec))
		r.text("'")
	case btf.KindLocProto:
		r.number(" vlen=", rec.Vlen())
		for _, id := range rec[3:rec.Len()] {
			r.number("\n\ttype_id=", id)
			r.text(" value='")
			r.text(placeText(r.b, id))
			r.text("'")
			r.keepUp()
		}
	case btf.KindLocsec:
		r.number(" vlen=", rec.Vlen())
		for j := range int(rec.Vlen()) {
			fn, proto, offset := rec.Site(j)
			r.name("\n\tname='", funcName(r.b, fn))
			r.number(" func_type_id=", fn)
			r.number(" loc_proto_type_id=", proto)
			r.number(" offset=", offset)
			r.keepUp()
		}
	}
}

// location writes the members that follow the name.
func (j *jsonWriter) location(rec btf.Record) {
	switch rec.Kind() {
	case btf.KindLocParam:
		j.number(`,"size":`, rec.Third())
		j.number(`,"flags":`, rec.Extra()[0])
		j.number(`,"vlen":`, rec.Vlen())
		j.word(`,"values":"`, btf.LocText(rec))
	case btf.KindLocProto:
		j.number(`,"vlen":`, rec.Vlen())
		j.key(`,"params":`)
		j.open('[')
		for _, id := range rec[3:rec.Len()] {
			j.object(`,{"type_id":`)
			j.buf = appendUint32(j.buf, id)
			j.word(`,"value":"`, placeText(j.b, id))
			j.close('}')
			j.keepUp()
		}
		j.close(']')
	case btf.KindLocsec:
		j.number(`,"vlen":`, rec.Vlen())
		j.key(`,"sites":`)
		j.open('[')
		for i := range int(rec.Vlen()) {
			fn, proto, offset := rec.Site(i)
			j.object(`,{"name":"`)
			j.name(funcName(j.b, fn))
			j.number(`,"func_type_id":`, fn)
			j.number(`,"loc_proto_type_id":`, proto)
			j.number(`,"offset":`, offset)
			j.close('}')
			j.keepUp()
		}
		j.close(']')
	}
}

// placeText is the text of the LOC_PARAM with an id, "" for none.
func placeText(b *btf.Blob, id uint32) string {
	if r := b.Record(id); r != nil {
		return btf.LocText(r)
	}
	return ""
}

// funcName is the string offset of the name of the FUNC with an id.
func funcName(b *btf.Blob, id uint32) uint32 {
	if r := b.Record(id); r != nil {
		return r.Name()
	}
	return 0
}
