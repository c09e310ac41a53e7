package dump_test

import (
	"fmt"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// longBTF is BTF with a type of the kind that has n elements.
func longBTF(kind btf.Kind, n int) *btftest.Builder {
	b := btftest.New()
	i := b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 0x01000020)
	var words []uint32
	name := "many"
	switch kind {
	case btf.KindStruct, btf.KindUnion:
		for range n {
			words = append(words, b.Str("m"), i, 0)
		}
	case btf.KindEnum:
		for k := range n {
			words = append(words, b.Str("E"), uint32(k))
		}
	case btf.KindEnum64:
		for k := range n {
			words = append(words, b.Str("E"), uint32(k), 1)
		}
	case btf.KindFuncProto:
		for range n {
			words = append(words, b.Str("p"), i)
		}
		name = ""
	case btf.KindDatasec:
		v := b.Add("v", btf.Info(btf.KindVar, 0, false), i, 1)
		for k := range n {
			words = append(words, v, uint32(4*k), 4)
		}
		name = ".data"
	}
	third := uint32(4)
	switch kind {
	case btf.KindEnum64:
		third = 8
	case btf.KindFuncProto:
		third = i
	case btf.KindDatasec:
		third = uint32(4 * n)
	}
	b.Add(name, btf.Info(kind, uint32(n), false), third, words...)
	return b
}

// TestLongTypesAgainstBpftool: types at and beyond what 16 bits of vlen hold, as bpftool
// 7.8 prints them. It stands for all that is built upon libbpf 1.8.
func TestLongTypesAgainstBpftool(t *testing.T) {
	tool := corpus.Need(t, "bpftool")
	for _, n := range []int{65535, 65536, 70000, 1000000} {
		if n == 1000000 && testing.Short() {
			continue
		}
		for _, kind := range []btf.Kind{btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFuncProto, btf.KindDatasec} {
			t.Run(fmt.Sprintf("%v/%d", kind, n), func(t *testing.T) {
				b := longBTF(kind, n)
				path := testfile.New(t, "long.btf", b.Encode(false))
				if err := compare(tool, path, "", b.Blob(t), forms[0]); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
