package verify

import (
	"testing"

	"github.com/btflite/btflite/btf"
)

// TestLoaded: BTF of BPF objects is judged as the loader leaves it.
func TestLoaded(t *testing.T) {
	for _, c := range []struct {
		what          string
		add           func(b *blob)
		loaded, plain bool // fine
	}{
		{"section without a size", func(b *blob) {
			v, w := variable(b, tInt), variable(b, tInt)
			section(b, 0, v, 0, 4, w, 0, 4)
		}, true, false},
		{"entries out of order", func(b *blob) {
			v, w := variable(b, tInt), variable(b, tInt)
			section(b, 8, v, 4, 4, w, 0, 4)
		}, true, false},
		{"entries that overlap", func(b *blob) {
			v, w := variable(b, tInt), variable(b, tInt)
			section(b, 8, v, 2, 4, w, 0, 4)
		}, false, false},
		{"entry behind its section", func(b *blob) { section(b, 8, variable(b, tInt), 8, 4) }, false, false},
		{"entry of type void", func(b *blob) { section(b, 0, 0, 0, 4) }, false, false},
		{"entry that is an INT", func(b *blob) { section(b, 0, tInt, 0, 4) }, false, false},
		{"entry smaller than its variable", func(b *blob) { section(b, 0, variable(b, tInt), 0, 2) }, false, false},
		{"extern function", func(b *blob) {
			p := b.add("", btf.KindFuncProto, 1, false, tInt, 0, tInt)
			f := b.add("kfunc", btf.KindFunc, 2, false, p)
			b.add(".ksyms", btf.KindDatasec, 1, false, 0, f, 0, 0)
		}, true, false},
		{"parameter without a name of a function that is not extern", func(b *blob) {
			p := b.add("", btf.KindFuncProto, 1, false, tInt, 0, tInt)
			b.add("f", btf.KindFunc, 1, false, p)
		}, false, false},
		{"extern function of an INT", func(b *blob) { b.add("kfunc", btf.KindFunc, 2, false, tInt) }, false, false},
		{"extern variables", func(b *blob) {
			v := b.add("sym", btf.KindVar, 0, false, 0, 2)
			w := b.add("CONFIG_HZ", btf.KindVar, 0, false, b.add("f", btf.KindFwd, 0, false, 0), 2)
			b.add(".kconfig", btf.KindDatasec, 2, false, 0, v, 0, 4, w, 0, 0)
		}, true, false},
		{"linkage 3", func(b *blob) { b.add("v", btf.KindVar, 0, false, tInt, 3) }, false, false},
		{"name that is none", func(b *blob) { b.add("a b", btf.KindVar, 0, false, tInt, 2) }, false, false},
	} {
		b := start()
		c.add(b)
		for _, loaded := range []bool{true, false} {
			want := c.plain
			if loaded {
				want = c.loaded
			}
			if _, err := Check(b.Encode(false), nil, Rules{Loaded: loaded}); (err == nil) != want {
				t.Errorf("%s, loaded %v: %v", c.what, loaded, err)
			}
		}
	}
}

// TestLoadedRewritten: types that libbpf rewrites for older kernels are accepted for
// them; others are refused.
func TestLoadedRewritten(t *testing.T) {
	rules := Rules{Loaded: true, Kernel: Oldest}
	b := start()
	b.add("x", btf.KindEnum64, 0, true, 8)
	b.add("f", btf.KindFloat, 0, false, 4)
	b.add("g", btf.KindFunc, 1, false, tProto)
	section := func(name string) {
		v := b.add("v", btf.KindVar, 0, false, tInt, 1)
		b.add(name, btf.KindDatasec, 1, false, 4, v, 0, 4)
	}
	section("?.struct_ops")
	if _, err := Check(b.Encode(false), nil, rules); err != nil {
		t.Error(err)
	}
	section("a/b")
	if _, err := Check(b.Encode(false), nil, rules); err == nil || err.(*Fault).Needs != (Release{6, 9, 0}) {
		t.Error(err)
	}
}
