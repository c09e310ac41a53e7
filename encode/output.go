package encode

import (
	"errors"
	"fmt"
	"io"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/mmapelf"
)

// Output is the finished BTF of a run. It holds the BTF in memory until Close. The inputs
// are closed.
type Output struct {
	Stats Stats
	// Lead is the index of the first input that has a unit which the filters keep. As in
	// pahole, this input stands for all: its sections say which variables there are, and
	// BTF in place goes into it.
	Lead int
	// BigEndian and PointerSize (4 or 8 bytes) describe that input.
	BigEndian   bool
	PointerSize int
	// Origin says which kernel that input is a module of. It is empty without
	// Options.Base.
	Origin basematch.Module
	// Foreign are the languages (DW_LANG) of encoded units other than C and assembler, each
	// once, as they came. Kernels may refuse names and layouts of their types.
	Foreign []uint16
	// Layout reports a layout section, and LongVlen a type with more than 65,535
	// elements. Older kernels refuse both.
	Layout, LongVlen bool
	// Inlined reports sites of inlined functions in the BTF or in Inline. No release of
	// Linux takes them yet.
	Inlined bool

	data []byte
	mem  arena.Vec[byte] // backs data, unless data is on the heap

	extra    []byte
	extraMem arena.Vec[byte]

	inline    []byte
	inlineMem arena.Vec[byte]

	limit *arena.Limit
}

// Bytes returns the BTF, valid until Close. Do not change it. None means that there was
// nothing to encode, so nothing should be written: there are no types or, over a base, no
// units. If the base has all types, the BTF is only a header.
func (o *Output) Bytes() []byte { return o.data }

// Write writes the BTF. It may be called more than once and writes the same
// bytes each time.
func (o *Output) Write(w io.Writer) error {
	_, err := w.Write(o.data)
	return err
}

// Extra returns the variables that Options.ExtraVars asks for: split BTF over Bytes, or
// over Options.Base if Bytes is empty. It is nil if there are none. It is valid until
// Close. Do not change it.
func (o *Output) Extra() []byte { return o.extra }

// Inline returns the sites that Options.Inline asks for: split BTF over Bytes, or over
// Options.Base if Bytes is empty. It is nil if there are none. It is valid until Close.
// Do not change it.
func (o *Output) Inline() []byte { return o.inline }

// CheckMemory returns an error if n more bytes, for work on the BTF, would exceed
// Options.MemoryLimit.
func (o *Output) CheckMemory(n int) error {
	var full arena.Exhausted
	if errors.As(o.limit.Check(n), &full) {
		return overLimit("the memory limit is reached: %s are in use, and %s more are needed", mib(full.Used), mib(uint64(n)))
	}
	return nil
}

// Close releases the memory. The Output must not be used afterwards.
func (o *Output) Close() {
	o.data, o.extra, o.inline = nil, nil, nil
	o.mem.Free()
	o.extraMem.Free()
	o.inlineMem.Free()
}

// noUnits returns the Output for inputs that have no units.
func (r *run) noUnits(inputs []mmapelf.Source) (*Output, error) {
	if len(inputs) == 1 {
		return nil, fmt.Errorf("%s: %w", inputs[0].Path, ErrNoDwarf)
	}
	out := &Output{Stats: r.stats, limit: r.limit}
	r.free()
	return out, nil
}

// output writes the numbered types to out. It closes the inputs first, so that their pages
// and the BTF are not in memory at once.
func (r *run) output(n *dedup.Numbering, out *Output) error {
	if n.Types == 0 && r.opt.Base == nil && (r.lacksTypes || len(r.stats.Unencodable) > 0) {
		return fmt.Errorf("%s: .debug_info: there are DIEs, but no type or function among them", r.inputs[0].File.Path)
	}
	out.PointerSize, out.Foreign, out.Lead = r.inputs[r.lead].File.ELF.AddrSize, r.foreign, r.lead
	if r.opt.Base != nil {
		out.Origin = basematch.OfModule(r.inputs[r.lead].File.ELF)
	}
	arena.Bind(r.limit, &out.mem)
	strs, write := r.set.Strings(), n.Types > 0
	if !write && r.opt.Base != nil && r.stats.CUs > r.stats.CUsFiltered {
		// The base has all types of the units. An empty split BTF is written
		// nevertheless, because later build steps look for it.
		strs, write = nil, true
	}
	r.closeFiles()
	r.funcs.free()
	if r.session == nil || r.opt.Base == nil {
		r.set.DropIndexes()
	}
	if write {
		form := r.opt.form(r.opt.Base != nil)
		out.mem.Populate(form.Len() + n.TypeBytes + len(strs))
		out.mem.AppendSlice(form.AppendHeader(nil, out.BigEndian, uint32(n.TypeBytes), uint32(len(strs))))
		n.PutTypes(out.mem.Extend(n.TypeBytes), out.BigEndian, r.opt.Jobs)
		out.mem.AppendSlice(form.Layout)
		out.Layout = form.Layout != nil
		out.mem.AppendSlice(strs)
		out.data = out.mem.S
	}
	return nil
}

// closeFiles closes the inputs. Names cannot be read afterwards.
func (r *run) closeFiles() {
	for _, f := range r.inputs {
		f.read.Wait() // after an error or a crash
		f.File.Close()
	}
	r.inputs = nil
	if r.session == nil {
		r.names.FreePool()
	}
}

func (r *run) free() {
	if s := r.session; s != nil && r.opt.Base != nil && r.phase != batch {
		s.set = r.set
	} else if r.set != nil {
		r.set.Free()
	}
	r.set = nil
	r.extras.Free()
	r.inline.free()
	r.closeFiles()
	r.funcs.free()
}
