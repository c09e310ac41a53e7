package dump_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/dump"
	"github.com/btflite/btflite/test/testfile"
)

// everyType adds types of all kinds, and calls each for every one of them with a name, and with its
// size if it can be a member. C does not have some of these types.
func everyType(b *btftest.Builder, each func(name string, id, size uint32)) {
	i, flag := b.Int("int", 4), b.Of(btf.KindInt, "_Bool", false, 1, btftest.Part{4<<24 | 8})
	flags := b.Typedef("bool_t", flag)
	item := b.Struct("item", 4, b.Member("m", i, 0))
	declared, proto := b.Fwd("declared"), b.Proto(i, b.Param("", i), b.Param("", 0))
	for _, t := range []struct {
		name     string
		id, size uint32
	}{
		{"void", 0, 0}, {"int", i, 4}, {"bool", flag, 1}, {"int3", b.Int("three", 3), 3}, {"int16", b.Int("sixteen", 16), 16},
		{"half", b.Float("_Float16", 2), 2}, {"float", b.Float("float", 4), 4}, {"float6", b.Float("six", 6), 6}, {"float32", b.Float("complex long double", 32), 32},
		{"struct", item, 4}, {"union", b.Union("u", 8, b.Member("p", b.Ptr(item), 0)), 8}, {"unnamed", b.Struct("", 4, b.Member("m", i, 0)), 4},
		{"declared", declared, 0}, {"enum", b.Enum("e", b.Value("E", -1)), 4}, {"enum64", b.Of(btf.KindEnum64, "e64", true, 8, b.Value64("MIN", 1<<63), b.Value64("MAX", 1<<63-1)), 8},
		{"enum64_low", b.Of(btf.KindEnum64, "low", true, 8, b.Value64("MINUS", ^uint64(0))), 8}, {"enum64_high", b.Of(btf.KindEnum64, "high", false, 8, b.Value64("HIGH", 1<<32-1)), 8},
		{"enum64_both", b.Of(btf.KindEnum64, "both", true, 8, b.Value64("BELOW", ^uint64(0)), b.Value64("ABOVE", 1<<32-1)), 8},
		{"enum64_beyond", b.Of(btf.KindEnum64, "beyond", true, 8, b.Value64("BEYOND", ^uint64(1<<31))), 8}, {"enum64_least", b.Of(btf.KindEnum64, "least", true, 8, b.Value64("LEAST", ^uint64(1<<31-1))), 8},
		{"enum_of_8", b.Of(btf.KindEnum, "eight", true, 8, b.Value("EIGHT", -1)), 8}, {"enum_of_1", b.Of(btf.KindEnum, "one", true, 1, b.Value("ONE", -1)), 1},
		{"pointer", b.Ptr(i), 8}, {"pointer_to_void", b.Ptr(0), 8}, {"function", proto, 0}, {"pointer_to_function", b.Ptr(proto), 8},
		{"array", b.Array(i, i, 2), 8}, {"array_of_void", b.Array(0, i, 2), 0}, {"array_of_declared", b.Array(declared, i, 2), 0},
		{"array_of_functions", b.Array(proto, i, 2), 0}, {"array_of_none", b.Array(b.Array(0, i, 2), i, 3), 0}, {"bool_t", flags, 1},
	} {
		each(t.name, t.id, t.size)
		each(t.name+"_t", b.Typedef("t_"+t.name, t.id), t.size)
		constant := b.Const(t.id)
		each("const_"+t.name, constant, t.size)
		each("const_"+t.name+"_t", b.Typedef("const_t_"+t.name, constant), t.size)
		each("tagged_"+t.name, b.TypeTag("tag", t.id), t.size)
	}
}

// everyPlace puts every type into all places of types.
func everyPlace(b *btftest.Builder) {
	x := b.Int("int", 4)
	everyType(b, func(name string, id, size uint32) {
		b.Struct("s_"+name, size+4, b.Member("m", id, 0), b.Member("last", x, 8*size))
		if size == 1 || size == 4 {
			b.Of(btf.KindStruct, "bits_"+name, true, size, b.Member("one", id, 1<<24), b.Member("more", id, 6<<24|1))
		}
		for what, as := range map[string]uint32{"pointer": b.Ptr(id), "array": b.Array(id, x, 2), "pointer_to_array": b.Ptr(b.Array(id, x, 2)), "const": b.Const(id), "volatile": b.Volatile(id),
			"restrict": b.Restrict(id), "again": b.Const(b.Volatile(id)), "twice": b.Const(b.Restrict(b.Typedef("in_"+name, id)))} {
			b.Typedef(what+"_"+name, as)
		}
		gives := b.Proto(id)
		takes := b.Proto(x, b.Param("a", id), b.Param("", id), b.Param("b", x))
		b.Typedef("gives_"+name, b.Ptr(gives))
		b.Typedef("takes_"+name, b.Ptr(takes))
		b.DeclTag("bpf_kfunc", b.Func("kfunc_"+name, 1, takes), ^uint32(0))
		b.DeclTag("bpf_kfunc", b.Func("giving_"+name, 1, gives), ^uint32(0))
		b.DeclTag("bpf_kfunc", b.Func("in_"+name, 1, takes), ^uint32(0)) // a typedef has the name
	})
}

// sizes are assertions about the structs of everyPlace.
func sizes() string {
	var text strings.Builder
	everyType(btftest.New(), func(name string, _, size uint32) {
		fmt.Fprintf(&text, "_Static_assert(sizeof(struct s_%s) == %d && __builtin_offsetof(struct s_%s, last) == %d, \"\");\n", name, size+4, name, size)
	})
	return text.String()
}

// TestStrictPlaces: compilers take strict C of every type in every place, also where C has no such type
// there, with the functions declared and defined, and have the sizes that BTF says. In a body, parameters of a struct that is only
// declared cannot be.
func TestStrictPlaces(t *testing.T) {
	b := btftest.Build(t, nil, everyPlace)
	var stubs []uint32
	for id := uint32(1); id < b.TypeCount(); id++ {
		if b.Kind(id) == btf.KindFunc && !strings.Contains(string(b.NameBytes(b.Record(id).Name())), "declared") {
			stubs = append(stubs, id)
		}
	}
	if len(stubs) < 100 {
		t.Fatalf("%d functions", len(stubs))
	}
	for what, o := range map[string]dump.COptions{"header": {Strict: true}, "declared": {Strict: true, Stubs: stubs, Declare: true}, "defined": {Strict: true, Stubs: stubs}} {
		var text bytes.Buffer
		if err := dump.C(&text, b, o); err != nil {
			t.Fatal(err)
		}
		source := testfile.New(t, "x.c", text.String()+sizes())
		for _, cc := range []string{"gcc", "clang"} {
			if _, err := exec.LookPath(cc); err != nil {
				t.Logf("left out: no %s", cc)
				continue
			}
			if out, err := exec.Command(cc, "-m64", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", source).CombinedOutput(); err != nil {
				t.Errorf("%s, %s: %v: %.2000s", what, cc, err, out)
			}
		}
		if n := strings.Count(text.String(), "kfunc_"); n < 50 {
			t.Errorf("%s: %d functions", what, n)
		}
	}
}
