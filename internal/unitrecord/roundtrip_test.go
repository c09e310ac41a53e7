package unitrecord_test

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/btflite/btflite"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/ccobject"
	"github.com/btflite/btflite/mmapelf"
)

// TestRoundTrip: records give the BTF of the DWARF that they replace, whatever features are wanted,
// for one unit and for several that share types.
func TestRoundTrip(t *testing.T) {
	const tests = "../ccobject/testdata/"
	sets := map[string]encode.Features{
		"none": 0, "default": encode.DefaultFeatures, "all": encode.AllFeatures &^ encode.Layout,
		"without tags": encode.DefaultFeatures &^ (encode.TypeTag | encode.DeclTag), "merged": encode.DefaultFeatures | encode.ForceCUMerging,
	}
	ways := [][]string{{"-O2"}, {"-O2", "-gdwarf-4"}, {"-O2", "-ffunction-sections"}}
	if runtime.GOARCH == "amd64" {
		ways = append(ways, []string{"-O0", "-m32"})
	}
	for _, options := range ways {
		var dwarf, records [][]byte
		for _, source := range []string{tests + "unit.c", tests + "crossing/a.c", tests + "crossing/b.c"} {
			path := compiled(t, source, options...)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			record, err := ccobject.Convert(mmapelf.Source{Path: path}, "test", nil)
			if err != nil {
				t.Fatal(err)
			}
			dwarf, records = append(dwarf, data), append(records, record)
		}
		files, others := dwarf, records
		if !slices.Contains(options, "-m32") { // ld is asked for files of 64 bits
			files, others = append(files, linked(t, dwarf...)), append(others, linked(t, records...))
		}
		for name, features := range sets {
			for i := range files {
				want, got := withFeatures(t, files[i], features), withFeatures(t, others[i], features)
				if !bytes.Equal(got, want) {
					t.Errorf("%v, features %s: file %d has %d bytes of BTF from records, %d others from DWARF", options, name, i, len(got), len(want))
				}
			}
		}
	}
}

// withFeatures returns the BTF of a file, encoded with features.
func withFeatures(t *testing.T, data []byte, features encode.Features) []byte {
	t.Helper()
	r, err := btflite.Encode(context.Background(), []btflite.Source{{Path: "unit.o", Data: data}},
		btflite.Options{Features: features, AllowRefused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return bytes.Clone(r.BTF)
}
