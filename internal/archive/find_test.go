package archive

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFindInRecords: each record of modules is read as a whole, after longer and shorter ones, and a build-id is found only
// where it is the build-id of a module.
func TestFindInRecords(t *testing.T) {
	a := archiveIn(t)
	const id, other = "0123456789abcdef", "0123456700000000"
	x := &Index{}
	var want []string
	for i, modules := range []int{400, 0, 3, 900, 1} {
		k := KernelRecord{Modules: new(ModuleCounts), Contents: Contents{BTF: fmt.Sprintf("d/1/amd64/%d.btf", i)}}
		var rec ModulesRecord
		for j := range modules {
			rec.List = append(rec.List, ModuleRecord{Name: fmt.Sprint("m", j, id), BuildID: "f" + id, Contents: Contents{BTF: fmt.Sprintf("d/1/amd64/%d/m%d.btf", i, j)}})
		}
		if modules > 0 {
			last := &rec.List[modules-1]
			last.BuildID = id
			want = append(want, last.BTF)
		}
		if modules > 1 {
			rec.List[0].BuildID = other
		}
		x.Kernels = append(x.Kernels, k)
		if err := os.MkdirAll(filepath.Join(a.Dir, k.ModulesDir()), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := replaceJSON(PathOf(a.Dir, k.ModulesFile()), &rec); err != nil {
			t.Fatal(err)
		}
	}
	empty := x.Kernels[1].ModulesFile()
	for range 2 {
		s := &search{dir: a.Dir, prefix: id, without: map[string]bool{}}
		if got, err := s.in(x); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
		for i := range x.Kernels {
			if name := x.Kernels[i].ModulesFile(); s.without[name] != (name == empty) {
				t.Errorf("%s: without %v", name, s.without[name])
			}
		}
		slices.Reverse(x.Kernels)
		slices.Reverse(want)
	}
	s := &search{dir: a.Dir, prefix: "f012345678", without: map[string]bool{}}
	if s.mayHave([]byte(`"name": "xf012345678", "build_id": "0f012345678"`)) || !s.mayHave([]byte(`"xf012345678 f012345678": "f0123456789"`)) || s.mayHave([]byte("f012345678")) {
		t.Error("mayHave goes by the beginning of a string")
	}
}
