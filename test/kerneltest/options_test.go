package kerneltest

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

const optionsDir = "testdata/options"

// optionRow is a row of testdata/options/table.txt and what pahole 1.32 did
// with it (scripts/options.sh).
type optionRow struct {
	name   string
	args   []string
	status string
	stdout string // first digits of its SHA-256
	golden string // file in optionsDir, or "none"
}

func optionRows(t *testing.T) []optionRow {
	t.Helper()
	want := map[string][]string{}
	for _, l := range textLines(t, "want.txt") {
		f := strings.Fields(l)
		if len(f) != 4 || want[f[0]] != nil {
			t.Fatalf("want.txt: %q", l)
		}
		want[f[0]] = f[1:]
	}
	var rows []optionRow
	for _, l := range textLines(t, "table.txt") {
		name, args, ok := strings.Cut(l, ": ")
		w := want[name]
		if !ok || w == nil {
			t.Fatalf("table.txt: %q is wrong or not in want.txt", l)
		}
		rows = append(rows, optionRow{name, strings.Fields(args), w[0], w[1], w[2]})
	}
	if len(rows) != len(want) {
		t.Fatalf("%d rows in table.txt, %d in want.txt", len(rows), len(want))
	}
	return rows
}

// textLines are the lines of a file of optionsDir without comments.
func textLines(t *testing.T, name string) []string {
	t.Helper()
	b := testfile.Read(t, filepath.Join(optionsDir, name))
	return slices.DeleteFunc(strings.Split(string(b), "\n"), func(l string) bool {
		return l == "" || strings.HasPrefix(l, "#")
	})
}

// TestOptionsGiveTheBytesOfPahole runs each row by the name of btflite and by
// the name of pahole: exit status, standard output and BTF are pahole's.
func TestOptionsGiveTheBytesOfPahole(t *testing.T) {
	btflite := buildBtflite(t)
	pahole := filepath.Join(t.TempDir(), "pahole")
	if err := os.Symlink(btflite, pahole); err != nil {
		t.Fatal(err)
	}
	for i, row := range optionRows(t) {
		program := []string{btflite, pahole}[i%2]
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"encode/testdata/golden/x86-gcc5.elf", "encode/testdata/golden/x86-tags.elf",
				"encode/testdata/golden/x86-fields.elf", "testdata/split/x86.base.btf", "testdata/split/x86.module.o"} {
				b := testfile.Read(t, filepath.Join("../..", name))
				testfile.Write(t, filepath.Join(dir, filepath.Base(name)), b)
			}
			var stdout, stderr bytes.Buffer
			args := row.args
			args = append([]string{"--btf_compat=libbpf-1.7"}, args...) // pahole's libbpf
			cmd := exec.Command(program, args...)
			cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
			cmd.Env = append(os.Environ(), "LLVM_OBJCOPY=does-not-exist")
			cmd.Run()
			// A wrong command line is 64 in every command; pahole has 1 for two of these.
			wrong := row.status == "1" && slices.Contains([]string{"features-strict-unknown", "lang-unknown"}, row.name)
			if got := fmt.Sprint(cmd.ProcessState.ExitCode()); got != row.status && !(wrong && got == "64") {
				t.Errorf("exit status %s, want %s: %s", got, row.status, &stderr)
			}
			said := bytes.Replace(stdout.Bytes(), []byte("layout,"), nil, 1) // which pahole takes over libbpf 1.7, but does not tell of
			if got := fmt.Sprintf("%x", sha256.Sum256(said))[:12]; got != row.stdout {
				t.Errorf("standard output is not pahole's: %q", &stdout)
			}
			got := optionOutput(t, dir, row.args)
			if row.golden == "none" {
				if got != nil {
					t.Error("BTF was written")
				}
				return
			}
			want := testfile.Read(t, filepath.Join(optionsDir, row.golden))
			if diff := FirstDifference(want, got); diff != "" {
				t.Errorf("%s\n%s", diff, &stderr)
			}
		})
	}
}

// optionOutput is the BTF that a row has written: out.btf or the section .BTF
// of the first input; nil if there is none.
func optionOutput(t *testing.T, dir string, args []string) []byte {
	t.Helper()
	if b, err := os.ReadFile(filepath.Join(dir, "out.btf")); err == nil {
		return b
	}
	for _, a := range args {
		f, err := elf.Open(filepath.Join(dir, a))
		if err != nil {
			continue
		}
		defer f.Close()
		sec := f.Section(".BTF")
		if sec == nil {
			return nil
		}
		b, err := sec.Data()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	return nil
}
