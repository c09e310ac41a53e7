package verify

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// Blobs for tests: built record by record, without the checks of btf.Builder,
// because most of them are wrong on purpose.

// blob is a btftest.Builder whose records are said by kind.
type blob struct{ *btftest.Builder }

func newBlob() *blob { return &blob{btftest.New()} }

// add appends a record and returns its id.
func (b *blob) add(name string, k btf.Kind, vlen uint32, kflag bool, third uint32, rest ...uint32) uint32 {
	return b.Add(name, btf.Info(k, vlen, kflag), third, rest...)
}

// randomBlob builds a few types that refer to one another at random: legal for
// the most part, so that deep rules are reached.
func randomBlob(r *rand.Rand) []byte {
	b := newBlob()
	n := 2 + r.IntN(14)
	odd := func(chance int) bool { return r.IntN(chance) == 0 }
	pick := func(xs ...uint32) uint32 { return xs[r.IntN(len(xs))] }
	i := 1 // the type being built
	ref := func() uint32 {
		switch {
		case i > 1 && !odd(6):
			return uint32(1 + r.IntN(i-1)) // backwards: no loop
		case odd(80):
			return 0
		case odd(2000):
			return uint32(n + 1 + r.IntN(3))
		}
		return uint32(1 + r.IntN(n))
	}
	name := func() string {
		if odd(500) {
			return []string{"", "9x", "a b", "a.b", "\xc3\xc3", "\xd7", ".x", "a\x01"}[r.IntN(8)]
		}
		return []string{"a", "b", "c_1", "_d", "E.e"}[r.IntN(5)]
	}
	optional := func() string {
		if odd(2) {
			return ""
		}
		return name()
	}
	kinds := make([]btf.Kind, n+1)
	for i := 1; i <= n; i++ {
		kinds[i] = btf.Kind(1 + r.IntN(19))
		if i == 1 || odd(5) {
			kinds[i] = btf.KindInt
		}
	}
	if n > 3 {
		kinds[2], kinds[3] = btf.KindFuncProto, btf.KindVar
	}
	// of looks for a type of one of the kinds, a few times.
	of := func(set uint32) uint32 {
		for range 40 {
			if id := ref(); id != 0 && int(id) <= n && in(set, kinds[id]) || odd(200) {
				return id
			}
		}
		return 1
	}
	values := uint32(sized | modifiers)
	for ; i <= n; i++ {
		k := kinds[i]
		kflag := odd(300)
		vlen := uint32(0)
		if odd(300) {
			vlen = 1
		}
		switch k {
		case btf.KindInt:
			size := pick(1, 2, 4, 8, 16, 4, 8)
			bits := 8 * size
			off := uint32(0)
			if odd(20) {
				bits = uint32(1 + r.IntN(int(bits)))
				off = uint32(r.IntN(9))
			}
			if odd(100) {
				size = pick(0, 3, 32)
			}
			b.add(optional(), k, 0, kflag, size, pick(0, 1, 2, 4)<<24|off<<16|bits)
		case btf.KindArray:
			b.add("", k, vlen, kflag, 0, of(values), of(1<<btf.KindInt|1<<btf.KindTypedef), pick(0, 1, 2, 10, 10, 10, 10, 10, 10, 1<<28))
		case btf.KindStruct, btf.KindUnion:
			m := r.IntN(4)
			kflag = odd(3)
			var rest []uint32
			off := uint32(0)
			for range m {
				o := off
				if kflag && odd(4) {
					o |= uint32(r.IntN(36)) << 24
				}
				rest = append(rest, b.Str(optional()), of(values), o)
				if k == btf.KindStruct {
					off += pick(64, 128, 64, 128, 32, 32, 8, 8, 1)
				}
			}
			b.add(optional(), k, uint32(m), kflag, pick(16, 32, 64, 1<<20, 1<<20, 1<<20), rest...)
		case btf.KindEnum, btf.KindEnum64:
			m := r.IntN(3)
			var rest []uint32
			for range m {
				rest = append(rest, b.Str(name()), r.Uint32())
				if k == btf.KindEnum64 {
					rest = append(rest, r.Uint32())
				}
			}
			b.add(optional(), k, uint32(m), odd(2), pick(1, 2, 4, 8, 4, 8, 4, 4, 4, 4), rest...)
		case btf.KindFwd:
			b.add(name(), k, vlen, odd(2), 0)
		case btf.KindFunc:
			b.add(name(), k, uint32(r.IntN(2)), kflag, max(2, of(1<<btf.KindFuncProto)))
		case btf.KindFuncProto:
			m := r.IntN(4)
			var rest []uint32
			for range m {
				rest = append(rest, b.Str(name()), of(values))
			}
			if odd(4) {
				rest = append(rest, 0, 0)
				m++
			}
			ret := of(values)
			if odd(3) {
				ret = 0
			}
			b.add("", k, uint32(m), kflag, ret, rest...)
		case btf.KindVar:
			b.add(name(), k, vlen, kflag, of(values), pick(0, 1))
		case btf.KindDatasec:
			var rest []uint32
			m := r.IntN(3)
			off := uint32(0)
			for range m {
				size := pick(16, 1<<20, 1<<20)
				v := of(1 << btf.KindVar)
				if v == 1 && n > 3 {
					v = 3
				}
				rest = append(rest, v, off, size)
				off += size
			}
			b.add(name(), k, uint32(m), kflag, off+uint32(1+r.IntN(5)), rest...)
		case btf.KindFloat:
			b.add(optional(), k, vlen, kflag, pick(2, 4, 8, 12, 16, 4, 8))
		case btf.KindDeclTag:
			b.add(name(), k, vlen, odd(9), max(3, of(records|1<<btf.KindFunc|1<<btf.KindVar|1<<btf.KindTypedef)), uint32(r.IntN(3)/2-1))
		case btf.KindTypeTag:
			b.add(name(), k, vlen, odd(9), ref())
		case btf.KindTypedef:
			b.add(name(), k, vlen, kflag, ref())
		default: // PTR, CONST, VOLATILE, RESTRICT
			b.add("", k, vlen, kflag, ref())
		}
	}
	return b.Encode(false)
}

// mutate changes a few bytes or words of a copy of data, most of all in the
// types.
func mutate(r *rand.Rand, data []byte) []byte {
	d := append([]byte(nil), data...)
	for range 1 + r.IntN(2)*r.IntN(2) {
		at := r.IntN(len(d))
		if r.IntN(10) > 0 && at < btf.HeaderLen {
			at = btf.HeaderLen + r.IntN(len(d)-btf.HeaderLen)
		}
		switch r.IntN(6) {
		case 0:
			d[at] ^= 1 << r.IntN(8)
		case 1:
			d[at] = byte(r.Uint32())
		case 2:
			d[at&^3] = byte(r.IntN(20))
		case 3:
			d[at]++
		case 4: // a word from elsewhere
			from := data[r.IntN(len(data))&^3:]
			copy(d[at&^3:], from[:min(4, len(from))])
		case 5:
			if r.IntN(20) == 0 {
				d = d[:at]
			} else {
				d[at] = 0
			}
		}
		if len(d) <= btf.HeaderLen+4 {
			break
		}
	}
	return d
}

// eachChain calls fn with chains of up to 70 types, whose ids rise or fall towards
// the end of the chain.
func eachChain(fn func(what string, data []byte)) {
	links := map[string]func(b *blob, to uint32){
		"typedef": func(b *blob, to uint32) { b.add("t", btf.KindTypedef, 0, false, to) },
		"const":   func(b *blob, to uint32) { b.add("", btf.KindConst, 0, false, to) },
		"pointer": func(b *blob, to uint32) { b.add("", btf.KindPtr, 0, false, to) },
		"array":   func(b *blob, to uint32) { b.add("", btf.KindArray, 0, false, 0, to, 1, 1) },
		"struct":  func(b *blob, to uint32) { b.add("s", btf.KindStruct, 1, false, 8, 0, to, 0) },
		"mixed": func(b *blob, to uint32) {
			if b.N%2 == 0 {
				b.add("t", btf.KindTypedef, 0, false, to)
			} else {
				b.add("s", btf.KindStruct, 1, false, 8, 0, to, 0)
			}
		},
		"pointer, const": func(b *blob, to uint32) { b.add("", []btf.Kind{btf.KindPtr, btf.KindConst}[b.N%2], 0, false, to) },
		"array, const": func(b *blob, to uint32) {
			if b.N%2 == 0 {
				b.add("", btf.KindConst, 0, false, to)
			} else {
				b.add("", btf.KindArray, 0, false, 0, to, 1, 1)
			}
		},
	}
	for name, link := range links {
		for n := range uint32(70) {
			for _, before := range []btf.Kind{btf.KindVoid, btf.KindPtr, btf.KindVar, btf.KindConst} {
				b := newBlob()
				b.add("int", btf.KindInt, 0, false, 4, 1<<24|32)
				switch before {
				case btf.KindVar:
					b.add("v", before, 0, false, 3, 1)
				case btf.KindPtr, btf.KindConst:
					b.add("", before, 0, false, 3)
				}
				for range n {
					link(b, b.N+2)
				}
				b.add("end", btf.KindInt, 0, false, 4, 32)
				fn(fmt.Sprintf("%d forward %s behind %s", n, name, before), b.Encode(false))
			}
			b := newBlob()
			b.add("int", btf.KindInt, 0, false, 4, 1<<24|32)
			for range n {
				link(b, b.N)
			}
			fn(fmt.Sprintf("%d backward %s", n, name), b.Encode(false))
		}
	}
}

// eachFile calls fn with small BTF that compilers and tools wrote.
func eachFile(t *testing.T, fn func(name string, data []byte)) {
	t.Helper()
	for _, pattern := range []string{"../../testdata/small/*.btf", "../../encode/testdata/golden/*.btf",
		"../../dedup/testdata/vectors/*/0*.btf"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %d files", pattern, err, len(names))
		}
		for _, name := range names {
			data := testfile.Read(t, name)
			if len(data) < 20000 {
				fn(filepath.Base(name), data)
			}
		}
	}
}
