package distill

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// splitFile reads a file of testdata/split; scripts/split.sh says what they are.
func splitFile(t testing.TB, name string) []byte {
	t.Helper()
	return testfile.Read(t, "../../testdata/split/"+name)
}

func splitBlob(t testing.TB, name string, base *btf.Blob) *btf.Blob {
	t.Helper()
	return btftest.Read(t, "../../testdata/split/"+name, base)
}

func TestDistillEqualsPahole(t *testing.T) {
	for _, name := range []string{"x86", "s390x"} {
		base := splitBlob(t, name+".base.btf", nil)
		module := splitBlob(t, name+".module.btf", base)
		before := module.Encode()
		newBase, out, err := Split(t.Context(), module)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(newBase.Encode(), splitFile(t, name+".distilled.base.btf")) {
			t.Errorf("%s: .BTF.base is\n%s", name, btftest.Text(newBase))
		}
		if !bytes.Equal(out.Encode(), splitFile(t, name+".distilled.btf")) {
			t.Errorf("%s: .BTF is\n%s", name, btftest.Text(out))
		}
		if !bytes.Equal(module.Encode(), before) {
			t.Errorf("%s: the input was changed", name)
		}
	}
}

// TestDistillKinds: one base type of each kind, and what it becomes.
func TestDistillKinds(t *testing.T) {
	base := chainOfKinds().Blob(t)
	b := btftest.Over(base)
	for id := uint32(1); id < base.TypeCount(); id++ {
		switch base.Kind(id) {
		case btf.KindFunc, btf.KindVar, btf.KindDatasec, btf.KindDeclTag:
		default:
			b.Ptr(id)
		}
	}
	split := b.Blob(t)
	newBase, out, err := Split(t.Context(), split)
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
	if got := btftest.Text(newBase); got != wantBase {
		t.Errorf("base: (-want +got)\n%s", cmp.Diff(wantBase, got))
	}
	// The pointers are 8 and on, the copies follow them.
	got := btftest.Text(out)
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
func chainOfKinds() *btftest.Builder {
	b := btftest.New()
	i := b.Int("int", 4)
	p := b.Ptr(i)
	b.Array(p, i, 3)
	s := b.Of(btf.KindStruct, "s", true, 8, b.Member("x", i, 7<<24|32))
	b.Union("u", 4, b.Member("y", i, 0))
	b.Of(btf.KindEnum, "e", true, 4, b.Value("A", 1))
	e := b.Of(btf.KindEnum, "", true, 4, b.Value("B", -1))
	b.FwdUnion("f")
	t := b.Typedef("t", e)
	v := b.Volatile(t)
	c := b.Const(v)
	b.Restrict(p)
	proto := b.Proto(c, b.Param("p", s))
	b.Func("fn", btftest.Static, proto)
	b.Var("var", i, btftest.Global)
	b.Float("double", 8)
	b.DeclTag("decl", s, btftest.Whole)
	b.TypeTag("tag", i)
	b.Enum64("e64", b.Value64("C64", 2<<32|1))
	b.Enum64("", b.Value64("C", 2<<32|1))
	b.Struct("", 4, b.Member("m", i, 0))
	b.Union("", 4, b.Member("n", i, 0))
	return b
}

func TestDistillErrors(t *testing.T) {
	base := chainOfKinds().Blob(t)
	if _, _, err := Split(t.Context(), base); err == nil {
		t.Error("BTF without a base was distilled")
	}
	for id := uint32(1); id < base.TypeCount(); id++ {
		b := btftest.Over(base)
		b.Ptr(id)
		_, _, err := Split(t.Context(), b.Blob(t))
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
	b := btftest.New()
	b.Typedef("loop", 2)
	b.Ptr(3)
	b.Proto(1)
	b = btftest.Over(b.Blob(t))
	b.Typedef("mine", 2)
	newBase, out, err := Split(t.Context(), b.Blob(t))
	if err != nil {
		t.Fatal(err)
	}
	const want = `[1] TYPEDEF 'mine' type_id=3
[2] TYPEDEF 'loop' type_id=3
[3] PTR '(anon)' type_id=4
[4] FUNC_PROTO '(anon)' ret_type_id=2 vlen=0
`
	if got := btftest.Text(out); got != want || newBase.TypeCount() != 1 {
		t.Errorf("(-want +got)\n%s", cmp.Diff(want, got))
	}
}

// TestStop: when the context is done, Split ends with its error, wherever it is.
func TestStop(t *testing.T) {
	const types = 5000 // five questions in each pass
	b := btftest.New()
	i := b.Int("int", 4)
	for range types {
		i = b.Typedef("t", i)
	}
	base := b.Blob(t)
	b = btftest.Over(base)
	for range types {
		i = b.Ptr(i)
	}
	split := b.Blob(t)
	for looks := 0; ; looks++ {
		base, out, err := Split(btftest.Countdown(t.Context(), looks), split)
		if err == nil {
			if looks < 4*types/1024 {
				t.Errorf("nobody looked at the context after %d looks", looks)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || base != nil || out != nil {
			t.Fatalf("after %d looks: %v %v %v", looks, base, out, err)
		}
	}
}
