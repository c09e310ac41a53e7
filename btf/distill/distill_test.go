package distill

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
)

// splitFile reads a file of testdata/split; scripts/split.sh says what they are.
func splitFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("../../testdata/split/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func textOf(b *btf.Blob) string {
	var s strings.Builder
	_ = btf.Format(&s, b)
	return s.String()
}

func splitBlob(t testing.TB, name string, base *btf.Blob) *btf.Blob {
	t.Helper()
	b, err := btf.Parse(splitFile(t, name), base)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b
}

func TestDistillEqualsPahole(t *testing.T) {
	for _, name := range []string{"x86", "s390x"} {
		base := splitBlob(t, name+".base.btf", nil)
		module := splitBlob(t, name+".module.btf", base)
		before := module.Encode()
		newBase, out, err := Split(module)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(newBase.Encode(), splitFile(t, name+".distilled.base.btf")) {
			t.Errorf("%s: .BTF.base is\n%s", name, textOf(newBase))
		}
		if !bytes.Equal(out.Encode(), splitFile(t, name+".distilled.btf")) {
			t.Errorf("%s: .BTF is\n%s", name, textOf(out))
		}
		if !bytes.Equal(module.Encode(), before) {
			t.Errorf("%s: the input was changed", name)
		}
	}
}

// TestDistillKinds: one base type of each kind, and what it becomes.
func TestDistillKinds(t *testing.T) {
	base, err := chainOfKinds().Blob()
	if err != nil {
		t.Fatal(err)
	}
	b := btf.NewBuilder(false, base)
	for id := uint32(1); id < base.TypeCount(); id++ {
		switch base.Kind(id) {
		case btf.KindFunc, btf.KindVar, btf.KindDatasec, btf.KindDeclTag:
		default:
			b.Add("", btf.Info(btf.KindPtr, 0, false), id)
		}
	}
	split, err := b.Blob()
	if err != nil {
		t.Fatal(err)
	}
	newBase, out, err := Split(split)
	if err != nil {
		t.Fatal(err)
	}
	const wantBase = `[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
[2] STRUCT 's' size=8 vlen=0
[3] UNION 'u' size=4 vlen=0
[4] ENUM 'e' encoding=UNSIGNED size=4 vlen=0
[5] FWD 'f' fwd_kind=union
[6] FLOAT 'double' size=8
[7] ENUM 'e64' encoding=UNSIGNED size=8 vlen=0
`
	if got := textOf(newBase); got != wantBase {
		t.Errorf("base is\n%swant\n%s", got, wantBase)
	}
	// The pointers are 8 and on, the copies follow them.
	got := textOf(out)
	_, copies, _ := strings.Cut(got, "[27]")
	const wantCopies = ` PTR '(anon)' type_id=1
[28] ARRAY '(anon)' type_id=27 index_type_id=1 nr_elems=3
[29] ENUM '(anon)' encoding=SIGNED size=4 vlen=1
	'B' val=-1
[30] TYPEDEF 't' type_id=29
[31] VOLATILE '(anon)' type_id=30
[32] CONST '(anon)' type_id=31
[33] RESTRICT '(anon)' type_id=27
[34] FUNC_PROTO '(anon)' ret_type_id=32 vlen=1
	'p' type_id=2
[35] TYPE_TAG 'tag' type_id=1
[36] ENUM64 '(anon)' encoding=UNSIGNED size=8 vlen=1
	'C' val=8589934593ULL
[37] STRUCT '(anon)' size=4 vlen=1
	'm' type_id=1 bits_offset=0
[38] UNION '(anon)' size=4 vlen=1
	'n' type_id=1 bits_offset=0
`
	if copies != wantCopies {
		t.Errorf("split is\n%s", got)
	}
}

// chainOfKinds has one base type of every kind, named and anonymous.
func chainOfKinds() *btf.Builder {
	b := btf.NewBuilder(false, nil)
	i := b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 1<<24|32)
	p := b.Add("", btf.Info(btf.KindPtr, 0, false), i)
	b.Add("", btf.Info(btf.KindArray, 0, false), 0, p, i, 3)
	s := b.Add("s", btf.Info(btf.KindStruct, 1, true), 8, b.Str("x"), i, 7<<24|32)
	b.Add("u", btf.Info(btf.KindUnion, 1, false), 4, b.Str("y"), i, 0)
	b.Add("e", btf.Info(btf.KindEnum, 1, true), 4, b.Str("A"), 1)
	e := b.Add("", btf.Info(btf.KindEnum, 1, true), 4, b.Str("B"), 0xffffffff)
	b.Add("f", btf.Info(btf.KindFwd, 0, true), 0)
	t := b.Add("t", btf.Info(btf.KindTypedef, 0, false), e)
	v := b.Add("", btf.Info(btf.KindVolatile, 0, false), t)
	c := b.Add("", btf.Info(btf.KindConst, 0, false), v)
	b.Add("", btf.Info(btf.KindRestrict, 0, false), p)
	proto := b.Add("", btf.Info(btf.KindFuncProto, 1, false), c, b.Str("p"), s)
	b.Add("fn", btf.Info(btf.KindFunc, 0, false), proto)
	b.Add("var", btf.Info(btf.KindVar, 0, false), i, 1)
	b.Add("double", btf.Info(btf.KindFloat, 0, false), 8)
	b.Add("decl", btf.Info(btf.KindDeclTag, 0, false), s, 0xffffffff)
	b.Add("tag", btf.Info(btf.KindTypeTag, 0, false), i)
	b.Add("e64", btf.Info(btf.KindEnum64, 1, false), 8, b.Str("C64"), 1, 2)
	b.Add("", btf.Info(btf.KindEnum64, 1, false), 8, b.Str("C"), 1, 2)
	b.Add("", btf.Info(btf.KindStruct, 1, false), 4, b.Str("m"), i, 0)
	b.Add("", btf.Info(btf.KindUnion, 1, false), 4, b.Str("n"), i, 0)
	return b
}

func TestDistillErrors(t *testing.T) {
	base, err := chainOfKinds().Blob()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Split(base); err == nil {
		t.Error("BTF without a base was distilled")
	}
	for id := uint32(1); id < base.TypeCount(); id++ {
		b := btf.NewBuilder(false, base)
		b.Add("", btf.Info(btf.KindPtr, 0, false), id)
		split, err := b.Blob()
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = Split(split)
		switch k := base.Kind(id); k {
		case btf.KindFunc, btf.KindVar, btf.KindDatasec, btf.KindDeclTag:
			if err == nil || !strings.Contains(err.Error(), k.String()) {
				t.Errorf("a reference to a %s of the base: error %v", k, err)
			}
		default:
			if err != nil {
				t.Errorf("a reference to a %s of the base: %v", k, err)
			}
		}
	}
}

// TestDistillLoop: base types that refer to each other in a circle without a
// named struct are copied once.
func TestDistillLoop(t *testing.T) {
	b := btf.NewBuilder(false, nil)
	b.Add("loop", btf.Info(btf.KindTypedef, 0, false), 2)
	b.Add("", btf.Info(btf.KindPtr, 0, false), 3)
	b.Add("", btf.Info(btf.KindFuncProto, 0, false), 1)
	base, err := b.Blob()
	if err != nil {
		t.Fatal(err)
	}
	b = btf.NewBuilder(false, base)
	b.Add("mine", btf.Info(btf.KindTypedef, 0, false), 2)
	split, err := b.Blob()
	if err != nil {
		t.Fatal(err)
	}
	newBase, out, err := Split(split)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[1] TYPEDEF 'mine' type_id=3
[2] TYPEDEF 'loop' type_id=3
[3] PTR '(anon)' type_id=4
[4] FUNC_PROTO '(anon)' ret_type_id=2 vlen=0
`
	if got := textOf(out); got != want || newBase.TypeCount() != 1 {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
