package archive

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
	at "github.com/btflite/btflite/internal/archive/archivetest"
)

// TestLossesAreRecorded: the records of kernels and modules say what their BTF has lost because it was
// lowered, whether it was encoded or copied. BTF that was not lowered has lost nothing.
func TestLossesAreRecorded(t *testing.T) {
	wide := func(name string, base *btf.Blob) []byte {
		return btftest.Build(t, base, func(b *btftest.Builder) { b.Enum64("wide_"+name, b.Value64("WIDE_"+name, 1<<40)) }).Encode()
	}
	kernel := wide("kernel", nil)
	module := wide("m", btftest.Parse(t, kernel, nil))
	for how, entries := range map[string][]at.Entry{
		encoded: {{Name: "vmlinux", Data: at.WideKernel(release)}, {Name: "m.ko", Data: at.WideModule(release, "m", 'm')}},
		copied:  {{Name: "vmlinux", Data: at.KernelWithBTF(release, kernel)}, {Name: "m.ko", Data: at.StrippedModule(release, "m", 'm', module)}},
	} {
		dir := packages(t, map[string][]byte{"a.tar": at.Tar(entries...)})
		for _, target := range []verify.Release{{}, {Major: 5, Minor: 15}} {
			a := moduleArchive(t)
			a.Job.Target, a.Job.Encode.Features = target, encode.DefaultFeatures
			rec := add(t, a, filepath.Join(dir, "a.tar"))
			var stored KernelRecord
			var mods ModulesRecord
			k := &rec.Kernels[0]
			err := readJSON(filepath.Join(a.Dir, kernelName+RecordSuffix), &stored)
			if err2 := readJSON(PathOf(a.Dir, k.ModulesFile()), &mods); err != nil || err2 != nil || len(mods.List) != 1 {
				t.Fatalf("%s for %s: %v, %v, %+v", how, target, err, err2, mods)
			}
			for name, c := range map[string]*Contents{"kernel": &stored.Contents, "m": &mods.List[0].Contents} {
				want := "wide_" + name + " (WIDE_" + name + " = 0x10000000000)"
				told := slices.ContainsFunc(c.Warnings, func(w string) bool {
					return strings.HasPrefix(w, "values of ENUM64 are cut to 32 bits: [") && strings.HasSuffix(w, want)
				})
				if lossy := target != (verify.Release{}); c.Source != how || told != lossy {
					t.Errorf("%s of %s for %s: %s, %q", name, how, target, c.Source, c.Warnings)
				}
			}
		}
	}
}
