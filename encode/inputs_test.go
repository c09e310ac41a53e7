package encode_test

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/test/testfile"
)

// TestSeveralInputs encodes pairs and triples of files of different machines,
// byte orders, compilers and versions of DWARF: the bytes are pahole's (by their
// checksum, scripts/inputs.sh), however many workers there are.
func TestSeveralInputs(t *testing.T) {
	table := testfile.Read(t, "testdata/inputs.txt")
	features := map[string]encode.Features{
		"default": encode.DefaultFeatures, "all": encode.AllFeatures &^ encode.Layout, // over libbpf 1.7
		"default,global_var": encode.DefaultFeatures | encode.GlobalVar,
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	rows := 0
	for _, line := range strings.Split(string(table), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		rows++
		f := strings.Fields(line)
		var paths []string
		for _, name := range f[2:] {
			paths = append(paths, filepath.Join("testdata/golden", name))
		}
		for jobs := 1; jobs <= 4; jobs++ {
			if testing.Short() && jobs != 1+rows%4 {
				continue
			}
			out, err := encode.Run(paths, encode.Options{Features: features[f[1]], Jobs: jobs})
			if err != nil {
				t.Errorf("-j%d %s: %v", jobs, line, err)
				continue
			}
			if sum := fmt.Sprintf("%x", sha256.Sum256(out.Bytes()))[:16]; sum != f[0] {
				t.Errorf("-j%d %s: %d bytes with checksum %s", jobs, line, len(out.Bytes()), sum)
			}
			out.Close()
		}
	}
	if rows < 200 {
		t.Errorf("only %d rows", rows)
	}
}
