package core

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// object builds a BPF object: types and relocations in one section.
type object struct {
	*btftest.Builder
	relocs []uint32 // their words
}

func newObject() *object { return &object{Builder: btftest.New()} }

// reloc adds a relocation, each in an instruction of its own.
func (o *object) reloc(typ uint32, access string, kind Kind) {
	o.relocs = append(o.relocs, uint32(2*len(o.relocs)), typ, o.Str(access), uint32(kind))
}

// ext is the section .BTF.ext.
func (o *object) ext(bigEndian bool) []byte {
	const header = 32
	section := o.Str("tp/test")
	order := elftest.Of(true, bigEndian).Order
	d := append(order.AppendUint16(nil, extMagic), extVersion, 0)
	size := uint32(4 + 8 + 4*len(o.relocs))
	for _, w := range []uint32{header, 0, 0, 0, 0, 0, size, coreRecordLen, section, uint32(len(o.relocs) / 4)} {
		d = order.AppendUint32(d, w)
	}
	for _, w := range o.relocs {
		d = order.AppendUint32(d, w)
	}
	return d
}

// read is the Program of the object.
func (o *object) read(t testing.TB) *Program {
	t.Helper()
	ext := o.ext(o.BigEndian)
	p, err := ReadProgram(o.Blob(t), ext)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rule is a case of how relocations are resolved.
type rule struct {
	name   string
	local  func(o *object)
	target func(b *btftest.Builder)
	// aborts says that bpftool writes nothing.
	aborts bool
}

// outcome resolves the relocations of p, and is the text of what comes of it.
func outcome(t testing.TB, p *Program, b *btf.Blob) (verdicts, types string) {
	t.Helper()
	names := Names{}
	names.Add(p)
	target := NewTarget(b, names)
	needs := target.NewNeeds()
	var s strings.Builder
	for _, x := range p.Relocs {
		r := target.Resolve(x)
		needs.Add(x, &r)
		fmt.Fprintf(&s, "%s %s: %s\n", x.Kind, x, [...]string{"found", "missing", "ambiguous", "failed"}[r.Verdict])
	}
	out, err := needs.Blob()
	if err != nil {
		t.Fatal(err)
	}
	return s.String(), btftest.Text(out)
}

var update = flag.Bool("update", false, "write testdata/rules.txt")

// TestRules: what becomes of the relocations of each rule, and the minimal BTF, in both byte
// orders.
func TestRules(t *testing.T) {
	const golden = "testdata/rules.txt"
	var all [2]strings.Builder
	for _, tt := range rules {
		for i := range all {
			o, target := newObject(), btftest.New()
			o.BigEndian, target.BigEndian = i == 1, i == 1
			tt.local(o)
			tt.target(target)
			verdicts, types := outcome(t, o.read(t), target.Blob(t))
			fmt.Fprintf(&all[i], "# %s\n%s%s\n", tt.name, verdicts, types)
		}
	}
	if all[0].String() != all[1].String() {
		t.Error("the byte order makes a difference")
	}
	if *update {
		testfile.Write(t, golden, all[0].String())
	}
	want := testfile.Read(t, golden)
	if diff := cmp.Diff(string(want), all[0].String()); diff != "" {
		t.Error(diff)
	}
}

// TestRulesAgainstBpftool: bpftool makes the same minimal BTF of each rule, or it aborts.
func TestRulesAgainstBpftool(t *testing.T) {
	tool := corpus.Need(t, "bpftool")
	for _, tt := range rules {
		dir := t.TempDir()
		o := newObject()
		tt.local(o)
		target := btftest.New()
		tt.target(target)
		ext := o.ext(false)
		prog, kernel, out := filepath.Join(dir, "prog.o"), filepath.Join(dir, "kernel.btf"), filepath.Join(dir, "out.btf")
		image := elftest.Little64.Image(elftest.Section{Name: ".BTF", Data: o.Encode(false)}, elftest.Section{Name: ".BTF.ext", Data: ext})
		testfile.Write(t, prog, image)
		testfile.Write(t, kernel, target.Encode(false))
		said, err := exec.Command(tool, "gen", "min_core_btf", kernel, out, prog).CombinedOutput()
		if (err != nil) != tt.aborts {
			t.Errorf("%s: bpftool: %v\n%s", tt.name, err, said)
		}
		if err != nil {
			continue
		}
		_, types := outcome(t, o.read(t), target.Blob(t))
		if theirs := btftest.Text(btftest.Read(t, out, nil)); theirs != types {
			t.Errorf("%s: bpftool makes\n%swe make\n%s", tt.name, theirs, types)
		}
	}
}

// TestKernelAgainstBpftool: the minimal BTF of a whole kernel, BTFLITE_BTF, for relocations of all
// kinds. Where bpftool gives up, a relocation is ambiguous.
func TestKernelAgainstBpftool(t *testing.T) {
	tool := corpus.Need(t, "bpftool")
	kernel := os.Getenv("BTFLITE_BTF")
	if kernel == "" {
		t.Skip("BTFLITE_BTF is not set")
	}
	const object = "../../testdata/min/kernel.bpf.o"
	p, err := ReadProgram(btftest.Parse(t, elftest.Contents(t, object, ".BTF"), nil), elftest.Contents(t, object, ".BTF.ext"))
	if err != nil {
		t.Fatal(err)
	}
	verdicts, types := outcome(t, p, btftest.Read(t, kernel, nil))
	out := filepath.Join(t.TempDir(), "out.btf")
	said, err := exec.Command(tool, "gen", "min_core_btf", kernel, out, object).CombinedOutput()
	if err != nil {
		if !strings.Contains(verdicts, ": ambiguous") {
			t.Errorf("bpftool: %v\n%s\n%s", err, said, verdicts)
		}
		return
	}
	if diff := cmp.Diff(btftest.Text(btftest.Read(t, out, nil)), types); diff != "" {
		t.Errorf("bpftool's (-), ours (+):\n%s", diff)
	}
}
