package archive

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	at "github.com/btflite/btflite/internal/archive/archivetest"
)

// TestKernelSum: a kernel or a module that does not have the checksum in the package's list gives no BTF, whether the
// rest of the package is read or not. The list does not matter for files that give no BTF.
func TestKernelSum(t *testing.T) {
	kernel, module := at.Kernel(release), at.Module(release, "m", 'm')
	entries := []at.Entry{{Name: "./text", Data: []byte("a text that is none")}, {Name: "./" + lastInOrder, Data: kernel}, {Name: "./" + inModules + "m.ko", Data: module}, {Name: "./z", Data: make([]byte, 200_000)}}
	for kind, pkg := range map[string][]byte{"deb": at.SummedDeb("", entries...), "rpm": at.SummedRPM("", entries...)} {
		for _, modules := range []bool{false, true} {
			for what, c := range map[string]struct {
				damage          []byte // a byte of it is changed
				kernels, stored int
				reason          string // of the package
				failed          string // why the module has no BTF
			}{
				"whole":      {nil, 1, 1, "", ""},
				"the text":   {[]byte("a text that is none"), 1, 1, "", ""},
				"the kernel": {[]byte("int\x00"), 0, 0, lastInOrder + " is damaged: the package lists another ", ""},
				"the module": {[]byte("license=GPL"), 1, 0, "", "m.ko is damaged: the package lists another "},
			} {
				data := bytes.Clone(pkg)
				if c.damage != nil {
					data[bytes.Index(data, c.damage)+1] ^= 1
				}
				dir, a := packages(t, map[string][]byte{"a." + kind: data}), moduleArchive(t)
				a.Modules = modules
				rec := add(t, a, filepath.Join(dir, "a."+kind))
				if len(rec.Kernels) != c.kernels || rec.Damaged != (c.reason != "") || !strings.HasPrefix(rec.Reason, c.reason) {
					t.Errorf("%s, %s: %+v", kind, what, rec)
					continue
				}
				if !modules || c.kernels == 0 {
					continue
				}
				k := rec.Kernels[0]
				if k.Modules == nil || k.Modules.Stored != c.stored || c.failed != "" && (len(k.ModulesFailed) != 1 || !strings.Contains(k.ModulesFailed[0].Reason, c.failed)) {
					t.Errorf("%s, %s: %+v, %+v", kind, what, k.Modules, k.ModulesFailed)
				}
			}
		}
	}
}
