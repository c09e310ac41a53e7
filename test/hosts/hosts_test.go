// Package hosts runs the program as other machines have it: with words of 32 bits, and with the highest
// byte of a number first. Kernels for s390x are built on s390x.
package hosts

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/gobuild"
	"github.com/btflite/btflite/test/testfile"
)

// hosts are machines, by Go's names, and the emulators of their programs.
var hosts = []struct{ arch, emulator, native string }{
	{"386", "qemu-i386", "amd64"}, // amd64 needs no emulator
	{"s390x", "qemu-s390x", "s390x"},
}

// readers are command lines for a file with DWARF and its BTF.
var readers = []string{
	"dump BTF", "dump --format=c BTF", "dump --strict-c BTF", "dump --format=json BTF", "show BTF", "show ELF", "show --format=html BTF", "stats BTF",
	"verify BTF", "funcs ELF", "inline ELF", "doctor ELF", "diff ELF BTF", "sort BTF OUT", "dedup -o OUT BTF BTF", "flatten -o OUT BTF",
	"-J --btf_features=all,inline -j3 --btf_encode_detached=OUT ELF", "-J --dedup=exact --extra_vars=OUT --btf_encode_detached=MAIN ELF",
}

// TestHosts: on each machine the program makes pahole's bytes of compilers' files. Two other commands
// for each file have the output that they have here.
func TestHosts(t *testing.T) {
	here := filepath.Join(t.TempDir(), "btflite")
	if err := gobuild.Command(here, "cmd/btflite"); err != nil {
		t.Fatal(err)
	}
	golden, err := filepath.Abs("../../encode/testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(golden, "*.elf"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, host := range hosts {
		t.Run(host.arch, func(t *testing.T) {
			there := []string{filepath.Join(t.TempDir(), "btflite")}
			if runtime.GOARCH != host.native {
				emulator, err := exec.LookPath(host.emulator)
				if err != nil {
					t.Skipf("no %s here (Debian's package qemu-user)", host.emulator)
				}
				there = append([]string{emulator}, there...)
			}
			t.Setenv("GOARCH", host.arch)
			if err := gobuild.Command(there[len(there)-1], "cmd/btflite"); err != nil {
				t.Fatal(err)
			}
			t.Run("files", func(t *testing.T) {
				for i, elf := range files {
					t.Run(filepath.Base(elf), func(t *testing.T) {
						t.Parallel()
						btf := strings.TrimSuffix(elf, ".elf") + ".default.btf"
						encode := "-J --btf_features=default --btf_compat=libbpf-1.7 --btf_encode_detached=OUT ELF"
						if got := run(t, there, encode, elf, btf); !bytes.Equal(got.files["OUT"], testfile.Read(t, btf)) {
							t.Errorf("%s: other bytes than pahole's: %s", encode, got.text)
						}
						for _, line := range []string{readers[2*i%len(readers)], readers[(2*i+1)%len(readers)]} {
							if a, b := run(t, []string{here}, line, elf, btf), run(t, there, line, elf, btf); !reflect.DeepEqual(a, b) {
								t.Errorf("%s: it prints\n%.300s\nand on %s\n%.300s", line, a.text, host.arch, b.text)
							}
						}
					})
				}
			})
		})
	}
}

// outcome holds the output of a command, its status, and the files that it wrote.
type outcome struct {
	text   string // both streams
	status int
	files  map[string][]byte
}

// run runs the program, which may be two words, with the arguments of a line.
func run(t *testing.T, program []string, line, elf, btf string) outcome {
	t.Helper()
	words := append(program[1:len(program):len(program)], strings.Fields(line)...)
	for i := range words {
		words[i] = cmp.Or(map[string]string{"ELF": elf, "BTF": btf}[words[i]], words[i])
	}
	command := exec.Command(program[0], words...)
	command.Dir = t.TempDir()
	text, err := command.CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		t.Fatal(err)
	}
	o := outcome{string(text), command.ProcessState.ExitCode(), map[string][]byte{}}
	written, err := os.ReadDir(command.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range written {
		o.files[f.Name()] = testfile.Read(t, filepath.Join(command.Dir, f.Name()))
	}
	return o
}
