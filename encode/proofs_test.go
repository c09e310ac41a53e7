package encode_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// TestOneDifference encodes two equal units and a third one, in which a single type is different.
func TestOneDifference(t *testing.T) {
	two := func(make func(i *dt.DIE, other bool) []any) func(bool) *dt.Unit {
		return func(other bool) *dt.Unit {
			i := intType()
			all := append([]any{i, array(i, 9)}, make(i, other)...)
			return dt.CU(append(all, last(i)...)...)
		}
	}
	number := map[bool]int{false: 0, true: 1}
	path := filepath.Join(t.TempDir(), "input")
	for _, c := range []struct {
		name string
		unit func(other bool) *dt.Unit
	}{
		{"size of a struct", two(func(i *dt.DIE, other bool) []any {
			return []any{structure("s", 8+number[other], member("a", i, 0))}
		})},
		{"bit-field in place of a far member", two(func(i *dt.DIE, other bool) []any {
			if other {
				return []any{structure("s", 1<<22, ref(dt.TagMember, "a", i, dt.BitAt(0), dt.BitSize(1)))}
			}
			return []any{structure("s", 1<<22, member("a", i, 1<<21))}
		})},
		{"name of a member", two(func(i *dt.DIE, other bool) []any {
			return []any{structure("s", 8, member([]string{"a", "b"}[number[other]], i, 0))}
		})},
		{"struct in place of a union", two(func(i *dt.DIE, other bool) []any {
			return []any{composite([]int{dt.TagUnionType, dt.TagStructureType}[number[other]], "s", 8, member("a", i, 0))}
		})},
		{"one more member", two(func(i *dt.DIE, other bool) []any {
			s := structure("s", 8, member("a", i, 0))
			if other {
				s.Add(member("b", i, 4))
			}
			return []any{s}
		})},
		{"type of a member, by a later DIE", two(func(i *dt.DIE, other bool) []any {
			later := []*dt.DIE{base("long", 8, ateSigned), base("char", 1, ateSigned)}
			p := []*dt.DIE{ptr(later[0]), ptr(later[1])}
			return []any{structure("s", 8, member("a", p[number[other]], 0)), p[0], p[1], later[0], later[1]}
		})},
		{"dimension of an array", two(func(i *dt.DIE, other bool) []any {
			return []any{array(i, 2, 3), array(i, 2+number[other], 3)}
		})},
		{"const of void", two(func(i *dt.DIE, other bool) []any {
			if other {
				i = nil
			}
			c := ref(dt.TagConstType, "", i)
			return []any{c, ptr(c)}
		})},
		{"size of an enumeration", two(func(i *dt.DIE, other bool) []any {
			return []any{enum("e", 4-2*number[other], value("A", 1))}
		})},
		{"bit-field of DWARF 3 that takes the size of its type", two(func(i *dt.DIE, other bool) []any {
			if !other {
				return nil
			}
			return []any{structure("s", 4, oldField("b", i, 0, 0, 24, 3))}
		})},
		{"name of a parameter", two(func(i *dt.DIE, other bool) []any {
			return []any{ref(dt.TagSubroutineType, "", i, ref(dt.TagFormalParameter, []string{"", "x"}[number[other]], i))}
		})},
		{"encoding of a number", two(func(i *dt.DIE, other bool) []any {
			return []any{base("byte", 1, []int{ateSigned, ateBool}[number[other]])}
		})},
	} {
		f := dt.File{Units: []*dt.Unit{c.unit(false), c.unit(false), c.unit(true)}}
		n := checkProofs(t, c.name, path, &f, encode.Options{Features: encode.AllFeatures, Dedup: encode.DedupStream})
		if n.Left < 15 {
			t.Errorf("%s: only %d types were left out", c.name, n.Left)
		}
	}
}

// checkProofs writes f to path and encodes it with one worker. It fails unless the bytes are the same with
// and without proofs.
func checkProofs(t *testing.T, name, path string, f *dt.File, opt encode.Options) (n encode.Proofs) {
	t.Helper()
	testfile.Write(t, path, f.Bytes())
	opt.Jobs = 1
	var got, want []byte
	var err error
	if encode.WithoutProofs(func() { want, err = runFiles([]string{path}, opt) }); err != nil {
		t.Fatal(err)
	}
	n = encode.CheckProofs(t, func() { got, err = runFiles([]string{path}, opt) })
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: other bytes with proofs (%v)", name, err)
	}
	return n
}

// TestForwardOfTwo encodes units with a declaration of a union that two other units define in
// different ways. It counts as either definition, so it must not be left out as the first one.
func TestForwardOfTwo(t *testing.T) {
	unit := func(inner func(i *dt.DIE) *dt.DIE, user string) *dt.Unit {
		i := intType()
		in := inner(i)
		outer := composite(dt.TagUnionType, "out", 64, member("a", in, 0))
		all := []any{i, outer, in, typedef(user, outer)}
		return dt.CU(append(all, last(i)...)...)
	}
	declared := func(*dt.DIE) *dt.DIE { return forward(dt.TagUnionType, "in") }
	defined := func(name string) func(i *dt.DIE) *dt.DIE {
		return func(i *dt.DIE) *dt.DIE { return composite(dt.TagUnionType, "in", 64, member(name, i, 0)) }
	}
	f := dt.File{Units: []*dt.Unit{
		unit(declared, "u0"), unit(defined("a"), "u1"), unit(defined("b"), "u2"), unit(declared, "u3"), unit(declared, "u4"),
	}}
	f.Units[3].StrForm = dt.FormString // with other names, the unit has nodes for what is around the declaration
	equalsExact(t, &f)
}

// equalsExact compares the output of f with the one of the exact algorithm.
func equalsExact(t *testing.T, f *dt.File) {
	t.Helper()
	path := testfile.New(t, "input", f.Bytes())
	run := func(jobs int, dedup encode.Dedup) []byte {
		out := mustRun(t, []string{path}, encode.Options{Features: encode.DefaultFeatures, Jobs: jobs, Dedup: dedup})
		return out
	}
	want := run(1, encode.DedupExact)
	for _, jobs := range []int{1, 2, 4} {
		if !bytes.Equal(run(jobs, encode.DedupStream), want) {
			t.Errorf("%d workers: other bytes than by the exact algorithm", jobs)
		}
		encode.LateCommits(func() {
			if !bytes.Equal(run(jobs, encode.DedupStream), want) {
				t.Errorf("%d workers, late commits: other bytes than by the exact algorithm", jobs)
			}
		})
	}
}

// TestPointerToNewArray encodes a pointer to an array of a declared union that another unit
// defines. No comparison meets the declaration and the definition, so the pointer must not be left
// out as one to the definition, which a third unit contradicts.
func TestPointerToNewArray(t *testing.T) {
	for order := range 3 {
		unit := func(label string, order int) *dt.Unit {
			i, in := intType(), forward(dt.TagUnionType, "in")
			if label != "" {
				in = composite(dt.TagUnionType, "in", 64, member(label, i, 0))
			}
			to := array(in, 2)
			e, p := enum("e", 4, value("E", 1)), ptr(to) // after e, p is foreseen
			all := [][]any{{i, in, to, e, p}, {i, in, e, p, to}, {i, e, p, to, in}}[order]
			return dt.CU(append(all, last(i)...)...)
		}
		f := dt.File{Units: []*dt.Unit{unit("a", 0), unit("", order), unit("b", 0)}}
		equalsExact(t, &f)
	}
}

// TestPointerToItself encodes units with a struct that refers to itself. The last one fits the
// struct of both units before it, and gets the newer one. That its pointer is foreseen as the one to
// the older struct must not decide.
func TestPointerToItself(t *testing.T) {
	for _, tag := range []int{dt.TagUnionType, dt.TagEnumerationType} {
		unit := func(label string) *dt.Unit {
			i, in := intType(), forward(tag, "in")
			switch {
			case label != "" && tag == dt.TagUnionType:
				in = composite(tag, "in", 64, member(label, i, 0))
			case label != "":
				in = enum("in", 4, value(label, 1))
			}
			s := structure("s", 16)
			self, p := ptr(s), ptr(in)
			s.Add(member("self", self, 0), member("in", p, 8))
			e, user := enum("e", 4, value("E", 1)), typedef("user"+label, s) // after e, self is foreseen
			return dt.CU(append([]any{i, e, self, s, in, p, user}, last(i)...)...)
		}
		f := dt.File{Units: []*dt.Unit{unit("a"), unit("b"), unit("")}}
		equalsExact(t, &f)
	}
}

// TestTypedefOfDeclaredEnum encodes a struct with a typedef of a declared enumeration, which two
// other units define in different ways. The typedef becomes the newest one of its name. But the
// struct is still the one of the first unit, because the declaration counts as both enumerations.
func TestTypedefOfDeclaredEnum(t *testing.T) {
	unit := func(size int, user string) *dt.Unit {
		i, in := intType(), forward(dt.TagEnumerationType, "in")
		if size != 0 {
			in = enum("in", size, value("A", 1))
		}
		to := typedef("t", in)
		all := []any{to, in, i} // the first type of a unit is not foreseen
		if user != "" {
			s := structure("", 8, member("a", to, 0))
			all = append(all, s, typedef(user, s))
		}
		return dt.CU(append(all, last(i)...)...)
	}
	f := dt.File{Units: []*dt.Unit{unit(1, "u0"), unit(2, ""), unit(0, "u2")}}
	equalsExact(t, &f)
}

// TestConstOfDeclaredEnum encodes a const of a declared enumeration, and later one of its first
// definition. They differ, because the declaration stands for the last definition in the end.
func TestConstOfDeclaredEnum(t *testing.T) {
	unit := func(size int, isConst bool) *dt.Unit {
		i, in := intType(), forward(dt.TagEnumerationType, "in")
		if size != 0 {
			in = enum("in", size, value("A", 1))
		}
		all := []any{i, in}
		if isConst {
			e := enum("e", 4, value("E", 1)) // after e, the const is foreseen
			all = append(all, e, ref(dt.TagConstType, "", in))
		}
		return dt.CU(append(all, last(i)...)...)
	}
	f := dt.File{Units: []*dt.Unit{unit(0, true), unit(8, false), unit(8, true), unit(2, false)}}
	equalsExact(t, &f)
}

// TestEqualEnumsOfBase encodes a struct over a base that has it twice. Each copy points to an enumeration
// of its own, but the two enumerations are equal. So the struct of a unit is compared with both copies.
func TestEqualEnumsOfBase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "input")
	for order := range 4 {
		b := btftest.New()
		b.Int("int", 4)
		to := []uint32{b.Enum("to", b.Value("A", 1)), b.Enum("to", b.Value("A", 1))}
		for k := range to {
			b.Enum(fmt.Sprint("e", k), b.Value("E", 1))
			to[k] = b.Ptr(to[k])
		}
		for k := range to {
			b.Struct("s", 8, b.Member("a", to[k^order&1], 0))
		}
		below := newBase(t, b.Blob(t))
		f := dt.File{Units: []*dt.Unit{dt.CU(last(intType())...)}}
		for k := range 3 {
			i, to := intType(), enum("to", 4, value("A", 1))
			e, p := enum(fmt.Sprint("e", order/2), 4, value("E", 1)), ptr(to) // after e, p is foreseen
			s := structure("s", 8, member("a", p, 0))
			all := []any{i, to, e, p, s, typedef(fmt.Sprint("user", k), s)}
			f.Units = append(f.Units, dt.CU(append(all, last(i)...)...))
		}
		name := fmt.Sprint("order ", order)
		n := checkProofs(t, name, path, &f, encode.Options{Features: encode.DefaultFeatures, Base: below})
		if n.Left < 30 {
			t.Errorf("%s: too few types were left out: %+v", name, n)
		}
		below.Free()
	}
}

// TestPrefixOverBase encodes two equal units over a base that has their types under whole names. The prefix
// of each name stands for it, so none of these types is the one of the base.
func TestPrefixOverBase(t *testing.T) {
	const prefix = "cut"
	path := filepath.Join(t.TempDir(), "input")
	for _, name := range []string{"cut", "cuts", "cut_by_its_prefix", "cut_by_its_prefix_and_of_many_bytes"} {
		for _, c := range []struct {
			kind string
			make func(i *dt.DIE) *dt.DIE
		}{
			{"struct", func(i *dt.DIE) *dt.DIE { return structure(name, 8, member("a", i, 0)) }},
			{"member", func(i *dt.DIE) *dt.DIE { return structure("s", 8, member("a", i, 0), member(name, i, 4)) }},
			{"member without a name around it", func(i *dt.DIE) *dt.DIE { return structure("", 8, member(name, i, 0), member("b", i, 4)) }},
			{"member of a union", func(i *dt.DIE) *dt.DIE { return composite(dt.TagUnionType, "u", 4, member(name, i, 0)) }},
			{"forward declaration", func(*dt.DIE) *dt.DIE { return forward(dt.TagStructureType, name) }},
			{"enumeration", func(*dt.DIE) *dt.DIE { return enum(name, 4, value("A", 1)) }},
			{"value", func(*dt.DIE) *dt.DIE { return enum("e", 4, value("A", 1), value(name, 2)) }},
			{"value without a name around it", func(*dt.DIE) *dt.DIE { return enum("", 4, value(name, 2)) }},
			{"value of 64 bits", func(*dt.DIE) *dt.DIE { return enum("e", 8, value(name, 1)) }},
			{"typedef", func(i *dt.DIE) *dt.DIE { return typedef(name, i) }},
			{"number", func(*dt.DIE) *dt.DIE { return base(name, 8, ateUnsigned) }},
			{"float", func(*dt.DIE) *dt.DIE { return base(name, 8, ateFloat) }},
			{"parameter", func(i *dt.DIE) *dt.DIE {
				return ref(dt.TagSubroutineType, "", i, ref(dt.TagFormalParameter, name, i))
			}},
		} {
			unit := func() *dt.Unit {
				i := intType()
				d := c.make(i)
				return dt.CU(append([]any{i, array(i, 9), d, ptr(d)}, last(i)...)...)
			}
			f := dt.File{Units: []*dt.Unit{unit(), unit()}}
			testfile.Write(t, path, f.Bytes())
			opt := encode.Options{Features: encode.AllFeatures}
			blob := btftest.Parse(t, mustRun(t, []string{path}, opt), nil)
			opt.Base, opt.NamePrefix = newBase(t, blob), prefix
			what := c.kind + " " + name
			if n := checkProofs(t, what, path, &f, opt); n.Left < 20 {
				t.Errorf("%s: too few types were left out: %+v", what, n)
			}
			// The type and the pointer to it are new, unless its name is the prefix.
			text := btftest.Text(btftest.Parse(t, mustRun(t, []string{path}, opt), blob))
			if repeats := name == prefix; repeats != (text == "") || !repeats && !(strings.Contains(text, "'"+prefix+"'") && strings.Contains(text, " PTR ")) {
				t.Errorf("%s: over the base:\n%s", what, text)
			}
			opt.Base.Free()
		}
	}
}

// last makes the last types of a unit: those near its end are not proved.
func last(i *dt.DIE) (all []any) {
	for k := range 25 {
		all = append(all, typedef(fmt.Sprintf("last%d", k), i))
	}
	return all
}

// TestRandomUnits encodes files whose units draw from one list of types, each in its own order
// and with small differences. The proofs must agree with Resolve, and the bytes must be the
// same with and without them, and for any number of workers. Then the first units of a file become
// a base for the others.
func TestRandomUnits(t *testing.T) {
	programs := uint64(60)
	if testing.Short() {
		programs = 15
	}
	seeds := []uint64{197, 372, 1082, 1523, 1801, 2592, 6394, 632, 1963, 2624, 2865, 9100001, 9200227, 16777554, 16777797, 16780005, 16777709, 19200488, 19400007, 19500416} // had other bytes once
	for seed := range programs {
		seeds = append(seeds, seed, firstTwins+seed)
		if seed%6 == 0 {
			seeds = append(seeds, firstEnums+seed)
		}
	}
	alone := proofTest{T: t, path: filepath.Join(t.TempDir(), "input")}
	over := alone
	for _, seed := range seeds {
		f := randomProgram(seed)
		for _, features := range []encode.Features{encode.DefaultFeatures, encode.AllFeatures} {
			alone.run(seed, &f, encode.Options{Features: features})
			if over.mix = nil; seed >= firstEnums {
				over.mix = rand.New(rand.NewPCG(seed, 4))
			}
			n := 1 + int(seed)%(len(f.Units)-1)
			below, rest := f, f
			below.Units, rest.Units = f.Units[:n], f.Units[n:]
			if base := over.base(&below, features); base != nil {
				for _, libbpf := range []encode.Libbpf{encode.Libbpf17, encode.Libbpf18} {
					over.run(seed, &rest, encode.Options{Features: features, Base: base, Libbpf: libbpf})
				}
				base.Free()
			}
		}
	}
	for _, x := range []proofTest{alone, over} {
		t.Logf("%d types were left out, %d runs, %d failed", x.left, x.runs, x.failed)
		if x.left < 50*x.runs || x.failed*2 > x.runs {
			t.Error("the programs are not what they should be")
		}
	}
}

// proofTest compares encoding with and without proofs.
type proofTest struct {
	*testing.T
	path               string     // of the input
	mix                *rand.Rand // see withRepeats
	left, runs, failed int
}

// base encodes a file as a base. It returns nil if it cannot be encoded, or has no types.
func (t *proofTest) base(f *dt.File, features encode.Features) *encode.Base {
	testfile.Write(t, t.path, f.Bytes())
	data, err := runFiles([]string{t.path}, encode.Options{Features: features})
	if err != nil || data == nil {
		return nil
	}
	blob := btftest.Parse(t, data, nil)
	if len(f.Units)%2 == 0 {
		blob = withRepeats(t.T, blob, t.mix)
	}
	return newBase(t, blob)
}

// withRepeats adds a second copy of the types to b, as BTF may have that was not deduplicated. The copies
// refer to what the types refer to. With mix, they refer to the copies of that at random.
func withRepeats(t *testing.T, b *btf.Blob, mix *rand.Rand) *btf.Blob {
	types := slices.Clone(b.Words)
	copied := make(map[uint32]uint32)
	for i, off := range b.Off {
		k := btf.InfoKind(b.Words[off+1])
		if k <= btf.KindFuncProto && k != btf.KindFunc || mix != nil && (k == btf.KindFloat || k == btf.KindEnum64 || k == btf.KindTypeTag) {
			end := len(b.Words)
			if i+1 < len(b.Off) {
				end = int(b.Off[i+1])
			}
			types = append(types, b.Words[off:end]...)
			copied[uint32(i)+1] = uint32(len(b.Off)+len(copied)) + 1
		}
	}
	for r := btf.Record(types[len(b.Words):]); mix != nil && len(r) > 0; r = r[r.Len():] {
		btf.EachRef(r, func(id *uint32) {
			if to, ok := copied[*id]; ok && mix.IntN(2) == 0 {
				*id = to
			}
		})
	}
	var order binary.ByteOrder = binary.LittleEndian
	if b.BigEndian {
		order = binary.BigEndian
	}
	n := uint32(4 * len(types))
	var out bytes.Buffer
	for _, x := range []any{uint16(0xeb9f), [2]uint8{1, 0}, [5]uint32{24, 0, n, n, uint32(len(b.Strings))}, types, b.Strings} {
		if err := binary.Write(&out, order, x); err != nil {
			t.Fatal(err)
		}
	}
	return btftest.Parse(t, out.Bytes(), nil)
}

// run encodes the file of a seed in each way.
func (t *proofTest) run(seed uint64, f *dt.File, opt encode.Options) {
	testfile.Write(t, t.path, f.Bytes())
	var want []byte
	var wantErr error
	if opt.Base == nil {
		opt.Dedup = encode.DedupStream
	}
	run := func(jobs int) ([]byte, error) {
		opt.Jobs = jobs
		return runFiles([]string{t.path}, opt)
	}
	same := func(name string, got []byte, err error) {
		if !bytes.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("seed %d, features %v, base %v, libbpf %v: %s: %d bytes (%v), without proofs %d (%v)",
				seed, opt.Features, opt.Base != nil, opt.Libbpf, name, len(got), err, len(want), wantErr)
		}
	}
	encode.WithoutProofs(func() { want, wantErr = run(1) })
	t.left += encode.CheckProofs(t.T, func() {
		got, err := run(1)
		same("checked", got, err)
	}).Left
	for _, jobs := range []int{1, 2, 4} {
		got, err := run(jobs)
		same(fmt.Sprint("jobs ", jobs), got, err)
		encode.LateCommits(func() { got, err = run(jobs) })
		same(fmt.Sprint("late, jobs ", jobs), got, err)
	}
	t.runs++
	if wantErr != nil {
		t.failed++
	}
}
