package faults

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/test/testfile"
)

// pahole 1.32's output for a module whose types are all in the base: a header and, in the
// distilled base, a header and the empty string.
const (
	noTypes       = "9feb0100" + "18000000" + "00000000" + "00000000" + "00000000" + "00000000"
	noTypesInBase = "9feb0100" + "18000000" + "00000000" + "00000000" + "00000000" + "01000000" + "00"
)

// sectionHex is elftest.Contents in hexadecimal.
func sectionHex(t *testing.T, path, name string) string {
	t.Helper()
	return hex.EncodeToString(elftest.Contents(t, path, name))
}

// TestModuleWithoutTypesOfItsOwn: a module whose types are all in the base got no BTF,
// and later steps of a kernel build look for the section. Mended in cc6bd7b.
//
// Input: such a module, and one without a unit. The first must get BTF without types, as
// from pahole, whatever the options; the second must get none.
func TestModuleWithoutTypesOfItsOwn(t *testing.T) {
	number := func() *dt.DIE { return dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5)) }
	i := number()
	files := map[string]*dt.File{
		"variable": {Units: []*dt.Unit{dt.CU(i, dt.N(dt.TagVariable, dt.Name("x"), dt.Type(i), dt.External()))}},
		"nothing":  {Units: []*dt.Unit{dt.CU()}},
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	base := in("base.btf")
	full := (&dt.File{Units: []*dt.Unit{dt.CU(number())}}).Bytes()
	testfile.Write(t, in("base"), full)
	btflite(t, 0, "-J", "--btf_encode_detached="+base, in("base"))
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			ko, out := in(name+".ko"), in(name+".btf")
			fresh := func() {
				t.Helper()
				os.Remove(out)
				testfile.Write(t, ko, file.Bytes())
			}
			silent := func(args ...string) {
				t.Helper()
				if stdout, stderr := btflite(t, 0, args...); stdout+stderr != "" {
					t.Errorf("%q: %s%s", args, stdout, stderr)
				}
			}
			for _, more := range []string{"-j1", "-j4", "--dedup=exact", "--btf_sort", "--btf_sort=name", "--btf_features=all"} {
				fresh()
				silent("-J", more, "--btf_base="+base, "--btf_encode_detached="+out, ko)
				if data, err := os.ReadFile(out); hex.EncodeToString(data) != noTypes {
					t.Errorf("%s: %x, %v", more, data, err)
				}
				silent("-J", more, "--btf_base="+base, ko)
				if got := sectionHex(t, ko, ".BTF"); got != noTypes {
					t.Errorf("%s: in place %s", more, got)
				}
				silent("-J", more, "--btf_base="+base, ko) // over itself
			}
			fresh()
			silent("-J", "--btf_features=default,distilled_base", "--btf_base="+base, ko)
			if a, b := sectionHex(t, ko, ".BTF"), sectionHex(t, ko, ".BTF.base"); a != noTypes || b != noTypesInBase {
				t.Errorf("distilled: %s, %s", a, b)
			}
			fresh()
			btflite(t, 0, "modules", "--btf_base="+base, ko)
			if got := sectionHex(t, ko, ".BTF"); got != noTypes {
				t.Errorf("modules: %s", got)
			}
			btflite(t, 0, "verify", "--btf_base="+base, ko)
			before := testfile.Read(t, ko)
			// An old .BTF would be taken for this run's.
			btflite(t, 1, "-J", "--lang_exclude=c11", "--btf_base="+base, ko)
			if after, err := os.ReadFile(ko); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file has changed, %v", err)
			}
			fresh()
			btflite(t, 0, "-J", "--lang_exclude=c11", "--btf_base="+base, "--btf_encode_detached="+out, ko)
			if _, err := os.Stat(out); err == nil {
				t.Error("there is BTF without a unit")
			}
		})
	}
}
