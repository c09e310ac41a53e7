package view

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// sample is split BTF over a base; the ids of its types are their names' digits.
func sample(t testing.TB) *View {
	t.Helper()
	b := btftest.New()
	add := func(name string, k btf.Kind, vlen uint32, flag bool, third uint32, extra ...uint32) uint32 {
		return b.Add(name, btf.Info(k, vlen, flag), third, extra...)
	}
	i := add("int", btf.KindInt, 0, false, 4, 1<<24|32)                                                                        // 1
	c := add("char", btf.KindInt, 0, false, 1, 1<<24|8)                                                                        // 2
	long := add("long int", btf.KindInt, 0, false, 8, 1<<24|64)                                                                // 3
	p := add("", btf.KindPtr, 0, false, c)                                                                                     // 4
	arr := add("", btf.KindArray, 0, false, 0, p, i, 7)                                                                        // 5
	arr2 := add("", btf.KindArray, 0, false, 0, arr, i, 3)                                                                     // 6
	s := add("item", btf.KindStruct, 3, true, 176, b.Str("kind"), i, 3<<24, b.Str("low"), i, 5<<24|3, b.Str("list"), arr2, 64) // 7
	con := add("", btf.KindConst, 0, false, s)                                                                                 // 8
	td := add("item", btf.KindTypedef, 0, false, con)                                                                          // 9
	add("", btf.KindVolatile, 0, false, td)                                                                                    // 10
	add("item_kind", btf.KindEnum, 2, true, 4, b.Str("NONE"), 0xffffffff, b.Str("SOME"), 1)                                    // 11
	add("wide", btf.KindEnum64, 1, false, 8, b.Str("TOP"), 1, 0x80000000)                                                      // 12
	proto := add("", btf.KindFuncProto, 2, false, long, b.Str("it"), s, 0, 0)                                                  // 13
	add("take", btf.KindFunc, 1, false, proto)                                                                                 // 14
	add("old", btf.KindStruct, 1, false, 4, b.Str("bits"), add("odd", btf.KindInt, 0, false, 4, 2<<16|5), 8)                   // 16, 15
	b = btftest.Over(b.Blob(t))
	v := add("item", btf.KindVar, 0, false, td, 1)         // 17
	add(".data", btf.KindDatasec, 1, false, 8, v, 16, 176) // 18
	add("", btf.KindUnion, 1, false, 8, b.Str("m"), 9, 0)  // 19
	return New(b.Blob(t))
}

func TestTypes(t *testing.T) {
	v := sample(t)
	var got []string
	for x := range v.All() {
		line := fmt.Sprintf("%d %s %s %d", x.ID, x.Kind(), x.Name(), x.Size())
		for _, m := range x.Members() {
			line += fmt.Sprintf(" %s:%d@%d+%d", m.Name(), m.TypeID, m.Offset, m.Bits)
		}
		for _, e := range x.Values() {
			line += fmt.Sprintf(" %s=%d", e.Name(), e.Value)
		}
		for _, p := range x.Params() {
			line += fmt.Sprintf(" %s:%d%v", p.Name(), p.TypeID, p.Variadic())
		}
		got = append(got, line)
	}
	want := `1 INT int 4
2 INT char 1
3 INT long int 8
4 PTR  8
5 ARRAY  56
6 ARRAY  168
7 STRUCT item 176 kind:1@0+3 low:1@3+5 list:6@64+0
8 CONST  176
9 TYPEDEF item 176
10 VOLATILE  176
11 ENUM item_kind 4 NONE=-1 SOME=1
12 ENUM64 wide 8 TOP=-9223372036854775807
13 FUNC_PROTO  0 it:7false :0true
14 FUNC take 0 it:7false :0true
15 INT odd 4
16 STRUCT old 4 bits:15@10+5
17 VAR item 176
18 DATASEC .data 8
19 UNION  8 m:9@0+0`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got:\n%s\nwant:\n%s", text, want)
	}
	if n := len(slices.Collect(v.Own())); n != 3 {
		t.Errorf("%d own types, want 3", n)
	}
	if id := v.Type(10).Resolved().ID; id != 7 {
		t.Errorf("Resolved gives %d, want 7", id)
	}
	if id := v.Type(10).Behind(btf.Modifiers).ID; id != 9 {
		t.Errorf("Behind modifiers is %d, want 9", id)
	}
	if id := v.Type(6).Innermost().ID; id != 4 {
		t.Errorf("Innermost gives %d, want 4", id)
	}
	if x := v.Type(99); x.Kind() != btf.KindVoid || x.Name() != nil || x.Size() != 0 || x.Target().ID != 0 {
		t.Errorf("an id that does not exist is %v", x)
	}
}

// TestRenamed: HasName goes by the name that Name gives, whatever the type was called before.
func TestRenamed(t *testing.T) {
	v := sample(t)
	for x := range v.All() {
		for _, name := range []string{"new", ""} {
			v.Rename(x.ID, []byte(name))
			if got := string(x.Name()); got != name || x.HasName() != (name != "") {
				t.Errorf("[%d], renamed to %q: name %q, HasName %v", x.ID, name, got, x.HasName())
			}
		}
		v.Rename(x.ID, nil)
		if got := string(x.Name()); got != "" || x.HasName() {
			t.Errorf("[%d] has lost its name: name %q, HasName %v", x.ID, got, x.HasName())
		}
	}
}

// TestNamed asks for many names, because these are found in another way.
func TestNamed(t *testing.T) {
	v := sample(t)
	for range fewNames {
		named(t, v)
	}
}

func named(t *testing.T, v *View) {
	t.Helper()
	for _, c := range []struct {
		name         string
		all, struct_ []uint32
	}{
		{"item", []uint32{7, 9, 17}, []uint32{7}},
		{"kind", nil, nil}, // of a member, and the end of item_kind
		{"int", []uint32{1}, nil},
		{"data", nil, nil},
		{".data", []uint32{18}, nil},
		{"", nil, nil},
		{"it\x00em", nil, nil},
		{"nothing", nil, nil},
	} {
		if got := v.Named(c.name); !slices.Equal(got, c.all) {
			t.Errorf("Named(%q) = %v, want %v", c.name, got, c.all)
		}
		if got := v.Named(c.name, btf.KindStruct); !slices.Equal(got, c.struct_) {
			t.Errorf("Named(%q, STRUCT) = %v, want %v", c.name, got, c.struct_)
		}
	}
}

// TestNamedInStrings: names that are ends of other strings, few and many times, and that
// are there twice.
func TestNamedInStrings(t *testing.T) {
	for _, others := range []int{0, 1, 3, 4, 5, 9} {
		b := btftest.New()
		word := btf.Record{b.Str("key_word") + 4, btf.Info(btf.KindFwd, 0, false), 0}
		for i := range others {
			b.Str(fmt.Sprint(i, "_word"))
			b.Str(fmt.Sprint("word_", i))
		}
		first := b.Add("word", btf.Info(btf.KindFwd, 0, false), 0)
		b.Add("word_1", btf.Info(btf.KindFwd, 0, false), 0)
		b.Add("key_word", btf.Info(btf.KindFwd, 0, false), 0)
		blob := b.Blob(t)
		blob.Off = append(blob.Off, uint32(len(blob.Words)))
		blob.Words = append(blob.Words, word...)
		if got := New(blob).Named("word"); !slices.Equal(got, []uint32{first, first + 3}) {
			t.Errorf("beside %d other strings: %v", others, got)
		}
	}
}

func TestPointerSize(t *testing.T) {
	for _, c := range []struct {
		name       string
		size, want int
	}{{"long int", 4, 4}, {"unsigned long", 8, 8}, {"long long", 4, 8}, {"long", 2, 8}} {
		b := btftest.New()
		b.BigEndian = true
		b.Add(c.name, btf.Info(btf.KindInt, 0, false), uint32(c.size), uint32(8*c.size))
		blob := b.Blob(t)
		if got := New(blob).PointerSize(); got != c.want {
			t.Errorf("%s of %d bytes: pointers of %d, want %d", c.name, c.size, got, c.want)
		}
	}
}

// TestCircles: types that contain or refer to themselves, and sizes without end,
// have some size and alignment.
func TestCircles(t *testing.T) {
	b := btftest.New()
	n := uint32(0)
	add := func(k btf.Kind, vlen, third uint32, extra ...uint32) {
		b.Add("", btf.Info(k, vlen, false), third, extra...)
		n++
	}
	add(btf.KindTypedef, 0, 1)                 // itself
	add(btf.KindConst, 0, 3)                   // a circle of two
	add(btf.KindTypedef, 0, 2)                 //
	add(btf.KindArray, 0, 0, 4, 1, 2)          // of itself
	add(btf.KindStruct, 1, 8, 0, 6, 0)         // two that contain each other
	add(btf.KindUnion, 2, 8, 0, 5, 0, 0, 7, 0) //
	add(btf.KindInt, 0, 4, 32)
	for range 2 * MaxDepth { // arrays of arrays
		add(btf.KindArray, 0, 0, n, 7, 1<<31)
	}
	for range 2 * MaxDepth { // structs in structs
		add(btf.KindStruct, 1, 4, 0, n, 0)
	}
	v := New(b.Blob(t))
	for id, want := range []uint64{0, 0, 0, 0, 0, 8, 8, 4, 1 << 33, ^uint64(0)} {
		if got := v.Type(uint32(id)).Size(); got != want {
			t.Errorf("[%d] has size %d, want %d", id, got, want)
		}
	}
	lays := NewLayouts(v)
	for x := range v.All() {
		if a := lays.fact(x.ID).align; a != 1 && a != 4 {
			t.Errorf("[%d] has alignment %d", x.ID, a)
		}
		x.Resolved()
		x.Innermost()
	}
}

// TestOfKinds: the types of some kinds are those that All and Own have of them.
func TestOfKinds(t *testing.T) {
	v := sample(t)
	for _, kinds := range [][]btf.Kind{{btf.KindStruct, btf.KindUnion}, {btf.KindFunc}, {btf.KindDatasec, btf.KindInt}, nil} {
		for withBases, types := range map[bool]iter.Seq[Type]{true: v.All(), false: v.Own()} {
			var got, want []uint32
			for x := range v.OfKinds(withBases, kinds...) {
				got = append(got, x.ID)
			}
			for x := range types {
				if slices.Contains(kinds, x.Kind()) {
					want = append(want, x.ID)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v, bases %t: %v, want %v", kinds, withBases, got, want)
			}
		}
	}
	for range v.OfKinds(true, btf.KindInt) {
		break // as every iterator allows
	}
}
