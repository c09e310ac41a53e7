package verify

import (
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// Flags of LOC_PARAMs, as the kernel's headers have them.
const (
	signed, constant, addr, reg, deref, offset = 1, 2, 4, 8, 16, 32
)

// sitesBTF is BTF with an inlined function of two parameters: [1] INT, [2] FUNC_PROTO,
// [3] FUNC, [4] LOC_PARAM, [5] LOC_PROTO, [6] LOCSEC.
func sitesBTF(change func(b *btftest.Builder)) []byte {
	b := btftest.New()
	b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 1<<24|32)
	b.Add("", btf.Info(btf.KindFuncProto, 2, false), 1, b.Str("a"), 1, b.Str("b"), 1)
	b.Add("f", btf.Info(btf.KindFunc, 0, false), 2)
	b.Add("", btf.Info(btf.KindLocParam, 1, false), 4, reg, 5)
	b.Add("", btf.Info(btf.KindLocProto, 2, false), 0, 4, 0)
	b.Add("inline.text", btf.Info(btf.KindLocsec, 2, false), 0, 3, 5, 0x10, 3, 5, 0x10)
	if change != nil {
		change(b)
	}
	return b.Encode(false)
}

// TestLocations: what kernels with the kinds of inlined functions accept. No known
// release does.
func TestLocations(t *testing.T) {
	param := func(size, flags uint32, values ...uint32) func(b *btftest.Builder) {
		return func(b *btftest.Builder) {
			b.Add("", btf.Info(btf.KindLocParam, uint32(len(values)), false), size, append([]uint32{flags}, values...)...)
		}
	}
	for _, c := range []struct {
		name   string
		change func(b *btftest.Builder)
		want   string
	}{
		{"plain", nil, ""},
		{"constant", param(4, constant, 1), ""},
		{"signed constant", param(1, constant|signed, 0xff), ""},
		{"long constant", param(8, constant, 1, 2), ""},
		{"two words for a short one", param(4, constant, 1, 0), ""},
		{"short words for a long one", param(8, constant, 1), "vlen 1 with flags 0x2 and size 8"},
		{"constant of 16 bytes", param(16, constant, 1, 2), "size 16 of a constant"},
		{"address", param(8, constant|addr, 1, 2), ""},
		{"address in a register", param(8, reg|addr, 1), "flags 0xc"},
		{"pair", param(16, reg, 0, 1), ""},
		{"three registers", param(16, reg, 0, 1, 2), "vlen 3"},
		{"memory", param(4, reg|deref, 7), ""},
		{"memory of two registers", param(4, reg|deref, 7, 8), "vlen 2"},
		{"signed register", param(4, reg|signed, 7), "flags 0x9"},
		{"offset", param(4, reg|offset|signed, 7, 0xfffffff0), ""},
		{"memory at an offset", param(16, reg|deref|offset, 0xffffffff, 8), ""},
		{"long offset", param(4, reg|deref|offset|signed, 7, 0, 0x80000000), ""},
		{"no offset", param(4, reg|deref|offset, 7), "vlen 1"},
		{"no flags", param(4, 0, 7), "flags 0x0"},
		{"unknown flag", param(4, reg|64, 7), "flags 0x48"},
		{"no values", param(4, reg), "vlen 0"},
		{"size 0", param(0, reg, 1), "size 0 of a parameter"},
		{"size 17", param(17, reg, 1), "size 17 of a parameter"},
		{"named place", func(b *btftest.Builder) { b.Add("x", btf.Info(btf.KindLocParam, 1, false), 4, reg, 5) }, "name"},
		{"flagged place", func(b *btftest.Builder) { b.Add("", btf.Info(btf.KindLocParam, 1, true), 4, reg, 5) }, "kind_flag"},
		{"no parameters", func(b *btftest.Builder) { b.Add("", btf.Info(btf.KindLocProto, 0, false), 0) }, ""},
		{"place that is an INT", func(b *btftest.Builder) { b.Add("", btf.Info(btf.KindLocProto, 1, false), 0, 1) }, "parameter 0: type [1] is a INT, no LOC_PARAM"},
		{"list with a size", func(b *btftest.Builder) { b.Add("", btf.Info(btf.KindLocProto, 0, false), 4) }, "third word"},
		{"section without a name", func(b *btftest.Builder) { b.Add("", btf.Info(btf.KindLocsec, 0, false), 0) }, "name"},
		{"void function", func(b *btftest.Builder) { b.Add("x", btf.Info(btf.KindLocsec, 1, false), 0, 0, 5, 0) }, "are void"},
		{"void places", func(b *btftest.Builder) { b.Add("x", btf.Info(btf.KindLocsec, 1, false), 0, 3, 0, 0) }, "are void"},
		{"function that is an INT", func(b *btftest.Builder) { b.Add("x", btf.Info(btf.KindLocsec, 1, false), 0, 1, 5, 0) }, "no FUNC"},
		{"places that are a place", func(b *btftest.Builder) { b.Add("x", btf.Info(btf.KindLocsec, 1, false), 0, 3, 4, 0) }, "no LOC_PROTO"},
		{"too few places", func(b *btftest.Builder) {
			b.Add("", btf.Info(btf.KindLocProto, 1, false), 0, 4)
			b.Add("x", btf.Info(btf.KindLocsec, 1, false), 0, 3, 7, 0)
		}, "places of 1 parameters for a function with 2"},
		{"pointer to a place", func(b *btftest.Builder) { b.Add("", btf.Info(btf.KindPtr, 0, false), 4) }, "refers to type [4], a LOC_PARAM"},
	} {
		data := sitesBTF(c.change)
		for _, workers := range []int{1, 2} {
			_, err := Check(data, nil, Rules{Workers: workers})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
		}
		if c.want != "" {
			continue
		}
		for _, r := range Releases() {
			if _, err := Check(data, nil, Rules{Kernel: release(t, r)}); err == nil || !strings.Contains(err.Error(), "LOC_PARAM (anon) needs Linux 7.4") {
				t.Errorf("%s: Linux %s: %v", c.name, r, err)
			}
		}
		v, err := Judge(data, nil, Rules{})
		if err != nil || v.Since != (Release{7, 4, 0}) || v.Why == nil {
			t.Errorf("%s: %+v, %v", c.name, v, err)
		}
	}
}
