package job

import (
	"errors"
	"testing"

	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
)

// TestCheck: what does not go together is refused, in the same words for the library and for
// the command line.
func TestCheck(t *testing.T) {
	e := func(e encode.Options) Options { return Options{Encode: e} }
	distil := func(e encode.Options) Options { return Options{Encode: e, Distil: true} }
	target := func(major, minor int, o Options) Options {
		o.Target = verify.Release{Major: major, Minor: minor}
		return o
	}
	words := map[Word]string{ExtraVars: "--extra_vars", Inline: "--inline", BaseBTF: "a base"}
	for _, c := range []struct {
		opt    Options
		based  bool
		inputs int
		want   string // "" if it goes together
		line   string // by words, if that differs
	}{
		{e(encode.Options{}), false, 2, "", ""},
		{e(encode.Options{Lang: []uint16{1}}), false, 1, "", ""},
		{e(encode.Options{Lang: []uint16{1}, LangExclude: []uint16{2}}), false, 1, "Lang with LangExclude: only one list can choose the units", ""},
		{Options{Marks: true, Lenient: true}, false, 1, "", ""},
		{Options{Marks: true}, false, 1, "Marks needs AllowRefused", ""},
		{Options{Marks: true, Lenient: true, Distil: true}, true, 1, "Marks with Distil: marks are for reading, and no kernel takes them", ""},
		{distil(encode.Options{}), true, 1, "", ""},
		{distil(encode.Options{}), false, 1, "Distil needs Base", "Distil needs a base"},
		{e(encode.Options{ExtraVars: true}), true, 2, "", ""},
		{distil(encode.Options{ExtraVars: true}), true, 1, "ExtraVars with Distil: the types that it refers to have other ids in each kernel",
			"--extra_vars with Distil: the types that it refers to have other ids in each kernel"},
		{e(encode.Options{ExtraVars: true, Features: encode.GlobalVar}), false, 1, "ExtraVars with the feature global_var: all variables are in the main BTF already",
			"--extra_vars with the feature global_var: all variables are in the main BTF already"},
		{e(encode.Options{Inline: true}), false, 1, "", ""},
		{e(encode.Options{Features: encode.Inline}), false, 1, "", ""},
		{distil(encode.Options{Features: encode.Inline}), true, 1, "", ""},
		{distil(encode.Options{Inline: true}), true, 1, "Inline with Distil: the types that it refers to have other ids in each kernel",
			"--inline with Distil: the types that it refers to have other ids in each kernel"},
		{e(encode.Options{Inline: true, Features: encode.Inline}), false, 1, "Inline with the feature inline: the inlined functions are in the main BTF already",
			"--inline with the feature inline: the inlined functions are in the main BTF already"},
		{e(encode.Options{Inline: true}), false, 2, "Inline with several inputs: sites are offsets in the sections of one file",
			"--inline with several inputs: sites are offsets in the sections of one file"},
		{e(encode.Options{Features: encode.Inline}), false, 2, "the feature inline with several inputs: sites are offsets in the sections of one file", ""},
		{target(5, 10, Options{}), false, 2, "", ""},
		{target(5, 10, Options{}), true, 1, "Base with Target: Linux takes split BTF from 5.11 on", "a base with Target: Linux takes split BTF from 5.11 on"},
		{target(5, 11, Options{}), true, 1, "", ""},
		{target(6, 10, Options{Distil: true}), true, 1, "Distil with Target: Linux takes a distilled base from 6.11 on", ""},
		{target(6, 11, Options{Distil: true}), true, 1, "", ""},
		{target(6, 1, Options{Marks: true, Lenient: true}), false, 1, "Marks with Target: marks are for reading, and no kernel takes them", ""},
		{target(7, 2, e(encode.Options{Inline: true})), false, 1, "Inline with Target: no release of Linux takes sites of inlined functions",
			"--inline with Target: no release of Linux takes sites of inlined functions"},
		{target(7, 2, e(encode.Options{Features: encode.Inline})), false, 1, "the feature inline with Target: no release of Linux takes sites of inlined functions", ""},
		{e(encode.Options{Libbpf: encode.Libbpf18}), false, 1, "", ""},
		{e(encode.Options{Libbpf: 3}), false, 1, "Libbpf with 3: there is no such release", ""},
	} {
		err := c.opt.Check(c.based, c.inputs)
		if c.want == "" {
			if err != nil {
				t.Errorf("%+v: %v", c.opt, err)
			}
			continue
		}
		conflict := new(Conflict)
		if !errors.As(err, &conflict) || err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.opt, err, c.want)
			continue
		}
		if c.line == "" {
			c.line = c.want
		}
		if got := conflict.In(words); got != c.line {
			t.Errorf("%s, want %s", got, c.line)
		}
	}
}
