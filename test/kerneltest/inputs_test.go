package kerneltest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// someModules are those of scripts/kernels.sh some-modules:NAME.
var someModules = []string{"crc16", "veth", "overlay", "ext4", "xfs", "btrfs"}

// moduleSets are triples that are tried in every order: a tiny module between
// large ones, names that repeat, sizes of every kind.
var moduleSets = [][]string{
	{"crc16", "veth", "ext4"}, {"ext4", "xfs", "btrfs"}, {"crc16", "btrfs", "overlay"},
}

// inputsJobs are the worker counts for several inputs.
var inputsJobs = []string{"1", "2", "3", "4"}

// TestKernelsAndModulesTogether encodes several files in one command: pairs and
// triples of modules, and a kernel with modules, in every order, over a base too.
// pahole runs once for each.
func TestKernelsAndModulesTogether(t *testing.T) {
	if os.Getenv("BTFLITE_KERNELS") != "1" {
		t.Skip("left out: full-size kernels; run it with: make test-kernels")
	}
	pahole := pahole(t)
	btflite := buildBtflite(t)
	tried := false
	for name, vmlinux := range kernels(t) {
		module := modulePaths(t, name)
		if module == nil {
			t.Logf("%s: no modules; get them with: scripts/kernels.sh some-modules:%s", name, name)
			continue
		}
		tried = true
		run := func(kind string, inputs []string, set int, more ...string) {
			names := make([]string, len(inputs))
			for i, path := range inputs {
				names[i] = strings.TrimSuffix(filepath.Base(path), ".ko")
				if path == vmlinux {
					names[i] = "vmlinux"
				}
			}
			t.Run(name+"/"+kind+"/"+strings.Join(names, "+"), func(t *testing.T) {
				t.Parallel() // pahole takes most of the time, and one CPU
				args := slices.Concat(featureSets[set%len(featureSets)].args, more)
				want := encode(t, pahole, "1", args, inputs...)
				// Variables of two files in sections of one name may overlap.
				args = append(args, "--verify=warn", "--btf_compat=libbpf-1.7") // pahole's libbpf
				for _, jobs := range inputsJobs {
					if diff := FirstDifference(want, encode(t, btflite, jobs, args, inputs...)); diff != "" {
						t.Errorf("-j%s %s: %s", jobs, strings.Join(args, " "), diff)
					}
				}
			})
		}
		paths := func(names []string) (paths []string) {
			for _, m := range names {
				paths = append(paths, module[m])
			}
			return paths
		}
		n := 0
		for _, x := range someModules {
			for _, y := range someModules {
				run("pair", paths([]string{x, y}), n) // one file twice, too
				n++
			}
		}
		for _, set := range moduleSets {
			for _, order := range orders(paths(set)) {
				run("triple", order, n)
				n++
			}
		}
		for _, inputs := range [][]string{{vmlinux, module["xfs"]}, {vmlinux, module["crc16"]}} {
			for _, order := range orders(inputs) {
				run("kernel", order, 0)
			}
		}
		run("kernel", []string{module["crc16"], vmlinux, module["veth"]}, 0)
		base := testfile.New(t, "vmlinux.btf", encode(t, btflite, "2", featureSets[0].args, vmlinux))
		for _, order := range orders(paths(moduleSets[0])) {
			run("base", order, 0, "--btf_base="+base)
		}
		run("base", paths([]string{"xfs", "ext4"}), 0, "--btf_base="+base)
	}
	if !tried {
		t.Error("no kernel of the corpus has modules; get some with: scripts/kernels.sh some-modules:v72-amd64")
	}
}

// modulePaths are the files of someModules of a kernel, nil if they are not there.
func modulePaths(t *testing.T, kernel string) map[string]string {
	t.Helper()
	paths := map[string]string{}
	for _, dir := range []string{"some-modules", "modules"} {
		filepath.WalkDir(filepath.Join(corpus.Dir(), dir, kernel), func(path string, d os.DirEntry, err error) error {
			if name, ok := strings.CutSuffix(filepath.Base(path), ".ko"); ok && paths[name] == "" && slices.Contains(someModules, name) {
				paths[name] = path
			}
			return nil
		})
		if len(paths) == len(someModules) {
			return paths
		}
	}
	return nil
}

// orders are all orders of x.
func orders(x []string) [][]string {
	if len(x) <= 1 {
		return [][]string{x}
	}
	var all [][]string
	for i := range x {
		for _, rest := range orders(slices.Concat(x[:i], x[i+1:])) {
			all = append(all, append([]string{x[i]}, rest...))
		}
	}
	return all
}

// pahole is the program to compare with. The test fails if it is not there.
func pahole(t *testing.T) string {
	t.Helper()
	path := corpus.Program("pahole")
	version, err := exec.Command(path, "--version").Output()
	if err != nil {
		t.Fatalf("pahole: %v; get it with: scripts/kernels.sh pahole", err)
	}
	t.Logf("pahole %s", strings.TrimSpace(string(version)))
	return path
}
