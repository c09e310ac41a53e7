package verify

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

const (
	tInt = iota + 1
	tProto
	tStruct
)

// start is an int, a FUNC_PROTO and a struct: types 1 to 3.
func start() *blob {
	b := newBlob()
	b.add("int", btf.KindInt, 0, false, 4, 1<<24|32)
	b.add("", btf.KindFuncProto, 1, false, tInt, b.Str("arg"), tInt)
	b.add("st", btf.KindStruct, 2, false, 8, b.Str("a"), tInt, 0, b.Str("b"), tInt, 32)
	return b
}

func TestLegal(t *testing.T) {
	for _, bigEndian := range []bool{false, true} {
		b := start()
		p := b.add("", btf.KindPtr, 0, false, tStruct)
		b.add("list", btf.KindStruct, 1, false, 8, b.Str("next"), p+2, 0)
		b.add("", btf.KindPtr, 0, false, p+1) // list and its pointer: a loop through a pointer
		b.add("e", btf.KindEnum, 1, false, 4, b.Str("E"), 1)
		b.add("bits", btf.KindStruct, 2, true, 4, b.Str("x"), tInt, 3<<24, b.Str("y"), p+3, 2<<24|3)
		fn := b.add("main", btf.KindFunc, 1, false, tProto)
		b.add("tag with a blank", btf.KindDeclTag, 0, false, fn, 0)
		v := b.add("v", btf.KindVar, 0, false, tStruct, 1)
		b.add(".data..percpu", btf.KindDatasec, 1, false, 8, v, 0, 8)
		b.add("", btf.KindArray, 0, false, 0, tStruct, tInt, 3)
		for range 32 { // the deepest legal chain
			b.add("t", btf.KindTypedef, 0, false, b.N+2)
		}
		b.add("last", btf.KindInt, 0, false, 4, 32)
		for _, rules := range []Rules{{}, {Level: Boot}, {Level: Readable}, {Kernel: Release{7, 0, 0}}} {
			if _, err := Check(b.Encode(bigEndian), nil, rules); err != nil {
				t.Errorf("big endian %v, %+v: %v", bigEndian, rules, err)
			}
		}
	}
}

// TestRefused: a type added to start's breaks one rule, of a level and of all
// stricter ones.
func TestRefused(t *testing.T) {
	long := strings.Repeat("x", 513)
	for _, c := range []struct {
		add   func(b *blob)
		level Level
		want  string
	}{
		{func(b *blob) { b.add("a b", btf.KindStruct, 0, false, 0) }, Boot, `[4] STRUCT "a b": name is not a C identifier`},
		{func(b *blob) { b.add("\x1b[2J", btf.KindUnion, 0, false, 0) }, Boot, `[4] UNION "\x1b[2J": name is not a C identifier`},
		{func(b *blob) { b.add(long, btf.KindFwd, 0, false, 0) }, Boot, `... (513 bytes): name of 513 bytes, at most 512 are allowed`},
		{func(b *blob) { b.add("", btf.KindTypedef, 0, false, tInt) }, Boot, `[4] TYPEDEF (anon): has no name, must have one`},
		{func(b *blob) { b.add("p", btf.KindPtr, 0, false, tInt) }, Boot, `[4] PTR "p": has a name, must have none`},
		{func(b *blob) { b.add("", btf.KindTypeTag, 0, false, tInt) }, Boot, `TYPE_TAG (anon): has no name, must have one`},
		{func(b *blob) { b.add("", btf.KindConst, 1, false, tInt) }, Boot, `CONST (anon): vlen 1, must be 0`},
		{func(b *blob) { b.add("", btf.KindConst, 0, true, tInt) }, Boot, `CONST (anon): kind_flag must not be set`},
		{func(b *blob) { b.add("f", btf.KindFwd, 0, false, 1) }, Boot, `FWD "f": third word is 1, must be 0`},
		{func(b *blob) { b.add("i", btf.KindInt, 0, false, 4, 33) }, Boot, `bits 0+33 do not fit its 4 bytes`},
		{func(b *blob) { b.add("i", btf.KindInt, 0, false, 32, 129) }, Boot, `bits 0+129, at most 128 are allowed`},
		{func(b *blob) { b.add("i", btf.KindInt, 0, false, 4, 3<<24|32) }, Boot, `encoding 3`},
		{func(b *blob) { b.add("i", btf.KindInt, 0, false, 4, 1<<28|32) }, Boot, `unknown bits in the data word 0x10000020`},
		{func(b *blob) { b.add("f", btf.KindFloat, 0, false, 3) }, Boot, `size 3 of a FLOAT`},
		{func(b *blob) { b.add("", btf.KindArray, 0, false, 0, 0, tInt, 1) }, Boot, `element or index type is void`},
		{func(b *blob) { b.add("", btf.KindArray, 0, false, 0, tInt, tStruct, 1) }, Load, `index type [3] is not a regular INT`},
		{func(b *blob) { b.add("", btf.KindArray, 0, false, 0, tStruct, tInt, 1<<29) }, Load, `536870912 elements of 8 bytes need more than 32 bits`},
		{func(b *blob) { b.add("", btf.KindArray, 0, false, 0, tProto, tInt, 1) }, Load, `element type [2] has no size`},
		{func(b *blob) { b.add("e", btf.KindEnum, 0, false, 3) }, Boot, `size 3 of an enumeration`},
		{func(b *blob) { b.add("e", btf.KindEnum, 1, false, 4, 0, 1) }, Boot, `value 0: has no name, must have one`},
		{func(b *blob) { b.add("e", btf.KindEnum64, 1, false, 8, b.Str("9"), 1, 1) }, Boot, `value 0 "9": name is not a C identifier`},
		{func(b *blob) { b.add("s", btf.KindStruct, 1, false, 4, b.Str("m"), 0, 0) }, Boot, `member 0 "m": type is void`},
		{func(b *blob) { b.add("s", btf.KindStruct, 1, false, 4, b.Str("m"), tInt, 8) }, Load, `member 0 "m": ends at bit 40, behind its 4 bytes`},
		{func(b *blob) { b.add("s", btf.KindStruct, 1, false, 4, b.Str("m"), tInt, 64) }, Boot, `member 0 "m": bit offset 64 in 4 bytes`},
		{func(b *blob) { b.add("s", btf.KindStruct, 2, false, 8, 0, tInt, 32, 0, tInt, 0) }, Boot, `member 1: bit offset 0 behind a member at 32`},
		{func(b *blob) { b.add("s", btf.KindStruct, 1, false, 64, 0, tStruct, 4) }, Load, `member 0: bit offset 4 is not a multiple of 8`},
		{func(b *blob) { b.add("s", btf.KindStruct, 1, true, 64, 0, tStruct, 1<<24) }, Load, `member 0: a bit-field of STRUCT`},
		{func(b *blob) { b.add("s", btf.KindStruct, 1, true, 64, 0, tInt, 33<<24) }, Load, `member 0: a bit-field of 33 bits in an INT of 32`},
		{func(b *blob) { b.add("s", btf.KindStruct, 1, false, 4, 0, 4, 0) }, Load, `STRUCT "s": is part of itself, through type [4]`},
		{func(b *blob) { b.add("u", btf.KindUnion, 1, false, 4, 0, tInt, 8) }, Boot, `member 0: bit offset 8 in a union`},
		{func(b *blob) { b.add("", btf.KindFuncProto, 1, false, 0, b.Str("x"), 0) }, Load, `parameter 0 "x": type is void`},
		{func(b *blob) { b.add("", btf.KindFuncProto, 2, false, 0, 0, 0, 0, tInt) }, Load, `parameter 0: type is void`},
		{func(b *blob) { b.add("", btf.KindFuncProto, 0, false, tProto) }, Load, `return type: type [2] has no size`},
		{func(b *blob) { b.add("f", btf.KindFunc, 2, false, tProto) }, Boot, `linkage 2, must be static or global`},
		{func(b *blob) { b.add("f", btf.KindFunc, 0, false, tInt) }, Load, `refers to type [1], which is not a FUNC_PROTO`},
		{func(b *blob) {
			p := b.add("", btf.KindFuncProto, 1, false, 0, 0, tInt)
			b.add("f", btf.KindFunc, 0, false, p)
		}, Load, `[5] FUNC "f": parameter 0 has no name`},
		{func(b *blob) { b.add("v", btf.KindVar, 0, false, tInt, 2) }, Boot, `linkage 2, must be static or global`},
		{func(b *blob) { b.add("v", btf.KindVar, 0, false, 0, 1) }, Boot, `VAR "v": type is void`},
		{func(b *blob) { b.add("v", btf.KindVar, 0, false, tProto, 1) }, Load, `its type has no size`},
		{func(b *blob) { b.add(".d", btf.KindDatasec, 0, false, 0) }, Boot, `DATASEC ".d": size 0`},
		{func(b *blob) { b.add(".d", btf.KindDatasec, 1, false, 4, tInt, 0, 4) }, Load, `entry 0: type [1] is a INT, no VAR`},
		{func(b *blob) {
			v, w := b.add("v", btf.KindVar, 0, false, tInt, 1), b.add("w", btf.KindVar, 0, false, tInt, 1)
			b.add(".d", btf.KindDatasec, 2, false, 8, v, 0, 4, w, 2, 4)
		}, Boot, `entry 1 "w": offset 2 overlaps the entry before it, "v", which ends at 4`},
		{func(b *blob) {
			v := b.add("v", btf.KindVar, 0, false, tInt, 1)
			b.add(".d", btf.KindDatasec, 1, false, 8, v, 0, 2)
		}, Load, `entry 0 "v": 2 bytes for a variable of 4`},
		{func(b *blob) { b.add("t", btf.KindDeclTag, 0, false, tInt, ^uint32(0)) }, Load, `tags type [1], a INT`},
		{func(b *blob) { b.add("t", btf.KindDeclTag, 0, false, tStruct, 2) }, Load, `component index 2 for a STRUCT with 2`},
		{func(b *blob) { b.add("t", btf.KindDeclTag, 0, false, tStruct, ^uint32(1)) }, Boot, `component index -2`},
		{func(b *blob) { b.add("t", btf.KindTypedef, 0, false, 4) }, Boot, `more than 32 modifiers and typedefs in a row`},
		{func(b *blob) { b.add("", btf.KindPtr, 0, false, 4) }, Load, `PTR (anon): is part of itself, through type [4]`},
		{func(b *blob) {
			for range 33 {
				b.add("t", btf.KindTypedef, 0, false, b.N+2)
			}
			b.add("i", btf.KindInt, 0, false, 4, 32)
		}, Boot, `[4] TYPEDEF "t": more than 32 modifiers and typedefs in a row`},
		{func(b *blob) {
			for range 33 {
				b.add("s", btf.KindStruct, 1, false, 4, 0, b.N+2, 0)
			}
			b.add("i", btf.KindInt, 0, false, 4, 32)
		}, Load, `types nested more than 32 deep`},
		{func(b *blob) { b.add("s", btf.KindStruct, 1, false, 4, b.Str("m"), 99, 0) }, Readable, `STRUCT "s": refers to type [99], which does not exist`},
		{func(b *blob) { b.add("", btf.KindPtr, 0, false, 5) }, Readable, `PTR (anon): refers to type [5], which does not exist`},
		{func(b *blob) { b.Words = append(b.Words, 1<<20, btf.Info(btf.KindFwd, 0, false), 0) }, Readable, `name offset 1048576 goes beyond the strings`},
		{func(b *blob) { b.Words = append(b.Words, 0, 23<<24, 0) }, Readable, `unknown kind 23`},
		{func(b *blob) { b.Words = append(b.Words, 0, btf.Info(btf.KindStruct, 9, false), 0) }, Readable, `record goes beyond the type section`},
		{func(b *blob) { b.Words = append(b.Words, 0, 0) }, Readable, `record goes beyond the type section`},
	} {
		b := start()
		c.add(b)
		for _, level := range []Level{Load, Boot, Readable} {
			_, err := Check(b.Encode(false), nil, Rules{Level: level})
			switch {
			case level > c.level && err != nil:
				t.Errorf("level %d: %v, want nothing; %s", level, err, c.want)
			case level <= c.level && (err == nil || !strings.HasSuffix(err.Error(), c.want)):
				t.Errorf("level %d: %v, want %s", level, err, c.want)
			case err != nil && err.(*Fault).Level != c.level:
				t.Errorf("%v: level %d, want %d", err, err.(*Fault).Level, c.level)
			}
		}
	}
}

func TestBeforeLinux72(t *testing.T) {
	many := func(b *blob) {
		var rest []uint32
		for range 70000 {
			rest = append(rest, b.Str("v"), 0)
		}
		b.add("big", btf.KindEnum, 70000, false, 4, rest...)
	}
	for _, c := range []struct {
		add  func(b *blob)
		want string
	}{
		{many, `[4] ENUM "big": more than 65,535 elements needs Linux 7.2`},
		{func(b *blob) {
			b.add("tag", btf.KindTypeTag, 0, false, tInt)
			b.add("", btf.KindConst, 0, false, 4)
		}, `[5] CONST (anon): a TYPE_TAG behind another modifier needs Linux 7.2`},
	} {
		b := start()
		c.add(b)
		if _, err := Check(b.Encode(false), nil, Rules{}); err != nil {
			t.Error(err)
		}
		if _, err := Check(b.Encode(false), nil, Rules{Kernel: Release{7, 0, 0}}); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestHeader changes the header of a legal blob, or the data after it.
func TestHeader(t *testing.T) {
	legal := start().Encode(false)
	types := len(start().Words) * 4
	layout := func(d []byte) []byte { // a header of 32 bytes, the layout after the types
		h := append([]byte(nil), d[:btf.HeaderLen]...)
		h[4] = 32
		h[16] += 4
		h = append(h, byte(types), 0, 0, 0, 4, 0, 0, 0)
		h = append(h, d[btf.HeaderLen:btf.HeaderLen+types]...)
		h = append(h, 0, 0, 0, 0)
		return append(h, d[btf.HeaderLen+types:]...)
	}
	for _, c := range []struct {
		change    func([]byte) []byte
		want, old string
	}{
		{change: func(d []byte) []byte { return d }},
		{change: layout, old: "BTF a layout section needs Linux 7.1"},
		{change: func(d []byte) []byte { return layout(d)[:32+types] }, want: "goes beyond the data"},
		{change: func(d []byte) []byte { return d[:7] }, want: "header: 7 bytes are too few for one"},
		{change: put(0, 0x9e), want: "header: bad magic 0x9eeb"},
		{change: put(2, 2), want: "header: unsupported version 2"},
		{change: put(3, 1), want: "header: unsupported flags 0x1"},
		{change: put(4, 255, 255), want: "header: bad length 65535"},
		{change: put(8, 2), want: "header: type section starts at 2, not at 0"},
		{change: put(20, 1), want: "does not end with the data"},
		{change: put(16, 0), want: "string section 0+"},
		{change: func(d []byte) []byte { return append(d, 0) }, want: "does not end with the data"},
		{change: func(d []byte) []byte { return d[:btf.HeaderLen] }, want: "header: no data behind it"},
		{change: func(d []byte) []byte { d[len(d)-1] = 1; return d }, want: "strings: no NUL at the end"},
		{change: put(btf.HeaderLen+types, 'x'), want: "strings: the first is not empty"},
	} {
		data := c.change(append([]byte(nil), legal...))
		for _, rules := range []Rules{{}, {Kernel: Release{7, 0, 0}}} {
			want := c.want
			if rules.Kernel.before(Newest) && c.old != "" {
				want = c.old
			}
			_, err := Check(data, nil, rules)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%+v: %v, want %q", rules, err, want)
			}
		}
	}
}

// TestSplit: own types over a base, whose types are taken as they are.
func TestSplit(t *testing.T) {
	smallChunks(t, 1)
	base := start()
	base.add("", btf.KindConst, 0, false, tStruct)       // 4
	base.add("", btf.KindArray, 0, false, 0, 4, tInt, 3) // 5: 24 bytes
	base.add("a bad name", btf.KindTypedef, 0, false, 5) // 6
	base.add("fn", btf.KindFunc, 0, false, tProto)       // 7
	b := base.Blob(t)
	split := func(add func(s *blob)) error {
		s := &blob{btftest.Over(b)}
		add(s)
		_, err := Check(s.Encode(false), b, Rules{})
		if _, other := Check(s.Encode(false), b, Rules{Workers: 3}); fmt.Sprint(err) != fmt.Sprint(other) {
			t.Errorf("%v; 3 workers: %v", err, other)
		}
		return err
	}
	own := b.StrEnd() // the first own name
	if err := split(func(s *blob) {
		s.Strings = []byte("mine\x00")
		s.Words = append(s.Words, own, btf.Info(btf.KindStruct, 2, false), 32,
			base.Str("a"), 6, 0, own, tStruct, 192)
		s.Words = append(s.Words, 0, btf.Info(btf.KindPtr, 0, false), 8)
		s.Words = append(s.Words, 0, btf.Info(btf.KindConst, 0, false), 6)
		s.Words = append(s.Words, 0, btf.Info(btf.KindArray, 0, false), 0, 10, tInt, 2)
		s.Words = append(s.Words, own, btf.Info(btf.KindStruct, 1, false), 48, own, 11, 0)
		s.Words = append(s.Words, own, btf.Info(btf.KindDeclTag, 0, false), 7, 0)
	}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		words []uint32
		want  string
	}{
		{[]uint32{own, btf.Info(btf.KindStruct, 1, false), 16, 0, 6, 0}, `[8] STRUCT "mine": member 0: ends at bit 192, behind its 16 bytes`},
		{[]uint32{
			own, btf.Info(btf.KindStruct, 1, false), 47, 0, 9, 0,
			0, btf.Info(btf.KindArray, 0, false), 0, 10, tInt, 2,
			0, btf.Info(btf.KindConst, 0, false), 6,
		}, `[8] STRUCT "mine": member 0: ends at bit 384, behind its 47 bytes`},
		{[]uint32{0, btf.Info(btf.KindPtr, 0, false), 9}, `[8] PTR (anon): refers to type [9], which does not exist`},
		{[]uint32{own + 5, btf.Info(btf.KindFwd, 0, false), 0}, `goes beyond the strings`},
		{[]uint32{base.Str("a bad name"), btf.Info(btf.KindFwd, 0, false), 0}, `[8] FWD "a bad name": name is not a C identifier`},
		{[]uint32{own, btf.Info(btf.KindDeclTag, 0, false), 7, 1}, `component index 1 for a FUNC with 1`},
	} {
		err := split(func(s *blob) { s.Strings = []byte("mine\x00"); s.Words = c.words })
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if _, err := Check(base.Encode(true), b, Rules{}); err == nil || !strings.Contains(err.Error(), "byte order") {
		t.Errorf("another byte order: %v", err)
	}
}

// TestPointerSize: BTF that is right for one size of pointers is wrong for another.
func TestPointerSize(t *testing.T) {
	for _, c := range []struct {
		long uint32 // bytes of long, 0: none, 12: of 8 and of 4
		size int
		ok   bool
	}{{0, 0, true}, {12, 0, true}, {0, 8, false}, {4, 0, true}, {8, 0, false}, {0, 4, true}, {4, 8, false}} {
		b := start()
		p := b.add("", btf.KindPtr, 0, false, 0)
		b.add("s", btf.KindStruct, 1, false, 4, 0, p, 0)
		if c.long == 12 { // both
			b.add("long", btf.KindInt, 0, false, 8, 64)
			b.add("long int", btf.KindInt, 0, false, 4, 32)
		} else if c.long != 0 {
			b.add("long", btf.KindInt, 0, false, c.long, 8*c.long)
		}
		if _, err := Check(b.Encode(false), nil, Rules{PointerSize: c.size}); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// FuzzCheck: no data panics; what a strict level takes, a weaker one does, and
// btf.Parse reads it; several workers say what one does.
func FuzzCheck(f *testing.F) {
	f.Add(start().Encode(false))
	f.Add(start().Encode(true))
	for _, big := range []bool{false, true} {
		f.Add(laterBTF(big, nil, laterLayout()))
	}
	for i := range 20 {
		f.Add(randomBlob(rand.New(rand.NewPCG(2, uint64(i)))))
	}
	base, err := btf.Parse(start().Encode(false), nil)
	if err != nil {
		f.Fatal(err)
	}
	smallChunks(f, 2)
	f.Fuzz(func(t *testing.T, data []byte) {
		var v verdicts
		v.agreeInAnyOrder(t, data, "")
		n, err := Check(data, nil, Rules{})
		if (n == 0) == (err == nil) {
			t.Fatal(n, err)
		}
		Check(data, base, Rules{})
		Check(data, base, Rules{Kernel: Oldest, Loaded: true})
		if len(data) < 1000 {
			sinceAgrees(t, data, "")
		}
		_, boot := Check(data, nil, Rules{Level: Boot})
		_, readable := Check(data, nil, Rules{Level: Readable})
		if err == nil && boot != nil || boot == nil && readable != nil {
			t.Fatalf("load: %v; boot: %v; readable: %v", err, boot, readable)
		}
		if err == nil {
			if _, err := btf.Parse(data, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}
