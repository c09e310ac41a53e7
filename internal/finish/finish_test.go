package finish

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/lower"
	"github.com/btflite/btflite/btf/order"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/basematch"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/mmapelf"
)

const name = "input"

// encoded is the output for a file of one unit with a struct of this name and a
// variable of that type, and what the options change.
func encoded(t *testing.T, structName string, language int, change func(*encode.Options)) *encode.Output {
	t.Helper()
	i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	s := dt.N(dt.TagStructureType, dt.Name(structName), dt.Size(4), dt.N(dt.TagMember, dt.Name("m"), dt.Type(i), dt.MemberAt(0)))
	z := dt.N(dt.TagVariable, dt.Name("z"), dt.Type(s), dt.External(), dt.Location(append([]byte{3}, 0, 0, 4, 0, 0, 0, 0, 0)...))
	a := dt.N(dt.TagTypedef, dt.Name("a"), dt.Type(i))
	f := dt.File{Units: []*dt.Unit{{Root: dt.N(dt.TagCompileUnit, dt.Name("t"), dt.Language(language), z, s, i, a)}}, Sections: []dt.Section{dt.Percpu()},
		Symbols: []dt.Symbol{dt.Object("z", ".data..percpu", dt.PercpuAddr)}}
	opt := encode.Options{Features: encode.DefaultFeatures}
	if change != nil {
		change(&opt)
	}
	out, err := encode.RunSources(context.Background(), []mmapelf.Source{{Path: name, Data: f.Bytes()}}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const languageC, languageRust = 0x1d, 0x1c

// TestCheck: what a kernel refuses is an error, or a warning for other languages
// and for those who want it.
func TestCheck(t *testing.T) {
	const rule = "name is not a C identifier"
	for _, c := range []struct {
		structName string
		language   int
		work       Work
		warning    string
		refused    bool
	}{
		{"s", languageC, Work{}, "", false},
		{"s", languageRust, Work{}, "", false},
		{"a b", languageC, Work{}, "", true},
		{"a b", languageC, Work{Jobs: 3}, "", true},
		{"a b", languageC, Work{Lenient: true}, rule, false},
		{"a b", languageRust, Work{}, rule, false},
		{"a b", languageRust, Work{Lower: &lower.Options{Kernel: verify.Release{Major: 6, Minor: 1}}}, "", true},
		{"a b", languageRust, Work{Lower: &lower.Options{Kernel: verify.Release{Major: 6, Minor: 1}}, Lenient: true}, rule, false},
	} {
		out := encoded(t, c.structName, c.language, nil)
		want := bytes.Clone(out.Bytes())
		e, err := c.work.Output(t.Context(), mmapelf.Paths(name), out)
		if c.refused {
			var r *Refused
			if !errors.As(err, &r) || e != nil || r.Names != name || r.Unreadable != nil || !strings.HasPrefix(err.Error(), name+": nothing written: a kernel would refuse the BTF type ") {
				t.Errorf("%q, language %#x: %v", c.structName, c.language, err)
			}
			var f *verify.Fault
			if !errors.As(err, &f) || !strings.Contains(f.Rule, rule) {
				t.Errorf("%q: the rule is %v", c.structName, f)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q, language %#x: %v", c.structName, c.language, err)
			continue
		}
		var written bytes.Buffer
		if err := e.Write(&written); err != nil || !bytes.Equal(written.Bytes(), want) || !bytes.Equal(e.Data, want) || e.Size != int64(len(want)) || e.Below != 0 || e.NoDwarf {
			t.Errorf("%q: %d bytes written and %d there, of %d, %v", c.structName, written.Len(), e.Size, len(want), err)
		}
		switch w := e.Warning; {
		case (w != nil) != (c.warning != ""):
			t.Errorf("%q, language %#x: warning %v", c.structName, c.language, w)
		case w != nil && (w.Names != name || slices.Contains(w.Foreign, languageRust) != (c.language == languageRust) || !strings.HasPrefix(w.String(), name+": warning: a kernel refuses the BTF type ") || !strings.Contains(w.String(), c.warning)):
			t.Errorf("%q, language %#x: %s (%+v)", c.structName, c.language, w, w)
		}
		if n := len(e.Stats.Phases); e.Stats.Phases[n-1].Name != "check" {
			t.Errorf("the last phase is %v", e.Stats.Phases[n-1])
		}
		e.Free()
	}
	(&Encoded{}).Free() // of nothing
}

// TestReady: Ready writes what is checked, also if it is refused, and what is written in the end. It
// is not called if there is only one worker, or if other bytes will be written.
func TestReady(t *testing.T) {
	for _, c := range []struct {
		structName string
		work       Work
		called     bool
	}{
		{"s", Work{Jobs: 2}, true},
		{"a b", Work{Jobs: 2}, true},
		{"s", Work{Jobs: 2, Order: order.ByName}, true},
		{"s", Work{Jobs: 2, Lower: &lower.Options{Kernel: verify.Release{Major: 4, Minor: 18}}}, true},
		{"s", Work{Jobs: 1}, false},
		{"s", Work{Jobs: 2, Distil: true}, false},
	} {
		var early bytes.Buffer
		c.work.Ready = func(write func(io.Writer) error) {
			if err := write(&early); err != nil {
				t.Error(err)
			}
		}
		e, err := c.work.Output(t.Context(), mmapelf.Paths(name), encoded(t, c.structName, languageC, nil))
		if called := early.Len() > 0; called != c.called {
			t.Errorf("%q, %+v: called: %v", c.structName, c.work, called)
		}
		if err != nil {
			continue
		}
		var late bytes.Buffer
		if err := e.Write(&late); err != nil || c.called && !bytes.Equal(early.Bytes(), late.Bytes()) {
			t.Errorf("%q, %+v: %d bytes early, %d in the end, %v", c.structName, c.work, early.Len(), late.Len(), err)
		}
		e.Free()
	}
}

// withExtra leaves the variable out of the main BTF.
func withExtra(o *encode.Options) { o.Features, o.ExtraVars = o.Features&^encode.Var, true }

// TestOrder: main and extra BTF are in the order, and the extra one still refers to
// the types that it did.
func TestOrder(t *testing.T) {
	out := encoded(t, "s", languageC, withExtra)
	raw, more := bytes.Clone(out.Bytes()), bytes.Clone(out.Extra())
	if len(more) == 0 {
		t.Fatal("no extra variables")
	}
	w := Work{Order: order.ByName}
	e, err := w.Output(t.Context(), mmapelf.Paths(name), out)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Free()
	want, _, err := order.ByName(t.Context(), btftest.Parse(t, raw, nil))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(want.Encode(), raw) {
		t.Fatal("the input is in order already")
	}
	var written bytes.Buffer
	if err := e.Write(&written); err != nil || !bytes.Equal(written.Bytes(), want.Encode()) || !bytes.Equal(e.Data, want.Encode()) {
		t.Errorf("%s, %v; want\n%s", btftest.Text(btftest.Parse(t, e.Data, nil)), err, btftest.Text(want))
	}
	extra := btftest.Parse(t, e.Extra.Data, e.Extra.Base)
	if lines := variables(extra); !slices.Equal(lines, []string{"z is a STRUCT s"}) {
		t.Errorf("extra variables %q", lines)
	}
	if phases := e.Stats.Phases; len(phases) < 2 || phases[len(phases)-2].Name != "sort" {
		t.Errorf("phases %v", phases)
	}
	if e.Stats.TypesOut != len(want.Off) || e.Stats.StrBytes != len(want.Strings) {
		t.Errorf("%d types and %d bytes of strings, want %d and %d", e.Stats.TypesOut, e.Stats.StrBytes, len(want.Off), len(want.Strings))
	}
}

// variables lists the variables of b with the types that they have.
func variables(b *btf.Blob) (lines []string) {
	for id := b.FirstID; id < b.TypeCount(); id++ {
		if r := b.Record(id); b.Kind(id) == btf.KindVar {
			lines = append(lines, b.Name(r[0])+" is a "+b.Kind(r[2]).String()+" "+b.Name(b.Record(r[2])[0]))
		}
	}
	return lines
}

// TestLowerWithExtra: main and extra BTF are lowered, and the extra one refers to the lowered types,
// which may be in the output or all in the base.
func TestLowerWithExtra(t *testing.T) {
	w := Work{Lower: &lower.Options{Kernel: verify.Release{Major: 5, Minor: 11}}}
	e, err := w.Output(t.Context(), mmapelf.Paths(name), encoded(t, "a.name", languageC, withExtra))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Free()
	if got := variables(btftest.Parse(t, e.Extra.Data, e.Extra.Base)); !slices.Equal(got, []string{"z is a STRUCT a_name"}) {
		t.Errorf("extra variables %q", got)
	}
	if len(e.Lowered.Renamed) != 1 || e.Stats.Phases[len(e.Stats.Phases)-2].Name != "lower" {
		t.Errorf("lost %+v, phases %v", e.Lowered, e.Stats.Phases)
	}
	whole := encoded(t, "s", languageC, withExtra)
	w.Base = btftest.Parse(t, bytes.Clone(whole.Bytes()), nil)
	whole.Close()
	shared, err := encode.NewBase(w.Base)
	if err != nil {
		t.Fatal(err)
	}
	over := func(o *encode.Options) { withExtra(o); o.Base = shared }
	small, err := w.Output(t.Context(), mmapelf.Paths(name), encoded(t, "s", languageC, over))
	if err != nil {
		t.Fatal(err)
	}
	defer small.Free()
	lowered := slices.ContainsFunc(small.Stats.Phases, func(p encode.Phase) bool { return p.Name == "lower" })
	if got := variables(btftest.Parse(t, small.Extra.Data, small.Extra.Base)); !slices.Equal(got, []string{"z is a STRUCT s"}) || small.Stats.TypesOut != 0 || !lowered {
		t.Errorf("extra variables %q beside %d types; phases %v", got, small.Stats.TypesOut, small.Stats.Phases)
	}
}

// TestOrderFails: an error of the order names the input, and so does what is wrong
// with the extra variables.
func TestOrderFails(t *testing.T) {
	bad := errors.New("bad order")
	for n := 1; n <= 2; n++ {
		calls := 0
		w := Work{Order: func(ctx context.Context, b *btf.Blob) (*btf.Blob, []uint32, error) {
			if calls++; calls == n {
				return nil, nil, bad
			}
			return order.ByName(ctx, b)
		}}
		if e, err := w.Output(t.Context(), mmapelf.Paths(name), encoded(t, "s", languageC, withExtra)); e != nil || !errors.Is(err, bad) || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("call %d: %v", n, err)
		}
	}
	w := Work{Order: func(ctx context.Context, b *btf.Blob) (*btf.Blob, []uint32, error) {
		if b.Base == nil {
			return order.ByName(ctx, b)
		}
		x := btftest.Over(b.Base)
		x.Var("no C name", 1, btftest.Global)
		return x.Blob(t), nil, nil
	}}
	if _, err := w.Output(t.Context(), mmapelf.Paths(name), encoded(t, "s", languageC, withExtra)); err == nil || !strings.HasPrefix(err.Error(), "extra variables: "+name+": nothing written") {
		t.Errorf("bad extra variables: %v", err)
	}
}

// TestDistil: BTF over a base, with the base made small.
func TestDistil(t *testing.T) {
	base := btftest.Build(t, nil, func(b *btftest.Builder) {
		b.Int("long", 8)
		b.Int("int", 4)
	})
	for _, sort := range []Sorter{nil, order.Canonical} {
		w := Work{Base: base, Distil: true, Order: sort}
		shared, err := encode.NewBase(base)
		if err != nil {
			t.Fatal(err)
		}
		out := encoded(t, "s", languageC, func(o *encode.Options) { o.Base = shared })
		e, err := w.Output(t.Context(), mmapelf.Paths(name), out)
		if err != nil {
			t.Fatal(err)
		}
		own, below, err := w.DistilBase(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		small := btftest.Parse(t, below, nil)
		split := btftest.Parse(t, own, small)
		if text := btftest.Text(small); text != "[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n" {
			t.Errorf("distilled base:\n%s", text)
		}
		if e.Size != int64(len(own)) || e.Below != int64(len(below)) || e.Stats.TypesOut != len(split.Off) {
			t.Errorf("%d and %d bytes, %d types; said to be %d, %d and %d", len(own), len(below), len(split.Off), e.Size, e.Below, e.Stats.TypesOut)
		}
		if sort != nil {
			want, _, err := sort(t.Context(), split)
			if err != nil || !bytes.Equal(want.Encode(), own) {
				t.Errorf("not in order: %v", err)
			}
		}
		e.Free()
	}
}

// TestMismatch: that the base is of another kernel is told, and changes nothing.
func TestMismatch(t *testing.T) {
	base := btftest.Build(t, nil, func(b *btftest.Builder) { b.Int("int", 4) })
	shared, err := encode.NewBase(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		work Work
		want string
	}{
		{Work{Base: base, Kernel: &basematch.Kernel{Release: "6.1.0"}}, ""},
		{Work{Base: base, Kernel: &basematch.Kernel{Release: "6.12.0"}}, "built for 6.1.0, but the base"},
		{Work{Base: base, Kernel: &basematch.Kernel{Machine: dt.MachineS390}}, "for another machine"},
		{Work{Base: base}, ""},
	} {
		out := encoded(t, "s", languageC, func(o *encode.Options) { o.Base = shared })
		out.Origin = basematch.Module{Release: "6.1.0", Machine: dt.MachineX86_64}
		want := bytes.Clone(out.Bytes())
		e, err := c.work.Output(t.Context(), mmapelf.Paths("m.ko"), out)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(e.Mismatch, c.want) || c.want == "" && e.Mismatch != "" || !bytes.Equal(e.Data, want) {
			t.Errorf("%q, want %q", e.Mismatch, c.want)
		}
		e.Free()
	}
}

// TestMerged: what merging makes of good inputs is good. What a kernel refuses is an error
// about the input that has it, or a warning for those who want that; what nobody can read
// is always an error.
func TestMerged(t *testing.T) {
	good := Given{"good", btftest.Build(t, nil, func(b *btftest.Builder) { b.Int("int", 4) })}
	odd := Given{"odd", btftest.Build(t, nil, func(b *btftest.Builder) { b.Struct("a b", 0) })}
	void := Given{"void", btftest.Build(t, nil, func(b *btftest.Builder) { b.Ptr(0) })}
	void.BTF.Words[2] = 7
	each := Given{"each", btftest.Build(t, nil, btftest.EveryKind)}
	empty := Given{"empty", btftest.New().Blob(t)}
	const refused, input = ": nothing written: a kernel would refuse the BTF type ", ": nothing written: a kernel would refuse the input's BTF type "
	for _, c := range []struct {
		name          string
		data          Given
		inputs        []Given
		refused, warn string // what is said, and with w.Lenient
		unreadable    bool
	}{
		{"good", good, []Given{good}, "", "", false},
		{"all kinds", each, []Given{each}, "", "", false},
		{"no types", empty, []Given{empty, empty}, "", "", false},
		{"odd", odd, []Given{good, good}, "good and 1 more input" + refused, "good and 1 more input: warning: a kernel refuses the BTF type ", false},
		{"odd from odd", odd, []Given{good, odd}, "odd" + input, "odd: warning: a kernel refuses the BTF type ", false},
		{"unreadable", void, []Given{good}, "good" + refused, "good: nothing written: BTF type", true},
		{"unreadable from input", void, []Given{odd, void}, "void" + input, "void: nothing written: BTF type", true},
		{"unreadable input", void, []Given{void}, "void" + input, "void: nothing written: BTF type", true},
	} {
		for _, lenient := range []bool{false, true} {
			w, want := Work{Lenient: lenient}, c.refused
			if lenient {
				want = c.warn
			}
			warning, err := w.Merged(c.inputs, c.data.BTF.Encode())
			got := ""
			switch {
			case warning != nil:
				got = warning.String()
			case err != nil:
				got = err.Error()
			}
			if !strings.HasPrefix(got, want) || got != "" && want == "" {
				t.Errorf("%s, lenient %v: %q, want %q", c.name, lenient, got, want)
			}
			var r *Refused
			if errors.As(err, &r) && (r.Unreadable != nil) != c.unreadable {
				t.Errorf("%s: no program can read it: %v", c.name, r.Unreadable)
			}
		}
	}
}

// TestRulesOfAnOutput: which release has to take it, and with which size of pointers.
func TestRulesOfAnOutput(t *testing.T) {
	none, old := verify.Release{}, verify.Release{Major: 5, Minor: 4}
	for _, c := range []struct {
		out     encode.Output
		to      *lower.Options
		kernel  verify.Release
		release string // that it was lowered to
		pointer int
	}{
		{encode.Output{}, nil, verify.Release{Major: 7}, "", 8},
		{encode.Output{PointerSize: 8}, nil, verify.Release{Major: 7}, "", 8},
		{encode.Output{PointerSize: 4}, nil, verify.Release{Major: 7}, "", 4},
		{encode.Output{PointerSize: 2}, nil, verify.Release{Major: 7}, "", 8},
		{encode.Output{Layout: true}, nil, verify.Release{Major: 7, Minor: 1}, "", 8},
		{encode.Output{LongVlen: true}, nil, verify.Release{Major: 7, Minor: 2}, "", 8},
		{encode.Output{LongVlen: true, Layout: true}, nil, verify.Release{Major: 7, Minor: 2}, "", 8},
		{encode.Output{Inlined: true}, nil, none, "", 8},
		{encode.Output{Inlined: true, LongVlen: true, Layout: true}, nil, none, "", 8},
		{encode.Output{Layout: true}, &lower.Options{Kernel: old}, old, "5.4", 8},
	} {
		r := (&Work{Lower: c.to, Jobs: 3}).rulesFor(name, &c.out)
		if r.names != name || r.rules.Kernel != c.kernel || r.to != c.release || r.rules.PointerSize != c.pointer || r.rules.Workers != 3 {
			t.Errorf("%+v: %+v", c, r)
		}
	}
}

// TestLossTexts: each kind of loss has a line, which names the first few.
func TestLossTexts(t *testing.T) {
	names := make([]lower.Name, 1006)
	for i := range names {
		names[i] = lower.Name{ID: uint32(i + 1), Old: "a b", New: "a_b"}
	}
	five := "names that Linux 5.4 refuses: [1] a b is a_b, [2] a b is a_b, [3] a b is a_b, [4] a b is a_b, [5] a b is a_b"
	wide := lower.Enum{ID: 7, Name: "e", Value: "V", Full: 1 << 32}
	for _, c := range []struct {
		lost lower.Report
		want []string
	}{
		{lower.Report{}, nil},
		{lower.Report{Renamed: names[:1]}, []string{"names that Linux 5.4 refuses: [1] a b is a_b"}},
		{lower.Report{Renamed: names[:5]}, []string{five}},
		{lower.Report{Renamed: names[:6]}, []string{five + ", and 1 more"}},
		{lower.Report{Renamed: names}, []string{five + ", and 1,001 more"}},
		{lower.Report{Cut: []lower.Enum{wide, {ID: 8, Value: "W\n", Full: 1 << 33}}},
			[]string{`values of ENUM64 are cut to 32 bits: [7] e (V = 0x100000000), [8] (anon) (W\n = 0x200000000)`}},
		{lower.Report{Cut: []lower.Enum{{ID: 7, Name: "e", Value: "V", Full: 1 << 32, Union: true}}, Renamed: names[:1]},
			[]string{"ENUM64 with values over 32 bits are unions without values: [7] e (V = 0x100000000)", "names that Linux 5.4 refuses: [1] a b is a_b"}},
	} {
		if got := LossTexts(verify.Release{Major: 5, Minor: 4}, c.lost); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
