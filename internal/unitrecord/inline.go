package unitrecord

import (
	"encoding/binary"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/unit"
)

// Inline functions of headers are two of three functions of a unit. Such a function has no
// address, and nothing refers to it. It matters only if the symbol table has a function of
// its name, which is the same in every unit. So these functions are cut into runs, and the
// key of a run is a hash of their names: a reader skips a run if it knows that none of its
// functions has a symbol. As with chunks, only the last function of a run decides where the
// run ends.

// runSize is the average number of functions in a run, a power of two. One function in
// twelve has a symbol, and its whole run has to be read.
const runSize = 4

// inlineRuns writes the inline functions of u.
func (w *Writer) inlineRuns(u *unit.Unit, p *places) {
	c := &w.cols
	key, count, names, from := uint64(1), 0, w.names.fresh, 0
	end := func() {
		c.uint(colRun, uint64(count))
		c.uint(colRun, uint64(w.names.fresh-names))
		c.uint(colRun, uint64(len(c[colInline])-from))
		c[colRunKey] = binary.LittleEndian.AppendUint64(c[colRunKey], max(key, 1))
		key, count, names, from = 1, 0, w.names.fresh, len(c[colInline])
	}
	for i := range u.Funcs.S {
		if !p.inline[i] {
			continue
		}
		fn := &u.Funcs.S[i]
		params := u.Params.S[fn.First:][:fn.N]
		h := arena.Mix(w.names.hash(fn.Name), uint32(4))
		for j := range params {
			if params[j].Name == 0 {
				h = arena.Mix(h, uint32(5)) // the function is left out, whatever its name is
			}
		}
		key, count = arena.Mix(key, h), count+1
		w.inline(fn, params)
		if h>>32%runSize == 0 {
			end()
		}
	}
	if count > 0 {
		end()
	}
}

func (w *Writer) inline(fn *callconv.Func, params []callconv.Param) {
	c := &w.cols
	c.byte(colInline, byte(fn.Flags)&funcFlags)
	w.nameTo(fn.Name, colInline)
	if fn.Flags&callconv.FuncHasType != 0 {
		w.refs.write(c, 0, fn.Type, colInline)
	}
	c.uint(colInline, uint64(len(params)))
	for j := range params {
		w.nameTo(params[j].Name, colInline)
		w.refs.write(c, 0, params[j].Type, colInline)
	}
}

// findRuns finds the runs. It returns the number of their functions.
func (r *Reader) findRuns() int {
	table, keys, bodies := &r.cols[colRun], r.cols[colRunKey].b, r.cols[colInline].b
	x := &r.inline
	x.runs, x.at, x.done = x.runs[:0], 0, 0
	names, functions := r.names.next, 0
	for ; table.left() > 0; keys = keys[8:] {
		count, fresh, size := table.uint(), table.uint(), table.uint()
		if size > uint64(len(bodies)) || count > size || fresh > size || count == 0 || len(keys) < 8 {
			r.bad = true
			return 0
		}
		x.runs = append(x.runs, run{
			key: binary.LittleEndian.Uint64(keys), count: int(count), names: names, fresh: int(fresh), body: column{b: bodies[:size:size]},
		})
		bodies, names, functions = bodies[size:], names+int(fresh), functions+int(count)
	}
	r.bad = r.bad || len(bodies) != 0 || len(keys) != 0
	r.cols[colRunKey].p, r.cols[colInline].p = len(r.cols[colRunKey].b), len(r.cols[colInline].b)
	r.names.next = names
	return functions
}

// inlineFuncs reads the next n inline functions, which exist, and skips those that wantFuncs
// has left out.
func (r *Reader) inlineFuncs(u *unit.Unit, n int, off uint32) {
	x := &r.inline
	for n > 0 {
		t := &x.runs[x.at]
		k := min(n, t.count-x.done)
		if x.done == 0 {
			t.first = len(u.Funcs.S)
		}
		for range k {
			if !t.read {
				r.funcRefs = append(r.funcRefs, dedup.Extern)
				continue
			}
			r.funcRefs = append(r.funcRefs, dedup.Ref(len(u.Funcs.S)+1))
			r.inlineFunc(u, t, off)
		}
		if n, x.done = n-k, x.done+k; x.done == t.count {
			r.bad = r.bad || t.read && (t.body.bad || t.body.left() != 0)
			x.at, x.done = x.at+1, 0
		}
	}
}

// inlineFunc reads an inline function of run t.
func (r *Reader) inlineFunc(u *unit.Unit, t *run, off uint32) {
	c := &t.body
	next := r.names.next
	r.names.next = t.names
	fn := callconv.Func{Off: off, First: uint32(len(u.Params.S)), FirstAn: uint32(len(u.Annots.S))}
	fn.Flags = callconv.FuncFlags(c.byte() & funcFlags &^ byte(callconv.FuncDeclaration))
	fn.Name = r.nodeName(c)
	if fn.Flags&callconv.FuncHasType != 0 {
		fn.Type = r.nodeRef(c, 0)
	}
	n := c.count(c)
	fn.N = uint32(n)
	for range n {
		pm := callconv.Param{Off: off, Reg: -1, HasType: true}
		pm.Name = r.nodeName(c)
		pm.Type = r.nodeRef(c, 0)
		u.Params.Append(pm)
	}
	u.Funcs.Append(fn)
	t.names, r.names.next = r.names.next, next
}

// Judged notes which runs of u have no function with a symbol. Call it after the functions
// of u were looked up in the symbol table.
func (r *Reader) Judged(u *unit.Unit, n *Names) {
runs:
	for i := range r.inline.runs {
		t := &r.inline.runs[i]
		if !t.read {
			continue
		}
		for k, left := t.first, t.count; left > 0; k++ {
			fn := &u.Funcs.S[k]
			if fn.Off&1 == 0 {
				continue // another function, between two of the run
			}
			if fn.Entry != 0 {
				continue runs
			}
			left--
		}
		n.dull[t.key%dullSlots].Store(t.key)
	}
}
