package dump

import (
	"strconv"

	"github.com/btflite/btflite/btf"
)

// Raw text and JSON say the same of a type: its id, kind and name, then what its kind has, in
// bpftool's order. This file goes through that once; notation.go writes it.
//
// The kinds of inlined functions have the form that bpftool had when they came into bpf-next
// (September 2026). It has changed that since, in a way that is not known here.

// record writes a type.
func (w *fieldWriter) record(id uint32, rec btf.Record) {
	w.beginType(id, rec)
	switch rec.Kind() {
	case btf.KindVoid:
	case btf.KindInt:
		encoding, offset, bits := rec.Int()
		w.number(keySize, rec.Third())
		w.number(keyBitsOffset, offset)
		w.number(keyBits, bits)
		w.word(keyEncoding, btf.EncodingName(encoding))
	case btf.KindArray:
		elem, index, n := rec.Array()
		w.number(keyType, elem)
		w.number(keyIndexType, index)
		w.number(keyElems, n)
	case btf.KindStruct, btf.KindUnion:
		w.members(rec)
	case btf.KindEnum, btf.KindEnum64:
		w.values(rec)
	case btf.KindFwd:
		word := rec.Keyword()
		w.word(keyFwdKind, word[:len(word)-1])
	case btf.KindFunc:
		w.number(keyType, rec.Third())
		w.word(keyLinkage, btf.LinkageName(rec.Vlen()))
	case btf.KindFuncProto:
		w.params(rec)
	case btf.KindVar:
		w.number(keyType, rec.Third())
		w.word(keyVarLinkage, btf.LinkageName(rec.Data()))
	case btf.KindDatasec:
		w.section(rec)
	case btf.KindFloat:
		w.number(keySize, rec.Third())
	case btf.KindDeclTag:
		w.number(keyType, rec.Third())
		w.key(keyComponent)
		w.buf = strconv.AppendInt(w.buf, int64(int32(rec.Data())), 10)
	case btf.KindLocParam, btf.KindLocProto, btf.KindLocsec:
		w.location(rec)
	default: // they refer to a type, and nothing else
		w.number(keyType, rec.Third())
	}
	w.put(&w.endType)
}

func (w *fieldWriter) members(rec btf.Record) {
	w.number(keySize, rec.Third())
	w.beginList(keyMembers, rec)
	for j := range int(rec.Vlen()) {
		name, typ, off, bits := rec.Field(j)
		w.beginElement(j, keyName)
		w.name(name)
		w.number(keyType, typ)
		w.number(keyBitsOffset, off)
		if bits != 0 {
			w.number(keyBitfieldSize, bits)
		}
		if !w.raw && isBase(w.b, name) {
			w.key(keyBaseClass)
			w.text("true")
		}
		w.finishElement()
	}
	w.endList(rec)
}

func (w *fieldWriter) values(rec btf.Record) {
	word := "UNSIGNED"
	if btf.InfoKflag(rec.Info()) {
		word = "SIGNED"
	}
	w.word(keyEncoding, word)
	w.number(keySize, rec.Third())
	w.beginList(keyValues, rec)
	for j := range int(rec.Vlen()) {
		name, v := rec.Enumerator(j)
		w.beginElement(j, keyName)
		w.name(name)
		w.key(keyValue)
		if w.buf = appendValue(w.buf, rec, v); w.raw {
			w.text(valueSuffix(rec))
		}
		w.finishElement()
	}
	w.endList(rec)
}

func (w *fieldWriter) params(rec btf.Record) {
	w.number(keyResult, rec.Third())
	w.beginList(keyParams, rec)
	for j := range int(rec.Vlen()) {
		name, typ := rec.Param(j)
		w.beginElement(j, keyName)
		w.name(name)
		w.number(keyType, typ)
		w.finishElement()
	}
	w.endList(rec)
}

// section writes the variables of a DATASEC.
func (w *fieldWriter) section(rec btf.Record) {
	w.number(keySize, rec.Third())
	w.beginList(keyVars, rec)
	for j := range int(rec.Vlen()) {
		id, offset, size := rec.Entry(j)
		w.beginElement(j, keyType)
		w.decimal(id)
		w.number(keyOffset, offset)
		w.number(keySize, size)
		if v := w.b.Record(id); v != nil && w.raw {
			w.text(" (" + v.Kind().String() + " '")
			w.name(v.Name())
			w.text(")")
		}
		w.finishElement()
	}
	w.endList(rec)
}

// location writes a type of inlined functions.
func (w *fieldWriter) location(rec btf.Record) {
	switch rec.Kind() {
	case btf.KindLocParam:
		w.number(keySize, rec.Third())
		base := 10
		if w.raw {
			base = 16
		}
		w.key(keyFlags)
		w.buf = strconv.AppendUint(w.buf, uint64(rec.Extra()[0]), base)
		w.number(keyVlen, rec.Vlen())
		w.place(keyLocValues, rec)
	case btf.KindLocProto:
		w.beginList(keyParams, rec)
		for j, id := range rec[3:rec.Len()] {
			w.beginElement(j, keyType)
			w.decimal(id)
			w.place(keyLocValue, w.b.Record(id))
			w.finishElement()
		}
		w.endList(rec)
	case btf.KindLocsec:
		w.beginList(keySites, rec)
		for j := range int(rec.Vlen()) {
			fn, proto, offset := rec.Site(j)
			w.beginElement(j, keySiteName)
			name := uint32(0)
			if r := w.b.Record(fn); r != nil {
				name = r.Name()
			}
			w.name(name)
			w.number(keyFuncType, fn)
			w.number(keyLocProto, proto)
			w.number(keyOffset, offset)
			w.finishElement()
		}
		w.endList(rec)
	}
}

// appendValue appends the value of an enumerator.
func appendValue(dst []byte, enum btf.Record, v uint64) []byte {
	if btf.InfoKflag(enum.Info()) {
		return strconv.AppendInt(dst, int64(v), 10)
	}
	return strconv.AppendUint(dst, v, 10)
}

// valueSuffix is the suffix that C has after the values of an ENUM64.
func valueSuffix(enum btf.Record) string {
	switch {
	case enum.Kind() == btf.KindEnum:
		return ""
	case btf.InfoKflag(enum.Info()):
		return "LL"
	}
	return "ULL"
}
