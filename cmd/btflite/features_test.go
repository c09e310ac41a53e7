package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
)

// Printed by pahole 1.32 --supported_btf_features.
const supportedFeatures = "encode_force,var,float,decl_tag,type_tag,enum64,optimized_func,consistent_func," +
	"decl_tag_kfuncs,reproducible_build,distilled_base,global_var,attributes,true_signature,layout,force_cu_merging"

// The cases were tried with pahole 1.32 over libbpf 1.7 and 1.8 on a small file with
// floats, a 64-bit enum and global variables.
func TestFeatureRules(t *testing.T) {
	const (
		plain = encode.BasicFeatures
		def   = encode.DefaultFeatures
		all   = encode.AllFeatures
	)
	x1018, x1019 := strings.Repeat("x", 1018), strings.Repeat("x", 1019)
	tests := []struct {
		args string
		want encode.Features
	}{
		{"", plain},
		{"--btf_features=default", def},
		{"--btf_features=", 0},
		{"--btf_features=var", encode.Var},
		{"--btf_features=var,,float,", encode.Var | encode.Float},
		{"--btf_features=+", def},
		{"--btf_features=+global_var", def | encode.GlobalVar},
		{"--btf_features=++global_var", def},
		{"--btf_features=+,,float", def},
		{"--btf_features=,+global_var", 0},
		{"--btf_features=var,+float", encode.Var},
		{"--btf_features=var,default", def},
		{"--btf_features=foo,default,bar", def},
		{"--btf_features=all", all},
		{"--btf_features=var,all", all},
		{"--btf_features=allx", 0},
		{"--btf_features=FLOAT", 0},
		{"--btf_features=layout", encode.Layout},
		{"--btf_features=attributes --btf_features=float", encode.Attributes | encode.Float},
		{"--features=float --btf_features_strict=enum64", encode.Float | encode.Enum64},
		{"--btf_features_strict=var,default", def},
		{"--btf_gen_all", all},
		{"--btf_gen_floats --btf_gen_all", all},
		{"--btf_gen_all --btf_features=var", all},
		{"--btf_gen_floats", plain | encode.Float},
		{"--btf_gen_floats --btf_features=var", encode.Var},
		{"--btf_features=var --btf_gen_floats", encode.Var | encode.Float},
		{"--btf_features=var --btf_gen_floats --btf_features=enum64", encode.Var | encode.Float | encode.Enum64},
		{"--skip_encoding_btf_enum64 --btf_features=enum64", encode.Enum64},
		{"--btf_features=enum64 --skip_encoding_btf_enum64", 0},
		{"--skip_encoding_btf_vars --skip_encoding_btf_decl_tag --skip_encoding_btf_type_tag --skip_encoding_btf_enum64", 0},
		{"--skip_encoding_btf_inconsistent_proto --btf_gen_optimized --btf_attributes", plain | encode.ConsistentFunc | encode.OptimizedFunc | encode.Attributes},
		{"--btf_encode_force --reproducible_build", plain | encode.EncodeForce | encode.ReproducibleBuild},
		{"--btf_features=distilled_base,force_cu_merging", encode.DistilledBase | encode.ForceCUMerging},
		{"--btf_features=" + x1018 + ",float", encode.Float}, // 1024 bytes
		{"--btf_features=" + x1019 + ",float", 0},            // cut to "floa"
		// the set of Linux 7.2
		{"--btf_features=encode_force,var,float,enum64,decl_tag,type_tag,optimized_func,consistent_func,decl_tag_kfuncs --btf_features=attributes", def | encode.Attributes},
	}
	for _, tt := range tests {
		c, _, err := parse(strings.Fields(tt.args)...)
		if err != nil {
			t.Errorf("%.80s: %v", tt.args, err)
		} else if c.opt.Encode.Features != tt.want {
			t.Errorf("%.80s: %#x, want %#x", tt.args, c.opt.Encode.Features, tt.want)
		}
	}
}

func TestStrictFeatures(t *testing.T) {
	tests := []struct{ list, name, shown string }{
		{"foo", "foo", "foo"},
		{"+foo", "foo", "foo"},
		{"all,foo", "foo", "all,foo"},
		{"default,layout,inlined", "inlined", "default,layout,inlined"},
		{"++global_var", "+global_var", "+global_var"},
	}
	for _, tt := range tests {
		_, _, err := parse("--btf_features_strict=" + tt.list)
		want := "Feature '" + tt.name + "' in '" + tt.shown + "' is not supported.  Supported BTF features are:\n" + supportedFeatures
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v\nwant %s", tt.list, err, want)
		}
	}
}

func TestUnknownFeatureIsToldAfterVerbose(t *testing.T) {
	c, _, err := parse(strings.Fields("--btf_features=a -V --btf_features=b,default")...)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"b"}; !slices.Equal(c.unsupported, want) {
		t.Errorf("%q, want %q", c.unsupported, want)
	}
}

func TestLanguageFilter(t *testing.T) {
	unset := "\x00"
	tests := []struct {
		args, env     string
		lang, exclude []uint16
		err           string
	}{
		{"", unset, nil, nil, ""},
		{"--lang=c99,C11", unset, []uint16{0x0c, 0x1d}, nil, ""},
		{"--lang_exclude=rust,asm", unset, nil, []uint16{0x1c, 0x8001}, ""},
		{"--lang=c --lang=rust", unset, []uint16{0x1c}, nil, ""},
		{"--lang_exclude=c11 --lang=rust", unset, nil, []uint16{0x1c}, ""},
		{"--lang=rust --lang_exclude=c11", unset, nil, []uint16{0x1d}, ""},
		{"", "rust", nil, []uint16{0x1c}, ""},
		{"--lang=c99", "zz", []uint16{0x0c}, nil, ""},
		{"", "", nil, nil, `PAHOLE_LANG_EXCLUDE: unknown language ""`},
		{"--lang=", unset, nil, nil, `option '--lang': unknown language ""`},
		{"--lang=c,", unset, nil, nil, `option '--lang': unknown language ""`},
		{"--lang_exclude=rust,x", unset, nil, nil, `option '--lang_exclude': unknown language "x"`},
		{"--lang=c17", unset, nil, nil, `option '--lang': unknown language "c17"; did you mean "c11"?`},
	}
	for _, tt := range tests {
		c, _, err := parse(strings.Fields(tt.args)...)
		var lang, exclude []uint16
		if err == nil {
			lang, exclude, err = c.lang.resolve(func(string) (string, bool) { return tt.env, tt.env != unset })
		}
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%q: error %v, want %s", tt.args, err, tt.err)
			}
			continue
		}
		if err != nil || !slices.Equal(lang, tt.lang) || !slices.Equal(exclude, tt.exclude) {
			t.Errorf("%q env %q: %v %v %v, want %v %v", tt.args, tt.env, lang, exclude, err, tt.lang, tt.exclude)
		}
	}
}
