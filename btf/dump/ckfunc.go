package dump

import (
	"bytes"
	"slices"

	"github.com/btflite/btflite/btf"
)

// kfunc is a function of the kernel that BPF programs may call. The kernel marks it
// by declaration tags.
type kfunc struct {
	rec  btf.Record
	fast bool // it saves the registers that it uses
}

// The tags of kfuncs.
const (
	kfuncTag = "bpf_kfunc"
	fastTag  = "bpf_fastcall"
)

// kfuncs writes the prototypes of all kfuncs, by name.
func (c *cWriter) kfuncs() {
	c.text("\n/* BPF kfuncs */\n#ifndef BPF_NO_KFUNC_PROTOTYPES\n")
	list := findKfuncs(c.b)
	if c.strict {
		list = slices.DeleteFunc(list, func(f kfunc) bool { return f.rec.Name() == 0 })
		// Kernels that became one header may have a function twice, of different types.
		list = slices.CompactFunc(list, func(x, y kfunc) bool { return bytes.Equal(c.b.NameBytes(x.rec.Name()), c.b.NameBytes(y.rec.Name())) })
	}
	for _, f := range list {
		if c.strict && c.idents.find(f.rec.Name()).off != 0 { // a typedef or an enumerator of another unit has the name
			continue
		}
		c.text("extern ")
		if f.fast {
			c.text("__bpf_fastcall ")
		}
		c.declaration(f.rec.Third(), named(f.rec.Name()), 0)
		c.text(" __weak __ksym;\n")
		if c.keepUp(); c.to.Err != nil {
			return
		}
	}
	c.text("#endif\n\n")
}

// findKfuncs finds the kfuncs of b and its bases.
func findKfuncs(b *btf.Blob) (list []kfunc) {
	fast := map[uint32]bool{}
	var ids []uint32
	for id := uint32(1); id < b.TypeCount(); id++ {
		rec := b.Record(id)
		if rec.Kind() != btf.KindDeclTag || int32(rec.Data()) != -1 || b.Kind(rec.Third()) != btf.KindFunc {
			continue
		}
		switch string(b.NameBytes(rec.Name())) {
		case kfuncTag:
			ids = append(ids, rec.Third())
		case fastTag:
			fast[rec.Third()] = true
		}
	}
	for _, id := range ids {
		list = append(list, kfunc{b.Record(id), fast[id]})
	}
	slices.SortStableFunc(list, func(x, y kfunc) int {
		return bytes.Compare(b.NameBytes(x.rec.Name()), b.NameBytes(y.rec.Name()))
	})
	return list
}
