package main

import (
	"crypto/sha256"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// TestDumpSelection: --name, --id and several files, also over bases, in each format.
func TestDumpSelection(t *testing.T) {
	base, module := splitDir+"x86.base.btf", splitDir+"x86.module.btf"
	over := "--btf_base=" + base
	for _, tt := range []struct {
		args string
		want []string // parts of the output
		not  string   // none of it
	}{
		{"dump --name=mine " + over + " " + module, []string{"STRUCT 'mine'"}, "FUNC '"},
		{"dump --name=thing " + over + " " + module, []string{"STRUCT 'thing'"}, "mine"}, // of the base
		{"dump --name=t* " + over + " " + module, nil, "\n[1] "},                         // of the module alone, as it has some
		{"dump --format=c --name=mine --name=thing " + base + " " + module, []string{"struct mine {", "struct thing {"}, "no name"},
		{"dump --format=c --name=mine " + module + " " + base, []string{"struct mine {"}, ""}, // the base comes after the module
		{"dump --format=c --name=mine " + over + " " + module, []string{"struct mine {"}, ""},
		{"dump --format=c --name=mine " + base + " ./" + base + " " + module + " " + base, []string{"struct mine {"}, ""}, // each once
		{"dump --json-lines --name=mine " + over + " " + module, []string{`"kind":"STRUCT","name":"mine"`}, `{"types"`},
		{"dump -j --id=42 " + over + " " + module, []string{`{"types":[{"id":42,`}, `"id":43`},
		{"dump -p --id=42 --id=1 " + over + " " + module, []string{`"id": 42,`, `"id": 1,`}, `"id": 43`},
		{"dump --id=2 --name=thing " + base, []string{"\n[2] ", "STRUCT 'thing'"}, "FUNC '"},
		{"dump --strict-c --name=mine " + base + " " + module, []string{"struct mine {"}, "struct unused"},
	} {
		got, _ := btfliteRun(t, exitOK, strings.Fields(tt.args)...)
		for _, w := range tt.want {
			if !strings.Contains("\n"+got, w) {
				t.Errorf("%s: no %q in %.2000s", tt.args, w, got)
			}
		}
		if tt.not != "" && strings.Contains(got, tt.not) {
			t.Errorf("%s: %q in %.2000s", tt.args, tt.not, got)
		}
	}
	none := testfile.New(t, "none.btf", string(btftest.New().Encode(false)))
	for args, want := range map[string]string{
		"dump --id=1 " + none:                                  none + " has no types",
		"dump --name=nosuch --name=none* " + base:              "no type has a name that fits nosuch, none*",
		"dump --id=1 --format=c " + base + " " + module:        "--id is for one FILE",
		"dump " + base + " " + module:                          "several files can only be merged with --format=c",
		"dump -j --format=c " + base:                           "exclude each other",
		"dump --id=4000000 " + base:                            "there is no type 4000000",
		"dump --name=[ " + base:                                "is not a valid pattern",
		"dump --for=" + base + " " + base:                      "",
		"dump --format=c " + module + " " + splitDir + "none":  "none: cannot open",
		"dump --format=c " + base + " ../../testdata/small/no": "no: cannot open",
	} {
		c, out, errs := testCLI(t)
		if status := c.run(strings.Fields(args)); status == exitOK || out.Len() > 0 || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: status %d, %q, %q", args, status, out, errs)
		}
	}
}

// TestDumpFor: --for takes the names from the CO-RE relocations of an object of clang.
func TestDumpFor(t *testing.T) {
	clang, err := exec.LookPath("clang")
	if err != nil {
		t.Skip("no clang")
	}
	dir := t.TempDir()
	source, object := filepath.Join(dir, "p.c"), filepath.Join(dir, "p.o")
	const program = `struct thing___local { int type; } __attribute__((preserve_access_index));
struct mine { int x; } __attribute__((preserve_access_index));
int read(struct thing___local *p, struct mine *m) { return p->type + m->x; }
`
	testfile.Write(t, source, program)
	if out, err := exec.Command(clang, "--target=bpf", "-g", "-O1", "-c", "-o", object, source).CombinedOutput(); err != nil {
		t.Skipf("clang: %v: %s", err, out)
	}
	base, module := splitDir+"x86.base.btf", splitDir+"x86.module.btf"
	got, _ := btfliteRun(t, exitOK, "dump", "--strict-c", "--for="+object, base, module)
	if !strings.Contains(got, "struct thing {") || !strings.Contains(got, "struct mine {") {
		t.Errorf("%s", got)
	}
	got, errs := btfliteRun(t, exitOK, "dump", "--for="+object, base)
	if !strings.Contains(got, "STRUCT 'thing'") || strings.Contains(got, "FUNC '") || !strings.Contains(errs, "mine fits no name") {
		t.Errorf("%s, %s", got, errs)
	}
}

// TestReadersGolden holds what dump and funcs print of what compilers have made, for
// machines of all kinds, with DWARF 4 and 5: a digest of each. What bpftool and pfunct
// print of them is compared where these are there (btf/dump, btf/funcs).
func TestReadersGolden(t *testing.T) {
	files, err := filepath.Glob("../../encode/testdata/golden/*.default.btf")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var list strings.Builder
	for _, path := range files {
		fmt.Fprintf(&list, "%s", strings.TrimSuffix(filepath.Base(path), ".default.btf"))
		for _, args := range []string{"dump", "dump --format=c", "dump --strict-c", "dump -j", "funcs -P"} {
			got, _ := btfliteRun(t, exitOK, append(strings.Fields(args), path)...)
			sum := sha256.Sum256([]byte(got))
			fmt.Fprintf(&list, " %x", sum[:4])
		}
		list.WriteString("\n")
	}
	golden(t, "readers.txt", list.String())
	for _, args := range []string{"dump", "dump --format=c", "dump --strict-c", "funcs -P"} {
		got, _ := btfliteRun(t, exitOK, append(strings.Fields(args), "../../encode/testdata/golden/x86-gcc5.default.btf")...)
		golden(t, strings.NewReplacer(" --", "-", "=", "-", " -", "-").Replace(args)+".txt", got)
	}
}
