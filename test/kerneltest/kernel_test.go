package kerneltest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/gobuild"
	"github.com/btflite/btflite/test/testfile"
)

var (
	jobsFlag    = flag.String("jobs", "1,2", "worker counts that btflite runs with, separated by commas")
	btfliteFlag = flag.String("btflite", "", "program to test instead of a fresh build; an absolute path")
	kernelsFlag = flag.String("kernels", "", "kernels to compare, separated by commas; empty for all in the corpus")
)

// featureSets are the option lists that btflite and pahole are compared with.
var featureSets = []struct {
	name string
	args []string
	own  []string // more for btflite
}{
	{"default", []string{"--btf_features=default"}, nil},
	{"kernel-7.2", []string{
		"--btf_features=encode_force,var,float,enum64,decl_tag,type_tag,optimized_func,consistent_func,decl_tag_kfuncs",
		"--btf_features=attributes", "--lang_exclude=rust"}, nil},
	{"default-without-rust", []string{"--btf_features=default", "--lang_exclude=rust"}, nil},
	{"all", []string{"--btf_features=all"}, []string{"--verify=warn", // variables of .rodata overlap
		"--btf_compat=libbpf-1.7"}}, // whose pahole writes no layout section
}

// buildBtflite compiles the command into a temporary folder, unless -btflite
// names one.
func buildBtflite(t *testing.T) string {
	t.Helper()
	if *btfliteFlag != "" {
		return *btfliteFlag
	}
	bin := filepath.Join(t.TempDir(), "btflite")
	if err := gobuild.Command(bin, "cmd/btflite", "-trimpath"); err != nil {
		t.Fatal(err)
	}
	return bin
}

// encode runs a program in place of pahole -J and returns the BTF it wrote.
func encode(t *testing.T, program, jobs string, args []string, inputs ...string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.btf")
	full := append([]string{"-J", "-j" + jobs}, args...)
	full = append(append(full, "--btf_encode_detached="+out), inputs...)
	var messages bytes.Buffer
	cmd := exec.Command(program, full...)
	cmd.Stdout, cmd.Stderr = &messages, &messages
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(full, " "), err, last(messages.Bytes(), 2000))
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatalf("%s wrote nothing: %v", filepath.Base(program), err)
	}
	return b
}

func last(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

func TestSmallProgramGivesGoldenBTF(t *testing.T) {
	want := testfile.Read(t, "../../testdata/small/small.btf")
	btflite := buildBtflite(t)
	for _, jobs := range []string{"1", "2", "8"} {
		got := encode(t, btflite, jobs, []string{"--btf_features=default"}, "../../testdata/small/small")
		if diff := FirstDifference(want, got); diff != "" {
			t.Errorf("-j%s: %s", jobs, diff)
		}
	}
}

func TestKernelsGiveTheBytesOfPahole(t *testing.T) {
	if os.Getenv("BTFLITE_KERNELS") != "1" {
		t.Skip("left out: full-size kernels; run it with: make test-kernels")
	}
	pahole := pahole(t)
	btflite := buildBtflite(t)
	for name, vmlinux := range kernels(t) {
		for _, set := range featureSets {
			t.Run(name+"/"+set.name, func(t *testing.T) {
				want := encode(t, pahole, "2", set.args, vmlinux)
				for _, jobs := range strings.Split(*jobsFlag, ",") {
					got := encode(t, btflite, jobs, slices.Concat(set.args, set.own), vmlinux)
					if diff := FirstDifference(want, got); diff != "" {
						t.Errorf("-j%s %s: %s", jobs, strings.Join(set.args, " "), diff)
					} else {
						t.Logf("-j%s: %d bytes, the same", jobs, len(got))
					}
				}
			})
		}
	}
}

// kernels yields the kernels of the corpus that -kernels selects, in name
// order. It fails the test if there is none, or a selected one is missing.
func kernels(t *testing.T) func(yield func(name, path string) bool) {
	t.Helper()
	names, err := corpus.KernelNames()
	if *kernelsFlag != "" {
		names, err = strings.Split(*kernelsFlag, ","), nil
	}
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return func(yield func(name, path string) bool) {
		for _, name := range names {
			path, err := filepath.EvalSymlinks(filepath.Join(corpus.Dir(), name))
			if err != nil {
				t.Fatal(fmt.Errorf("kernel %s: %w", name, err))
			}
			if !yield(name, path) {
				return
			}
		}
	}
}
