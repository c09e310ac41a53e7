package library

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	ciliumbtf "github.com/cilium/ebpf/btf"
	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/core"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/test/corpus"
)

// pair is a BPF program and the types of a kernel: all of them, and what btflite min leaves.
type pair struct {
	program, full, minimal string // paths
	fullTypes, minTypes    *btf.Blob
}

// eachPair runs a test for pairs. Without BTFLITE_MATRIX, these are the programs of the tests
// with a small BTF and with that of the running kernel. BTFLITE_MATRIX is a folder: all its
// *.bpf.o with all its *.btf. A program has its own minimal BTF with the first kernel, and
// shares one of all programs with the others.
func eachPair(t *testing.T, test func(t *testing.T, p pair)) {
	programs, err := filepath.Glob("../../testdata/min/*.bpf.o")
	kernels := []string{splitFiles + "x86.base.btf", "/sys/kernel/btf/vmlinux"}
	if dir := os.Getenv("BTFLITE_MATRIX"); dir != "" {
		if programs, err = filepath.Glob(filepath.Join(dir, "*.bpf.o")); err == nil {
			kernels, err = filepath.Glob(filepath.Join(dir, "*.btf"))
		}
	}
	if err != nil || len(programs) == 0 || len(kernels) == 0 {
		t.Fatalf("%d programs, %d kernels: %v", len(programs), len(kernels), err)
	}
	for n, kernel := range kernels {
		if _, err := os.Stat(kernel); err != nil {
			t.Logf("%s is not there", kernel)
			continue
		}
		full := btftest.Read(t, kernel, nil)
		var same []string // of the kernel's byte order
		for _, path := range programs {
			types := btftest.Parse(t, elftest.Contents(t, path, ".BTF"), nil)
			if types.BigEndian == full.BigEndian && len(readProgram(t, path, types).Relocs) > 0 {
				same = append(same, path)
			}
		}
		for _, path := range same {
			of := same
			if n == 0 {
				of = []string{path}
			}
			p := pair{program: path, full: kernel, fullTypes: full, minimal: filepath.Join(t.TempDir(), "min.btf")}
			p.minTypes = minimalTypes(t, full, of)
			if err := os.WriteFile(p.minimal, p.minTypes.Encode(), 0o666); err != nil {
				t.Fatal(err)
			}
			t.Run(filepath.Base(path)+"/"+filepath.Base(kernel), func(t *testing.T) { test(t, p) })
		}
	}
}

// readProgram reads the relocations of a program.
func readProgram(t *testing.T, path string, types *btf.Blob) *core.Program {
	t.Helper()
	p, err := core.ReadProgram(types, elftest.Contents(t, path, ".BTF.ext"))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return p
}

// minimalTypes does what btflite min does.
func minimalTypes(t *testing.T, full *btf.Blob, programs []string) *btf.Blob {
	t.Helper()
	names := core.Names{}
	var all []*core.Program
	for _, path := range programs {
		p := readProgram(t, path, btftest.Parse(t, elftest.Contents(t, path, ".BTF"), nil))
		names.Add(p)
		all = append(all, p)
	}
	target := core.NewTarget(full, names)
	needs := target.NewNeeds()
	for _, p := range all {
		for _, x := range p.Relocs {
			r := target.Resolve(x)
			needs.Add(x, &r)
		}
	}
	b, err := needs.Blob()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// typeText names a type without its id, which differs in minimal BTF.
func typeText(b *btf.Blob, id int64) string {
	if id <= 0 || id > int64(b.TypeCount()-1) {
		return fmt.Sprint(id)
	}
	of := view.New(b).Type(uint32(id))
	return fmt.Sprintf("%v %q", of.Kind(), of.Name())
}

// TestLibbpfResolvesAlike: libbpf changes the instructions of each program in the same way with
// the minimal types. An instruction that gets the id of a type has a type of the same name.
func TestLibbpfResolvesAlike(t *testing.T) {
	loader := filepath.Join(t.TempDir(), "relocate")
	if said, err := exec.Command("cc", "-O1", "-o", loader, "testdata/relocate.c", "-lbpf").CombinedOutput(); err != nil {
		t.Skipf("no C compiler, or no libbpf (Debian's libbpf-dev): %s", said)
	}
	run := func(t *testing.T, program, types string) []string {
		t.Helper()
		var text, said bytes.Buffer
		cmd := exec.Command(loader, program, types)
		cmd.Stdout, cmd.Stderr = &text, &said
		err := cmd.Run()
		if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == 3 {
			t.Skip("the kernel loads no programs of this user")
		}
		if err != nil {
			return []string{fmt.Sprintf("refused: %s", &said)}
		}
		return strings.Split(text.String(), "\n")
	}
	eachPair(t, func(t *testing.T, p pair) {
		if p.fullTypes.BigEndian {
			t.Skip("libbpf relocates programs of its own byte order")
		}
		full, least := run(t, p.program, p.full), run(t, p.program, p.minimal)
		if len(full) != len(least) || strings.HasPrefix(full[0], "refused") {
			t.Fatalf("%d and %d lines: %s, %s", len(full), len(least), full[0], least[0])
		}
		for i := range full {
			if full[i] != least[i] && sameType(full[i], p.fullTypes) != sameType(least[i], p.minTypes) {
				t.Errorf("instruction %d: %s, with the minimal BTF %s", i, full[i], least[i])
			}
		}
	})
}

// sameType is an instruction with the name of a type in place of its immediate value.
func sameType(line string, b *btf.Blob) string {
	at := strings.LastIndexByte(line, ' ')
	id, err := strconv.ParseInt(line[at+1:], 10, 32)
	if err != nil {
		return line
	}
	return line[:at] + " " + typeText(b, id)
}

// Of bpftool's log: the line of a relocation and of what it found, and what they say that
// differs in minimal BTF: numbers of candidates, ids of types, and indexes of members.
var (
	relocation = regexp.MustCompile(`^libbpf: (prog .*: relo #\d+: )(matching candidate #\d+ |no matching targets found)?(.*)`)
	number     = regexp.MustCompile(` #\d+ `)
	candidate  = regexp.MustCompile(`> \[\d+\]| \([\d:]+ @`)
)

// TestBpftoolResolvesAlike: the libbpf in bpftool, which is newer, finds the same types and
// members at the same offsets.
func TestBpftoolResolvesAlike(t *testing.T) {
	tool := corpus.Program("bpftool")
	if _, err := os.Stat(tool); err != nil {
		t.Skip("bpftool is not there: scripts/kernels.sh pahole gets it")
	}
	run := func(t *testing.T, p pair, types string) (lines []string, err error) {
		said, err := exec.Command(tool, "-d", "gen", "min_core_btf", types, filepath.Join(t.TempDir(), "out"), p.program).CombinedOutput()
		for line := range strings.Lines(string(said)) {
			m := relocation.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil || strings.Contains(m[3], "non-matching candidate") {
				continue
			}
			// Rust has types of the names of C's, with the same members. libbpf wants all of them to agree, and
			// one is enough in minimal BTF.
			text := m[1] + number.ReplaceAllString(m[2], " ") + candidate.ReplaceAllString(m[3], " ")
			if n := len(lines); n == 0 || lines[n-1] != text {
				lines = append(lines, text)
			}
		}
		return lines, err
	}
	eachPair(t, func(t *testing.T, p pair) {
		full, errFull := run(t, p, p.full)
		least, errLeast := run(t, p, p.minimal)
		if (errFull == nil) != (errLeast == nil) || len(full) == 0 {
			t.Fatalf("%d lines, %v; with the minimal BTF %d lines, %v", len(full), errFull, len(least), errLeast)
		}
		if diff := cmp.Diff(full, least); diff != "" {
			t.Errorf("with the minimal BTF (+):\n%s", diff)
		}
	})
}

// TestCiliumResolvesAlike: cilium/ebpf computes the same values.
func TestCiliumResolvesAlike(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		if p.fullTypes.BigEndian {
			t.Skip("cilium/ebpf relocates programs of its own byte order")
		}
		full, least := ciliumResolves(t, p.program, p.full, p.fullTypes), ciliumResolves(t, p.program, p.minimal, p.minTypes)
		if len(full) == 0 {
			t.Error("no relocations")
		}
		if diff := cmp.Diff(full, least); diff != "" {
			t.Errorf("with the minimal BTF (+):\n%s", diff)
		}
	})
}

// ciliumResolves is, for each relocation of a program, what cilium/ebpf makes of it.
func ciliumResolves(t *testing.T, program, types string, blob *btf.Blob) (lines []string) {
	t.Helper()
	object, err := ebpf.LoadCollectionSpec(program)
	if err != nil {
		t.Fatal(err)
	}
	target, err := ciliumbtf.LoadSpec(types)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range object.Programs {
		var relocs []*ciliumbtf.CORERelocation
		for i := range p.Instructions {
			if r := ciliumbtf.CORERelocationMetadata(&p.Instructions[i]); r != nil {
				relocs = append(relocs, r)
			}
		}
		fixups, err := ciliumbtf.CORERelocate(relocs, []*ciliumbtf.Spec{target}, p.ByteOrder, object.Types.TypeID)
		if err != nil {
			lines = append(lines, fmt.Sprintf("%s: refused", name))
			continue
		}
		for i := range fixups {
			text := fixups[i].String()
			if value, isID := strings.CutPrefix(text, "target_type_id="); isID {
				_, id, _ := strings.Cut(value, "->")
				n, _ := strconv.ParseInt(id, 10, 64)
				text = typeText(blob, n)
			}
			lines = append(lines, fmt.Sprintf("%s: %v: %s", name, relocs[i], text))
		}
	}
	slices.Sort(lines)
	return lines
}
