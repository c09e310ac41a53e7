package lower

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/btf/verify/releasetest"
	"github.com/btflite/btflite/dedup/deduptest"
)

func release(t *testing.T, s string) verify.Release {
	t.Helper()
	r, err := verify.ParseRelease(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lowered is Lower of what must not fail.
func lowered(t *testing.T, b *btf.Blob, o Options) (*btf.Blob, Report) {
	t.Helper()
	out, report, err := Lower(b, o)
	if err != nil {
		t.Fatal(err)
	}
	return out, report
}

// rules are those that the result has to meet.
func rules(o Options) verify.Rules {
	return verify.Rules{Kernel: o.Kernel, Reader: o.Reader}
}

// TestRules: what each kind becomes, and that nothing changes for the first release that takes it.
func TestRules(t *testing.T) {
	long := strings.Repeat("x", 128)
	proto := func(b *btftest.Builder) uint32 { return b.Proto(0, b.Param("a", 1)) }
	for _, c := range []struct {
		name, before, since string // the last release without it, the first one with it
		add                 func(b *btftest.Builder)
		kernel, reader      string // what is behind the int; "" if it is as it was
	}{
		{"ENUM of 8 bytes", "5.2", "5.3", func(b *btftest.Builder) {
			b.Of(btf.KindEnum, "e", false, 8, b.Value("A", 1))
		}, "[2] INT 'e' size=8 bits_offset=0 nr_bits=64 encoding=(none)", ""},
		{"linkage", "5.5", "5.6", func(b *btftest.Builder) { b.Func("f", btftest.Global, proto(b)) },
			"[2] FUNC_PROTO '(anon)' ret_type_id=0 vlen=1\n\t'a' type_id=1\n[3] FUNC 'f' type_id=2 linkage=static", ""},
		{"empty DATASEC", "5.11", "5.12", func(b *btftest.Builder) { b.Datasec(".rodata", 4) }, "[2] STRUCT '(anon)' size=4 vlen=0", ""},
		{"FLOAT", "5.12", "5.13", func(b *btftest.Builder) { b.Float("long double", 16) },
			"[2] INT 'long double' size=16 bits_offset=0 nr_bits=128 encoding=(none)", "the same"},
		{"DECL_TAG", "5.15", "5.16", func(b *btftest.Builder) {
			b.DeclTag("a b", b.Struct("s", 4, b.Member("m", 1, 0)), 0)
		}, "[2] STRUCT 's' size=4 vlen=1\n\t'm' type_id=1 bits_offset=0\n[3] INT 'a b' size=1 bits_offset=0 nr_bits=8 encoding=(none)", "the same"},
		{"TYPE_TAG", "5.16", "5.17", func(b *btftest.Builder) { b.Ptr(b.TypeTag("rcu", b.TypeTag("user", 1))) },
			"[2] CONST '(anon)' type_id=1\n[3] CONST '(anon)' type_id=1\n[4] PTR '(anon)' type_id=1", "the same"},
		{"TYPE_TAG of void", "5.16", "5.17", func(b *btftest.Builder) { b.Ptr(b.TypeTag("rcu", 0)) },
			"[2] CONST '(anon)' type_id=0\n[3] PTR '(anon)' type_id=0", "the same"},
		{"ENUM64", "5.19", "6.0", func(b *btftest.Builder) {
			b.Of(btf.KindEnum64, "e", true, 8, b.Value64("A", 1), b.Value64("M", 1<<64-1))
		}, "[2] ENUM 'e' encoding=UNSIGNED size=8 vlen=2\n\t'A' val=1\n\t'M' val=4294967295", "the same"},
		{"ENUM64 for 5.2", "5.2", "6.0", func(b *btftest.Builder) { b.Enum64("e", b.Value64("A", 1)) },
			"[2] INT 'e' size=8 bits_offset=0 nr_bits=64 encoding=(none)", "[2] ENUM 'e' encoding=UNSIGNED size=8 vlen=1\n\t'A' val=1"},
		{"signed ENUM", "5.19", "6.0", func(b *btftest.Builder) { b.Of(btf.KindEnum, "e", true, 4, b.Value("M", -1)) },
			"[2] ENUM 'e' encoding=UNSIGNED size=4 vlen=1\n\t'M' val=4294967295", "the same"},
		{"long name", "6.0", "6.1", func(b *btftest.Builder) { b.Struct("s", 4, b.Member(long+"yz", 1, 0)) },
			"[2] STRUCT 's' size=4 vlen=1\n\t'" + long + "' type_id=1 bits_offset=0", ""},
		{"dots", "6.3", "6.4", func(b *btftest.Builder) {
			b.Func("f.part.0", btftest.Static, proto(b))
			b.Datasec(".data.v", 4, btftest.Place(b.Var("v.1", 1, 0), 0, 4))
		}, "[2] FUNC_PROTO '(anon)' ret_type_id=0 vlen=1\n\t'a' type_id=1\n[3] FUNC 'f_part_0' type_id=2 linkage=static\n" +
			"[4] VAR 'v.1' type_id=1, linkage=static\n[5] DATASEC '.data.v' size=4 vlen=1\n\ttype_id=4 offset=0 size=4 (VAR 'v.1')", ""},
		{"section name", "6.8", "6.9", func(b *btftest.Builder) {
			b.Datasec("?a/b c9", 4, btftest.Place(b.Var("v", 1, 0), 0, 4))
		}, "[2] VAR 'v' type_id=1, linkage=static\n[3] DATASEC '_a_b_c9' size=4 vlen=1\n\ttype_id=2 offset=0 size=4 (VAR 'v')", ""},
		{"attributes", "6.14", "6.15", func(b *btftest.Builder) {
			tag := b.Of(btf.KindTypeTag, "address_space(1)", true, b.TypeTag("user", 1))
			b.Ptr(tag)
			b.Add("noinline", btf.Info(btf.KindDeclTag, 0, true), b.Typedef("t", 1), btftest.Whole)
		}, "[2] TYPE_TAG 'user' type_id=1\n[3] CONST '(anon)' type_id=1\n[4] PTR '(anon)' type_id=2\n[5] TYPEDEF 't' type_id=1\n" +
			"[6] INT 'noinline' size=1 bits_offset=0 nr_bits=8 encoding=(none)",
			"[2] TYPE_TAG 'user' type_id=1\n[3] CONST '(anon)' type_id=2\n[4] PTR '(anon)' type_id=2\n[5] TYPEDEF 't' type_id=1\n" +
				"[6] INT 'noinline' size=1 bits_offset=0 nr_bits=8 encoding=(none)"},
		{"TYPE_TAG behind modifiers", "7.1", "7.2", func(b *btftest.Builder) {
			tag := b.TypeTag("a", b.TypeTag("b", 1))
			b.Ptr(b.Const(tag))
			b.Typedef("t", tag)
			b.Ptr(tag)
		}, "[2] TYPE_TAG 'b' type_id=1\n[3] TYPE_TAG 'a' type_id=2\n[4] CONST '(anon)' type_id=1\n[5] PTR '(anon)' type_id=4\n" +
			"[6] TYPEDEF 't' type_id=1\n[7] PTR '(anon)' type_id=3", ""},
		{"sites of inlined functions", "7.2", "", func(b *btftest.Builder) {
			f := b.Func("f", btftest.Static, proto(b))
			in := b.Add("", btf.Info(btf.KindLocParam, 1, false), 8, btf.LocReg, 5)
			at := b.Add("", btf.Info(btf.KindLocProto, 1, false), 0, in)
			b.Add("inline.text", btf.Info(btf.KindLocsec, 1, false), 0, f, at, 16)
		}, "[2] FUNC_PROTO '(anon)' ret_type_id=0 vlen=1\n\t'a' type_id=1\n[3] FUNC 'f' type_id=2 linkage=static\n" +
			"[4] INT '(anon)' size=1 bits_offset=0 nr_bits=8 encoding=(none)\n[5] INT '(anon)' size=1 bits_offset=0 nr_bits=8 encoding=(none)\n" +
			"[6] INT 'inline.text' size=1 bits_offset=0 nr_bits=8 encoding=(none)", "the same"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, bigEndian := range []bool{false, true} {
				in := btftest.New()
				in.BigEndian = bigEndian
				in.Int("int", 4)
				c.add(in)
				b := in.Blob(t)
				was := btftest.Text(b)
				if c.reader == "the same" {
					c.reader = c.kernel
				}
				for reader, want := range map[bool]string{false: c.kernel, true: c.reader} {
					o := Options{Kernel: release(t, c.before), Reader: reader}
					out, _ := lowered(t, b, o)
					if want == "" {
						want = was
					} else {
						want = was[:strings.Index(was, "\n")+1] + want + "\n"
					}
					if got := btftest.Text(out); got != want {
						t.Errorf("reader %v:\n%swant\n%s", reader, got, want)
					}
					if _, err := verify.Check(out.Encode(), nil, rules(o)); err != nil {
						t.Errorf("reader %v: %v", reader, err)
					}
					if c.since == "" {
						continue
					}
					o.Kernel = release(t, c.since)
					if out, _ := lowered(t, b, o); btftest.Text(out) != was {
						t.Errorf("reader %v: %s takes it, but it was changed:\n%s", reader, c.since, btftest.Text(out))
					}
				}
				if btftest.Text(b) != was {
					t.Error("the input was changed")
				}
			}
		})
	}
}

// TestExamples: each example of package releasetest is lowered for each release, or the row of
// its feature is a refusal.
func TestExamples(t *testing.T) {
	refusals := map[string]bool{"types-65536": true, "strings-64k": true, "split": true, "split-from-distilled": true, "vlen-of-65536": true}
	for _, e := range releasetest.Examples() {
		var base *btf.Blob
		if e.Base != nil {
			base = btftest.Parse(t, e.Base, nil)
		}
		b := btftest.Parse(t, e.Data, base)
		for _, name := range verify.Releases() {
			o := Options{Kernel: release(t, name)}
			out, _ := lowered(t, b, o)
			r := rules(o)
			r.Distilled = e.Distilled
			_, err := verify.Check(out.Encode(), base, r)
			if taken := o.Kernel.Compare(release(t, e.Since)) >= 0; (err == nil) != (taken || !refusals[e.Name]) {
				t.Errorf("%s for %s: %v", e.Name, name, err)
			}
		}
	}
}

// TestEnum64: which values fit, and what is told of those that do not.
func TestEnum64(t *testing.T) {
	for _, c := range []struct {
		signed bool
		v      uint64
		fits   bool
	}{
		{false, 0, true}, {false, 1<<32 - 1, true}, {false, 1 << 32, false}, {false, 1<<64 - 1, false},
		{true, 1<<31 - 1, true}, {true, 1 << 31, false}, {true, 1<<64 - 1, true}, {true, 1<<64 - 1<<31, true}, {true, 1<<64 - 1<<31 - 1, false},
	} {
		b := btftest.Build(t, nil, func(b *btftest.Builder) {
			b.Int("long", 8)
			b.Int("char", 1)
			b.Int("other", 1)
			b.Of(btf.KindEnum64, "e", c.signed, 8, b.Value64("A", 1), b.Value64("V", c.v))
		})
		old := verify.Release{Major: 5, Minor: 19}
		out, report := lowered(t, b, Options{Kernel: old, Reader: true})
		if (len(report.Cut) == 0) != c.fits || out.Kind(4) != btf.KindEnum {
			t.Errorf("%+v: %+v", c, report)
		}
		if !c.fits && report.Cut[0] != (Enum{ID: 4, Name: "e", Value: "V", Full: c.v, Left: uint32(c.v)}) {
			t.Errorf("%+v: %+v", c, report.Cut[0])
		}
		out, report = lowered(t, b, Options{Kernel: old, Reader: true, Unions: true})
		if want := "[4] UNION 'e' size=8 vlen=2\n\t'A' type_id=2 bits_offset=0\n\t'V' type_id=2 bits_offset=0\n"; strings.HasSuffix(btftest.Text(out), want) == c.fits ||
			!c.fits && !report.Cut[0].Union {
			t.Errorf("%+v: %s%+v", c, btftest.Text(out), report)
		}
	}
}

// TestErrors: what nothing can take the place of is named.
func TestErrors(t *testing.T) {
	old := verify.Release{Major: 5, Minor: 10}
	for _, c := range []struct {
		want string
		o    Options
		add  func(b *btftest.Builder)
	}{
		{"btf: types: ENUM64 [1] cannot become a UNION: no INT is small enough to be the type of its members", Options{Kernel: old, Reader: true, Unions: true},
			func(b *btftest.Builder) { b.Enum64("e", b.Value64("V", 1<<40)) }},
		{"btf: types: DATASEC [4] shares its name with another type, which has to be renamed", Options{Kernel: old}, func(b *btftest.Builder) {
			b.Int("int", 4)
			b.Typedef(".data", 1)
			b.Datasec(".data", 4, btftest.Place(b.Var("v", 1, 0), 0, 4))
		}},
	} {
		out, _, err := Lower(btftest.Build(t, nil, c.add), c.o)
		if err == nil || err.Error() != c.want || out != nil {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
}

// TestUnknownKinds: types that were skipped are replaced, whatever the release, unless others
// refer to them.
func TestUnknownKinds(t *testing.T) {
	const unknown = 30
	file := func(to uint32) *btf.Blob {
		b := btftest.New()
		b.Int("int", 4)
		b.Add("", unknown<<24, 0)
		b.Ptr(to)
		f := btf.Form{Layout: append(btf.LongLayout(), make([]byte, 4*(unknown+1-btf.NumKinds))...)}
		data := f.AppendHeader(nil, false, uint32(4*len(b.Words)), uint32(len(b.Strings)))
		data = append(append(btf.AppendWords(data, false, b.Words), f.Layout...), b.Strings...)
		return btftest.Parse(t, data, nil)
	}
	for _, o := range []Options{{}, {Kernel: verify.Release{Major: 5, Minor: 10}}, {Reader: true}} {
		out, _ := lowered(t, file(1), o)
		if out.Kind(2) != btf.KindInt || out.Kind(3) != btf.KindPtr || len(out.Skipped) > 0 || len(out.Form.Layout) > 0 != (o.Kernel == verify.Release{}) {
			t.Errorf("%+v: %s%+v", o, btftest.Text(out), out.Form)
		}
		if _, err := verify.Check(out.Encode(), nil, rules(o)); err != nil {
			t.Error(err)
		}
		if _, _, err := Lower(file(2), o); err == nil || !strings.Contains(err.Error(), "PTR [3] refers to a type of a kind that is not known") {
			t.Error(err)
		}
	}
}

// TestProperties: of random BTF, whole and split, for all releases.
func TestProperties(t *testing.T) {
	refused, done := 0, 0
	for seed := range uint64(deduptest.Universes(2000)) {
		r := rand.New(rand.NewPCG(39, seed))
		in := btftest.New()
		in.BigEndian = seed%2 == 1
		random(in, r, 2+r.IntN(30))
		base := in.Blob(t)
		over := btftest.Over(base)
		random(over, r, 1+r.IntN(20))
		split := over.Blob(t)
		for _, b := range []*btf.Blob{base, split} {
			if _, err := verify.Check(b.Encode(), b.Base, verify.Rules{}); err != nil {
				t.Fatalf("seed %d: the input is not valid: %v\n%s", seed, err, btftest.Text(b))
			}
		}
		for _, name := range verify.Releases() {
			for _, reader := range []bool{false, true} {
				o := Options{Kernel: release(t, name), Reader: reader, Unions: reader && seed%3 == 0}
				err := properties(t, base, split, o)
				if t.Failed() {
					t.Fatalf("seed %d, Linux %s, reader %v\n%s", seed, name, reader, btftest.Text(base)+btftest.Text(split))
				}
				done++
				if err != nil {
					refused++
				}
			}
		}
	}
	t.Logf("%d of %d refused", refused, done)
	if refused > done/10 {
		t.Errorf("%d of %d are refused", refused, done)
	}
}

// properties checks what must hold of base and of split, which is split from it. An error is
// a refusal.
func properties(t *testing.T, base, split *btf.Blob, o Options) error {
	to, _, err := Lower(base, o)
	if err != nil {
		return err
	}
	if len(to.Strings) != len(base.Strings) {
		t.Error("the strings have another length")
	}
	if err := same(t, base, to, o); err != nil {
		return err
	}
	top, _, err := Lower(split, o)
	if err != nil {
		return err
	}
	// What was lowered over the old base, and what was not, is valid over the new one.
	for _, b := range []*btf.Blob{top, split} {
		over, err := btf.Parse(b.Encode(), to)
		if err != nil {
			t.Error(err)
			return nil
		}
		if b == split {
			b, _, err = Lower(over, o)
		} else {
			b = over
		}
		if err != nil {
			return err
		}
		if err := same(t, split, b, o); err != nil {
			return err
		}
	}
	return nil
}

// same checks that out is in with nothing but unknown things replaced, and that the release takes it.
func same(t *testing.T, in, out *btf.Blob, o Options) error {
	t.Helper()
	if len(out.Off) != len(in.Off) || out.FirstID != in.FirstID || out.StrBase != in.StrBase {
		t.Errorf("%d types from %d on, strings from %d on", len(out.Off), out.FirstID, out.StrBase)
		return nil
	}
	for id := in.FirstID; id < in.TypeCount(); id++ {
		was, is := in.Record(id), out.Record(id)
		if was.Kind() != is.Kind() {
			continue
		}
		name, old := out.Name(is.Name()), in.Name(was.Name())
		if name != old && strings.ReplaceAll(old[:min(len(old), 128)], ".", "_") != name && !bytes.ContainsAny([]byte(old), "?/ ") {
			t.Errorf("[%d] %q was %q", id, name, old)
		}
		if !btf.ThirdIsRef(is.Kind()) && is.Third() != was.Third() {
			t.Errorf("[%d] %d was %d", id, is.Third(), was.Third())
		}
	}
	again, report, err := Lower(out, o)
	if err != nil || !bytes.Equal(again.Encode(), out.Encode()) || len(report.Cut)+len(report.Renamed) > 0 {
		t.Errorf("lowered again: %v, %+v\n%s\n%s", err, report, btftest.Text(out), btftest.Text(again))
	}
	_, err = verify.Check(out.Encode(), out.Base, rules(o))
	var fault *verify.Fault
	if errors.As(err, &fault) && out.Base != nil && fault.ID == 0 && strings.Contains(fault.Rule, "split BTF needs") {
		return nil // of both
	}
	if err != nil {
		t.Errorf("not taken: %v\n%s", err, btftest.Text(out))
	}
	return nil
}

// random adds valid types, among them many that some release does not take.
func random(b *btftest.Builder, r *rand.Rand, n int) {
	name := func() string {
		if r.IntN(12) == 0 {
			return strings.Repeat("l", 100+r.IntN(60)) + fmt.Sprint(r.IntN(3))
		}
		return []string{"a", "b", "c_1", "d.e", "f.part.0", "_g"}[r.IntN(6)]
	}
	ints := []uint32{b.Int("int", 4), b.Int("char", 1)}
	values, targets := append([]uint32{}, ints...), append([]uint32{0}, ints...)
	structs, funcs := []uint32{}, []uint32{}
	pick := func(list []uint32) uint32 { return list[r.IntN(len(list))] }
	attribute := func() bool { return r.IntN(3) == 0 }
	value := func(id uint32) { values, targets = append(values, id), append(targets, id) }
	for range n {
		switch r.IntN(16) {
		case 0:
			value(b.Ptr(pick(targets)))
		case 1:
			value(b.Of(btf.KindEnum, name(), r.IntN(2) == 0, 1<<r.IntN(4), b.Value(name(), 1), b.Value(name(), -1)))
		case 2:
			value(b.Of(btf.KindEnum64, name(), r.IntN(2) == 0, 8, b.Value64(name(), 1), b.Value64(name(), r.Uint64()>>r.IntN(64))))
		case 3:
			value(b.Float([]string{"float", "long double"}[r.IntN(2)], 4))
		case 4, 5:
			s := b.Struct(name(), 64, b.Member(name(), pick(ints), 0), b.Member(name(), pick(ints), 32))
			structs = append(structs, s)
			value(s)
		case 6, 7, 8: // what leads to a TYPE_TAG may lead to any type but void
			targets = append(targets, b.Of(btf.KindTypeTag, "user", attribute(), pick(targets)))
		case 9:
			targets = append(targets, b.Const(pick(targets)))
		case 10:
			targets = append(targets, b.Typedef(name(), pick(targets)))
		case 11:
			f := b.Func(name(), uint32(r.IntN(2)), b.Proto(pick(values), b.Param(name(), pick(values)), b.Param(name(), pick(values))))
			funcs = append(funcs, f)
		case 12:
			if len(funcs)+len(structs) > 0 {
				b.Of(btf.KindDeclTag, []string{"bpf_kfunc", "x y.z"}[r.IntN(2)], attribute(), pick(append(append([]uint32{}, funcs...), structs...)), btftest.Part{uint32(r.IntN(2))})
				fixVlen(b)
			}
		case 13:
			v := b.Var(name(), pick(ints[:1]), 1)
			b.Datasec([]string{".data", "?x/y z", ".data..percpu"}[r.IntN(3)], 8, btftest.Place(v, 0, 4))
		case 14:
			b.Datasec(".empty", 4)
		default:
			b.Fwd(name())
		}
	}
}

// fixVlen clears the number of elements of the DECL_TAG that was added last: its part is no
// element.
func fixVlen(b *btftest.Builder) { b.Words[len(b.Words)-3] &^= btf.MaxVlen }
