package encode_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// kernelTakes fails the test if a kernel takes the BTF and want is false, or the other way round.
func kernelTakes(t *testing.T, what string, data []byte, want bool) {
	t.Helper()
	_, err := verify.Check(data, nil, verify.Rules{Kernel: verify.Release{Major: 7}, PointerSize: 8})
	if (err == nil) != want {
		text, _ := format(t, data)
		t.Errorf("%s: kernel: %v\n%s", what, err, text)
	}
}

// TestVariableOfSeveralUnits: one variable that several units describe is there once, with the size of
// its symbol. As pahole has it, it is there as often as it is described.
func TestVariableOfSeveralUnits(t *testing.T) {
	const pc = dt.PercpuAddr
	tag := func(v string) *dt.DIE {
		return dt.N(dt.TagLLVMAnnotation, dt.Name("btf_decl_tag"), dt.Const(v))
	}
	type vars func(i, long *dt.DIE) []any
	same := func(i, _ *dt.DIE) []any { return []any{variable("v", i, pc+8)} }
	wide := func(_, long *dt.DIE) []any { return []any{variable("v", long, pc+8)} }
	next := func(i, _ *dt.DIE) []any { return []any{variable("w", i, pc+12)} }
	object := func(size uint64) []dt.Symbol {
		return []dt.Symbol{{Name: "v", Type: 1, Value: pc + 8, Size: size, Section: ".data..percpu"}}
	}
	for _, c := range []struct {
		name    string
		units   []vars
		symbols []dt.Symbol
		want    string // entries of the DATASEC, "" for BTF that no kernel takes
		taken   bool   // a kernel takes pahole's
	}{
		{"one", []vars{same, next}, nil, "v 8 4, w 12 4", true},
		{"two", []vars{same, same, next}, nil, "v 8 4, w 12 4", false},
		{"three", []vars{same, next, same, same}, nil, "v 8 4, w 12 4", false},
		{"next twice", []vars{next, same, next, next}, nil, "v 8 4, w 12 4", false},
		{"the second is the symbol", []vars{wide, same, next}, object(4), "v 8 4, w 12 4", false},
		{"the first is the symbol", []vars{same, wide, next}, object(4), "v 8 4, w 12 4", false},
		{"the wider one is the symbol", []vars{same, wide}, object(8), "v 8 8", false},
		{"no symbol", []vars{wide, same}, nil, "v 8 8", false},
		{"three sizes, one of them the symbol", []vars{wide, func(i, _ *dt.DIE) []any { return []any{variable("v", array(i, 3), pc+8)} }, same, next},
			object(4), "v 8 4, w 12 4", false},
		{"tags", []vars{func(i, _ *dt.DIE) []any { return []any{variable("v", i, pc+8, tag("a"), tag("b"))} },
			func(i, _ *dt.DIE) []any { return []any{variable("v", i, pc+8, tag("b"))} }}, nil, "v 8 4", false},
		{"another name", []vars{same, func(i, _ *dt.DIE) []any { return []any{variable("alias", i, pc+8)} }}, nil, "", false},
		{"part of another", []vars{wide, next}, nil, "", false},
		{"no size", []vars{same, func(i, _ *dt.DIE) []any {
			return []any{variable("v", structure("none", 0), pc+8), variable("none", array(i, 0), pc+8)}
		}},
			nil, "v 8 4", true},
	} {
		var units []*dt.Unit
		for _, f := range c.units {
			i, long := intType(), base("long", 8, ateSigned)
			parts := []any{i, long}
			for _, v := range f(i, long) {
				for _, a := range v.(*dt.DIE).Attrs {
					if d, ok := a.Val.(*dt.DIE); ok && d != i && d != long {
						parts = append(parts, d)
					}
				}
				parts = append(parts, v)
			}
			units = append(units, dt.CU(parts...))
		}
		f := many(units...)
		f[0].Sections, f[0].Symbols = []dt.Section{dt.Percpu()}, c.symbols
		x := rule{files: f}
		paths := x.write(t, t.TempDir())
		for _, opt := range []encode.Options{
			{Features: encode.DefaultFeatures}, {Features: encode.BasicFeatures | encode.GlobalVar, Jobs: 3}, {Features: encode.DefaultFeatures, Dedup: encode.DedupExact},
			{Features: encode.DefaultFeatures | encode.ForceCUMerging},
		} {
			what := fmt.Sprintf("%s, features %#x", c.name, opt.Features)
			data := mustRun(t, paths, opt)
			kernelTakes(t, what+" as pahole", data, c.taken)
			opt.For = encode.ForKernel
			got := mustRun(t, paths, opt)
			kernelTakes(t, what, got, c.want != "")
			text, _ := format(t, got)
			if entries := entriesOf(text); c.want != "" && entries != c.want {
				t.Errorf("%s: %s, want %s\n%s", what, entries, c.want, text)
			}
			if c.taken && !bytes.Equal(data, got) {
				t.Errorf("%s: other bytes than pahole's, which a kernel takes", what)
			}
			if n := strings.Count(text, "VAR 'v' "); n != 1 {
				t.Errorf("%s: v is there %d times\n%s", what, n, text)
			}
			if n := strings.Count(text, "DECL_TAG"); c.name == "tags" && n != 2 {
				t.Errorf("%s: %d tags\n%s", what, n, text)
			}
		}
	}
}

// entriesOf lists the entries of DATASECs: name, offset, size.
func entriesOf(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		var id, off, size int
		var name string
		if _, err := fmt.Sscanf(strings.TrimSpace(line), "type_id=%d offset=%d size=%d (VAR %s", &id, &off, &size, &name); err == nil {
			out = append(out, fmt.Sprintf("%s %d %d", strings.Trim(name, "')"), off, size))
		}
	}
	return strings.Join(out, ", ")
}

// TestVariableOverridden has a linker decide: a weak variable that another unit overrides with one of
// another size, and common symbols of different sizes.
func TestVariableOverridden(t *testing.T) {
	for _, tool := range []string{"gcc", "ld"} {
		corpus.Installed(t, tool)
	}
	for _, c := range []struct{ a, b, flag, features, want string }{
		{"PC __attribute__((weak)) long tune = 1; PC int one; long rd(void) { return tune + one; }",
			"PC int tune = 5; PC int two; long rd2(void) { return tune + two; }", "-O1", "var", "VAR 'tune'"},
		{"PC int tune = 5; PC int two; long rd2(void) { return tune + two; }",
			"PC __attribute__((weak)) long tune = 1; PC int one; long rd(void) { return tune + one; }", "-O1", "var", "VAR 'tune'"},
		{"char buf[10]; int first(void) { return buf[1]; }", "char buf[20]; int last = 1; int second(void) { return buf[2] + last; }",
			"-fcommon", "global_var", "size=20 (VAR 'buf')"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"a.c": c.a, "b.c": c.b} {
			text = "#define PC __attribute__((section(\".data..percpu\")))\n" + text
			testfile.Write(t, filepath.Join(dir, name), text)
		}
		m := filepath.Join(dir, "m.o")
		for _, args := range [][]string{{"gcc", "-g", c.flag, "-c", "a.c"}, {"gcc", "-g", c.flag, "-c", "b.c"}, {"ld", "-r", "-d", "a.o", "b.o", "-o", m}} {
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Skipf("%v: %v\n%s", args, err, out)
			}
		}
		opt := encode.Options{Features: encode.EncodeForce | encode.Var}
		if c.features == "global_var" {
			opt.Features |= encode.GlobalVar
		}
		pahole := mustRun(t, []string{m}, opt)
		kernelTakes(t, "as pahole", pahole, false)
		opt.For = encode.ForKernel
		got := mustRun(t, []string{m}, opt)
		kernelTakes(t, c.a, got, true)
		if text, _ := format(t, got); !strings.Contains(text, c.want) {
			t.Errorf("no %s in\n%s", c.want, text)
		}
	}
}
