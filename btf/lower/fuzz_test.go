package lower

import (
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/verify"
)

// FuzzLower: BTF of any content that can be read is lowered, or refused, and what comes of it
// can be read again with as many types.
func FuzzLower(f *testing.F) {
	b := btftest.New()
	btftest.EveryKind(b)
	for _, n := range []uint8{0, 8, 13, 20, 40} {
		f.Add(b.Encode(false), n, n%2 == 0)
		f.Add(b.Encode(true), n, n%2 == 1)
	}
	names := verify.Releases()
	f.Fuzz(func(t *testing.T, data []byte, n uint8, reader bool) {
		in, err := btf.Parse(data, nil)
		if err != nil {
			return
		}
		kernel, err := verify.ParseRelease(names[int(n)%len(names)])
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := Lower(in, Options{Kernel: kernel, Reader: reader, Unions: reader && n >= 128})
		if err != nil {
			return
		}
		again, err := btf.Parse(out.Encode(), nil)
		if err != nil || len(again.Off) != len(in.Off) || len(again.Strings) != len(in.Strings) {
			t.Errorf("%v, %d types of %d", err, len(out.Off), len(in.Off))
		}
	})
}
