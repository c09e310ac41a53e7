package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// TestShowScopes: lists of types from DWARF leave out what only functions declare, as pahole's do,
// wherever else in the file the same struct is, and however its units are deduplicated. A name asks
// for any of them.
func TestShowScopes(t *testing.T) {
	i := func() *dt.DIE { return dt.N(dt.TagBaseType, dt.Size(4), dt.Encoding(5), dt.Name("int")) }
	composite := func(tag int, name string, of *dt.DIE, inside ...any) *dt.DIE {
		return dt.N(tag, append([]any{dt.Name(name), dt.Size(4), dt.N(dt.TagMember, dt.Name(name+"_m"), dt.Type(of), dt.MemberAt(0))}, inside...)...)
	}
	st := func(name string, of *dt.DIE, inside ...any) *dt.DIE {
		return composite(dt.TagStructureType, name, of, inside...)
	}
	function := func(name string, inside ...any) *dt.DIE {
		return dt.N(dt.TagSubprogram, append([]any{dt.Name(name), dt.External()}, inside...)...)
	}
	unit := func(inside ...any) *dt.Unit {
		return &dt.Unit{Root: dt.N(dt.TagCompileUnit, append([]any{dt.Name("t.c"), dt.Language(langC11)}, inside...)...)}
	}
	units := func() (list []*dt.Unit, int1 *dt.DIE) {
		a, b := i(), i()
		fwd := func() *dt.DIE { return dt.N(dt.TagStructureType, dt.Name("later"), dt.Declaration()) }
		return []*dt.Unit{
			unit(a, st("top", a), fwd(), function("f", st("in_f", a, dt.N(dt.TagUnionType, dt.Size(4), dt.N(dt.TagMember, dt.Name("n"), dt.Type(a), dt.MemberAt(0)))), composite(dt.TagUnionType, "in_f_too", a),
				dt.N(dt.TagLexicalBlock, st("in_block", a), dt.N(dt.TagLexicalBlock, st("in_inner", a))), st("second_outside", a), st("only_inside", a), st("other_outside", a))),
			unit(b, dt.N(dt.TagSubprogram, dt.Name("g"), dt.Inline(), st("in_inline", b), st("first_outside", b)), st("second_outside", b), st("first_outside", b),
				st("other_outside", dt.N(dt.TagBaseType, dt.Size(4), dt.Encoding(7), dt.Name("unsigned"))), function("h", st("only_inside", b), st("top", b)), st("later", b)),
		}, a
	}
	always := []string{"first_outside", "later", "other_outside", "second_outside", "top"}
	for what, x := range map[string]struct {
		more func(list []*dt.Unit, int1 *dt.DIE) []*dt.Unit
		want []string
	}{
		"as it comes": {func(list []*dt.Unit, _ *dt.DIE) []*dt.Unit { return list }, always},
		"disagreeing": {func(list []*dt.Unit, _ *dt.DIE) []*dt.Unit { // about struct later, so that all is deduplicated at once
			c := dt.N(dt.TagBaseType, dt.Size(4), dt.Encoding(7), dt.Name("unsigned"))
			return append(list, unit(c, st("later", c)))
		}, append(slices.Clone(always), "later")},
		"merged": {func(list []*dt.Unit, int1 *dt.DIE) []*dt.Unit { // a unit refers to another one
			far := dt.N(dt.TagMember, dt.Name("m"), dt.Attr{At: dt.AtType, Form: dt.FormRefAddr, Val: int1}, dt.MemberAt(0))
			return append(list, unit(dt.N(dt.TagStructureType, dt.Name("far"), dt.Size(4), far), function("k", dt.N(dt.TagStructureType, dt.Name("in_k"), dt.Size(4), far))))
		}, append(slices.Clone(always), "far")},
	} {
		list, int1 := units()
		file := testfile.New(t, "in", (&dt.File{Units: x.more(list, int1)}).Bytes())
		slices.Sort(x.want)
		for _, line := range []string{"-s", "-n", "-T", "-s -a -A", "--sort -s", "-z 0", "-N", "-H 0 -s", "-F dwarf -s"} {
			args := append(strings.Fields(line), file)
			status, stdout, _ := asPahole(args...)
			got := firstFields(stdout)
			if want := slices.Compact(slices.Clone(x.want)); status != exitOK || !slices.Equal(slices.Compact(got), want) {
				t.Errorf("%s, %s: %q, want %q", what, line, got, want)
			}
			if program := corpus.Pahole(); program != "" {
				out, err := exec.Command(program, args...).Output()
				if theirs := firstFields(string(out)); err != nil || !slices.Equal(slices.Compact(theirs), slices.Compact(firstFields(stdout))) {
					t.Errorf("%s, %s: pahole has %q, not %q, %v", what, line, theirs, got, err)
				}
			}
		}
		for _, name := range []string{"in_f", "in_f_too", "in_block", "in_inner", "in_inline", "only_inside"} {
			if status, stdout, stderr := asPahole("-C", name, file); status != exitOK || !strings.Contains(stdout, name+" {\n") {
				t.Errorf("%s: -C %s: %s %s", what, name, stdout, stderr)
			}
		}
	}
}

// firstFields returns the first words of the lines, sorted.
func firstFields(text string) (words []string) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 0 {
			words = append(words, f[0])
		}
	}
	slices.Sort(words)
	return words
}
