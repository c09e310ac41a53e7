package encode

import (
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/inline"
)

// When all units are committed, the sites are written.

// settleInlined replaces names and types of the functions by offsets and ids of the
// output. n numbers the types.
func (r *run) settleInlined(n *dedup.Numbering) error {
	in := r.inline
	if in == nil {
		return nil
	}
	added := r.set.MoreStrings()
	defer added.Free()
	r.releaseNames()
	asked := 0
	var err error
	name := func(t uint32) (uint32, error) {
		if t == 0 {
			return 0, nil
		}
		if asked++; asked%namesStep == 0 {
			r.releaseNames()
		}
		return added.Offset(t)
	}
	if in.settled, err = in.store.Settle(name, n.ID); err != nil {
		return err
	}
	for _, s := range in.sections {
		if s.size > 0 {
			text := "inline" + r.inputs[r.lead].File.ELF.Sections[s.index].Name
			off, err := added.Offset(r.names.Literal([]byte(text)))
			if err != nil {
				return err
			}
			in.titles = append(in.titles, title{s.index, off})
		}
	}
	if n.Types == 0 {
		in.names = slices.Clone(r.set.Strings()) // the main BTF is empty, so its strings are added too
	}
	in.names = append(in.names, added.Bytes()...)
	r.releaseNames()
	return nil
}

// addInlined adds the sites to the output.
func (r *run) addInlined(out *Output, in *inlining) error {
	if in == nil || in.settled == nil {
		return nil
	}
	r.stats.Inline = &in.store.Stats
	in.store.Stats.Names = len(in.names)
	beside, err := besideOf(out, r.opt.Base)
	if err != nil {
		return err
	}
	form := btf.LongHeader
	var types, strs []byte // of that BTF
	if !r.opt.Inline {
		if types, strs, err = btf.Sections(out.data); err != nil {
			return err
		}
		if form = r.opt.form(r.opt.Base != nil); form.Layout != nil {
			form.Layout = btf.LongLayout()
		}
		form.HeaderLen = max(form.HeaderLen, btf.LongHeader.HeaderLen)
	}
	mem := &out.inlineMem
	arena.Bind(r.limit, mem)
	header := form.Len() - len(form.Layout)
	mem.Extend(header)
	mem.AppendSlice(types)
	in.settled.Append(mem, beside, func(section uint32) uint32 {
		for _, t := range in.titles {
			if t.section == section {
				return t.name
			}
		}
		return 0
	})
	if in.store.Stats.Sites == 0 {
		mem.Free()
		return nil
	}
	out.Inlined = true
	copy(mem.S, form.AppendHeader(nil, out.BigEndian, uint32(len(mem.S)-header), uint32(len(strs)+len(in.names))))
	mem.AppendSlice(form.Layout)
	mem.AppendSlice(strs)
	mem.AppendSlice(in.names)
	if r.opt.Inline {
		out.inline = mem.S
		return nil
	}
	out.mem.Free()
	out.mem, out.inlineMem = out.inlineMem, out.mem
	out.data = out.mem.S
	return nil
}

// besideOf returns the output as the BTF that the records are added to.
func besideOf(out *Output, base *Base) (*inline.Beside, error) {
	b := &inline.Beside{Order: elfabi.Order(out.BigEndian), First: 1}
	if base != nil {
		b.First = base.d.Blob().TypeCount()
	}
	b.End = b.First
	if len(out.data) == 0 {
		return b, nil
	}
	c, err := btf.Count(out.data)
	if err != nil {
		return nil, err
	}
	b.Types, _, err = btf.Sections(out.data)
	b.End += uint32(c.Types)
	return b, err
}
