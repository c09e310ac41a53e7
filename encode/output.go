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

// Output is the finished BTF of a run. It holds the BTF in memory until Close,
// and nothing else: the inputs are closed.
type Output struct {
	Stats Stats
	// Lead is the index of the first input that has a unit which is not left out
	// by its language or name. It stands for all inputs: its sections say which
	// variables there are, and BTF in place goes there, as in pahole.
	Lead int
	// BigEndian and PointerSize (4 or 8 bytes) are those of that input.
	BigEndian   bool
	PointerSize int
	// Origin is what that input tells of the kernel that it is a module of. It is
	// empty without Options.Base.
	Origin basematch.Module
	// Foreign is the language, as --lang names it, of the first unit that is
	// in the BTF and not in C or assembler; "" if there is none. Its types
	// may have names and layouts that no kernel takes.
	Foreign string
	// Layout and LongVlen tell that there is a layout section and that a type has
	// more than 65,535 elements: older kernels take neither.
	Layout, LongVlen bool
	// Inlined tells that there are sites of inlined functions in the BTF or beside it,
	// which no release of Linux takes yet.
	Inlined bool

	data []byte
	mem  arena.Vec[byte] // backs data, unless that is on the heap

	extra    []byte
	extraMem arena.Vec[byte]

	inline    []byte
	inlineMem arena.Vec[byte]

	limit *arena.Limit
}

// Size is the length of the BTF in bytes; 0 means that there was nothing to
// encode, and then nothing is to be written: no types at all or, over a base, no
// unit. Over a base that has all types, the BTF is a header alone.
func (o *Output) Size() int64 { return int64(len(o.data)) }

// Bytes is the BTF. It must not be changed, and is valid until Close.
func (o *Output) Bytes() []byte { return o.data }

// Write writes the BTF. It may be called more than once and writes the same
// bytes each time.
func (o *Output) Write(w io.Writer) error {
	_, err := w.Write(o.data)
	return err
}

// Extra is split BTF over Bytes, or over Options.Base if there are none: the
// variables that Options.ExtraVars asks for. It is nil if there are none. It
// must not be changed, and is valid until Close.
func (o *Output) Extra() []byte { return o.extra }

// Inline is split BTF over Bytes, or over Options.Base if there are none: the sites of
// inlined functions that Options.Inline asks for. It is nil if there are none. It must
// not be changed, and is valid until Close.
func (o *Output) Inline() []byte { return o.inline }

// CheckMemory returns an error if n bytes more, for work on the BTF, would break
// Options.MemoryLimit.
func (o *Output) CheckMemory(n int) error {
	var full arena.Exhausted
	if errors.As(o.limit.Check(n), &full) {
		return fmt.Errorf("the memory limit is reached: %s are in use, and %s more are needed", mib(full.Used), mib(uint64(n)))
	}
	return nil
}

// Close gives the memory back. The Output must not be used afterwards.
func (o *Output) Close() {
	o.data, o.extra, o.inline = nil, nil, nil
	o.mem.Free()
	o.extraMem.Free()
	o.inlineMem.Free()
}

// noUnits is the Output for inputs that have no units at all.
func (r *run) noUnits(inputs []mmapelf.Source) (*Output, error) {
	if len(inputs) == 1 {
		return nil, fmt.Errorf("%s: %w", inputs[0].Path, ErrNoDwarf)
	}
	out := &Output{Stats: r.stats, limit: r.limit}
	r.free()
	return out, nil
}

// output makes the Output of the numbered types. The inputs are closed first,
// so that their pages and the BTF are not in memory at once.
func (r *run) output(n *dedup.Numbering, be bool) (*Output, error) {
	if n.Types == 0 && r.opt.Base == nil && (r.hides || len(r.stats.Unencodable) > 0) {
		return nil, fmt.Errorf("%s: .debug_info: there are DIEs, but no type or function among them", r.inputs[0].File.Path)
	}
	out := &Output{BigEndian: be, PointerSize: r.inputs[r.lead].File.ELF.AddrSize, Foreign: r.foreign, Lead: r.lead, limit: r.limit}
	if r.opt.Base != nil {
		out.Origin = basematch.OfModule(r.inputs[r.lead].File.ELF)
	}
	arena.Bind(r.limit, &out.mem)
	strs, write := r.set.Strings(), n.Types > 0
	if !write && r.opt.Base != nil && r.stats.CUs > r.stats.CUsFiltered {
		// The base has all that the units say. That is split BTF too, and build
		// steps that come later want to find it.
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
		out.mem.AppendSlice(form.AppendHeader(nil, be, uint32(n.TypeBytes), uint32(len(strs))))
		n.PutTypes(out.mem.Extend(n.TypeBytes), be, r.opt.Jobs)
		out.mem.AppendSlice(form.Layout)
		out.Layout = form.Layout != nil
		out.mem.AppendSlice(strs)
		out.data = out.mem.S
	}
	return out, nil
}

// closeFiles closes the inputs. Names cannot be read any more.
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
