package encode_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/encode"
)

// reformed is BTF with another header and layout section around the same types.
func reformed(t *testing.T, data []byte, base *btf.Blob, f btf.Form) []byte {
	t.Helper()
	b := btftest.Parse(t, data, base)
	b.Form = f
	return b.Encode()
}

// TestLibbpf18: over libbpf 1.8, pahole writes the types and strings of the golden
// files with a header of 32 bytes and, for the feature layout, that section. (These
// were compared with pahole over a libbpf 1.8 that was built by hand.)
func TestLibbpf18(t *testing.T) {
	if testing.Short() {
		t.Skip("all golden files again")
	}
	for i, path := range goldenFiles(t) {
		for set, features := range goldenSets {
			want, err := os.ReadFile(strings.TrimSuffix(path, ".elf") + "." + set + ".btf")
			if err != nil {
				continue // force_cu_merging, not of all files
			}
			for _, c := range []struct {
				features encode.Features
				libbpf   encode.Libbpf
				form     btf.Form
			}{
				{0, encode.LibbpfAny, btf.Form{}},
				{0, encode.Libbpf17, btf.Form{}},
				{0, encode.Libbpf18, btf.LongHeader},
				{encode.Layout, encode.LibbpfAny, btf.WithLayout()},
				{encode.Layout, encode.Libbpf17, btf.Form{}},
				{encode.Layout, encode.Libbpf18, btf.WithLayout()},
			} {
				opt := encode.Options{Features: features | c.features, Libbpf: c.libbpf, Jobs: 1 + i%4, Dedup: dedupOf(i%5 == 0)}
				got, err := runFiles([]string{path}, opt)
				if err != nil {
					t.Errorf("%s, libbpf %d: %v", filepath.Base(path), c.libbpf, err)
				} else if !bytes.Equal(got, reformed(t, want, nil, c.form)) {
					t.Errorf("%s, %s, libbpf %d, layout %v: other bytes", filepath.Base(path), set, c.libbpf, c.features != 0)
				}
			}
		}
	}
}

// TestLibbpf18OverABase: split BTF and extra variables over it have the long header and
// never a layout section, whether the base has one or not.
func TestLibbpf18OverABase(t *testing.T) {
	const module = "testdata/golden/x86-gcc5.elf"
	for _, form := range []btf.Form{{}, btf.LongHeader, btf.WithLayout()} {
		baseData := mustRun(t, []string{"testdata/golden/x86-gcc4.elf"}, encode.Options{Features: encode.DefaultFeatures})
		base := btftest.Parse(t, reformed(t, baseData, nil, form), nil)
		over := newBase(t, base)
		for _, exact := range []bool{false, true} {
			opt := encode.Options{Features: encode.DefaultFeatures | encode.Layout, Base: over, ExtraVars: true, Dedup: dedupOf(exact)}
			plain, err := encode.Run([]string{module}, opt)
			if err != nil {
				t.Fatal(err)
			}
			opt.Libbpf = encode.Libbpf18
			long, err := encode.Run([]string{module}, opt)
			if err != nil {
				t.Fatal(err)
			}
			if long.Layout || plain.Layout || !bytes.Equal(long.Bytes(), reformed(t, plain.Bytes(), base, btf.LongHeader)) {
				t.Errorf("exact %v: other bytes", exact)
			}
			main := btftest.Parse(t, plain.Bytes(), base)
			if main.Form.HeaderLen != 24 || main.Form.Layout != nil {
				t.Errorf("without a release: %+v", main.Form)
			}
			if len(long.Extra()) == 0 || !bytes.Equal(long.Extra(), reformed(t, plain.Extra(), main, btf.LongHeader)) {
				t.Errorf("exact %v: other extra variables", exact)
			}
			plain.Close()
			long.Close()
		}
		over.Free()
	}
}

// dedupOf is how equal types are found: by the batch algorithm if exact.
func dedupOf(exact bool) encode.Dedup {
	if exact {
		return encode.DedupExact
	}
	return encode.DedupAuto
}
