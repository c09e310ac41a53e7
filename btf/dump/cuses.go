package dump

import (
	"bytes"
	"strconv"

	"github.com/btflite/btflite/btf"
)

// numbers are the ids of the numbers of b that C has. Others are types that compilers made by
// themselves, and will make again where they need them.
func numbers(b *btf.Blob) (ids []uint32) {
	for id := uint32(1); id < b.TypeCount(); id++ {
		rec := b.Record(id)
		if k := rec.Kind(); (k == btf.KindInt || k == btf.KindFloat) && IsNumber(rec, string(b.NameBytes(rec.Name()))) {
			ids = append(ids, id)
		}
	}
	return ids
}

// writeUses declares a variable for each of numbers, and of a pointer to each struct, union and
// enum that is only declared.
func writeUses(c *cWriter, numbers []uint32) {
	prefix := unusedPrefix(c.b.Strings, "btflite_")
	variable := func(id uint32) {
		c.text(prefix)
		c.buf = append(strconv.AppendUint(c.buf, uint64(id), 10), ";\n"...)
		c.keepUp()
	}
	for _, id := range numbers {
		if rec := c.b.Record(id); rec.Kind() == btf.KindInt || rec.Kind() == btf.KindFloat {
			c.appendName(rec.Name())
			c.text(" ")
			variable(id)
		}
	}
	tags := map[string]int{}
	for id := uint32(1); id < c.b.TypeCount(); id++ {
		if k := c.b.Kind(id); isComposite(k) || k == btf.KindFwd || k == btf.KindEnum || k == btf.KindEnum64 {
			tags[string(c.b.NameBytes(c.b.Record(id).Name()))]++
		}
	}
	for id := uint32(1); id < c.b.TypeCount(); id++ {
		rec := c.b.Record(id)
		k := rec.Kind()
		if rec.Name() == 0 || k != btf.KindFwd && (k != btf.KindEnum || rec.Vlen() > 0) || tags[string(c.b.NameBytes(rec.Name()))] > 1 {
			continue
		}
		c.text(rec.Keyword())
		c.appendName(rec.Name())
		c.text(" *")
		variable(id)
	}
}

// unusedPrefix is prefix, which ends with an underscore, with as many more of them as make it one
// that no text in strings has: a name of a type may begin with it, too.
func unusedPrefix(strings []byte, prefix string) string {
	more := 0
	for at := bytes.Index(strings, []byte(prefix)); at >= 0; at = bytes.Index(strings, []byte(prefix)) {
		strings = strings[at+len(prefix):]
		n := 0
		for n < len(strings) && strings[n] == '_' {
			n++
		}
		strings, more = strings[n:], max(more, n+1)
	}
	return prefix + string(bytes.Repeat([]byte("_"), more))
}
