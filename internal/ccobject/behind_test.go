package ccobject

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// Variables whose section comes behind debug sections, or does not count: pahole takes a variable for
// one of a debug section that is large enough to have its address.

// behind is a program of two files: the first one has types, the second one has variables. So ld.lld
// puts the section of the variables behind the debug sections.
type behind struct {
	dir, cc        string
	dwarf, records [2]string
}

// source is a C file that defines n structs, each with a variable.
func (p *behind) source(t *testing.T, name string, n int, text string) {
	var b strings.Builder
	b.WriteString("#define PERCPU __attribute__((section(\".data..percpu\"), used))\n" + text)
	for i := range n { // short names: .debug_str is smaller than .debug_info, as in kernels
		fmt.Fprintf(&b, "struct %s%x { int m%x; long n%x; } v%s%x;\n", name, i, i, i, name, i)
	}
	testfile.Write(t, filepath.Join(p.dir, name+".c"), b.String())
}

// compile compiles both files, and converts the objects. n is how large they are.
func (p *behind) compile(t *testing.T, n int) {
	p.source(t, "a", n, "int first(int a) { return a; }\n")
	p.source(t, "b", n/2, "PERCPU int percpu_first = 1; PERCPU static long percpu_hidden; int of_late __attribute__((section(\"late\"), used)) = 3; const int noted[4] __attribute__((section(\".note.late\"), used)) = { 1 };\n")
	for i, name := range []string{"a", "b"} {
		run(t, p.dir, append(strings.Fields(p.cc), "-fno-common", "-c", "-o", name+".o", name+".c")...)
		record := mustConvert(t, filepath.Join(p.dir, name+".o"))
		p.dwarf[i], p.records[i] = filepath.Join(p.dir, name+".o"), record
	}
}

// link is a module of two objects.
func (p *behind) link(t *testing.T, objects ...string) string {
	return p.linkBy(t, "ld.lld -r", objects...)
}

// linkBy is a file that this linker makes of two objects.
func (p *behind) linkBy(t *testing.T, linker string, objects ...string) string {
	run(t, p.dir, append(append(strings.Fields(linker), "-o", "module.ko"), objects...)...)
	return filepath.Join(p.dir, "module.ko")
}

// compatBTF is the BTF of a file as --btf_compat has it.
func compatBTF(t *testing.T, path string, features encode.Features) []byte {
	t.Helper()
	out, err := encode.Run([]string{path}, encode.Options{Features: features, Libbpf: encode.Libbpf17})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var b bytes.Buffer
	if err := out.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestVariablesBehindDebugSections: on both sides of the size from which pahole loses the variables of
// each CPU, records give the bytes of DWARF if --btf_compat asks for that, and without it the variables
// are there.
func TestVariablesBehindDebugSections(t *testing.T) {
	for _, cc := range []string{"gcc -gdwarf-5", "gcc -gdwarf-4", "clang -gdwarf-4", "gcc -gdwarf-5 -gz=zlib"} {
		t.Run(cc, func(t *testing.T) {
			t.Parallel()
			p := &behind{dir: t.TempDir(), cc: cc}
			has := func(btf []byte) bool { return bytes.Contains(btf, []byte("\x00percpu_hidden\x00")) }
			most := sort.Search(2000, func(n int) bool {
				p.compile(t, n+2)
				return !has(compatBTF(t, p.link(t, p.dwarf[:]...), encode.DefaultFeatures))
			}) + 1 // of the sizes with which pahole has them
			if most < 100 || most > 1900 {
				t.Fatalf("%d structs are the most", most)
			}
			for _, n := range []int{most - 1, most, most + 1, most + 2} {
				p.compile(t, n)
				for _, features := range []encode.Features{encode.DefaultFeatures, encode.DefaultFeatures | encode.GlobalVar} {
					want := compatBTF(t, p.link(t, p.dwarf[:]...), features)
					if features == encode.DefaultFeatures && has(want) != (n <= most) {
						t.Errorf("%d structs: DWARF has the variables: %v", n, has(want))
					}
					samePahole(t, filepath.Join(p.dir, "module.ko"), features, want)
					for _, objects := range [][]string{p.records[:], {p.dwarf[0], p.records[1]}, {p.records[0], p.dwarf[1]}} {
						module := p.link(t, objects...)
						if !bytes.Equal(compatBTF(t, module, features), want) {
							t.Errorf("%d structs, features %#x: %v give other bytes than DWARF", n, features, objects)
						}
						if btf, err := encoded(module, features, 1); err != nil || !has(btf) {
							t.Errorf("%d structs: %v: without --btf_compat the variables are lost: %v", n, objects, err)
						}
					}
				}
			}
		})
	}
}

// TestVariablesOfNotes: sections of notes do not count as sections of variables, so pahole takes a variable
// of a note for one of .debug_info, if its address is low. Modules are so, and kernels for s390x.
func TestVariablesOfNotes(t *testing.T) {
	features := encode.DefaultFeatures | encode.GlobalVar
	for _, linker := range []string{"ld -r", "ld.lld -r", "ld -e 0 -Ttext-segment=0x10000", "ld.lld -e 0 --image-base=0x10000", "ld -e 0"} {
		t.Run(linker, func(t *testing.T) {
			t.Parallel()
			p := &behind{dir: t.TempDir(), cc: "gcc -gdwarf-5 -fno-pic"}
			p.compile(t, 4000)
			want := compatBTF(t, p.linkBy(t, linker, p.dwarf[:]...), features)
			if has, low := bytes.Contains(want, []byte("\x00noted\x00")), linker != "ld -e 0"; has != low {
				t.Errorf("DWARF has the variable: %v", has)
			}
			samePahole(t, filepath.Join(p.dir, "module.ko"), features, want)
			for _, objects := range [][]string{p.records[:], {p.dwarf[0], p.records[1]}, {p.records[0], p.dwarf[1]}} {
				if !bytes.Equal(compatBTF(t, p.linkBy(t, linker, objects...), features), want) {
					t.Errorf("%v give other bytes than DWARF", objects)
				}
			}
		})
	}
}

// samePahole compares BTF with pahole's of the same file, where there is pahole.
func samePahole(t *testing.T, path string, features encode.Features, want []byte) {
	t.Helper()
	pahole := corpus.Pahole()
	if pahole == "" {
		return
	}
	names := "default"
	if features&encode.GlobalVar != 0 {
		names += ",global_var"
	}
	out := path + ".btf"
	if said, err := exec.Command(pahole, "-J", "-j1", "--btf_features="+names, "--btf_encode_detached="+out, path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	got, err := os.ReadFile(out)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("pahole gives other bytes: %v", err)
	}
}
