package kerneltest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// functionOptions are what "btflite funcs" and pfunct print the same with. Without
// --all, --class or --function pfunct takes a time that grows with the square of the
// number of functions, so these are compared on modules only.
var functionOptions = []string{"-A", "-A --no_parm_names", "-c sk_buff", "-c task_struct -V", "-f bpf_cast_to_kern_ctx", "-f schedule"}
var slowFunctionOptions = []string{"", "-P", "-V", "-N", "-P --no_parm_names"}

// TestKernelsHaveTheFunctionsOfPfunct: the text of pfunct for the BTF of kernels and
// modules. Its "single double" is "double" here, and a function that is not there is
// an error.
func TestKernelsHaveTheFunctionsOfPfunct(t *testing.T) {
	if os.Getenv("BTFLITE_KERNELS") != "1" {
		t.Skip("left out: full-size kernels; run it with: make test-kernels")
	}
	pfunct := filepath.Join(filepath.Dir(pahole(t)), "pfunct")
	if _, err := os.Stat(pfunct); err != nil {
		t.Fatalf("pfunct: %v; get it with: scripts/kernels.sh pahole", err)
	}
	btflite := buildBtflite(t)
	same := func(t *testing.T, options string, args ...string) {
		t.Helper()
		words := append(strings.Fields(options), args...)
		want := run(t, pfunct, words)
		want = single.ReplaceAll(want, nil)
		got := run(t, btflite, append([]string{"funcs", "--with_base"}, words...))
		if diff := firstLine(want, got); diff != "" {
			t.Errorf("%s: %s", options, diff)
		} else {
			t.Logf("%s: %d lines, the same", options, bytes.Count(got, []byte("\n")))
		}
	}
	for name, vmlinux := range kernels(t) {
		base := testfile.New(t, name+".btf", encode(t, btflite, "2", featureSets[2].args, vmlinux))
		t.Run(name, func(t *testing.T) {
			for _, options := range functionOptions {
				same(t, options, base)
			}
		})
		for module, path := range modulePaths(t, name) {
			t.Run(name+"/"+module, func(t *testing.T) {
				over, alone := filepath.Join(t.TempDir(), "over.btf"), filepath.Join(t.TempDir(), "alone.btf")
				testfile.Write(t, over, encode(t, btflite, "1", append(featureSets[0].args, "--btf_base="+base), path))
				same(t, "-A", "--btf_base="+base, over)
				testfile.Write(t, alone, encode(t, btflite, "1", featureSets[0].args, path))
				for _, options := range slowFunctionOptions {
					same(t, options, alone)
				}
			})
		}
	}
}

// single is what pfunct puts before every type of floating point.
var single = regexp.MustCompile(`\bsingle `)

// run is what a program prints. btflite fails where there is no function of a name,
// and pfunct then prints nothing.
func run(t *testing.T, program string, args []string) []byte {
	t.Helper()
	var out, messages bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil && !strings.Contains(messages.String(), "no function ") {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, last(messages.Bytes(), 2000))
	}
	return out.Bytes()
}

// firstLine is the first line in which two texts differ, "" for none.
func firstLine(want, got []byte) string {
	w, g := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range w {
		if i >= len(g) || w[i] != g[i] {
			return "line " + strings.Join([]string{w[i], g[min(i, len(g)-1)]}, "\ngot  ")
		}
	}
	if len(g) > len(w) {
		return "more lines: " + g[len(w)]
	}
	return ""
}
