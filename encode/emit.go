package encode

import (
	"fmt"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/unit"
)

// Functions are emitted in the order of their names, each with its strings, FUNC_PROTO, FUNC
// and DECL_TAGs. The strings of a function do not depend on types, and its types need only the
// tokens of the strings. So one goroutine may add the strings of functions while another one,
// behind it, adds the types.

// Flags of kernel functions in .BTF_ids (Linux, include/linux/btf.h).
const (
	kfFastcall  = 1 << 12
	kfArenaRet  = 1 << 13
	kfArenaArg1 = 1 << 14
	kfArenaArg2 = 1 << 15
)

// arenaValues has the flag for each value of a prototype: the result, then the first two
// parameters.
var arenaValues = [...]uint32{kfArenaRet, kfArenaArg1, kfArenaArg2}

// maxParamName is the length in bytes at which pahole cuts names of parameters and tags
// of functions.
const maxParamName = 127

// emitter adds functions to a set.
type emitter struct {
	run      *run
	long     bool      // some names are longer than maxParamName
	reporter *reporter // nil without Options.Functions
	touched  arena.Touched

	// The prototypes of a block of functions, which aheadTypes makes and addFunc takes.
	protos []uint32 // their records, one after another
	starts []int    // where each begins in protos, and the end
	hashes []uint32 // of each
	next   int      // index of the one that addFunc takes next
}

// emitFuncs decides about all functions and adds those that are encoded.
func (r *run) emitFuncs() error {
	r.stats.Skipped = map[string]int{}
	if r.opt.For == ForReaders {
		r.funcs.emitted = map[string]bool{}
	}
	e := emitter{run: r, long: r.set.LongestName() > maxParamName} // the set has the names of all parameters by now
	var mismatch func(entry uint32, what int, a, b []uint32)
	e.reporter = r.newReporter()
	if e.reporter != nil {
		mismatch = e.reporter.mismatch
	}
	if r.raw != nil {
		mismatch = func(entry uint32, what int, a, b []uint32) {
			r.raw.mismatch(string(r.funcs.table.Name(entry)), what, a, b)
			if e.reporter != nil {
				e.reporter.mismatch(entry, what, a, b)
			}
		}
	}
	err := r.funcs.states.Resolve(r.funcs.table, compactstate.Decide{
		TrueSignature:  r.opt.Features&TrueSignature != 0,
		ConsistentFunc: r.opt.Features&ConsistentFunc != 0,
		Workers:        r.opt.Jobs,
		Match:          func(x, y uint32) bool { return r.match(x, y, 0) },
		Mismatch:       mismatch,
		Hash:           dedup.TextHash,
		Strings:        e.addStrings,
		AllParams:      e.long,
		Ahead:          e.ahead,
		AheadTypes:     e.aheadTypes,
	}, e.addFunc, e.skip)
	e.reporter.withoutSymbol(err)
	return err
}

// skip counts and reports a function that is not emitted.
func (e *emitter) skip(name []byte, why compactstate.Reason) {
	r := e.run
	r.stats.Skipped[why.String()]++
	if r.opt.FuncSkipped != nil {
		r.opt.FuncSkipped(string(name), why.String())
	}
	if e.reporter != nil {
		e.reporter.skipped(name, why)
	}
	if r.opt.Verbose != nil {
		r.raw.decided(name)
		r.opt.Verbose(string(name) + skipping + why.String())
	}
}

// ahead prefetches the names of the next functions.
func (e *emitter) ahead(entries, hashes []uint32) {
	for _, x := range entries {
		e.touched.Read(e.run.funcs.names[x])
	}
	e.run.set.AheadTexts(hashes)
}

// aheadTypes makes the prototypes of the next functions, and loads what addFunc needs to find
// them.
func (e *emitter) aheadTypes(choices []compactstate.Choice) {
	e.protos, e.starts, e.hashes, e.next = e.protos[:0], e.starts[:0], e.hashes[:0], 0
	for i := range choices {
		c := &choices[i]
		e.starts = append(e.starts, len(e.protos))
		e.protos = append(e.protos, 0, btf.Info(btf.KindFuncProto, uint32(len(c.Params)), false), c.Ret)
		for _, p := range c.Params {
			e.protos = append(e.protos, e.cut(e.run.names.Canonical(p.Name)), p.Type)
		}
	}
	e.starts = append(e.starts, len(e.protos))
	for i := range choices {
		e.hashes = append(e.hashes, dedup.RecordHash(e.protos[e.starts[i]:e.starts[i+1]]))
	}
	dedup.AheadRecords(e.run.set, e.hashes)
}

// nextProto returns the prototype of the function that addFunc has now, and its hash.
func (e *emitter) nextProto() (proto btf.Record, hash uint32) {
	i := e.next
	e.next++
	return e.protos[e.starts[i]:e.starts[i+1]], e.hashes[i]
}

// addStrings adds the strings of one chosen function and returns the token of its name.
func (e *emitter) addStrings(c *compactstate.Choice) (name uint32, err error) {
	intern := func(t dedup.Name) {
		if err == nil {
			_, err = e.run.intern(t)
		}
	}
	if e.arenaFlags(c) != 0 {
		intern(e.run.names.Literal([]byte(arenaTag)))
	}
	if e.long {
		for _, p := range c.Params {
			if t := e.run.names.Canonical(p.Name); e.cut(t) != t {
				intern(e.cut(t))
			}
		}
	}
	if name = e.run.funcs.names[c.Entry]; c.Symbol {
		name = e.run.names.Literal(c.Name)
	}
	if err == nil {
		name, err = e.run.set.InternText(name, c.Name, c.Hash)
	}
	for _, a := range c.Annotations {
		intern(e.cut(a.Value))
	}
	for _, tag := range e.kfuncTags(c) {
		intern(e.run.names.Literal([]byte(tag)))
	}
	return name, err
}

// cut returns the token of a parameter's name or a tag's value, cut to maxParamName.
func (e *emitter) cut(t dedup.Name) dedup.Name {
	if e.long {
		if b, _ := e.run.names.Bytes(t); len(b) > maxParamName {
			return e.run.names.Token(b[:maxParamName])
		}
	}
	return t
}

// kfuncTags returns the tags that a function gets because .BTF_ids lists it.
func (e *emitter) kfuncTags(c *compactstate.Choice) []string {
	switch {
	case !c.Kfunc || e.run.opt.Features&DeclTag == 0 || e.run.opt.Features&DeclTagKfuncs == 0:
		return nil
	case c.KfuncFlags&kfFastcall == 0:
		return kfuncTags[:1]
	}
	return kfuncTags[:]
}

var kfuncTags = [...]string{"bpf_kfunc", "bpf_fastcall"}

// arenaFlags returns the flags in .BTF_ids that say which values of a function's prototype are pointers
// into a BPF arena. It leaves out those for parameters that the function does not have.
func (e *emitter) arenaFlags(c *compactstate.Choice) uint32 {
	if !c.Kfunc || e.run.opt.Features&Attributes == 0 || e.run.opt.Features&DeclTagKfuncs == 0 {
		return 0
	}
	return c.KfuncFlags & [...]uint32{kfArenaRet, kfArenaRet | kfArenaArg1, kfArenaRet | kfArenaArg1 | kfArenaArg2}[min(len(c.Params), 2)]
}

// addFunc adds FUNC_PROTO, FUNC and DECL_TAGs of one chosen function. Its strings have
// been added.
func (e *emitter) addFunc(c *compactstate.Choice) error {
	w, hash := e.nextProto()
	if why := unit.BeyondVlen(len(c.Params), "parameters", e.run.opt.Libbpf == Libbpf18); why != "" {
		return fmt.Errorf("%s: FUNC_PROTO of %s: %s", e.run.inputs[e.run.lead].File.Path, debuginfo.Quote(c.Name), why)
	}
	if flags := e.arenaFlags(c); flags != 0 {
		for i, flag := range arenaValues {
			if flags&flag == 0 {
				continue
			}
			var err error
			if w[2+2*i], err = e.arenaPointer(w[2+2*i], c.Name); err != nil {
				return err
			}
		}
	}
	e.run.stats.TypesIn += 2
	alone, fn, err := len(e.run.inputs) == 1 && e.run.opt.Base == nil, uint32(0), error(nil)
	if alone && len(c.Annotations) == 0 && !c.Kfunc && e.run.raw == nil && e.run.inline == nil {
		err = e.run.set.AddLoneFunc(c.Token, w, hash)
	} else {
		fn, err = e.run.set.AddFunc(c.Token, w, alone)
	}
	if err != nil {
		return err
	}
	if e.reporter != nil {
		e.reporter.encoded(e.run.funcs.table.Name(c.Entry))
	}
	if e.run.funcs.emitted != nil {
		e.run.funcs.emitted[string(e.run.funcs.table.Name(c.Entry))] = true
	}
	e.verbose(c)
	for _, a := range c.Annotations {
		if err := e.run.addTagType(e.run.names.Unalias(e.cut(a.Value)), fn, a.Component); err != nil {
			return err
		}
	}
	for _, tag := range e.kfuncTags(c) {
		if err := e.run.addTagType(e.run.names.Literal([]byte(tag)), fn, -1); err != nil {
			return err
		}
	}
	return nil
}

// arenaTag is the TYPE_TAG of pointers into a BPF arena.
const arenaTag = "address_space(1)"

// arenaPointer returns a PTR to the same target as PTR id, but with the TYPE_TAG arenaTag between the
// two. It is an error if id is not a PTR. fn is the function that it names.
func (e *emitter) arenaPointer(id uint32, fn []byte) (uint32, error) {
	w := e.run.set.Record(id)
	if id == 0 || w.Kind() != btf.KindPtr {
		return 0, &Error{File: e.run.inputs[e.run.lead].File.Path, Section: ".BTF_ids", Name: string(fn), What: "arena flag on a value that is not a pointer"}
	}
	t, err := e.run.set.AddRef(btf.MakeRecord(e.run.names.Literal([]byte(arenaTag)), btf.Info(btf.KindTypeTag, 0, true), w.Third()))
	if err != nil {
		return 0, err
	}
	e.run.stats.TypesIn += 2
	return e.run.set.AddRef(btf.MakeRecord(0, btf.Info(btf.KindPtr, 0, false), t))
}

// verbose writes the lines of -V for a function.
func (e *emitter) verbose(c *compactstate.Choice) {
	if e.run.raw == nil {
		return
	}
	l := chosen{Choice: c, entry: e.run.funcs.table.Name(c.Entry), kfuncs: len(e.kfuncTags(c))}
	flags := e.arenaFlags(c)
	for i, flag := range arenaValues {
		l.arena[i] = flags&flag != 0
	}
	for _, p := range c.Params {
		l.params = append(l.params, e.cut(e.run.names.Canonical(p.Name)))
	}
	for _, a := range c.Annotations {
		l.tags = append(l.tags, compactstate.Annotation{Value: e.run.names.Unalias(e.cut(a.Value)), Component: a.Component})
	}
	e.run.raw.function(&l)
}
