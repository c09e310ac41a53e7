package btftest

import (
	"fmt"
	"strings"

	"github.com/btflite/btflite/btf"
)

// Text returns the own types of b as text, one line per type and one indented line per
// element, in the form of "bpftool btf dump" (raw format). dump.Raw is the fast writer of
// the same form, and compared with this one.
func Text(b *btf.Blob) string {
	f := formatter{new(strings.Builder), b}
	for i := range b.Off {
		f.record(b.FirstID + uint32(i))
	}
	return f.String()
}

type formatter struct {
	*strings.Builder
	b *btf.Blob
}

func (f formatter) printf(format string, args ...any) { fmt.Fprintf(f.Builder, format, args...) }

// name returns the quoted-as-is name, "(anon)" for none.
func (f formatter) name(off uint32) string {
	if s := f.b.Name(off); s != "" {
		return s
	}
	return "(anon)"
}

func (f formatter) record(id uint32) {
	r := f.b.Record(id)
	k, vlen, kflag := btf.InfoKind(r[1]), btf.InfoVlen(r[1]), btf.InfoKflag(r[1])
	word := k.String()
	if k == btf.KindVoid {
		word = "UNKNOWN" // as bpftool has it
	}
	f.printf("[%d] %s '%s'", id, word, f.name(r[0]))
	switch k {
	case btf.KindInt:
		d := r[3]
		f.printf(" size=%d bits_offset=%d nr_bits=%d encoding=%s\n", r[2], d>>16&0xff, d&0xff, btf.EncodingName(d>>24&0xf))
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindTypeTag:
		f.printf(" type_id=%d\n", r[2])
	case btf.KindArray:
		f.printf(" type_id=%d index_type_id=%d nr_elems=%d\n", r[3], r[4], r[5])
	case btf.KindStruct, btf.KindUnion:
		f.members(r, vlen, kflag)
	case btf.KindEnum, btf.KindEnum64:
		f.values(r, k, vlen, kflag)
	case btf.KindFwd:
		if kflag {
			f.printf(" fwd_kind=union\n")
		} else {
			f.printf(" fwd_kind=struct\n")
		}
	case btf.KindFunc:
		f.printf(" type_id=%d linkage=%s\n", r[2], btf.LinkageName(vlen))
	case btf.KindFuncProto:
		f.printf(" ret_type_id=%d vlen=%d\n", r[2], vlen)
		for e := r[3:]; len(e) > 0; e = e[2:] {
			f.printf("\t'%s' type_id=%d\n", f.name(e[0]), e[1])
		}
	case btf.KindVar:
		f.printf(" type_id=%d, linkage=%s\n", r[2], btf.LinkageName(r[3]))
	case btf.KindDatasec:
		f.printf(" size=%d vlen=%d\n", r[2], vlen)
		for e := r[3:]; len(e) > 0; e = e[3:] {
			f.section(e)
		}
	case btf.KindFloat:
		f.printf(" size=%d\n", r[2])
	case btf.KindDeclTag:
		f.printf(" type_id=%d component_idx=%d\n", r[2], int32(r[3]))
	case btf.KindLocParam, btf.KindLocProto, btf.KindLocsec:
		f.location(k, r, vlen)
	case btf.KindVoid: // skipped
		f.printf("\n")
	}
}

// location writes what follows the name of a kind of inlined functions.
func (f formatter) location(k btf.Kind, r btf.Record, vlen uint32) {
	if k == btf.KindLocParam {
		f.printf(" size=%d flags=%#x vlen=%d values='%s'\n", r[2], r[3], vlen, btf.LocText(r))
		return
	}
	f.printf(" vlen=%d\n", vlen)
	if k == btf.KindLocProto {
		for _, id := range r[3:] {
			f.printf("\ttype_id=%d value='%s'\n", id, f.place(id))
		}
		return
	}
	for e := r[3:]; len(e) > 0; e = e[3:] {
		name := ""
		if fn := f.b.Record(e[0]); fn != nil {
			name = f.name(fn[0])
		}
		f.printf("\tname='%s' func_type_id=%d loc_proto_type_id=%d offset=%d\n", name, e[0], e[1], e[2])
	}
}

// place is the text of the LOC_PARAM with an id, "" for none.
func (f formatter) place(id uint32) string {
	if p := f.b.Record(id); p != nil {
		return btf.LocText(p)
	}
	return ""
}

func (f formatter) members(r []uint32, vlen uint32, kflag bool) {
	f.printf(" size=%d vlen=%d\n", r[2], vlen)
	for e := r[3:]; len(e) > 0; e = e[3:] {
		off, bits := e[2], uint32(0)
		if kflag {
			off, bits = e[2]&0xffffff, e[2]>>24
		}
		f.printf("\t'%s' type_id=%d bits_offset=%d", f.name(e[0]), e[1], off)
		if bits != 0 {
			f.printf(" bitfield_size=%d", bits)
		}
		f.printf("\n")
	}
}

func (f formatter) values(r []uint32, k btf.Kind, vlen uint32, signed bool) {
	encoding := "UNSIGNED"
	if signed {
		encoding = "SIGNED"
	}
	f.printf(" encoding=%s size=%d vlen=%d\n", encoding, r[2], vlen)
	stride, _ := btf.NameWords(k, vlen)
	for e := r[3:]; len(e) > 0; e = e[stride:] {
		f.printf("\t'%s' val=", f.name(e[0]))
		switch {
		case k == btf.KindEnum64 && signed:
			f.printf("%dLL\n", int64(uint64(e[2])<<32|uint64(e[1])))
		case k == btf.KindEnum64:
			f.printf("%dULL\n", uint64(e[2])<<32|uint64(e[1]))
		case signed:
			f.printf("%d\n", int32(e[1]))
		default:
			f.printf("%d\n", e[1])
		}
	}
}

// section writes one DATASEC entry: type id, offset, size and the VAR's name.
func (f formatter) section(e []uint32) {
	f.printf("\ttype_id=%d offset=%d size=%d", e[0], e[1], e[2])
	if r := f.b.Record(e[0]); r != nil {
		f.printf(" (%s '%s')", btf.InfoKind(r[1]), f.name(r[0]))
	}
	f.printf("\n")
}
