package distill

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// TestRelocate: what was distilled from a kernel is found in another, whose types have other
// ids, or the error names the type.
func TestRelocate(t *testing.T) {
	base := btftest.Build(t, nil, func(b *btftest.Builder) {
		i := b.Int("int", 4)
		b.Struct("inner", 8, b.Member("a", i, 0))
		b.Ptr(b.Struct("other", 16, b.Member("x", i, 0)))
		b.Enum("colour", b.Value("RED", 1))
		b.Float("double", 8)
	})
	module := btftest.Build(t, base, func(b *btftest.Builder) {
		b.Struct("mine", 48, b.Member("in", 2, 0), b.Member("p", 4, 64), b.Member("c", 5, 128), b.Member("d", 6, 192), b.Member("n", 1, 256))
	})
	_, over, err := Split(context.Background(), module)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		kernel func(b *btftest.Builder)
		want   string // of the error; "" for none
	}{
		{"another order", func(b *btftest.Builder) {
			b.Float("double", 8)
			b.Struct("other", 24)
			b.Enum64("colour", b.Value64("RED", 1))
			b.Enum("colour", b.Value("RED", 1))
			b.Struct("inner", 12)
			b.Struct("inner", 8)
			b.Int("int", 4)
		}, ""},
		{"a struct that is declared and defined", func(b *btftest.Builder) {
			b.Fwd("other")
			b.Struct("other", 16)
			b.Fwd("other")
			b.Float("double", 8)
			b.Enum("colour")
			b.Struct("inner", 8)
			b.Int("int", 4)
		}, ""},
		{"a struct that is declared only", func(b *btftest.Builder) {
			b.Fwd("other")
			b.Float("double", 8)
			b.Enum("colour")
			b.Struct("inner", 8)
			b.Int("int", 4)
		}, ""},
		{"another size", func(b *btftest.Builder) {
			b.Struct("inner", 16)
			b.Struct("other", 16)
			b.Float("double", 8)
			b.Enum("colour")
			b.Int("int", 4)
		}, `no STRUCT "inner"`},
		{"two of the size", func(b *btftest.Builder) {
			b.Struct("inner", 8)
			b.Struct("inner", 8)
			b.Struct("other", 16)
			b.Float("double", 8)
			b.Enum("colour")
			b.Int("int", 4)
		}, `2 types that may be STRUCT "inner"`},
		{"nothing", func(b *btftest.Builder) {}, "the kernel has no"},
	} {
		kernel := btftest.Build(t, nil, tt.kernel)
		got, err := NewRelocator(kernel).Relocate(over)
		switch {
		case tt.want != "":
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.name, err)
		default:
			// What is behind the pointer is the definition, wherever there is one.
			defined := false
			for id := uint32(1); id < kernel.TypeCount(); id++ {
				defined = defined || kernel.Kind(id) == btf.KindStruct && kernel.Name(kernel.Record(id).Name()) == "other"
			}
			r := got.Record(got.FirstID)
			_, pointer, _ := r.Member(1)
			if to := got.Record(pointer).Third(); (got.Kind(to) == btf.KindStruct) != defined {
				t.Errorf("%s: the pointer leads to %s [%d]", tt.name, got.Kind(to), to)
			}
			for j := range int(r.Vlen()) {
				_, id, _ := r.Member(j)
				_, was, _ := module.Record(module.FirstID).Member(j)
				if k := base.Kind(was); k != btf.KindPtr && base.Name(base.Record(was).Name()) != got.Name(got.Record(id).Name()) {
					t.Errorf("%s: member %d is of %s %q", tt.name, j, got.Kind(id), got.Name(got.Record(id).Name()))
				}
			}
		}
	}
}

// FuzzRelocate: whatever the files are, there is an error, or BTF over the kernel.
func FuzzRelocate(f *testing.F) {
	for _, machine := range []string{"x86", "s390x"} {
		var data [3][]byte
		for i, part := range []string{".distilled.base.btf", ".distilled.btf", ".base.btf"} {
			data[i], _ = os.ReadFile("../../testdata/split/" + machine + part)
		}
		f.Add(data[0], data[1], data[2])
	}
	f.Fuzz(func(t *testing.T, base, split, kernel []byte) {
		below, err := btf.Parse(base, nil)
		if err != nil {
			return
		}
		own, err := btf.Parse(split, below)
		if err != nil {
			return
		}
		k, err := btf.Parse(kernel, nil)
		if err != nil {
			return
		}
		out, err := NewRelocator(k).Relocate(own)
		if err == nil && len(out.Off) != len(own.Off) {
			t.Errorf("%d types of %d", len(out.Off), len(own.Off))
		}
	})
}
