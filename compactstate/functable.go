package compactstate

// The ELF function table.
//
// The table is built from the symbols of type STT_FUNC of each input file, in
// .symtab order, whatever their binding, section or value (undefined symbols
// count). The base name of a symbol is its name up to the first dot; symbols
// with one base name form an entry. A symbol is left out when the part of its
// name from the first dot on contains ".cold" or ".part" anywhere, so
// "f.particle" is left out too.
//
// Half of the function symbols of an x86 kernel stand for the padding in front of a
// function: __pfx_f for f. No DIE has such a name, so the table leaves them out, too, and
// notes if one is asked for after all (NeedsPadding).
//
// A symbol record takes 20 bytes (12 and its 64-bit value). An entry has no
// record of its own: it is the first symbol of its base name, and its number is
// the number of that symbol plus one. The symbols of an entry form a ring:
//
//	first.link = last        (or none, if the entry has one symbol)
//	last.link  = second
//	s.link     = the one after s
//
// which allows adding at the end and walking in .symtab order without a second
// link per symbol.

import (
	"bytes"
	"hash/maphash"
	"math"
	"sort"
	"sync/atomic"

	"github.com/btflite/btflite/arena"
)

// symbol is one function symbol. Its number is its position in
// FuncTable.symbols.
type symbol struct {
	name uint32 // offset of the name in the file's string table
	base uint32 // length of the base name in the bits of baseLen; attributes of the entry above
	link uint32 // number of another symbol of the ring, see above; noLink if there is none
}

const (
	baseLen       = 1<<29 - 1 // longest base name; symbols above are left out
	attrAmbiguous = 1 << 30   // entry: ambiguous address
	attrKfunc     = 1 << 31   // entry: kfuncFlags has it

	noLink = math.MaxUint32
)

// funcFile is one input file of the table.
type funcFile struct {
	strtab []byte
	first  uint32 // number of the file's first symbol
}

// FuncTable is the ELF function table: the base names of function symbols, with
// the names and values of the symbols behind each. Entries are numbered from 1
// in no documented order, and the entries of a later file have higher numbers.
// 0 stands for no entry.
//
// For each input file call BeginFile, Add for every symbol, and Seal. The
// methods that only read (all but BeginFile, Add, Seal and SetKfunc) may be
// used by several goroutines at once while none of those four runs.
type FuncTable struct {
	files   []funcFile
	symbols []symbol
	values  []uint64 // st_value of each symbol
	kfuncs  map[uint32]uint32
	entries int

	strtab []byte // string table of the current file
	names  index  // entries of the current file by base name
	seed   maphash.Seed

	// The base name of the current file that sorts last, and its entry; 0 if it was left out.
	last     uint32
	lastName []byte

	keepPadding  bool
	omitted      bool        // symbols of padding were left out
	needsPadding atomic.Bool // Lookup may have been asked for one of them

	touched arena.Touched
}

// FuncTableBytes is how much memory a table of so many symbols needs, in bytes: for its
// records, and for what only look-ups by name or address read.
func FuncTableBytes(symbols int) (records, lookups int) {
	return symbols*12 + 8, symbols*8 + indexSlots(symbols)*5 + 16
}

// NewFuncTable returns an empty table. symbols is the expected number of
// function symbols, for which memory is reserved at once; it may be 0, and a
// wrong number does no harm. A number that was read from a file must have been
// checked against the file's size. The two blocks are used as far as they go,
// see FuncTableBytes. The table must not be used after records was freed, and lookups
// may be freed after EndLookups.
func NewFuncTable(symbols int, records, lookups *arena.Block) *FuncTable {
	symbols = max(symbols, 0)
	return &FuncTable{
		symbols: arena.Carve[symbol](records, symbols)[:0],
		values:  arena.Carve[uint64](lookups, symbols)[:0],
		names:   newIndex(symbols, lookups),
		seed:    maphash.MakeSeed(),
	}
}

// pfx and cfi begin the names of symbols for the padding in front of functions. objtool writes
// __pfx_, and kernels with control-flow integrity have __cfi_. Both have the same length.
const pfx, cfi = "__pfx_", "__cfi_"

// isPadding reports whether name begins with one of these and is longer.
func isPadding(name []byte) bool {
	return len(name) > len(pfx) && (string(name[:len(pfx)]) == pfx || string(name[:len(cfi)]) == cfi)
}

// WithoutPadding returns how many of the symbols do not stand for padding, for NewFuncTable. strtab is
// the string table. As in AddAll, cache misses overlap.
func WithoutPadding(strtab []byte, symbols []Symbol, x *arena.Touched) (n int) {
	touch(strtab, symbols, x)
	for _, s := range symbols {
		if uint64(s.Name) >= uint64(len(strtab)) || !isPadding(strtab[s.Name:]) {
			n++
		}
	}
	return n
}

// touch reads the first byte of the symbols' names.
func touch(strtab []byte, symbols []Symbol, x *arena.Touched) {
	for _, s := range symbols {
		if uint64(s.Name) < uint64(len(strtab)) {
			x.Read(uint32(strtab[s.Name]))
		}
	}
}

// KeepPadding makes t keep symbols of padding like others. Call it before Add.
func (t *FuncTable) KeepPadding() { t.keepPadding = true }

// NeedsPadding reports whether Lookup was asked for a name of padding and symbols of padding
// were left out: what Lookup said may be wrong then.
func (t *FuncTable) NeedsPadding() bool { return t.needsPadding.Load() }

// EndLookups gives up what only look-ups read: a quarter of the memory of a kernel's
// functions. From now on an entry is only asked for by its number, so BeginFile, Add, Lookup,
// Ahead, Symbol and SymbolAt must not be called any more.
func (t *FuncTable) EndLookups() {
	t.values, t.names = nil, index{}
}

// BeginFile starts an input file: symbols added from now on belong to it, and
// Lookup finds only its entries, since functions of different files are never
// judged together. strtab is the string table of the file's .symtab. The table
// keeps it, not a copy, and reads names from it as long as the table is in use.
func (t *FuncTable) BeginFile(strtab []byte) {
	t.files = append(t.files, funcFile{strtab: strtab, first: uint32(len(t.symbols))})
	t.strtab = strtab
	t.names.clear()
	t.last, t.lastName = 0, nil
}

// Symbol is a symbol of type STT_FUNC: its st_name and st_value.
type Symbol struct {
	Name  uint32
	Value uint64
}

// AddAll is Add for several symbols. Their names are far apart: here the cache
// misses for one overlap those for the others.
func (t *FuncTable) AddAll(symbols []Symbol) (length int) {
	touch(t.strtab, symbols, &t.touched)
	for _, s := range symbols {
		length += t.Add(s.Name, s.Value)
	}
	return length
}

// Add adds a symbol of type STT_FUNC with st_name nameOff and st_value value.
// Symbols must come in .symtab order. A symbol whose name is not a terminated
// string of the string table is left out. Add returns how many bytes the name
// has, because the call takes time in proportion to them.
func (t *FuncTable) Add(nameOff uint32, value uint64) (length int) {
	name, ok := cString(t.strtab, nameOff)
	if !ok || uint64(len(t.symbols)) >= noLink-1 {
		return 0
	}
	base, tail := splitName(name)
	if bytes.Contains(tail, []byte(".cold")) || bytes.Contains(tail, []byte(".part")) || len(base) > baseLen {
		return len(name)
	}
	if !t.keepPadding && isPadding(base) {
		t.omitted = true
		t.sortsLast(base, 0)
		return len(name)
	}
	sym := uint32(len(t.symbols))
	t.symbols = append(t.symbols, symbol{name: nameOff, base: uint32(len(base)), link: noLink})
	t.values = append(t.values, value)

	h := maphash.Bytes(t.seed, base)
	if e := t.find(h, base); e != 0 {
		t.append(e-1, sym)
		return len(name)
	}
	t.names.insert(h, sym+1, func(e uint32) uint64 { return maphash.Bytes(t.seed, t.Name(e)) })
	t.entries++
	t.sortsLast(base, sym+1)
	return len(name)
}

// sortsLast notes the entry e of a base name, 0 for one that was left out, if no earlier name
// of the file sorts behind it.
func (t *FuncTable) sortsLast(base []byte, e uint32) {
	if t.lastName == nil || bytes.Compare(base, t.lastName) > 0 {
		t.last, t.lastName = e, base
	}
}

// append adds sym to the end of the ring that starts with first. The entry
// becomes ambiguous when two successive values differ, except after value 0
// (pahole's rule: leading zeros do not count, later ones do).
func (t *FuncTable) append(first, sym uint32) {
	last := t.symbols[first].link
	if last == noLink {
		last = first
		t.symbols[sym].link = sym
	} else {
		t.symbols[sym].link = t.symbols[last].link
		t.symbols[last].link = sym
	}
	t.symbols[first].link = sym
	if v := t.values[last]; v != 0 && v != t.values[sym] {
		t.symbols[first].base |= attrAmbiguous
	}
}

// Seal ends the current file. pahole never computes the ambiguity of the entry
// that comes last in its sorted table, so the entry of the file whose base name
// sorts last is never ambiguous.
func (t *FuncTable) Seal() {
	if t.last != 0 {
		t.symbols[t.last-1].base &^= attrAmbiguous
	}
}

// Lookup returns the entry of the current file with base name name, 0 if there
// is none. It does not keep name.
func (t *FuncTable) Lookup(name []byte) uint32 {
	if t.omitted && isPadding(name) {
		t.needsPadding.Store(true)
	}
	return t.find(maphash.Bytes(t.seed, name), name)
}

// Ahead only reads the memory that Lookup and Symbol will need for names. Here the
// cache misses of many look-ups overlap, while Lookup would wait for each of them. The
// caller gives the result to an arena.Touched; it means nothing.
func (t *FuncTable) Ahead(names [][]byte) (sum byte) {
	const block = 32
	var place [block]int
	x := &t.names
	for len(names) > 0 {
		some := names[:min(block, len(names))]
		names = names[len(some):]
		for i, name := range some {
			place[i] = x.home(maphash.Bytes(t.seed, name))
			sum += x.tags[place[i]]
		}
		for i := range some {
			sum += byte(x.refs[place[i]])
		}
		for i := range some {
			if s := x.refs[place[i]]; s != 0 {
				sum += byte(t.symbols[s-1].base) + byte(t.values[s-1])
			}
		}
		for i := range some {
			if s := x.refs[place[i]]; s != 0 {
				sum += t.strtab[t.symbols[s-1].name]
			}
		}
	}
	return sum
}

// find is Lookup for a name whose hash is h.
func (t *FuncTable) find(h uint64, name []byte) uint32 {
	x, tag := &t.names, tagOf(h)
	for pos := x.home(h); x.tags[pos] != 0; pos = x.next(pos) {
		if x.tags[pos] != tag {
			continue
		}
		s := &t.symbols[x.refs[pos]-1]
		if n := s.base & baseLen; int(n) == len(name) && string(t.strtab[s.name:s.name+n]) == string(name) {
			return x.refs[pos]
		}
	}
	return 0
}

// Len returns the number of entries of all files.
func (t *FuncTable) Len() int {
	return t.entries
}

// MaxEntry returns the highest entry number that may be in use, 0 if there are
// no entries. Other tables that are indexed by entry need it.
func (t *FuncTable) MaxEntry() int {
	return len(t.symbols)
}

// Name returns the base name of entry e, nil if there is no such entry. The
// result is a part of the file's string table.
func (t *FuncTable) Name(e uint32) []byte {
	if !t.valid(e) {
		return nil
	}
	s := t.symbols[e-1]
	return t.strtabOf(e - 1)[s.name : s.name+s.base&baseLen]
}

// Ambiguous reports whether the symbols of entry e have different addresses, by
// pahole's rule (see Seal for its quirk).
func (t *FuncTable) Ambiguous(e uint32) bool {
	return t.valid(e) && t.symbols[e-1].base&attrAmbiguous != 0
}

// Symbol compares addr, the address of a subprogram DIE (0 if it has none),
// with the symbols of entry e.
//
// match tells that addr is the value of one of them. This holds for address 0
// as well: in a relocatable file a function at the start of its section has
// value 0, and pahole takes a DIE without an address for it.
//
// optimized tells that a symbol with that value has .constprop or .isra in the
// part of its name from the first dot on. sym is 1 + the number of the first symbol
// with that value and a dot in its name, for SymbolName, or 0. Both are for non-zero
// addresses only.
func (t *FuncTable) Symbol(e uint32, addr uint64) (match, optimized bool, sym uint32) {
	if !t.valid(e) {
		return false, false, 0
	}
	for s, ok := e-1, true; ok; s, ok = t.after(e-1, s) {
		if t.values[s] != addr {
			continue
		}
		match = true
		if addr == 0 {
			break
		}
		_, tail := splitName(t.SymbolName(s + 1))
		if len(tail) == 0 {
			continue
		}
		if sym == 0 {
			sym = s + 1
		}
		if bytes.Contains(tail, []byte(".constprop")) || bytes.Contains(tail, []byte(".isra")) {
			optimized = true
		}
	}
	return match, optimized, sym
}

// after returns the symbol after s in the ring that starts with first.
func (t *FuncTable) after(first, s uint32) (uint32, bool) {
	last := t.symbols[first].link
	switch {
	case last == noLink || s == last:
		return 0, false
	case s == first:
		return t.symbols[last].link, true
	}
	return t.symbols[s].link, true
}

// SymbolName returns the full name of a symbol that Symbol returned, nil for 0.
// The result is a part of the file's string table.
func (t *FuncTable) SymbolName(sym uint32) []byte {
	if !t.valid(sym) {
		return nil
	}
	name, _ := cString(t.strtabOf(sym-1), t.symbols[sym-1].name)
	return name
}

// SymbolAt returns the name of the first symbol of entry e with the value addr, nil if
// there is none.
func (t *FuncTable) SymbolAt(e uint32, addr uint64) []byte {
	if !t.valid(e) {
		return nil
	}
	for s, ok := e-1, true; ok; s, ok = t.after(e-1, s) {
		if t.values[s] == addr {
			return t.SymbolName(s + 1)
		}
	}
	return nil
}

// SetKfunc marks entry e as a kfunc with the flags of its BTF set. The last
// call for an entry counts.
func (t *FuncTable) SetKfunc(e uint32, flags uint32) {
	if !t.valid(e) {
		return
	}
	if t.kfuncs == nil {
		t.kfuncs = make(map[uint32]uint32)
	}
	t.kfuncs[e] = flags
	t.symbols[e-1].base |= attrKfunc
}

// Kfunc returns the flags of entry e if it is a kfunc.
func (t *FuncTable) Kfunc(e uint32) (flags uint32, ok bool) {
	if !t.valid(e) || t.symbols[e-1].base&attrKfunc == 0 {
		return 0, false
	}
	return t.kfuncs[e], true
}

// valid reports whether there is a symbol number n, counted from 1.
func (t *FuncTable) valid(n uint32) bool {
	return n != 0 && uint64(n) <= uint64(len(t.symbols))
}

// strtabOf returns the string table of the file of symbol s.
func (t *FuncTable) strtabOf(s uint32) []byte {
	n := len(t.files) - 1
	if s < t.files[n].first {
		n = sort.Search(n, func(i int) bool { return t.files[i].first > s }) - 1
	}
	return t.files[n].strtab
}

// splitName splits a symbol name into the base name and the rest from the first
// dot on, which may be empty.
func splitName(name []byte) (base, tail []byte) {
	if dot := bytes.IndexByte(name, '.'); dot >= 0 {
		return name[:dot], name[dot:]
	}
	return name, nil
}

// cString returns the zero-terminated string at offset off of strtab.
func cString(strtab []byte, off uint32) ([]byte, bool) {
	if uint64(off) >= uint64(len(strtab)) {
		return nil, false
	}
	end := bytes.IndexByte(strtab[off:], 0)
	if end < 0 {
		return nil, false
	}
	return strtab[off : int(off)+end], true
}
