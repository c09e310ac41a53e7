package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// rawCommands read the BTF of a file in and, but for diff, write out.
func rawCommands(in, out string) [][]string {
	return [][]string{{"diff", in, in}, {"dedup", "-o", out, in}, {"dedup", "--dedup=exact", "-o", out, in},
		{"sort", in, out}, {"sort", "--btf_sort=name", in, out}, {"lower", "--kernel=7.2", in, out}}
}

// runRaw runs a command of rawCommands. Its status must be the given one, or for
// an error of diff exitTrouble.
func runRaw(t *testing.T, status int, command []string, options ...string) (stderr string) {
	t.Helper()
	if status == exitFailure && command[0] == "diff" {
		status = exitTrouble
	}
	args := append(append([]string{command[0]}, options...), command[1:]...)
	_, stderr = btfliteRun(t, status, args...)
	return stderr
}

// TestSplitWithoutBase: BTF that was split from a base is recognized by the way in which
// it is unreadable, and the message says that the base is missing.
func TestSplitWithoutBase(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, base *btf.Blob, build func(b *btftest.Builder)) string {
		path := filepath.Join(dir, name)
		testfile.Write(t, path, btftest.Build(t, base, build).Encode())
		return path
	}
	addInt := func(b *btftest.Builder) { b.Int("int", 4) }
	base := put("base", nil, addInt)
	over, err := btfFiles.Load(base, nil)
	if err != nil {
		t.Fatal(err)
	}
	ptr := btf.Info(btf.KindPtr, 0, false)
	const hint = ", as in BTF split from a base that is missing here; BTF of a module needs --btf_base\n"
	for in, want := range map[string]string{
		put("strings", over, func(b *btftest.Builder) { b.Typedef("t", 1) }): "strings: offset 0 is not the empty string",
		put("plain", over, func(b *btftest.Builder) { b.Add("", ptr, 1) }):   "strings: empty section",
		put("nothing", over, func(*btftest.Builder) {}):                      "strings: empty section",
	} {
		for _, command := range rawCommands(in, in+".out") {
			if got := runRaw(t, exitFailure, command); got != "btflite: "+in+": btf: "+want+hint {
				t.Errorf("%q: %s", command, got)
			}
			if _, err := os.Stat(in + ".out"); err == nil {
				t.Errorf("%q: there is an output", command)
			}
			runRaw(t, exitOK, command, "--btf_base="+base)
			os.Remove(in + ".out")
		}
	}
	// References beyond the end, in BTF whose strings could belong to BTF that stands
	// alone.
	blob := btftest.Parse(t, testfile.Read(t, base), nil)
	blob.Words[0] = 1000
	beyond := filepath.Join(dir, "beyond")
	testfile.Write(t, beyond, blob.Encode())
	for _, command := range rawCommands(beyond, beyond+".out") {
		want := "btflite: " + beyond + ": btf: types: INT [1] at offset 0: name offset 1000 out of range" + hint
		if got := runRaw(t, exitFailure, command); got != want {
			t.Errorf("%q: %s", command, got)
		}
	}
	// A base that needs one itself.
	module := filepath.Join(dir, "strings")
	for _, command := range rawCommands(base, base+".out") {
		if got := runRaw(t, exitFailure, command, "--btf_base="+module); !strings.HasSuffix(got, hint) {
			t.Errorf("%q over %s: %s", command, module, got)
		}
	}
}

// TestNoTypes: as in libbpf, BTF without types is valid, and it does not change.
func TestNoTypes(t *testing.T) {
	dir := t.TempDir()
	for _, big := range []bool{false, true} {
		data := append(btf.AppendHeader(nil, big, 0, 1), 0)
		in := filepath.Join(dir, "in")
		testfile.Write(t, in, data)
		for _, command := range rawCommands(in, in+".out") {
			if got := runRaw(t, exitOK, command); got != "" {
				t.Errorf("%q: %s", command, got)
			}
			if command[0] != "diff" && !bytes.Equal(testfile.Read(t, in+".out"), data) {
				t.Errorf("%q: other bytes", command)
			}
			os.Remove(in + ".out")
		}
		if text := runDiffOf(t, exitFailure, "--summary", in, filepath.Join(diffDir, "tags/a.btf")); !strings.HasPrefix(text, "struct: ") {
			t.Errorf("%q", text)
		}
	}
}

// TestCutRawBTF: no beginning of a file is taken for the whole, and none makes a
// command fail otherwise than with one line.
func TestCutRawBTF(t *testing.T) {
	dir := t.TempDir()
	data := testfile.Read(t, filepath.Join(diffDir, "tags/a.btf"))
	header := int(binary.LittleEndian.Uint32(data[4:]))
	in := filepath.Join(dir, "in")
	for n := 0; n < len(data); n++ {
		if n > header+40 && n < len(data)-40 && n%97 != 0 {
			continue
		}
		testfile.Write(t, in, data[:n])
		for _, command := range rawCommands(in, in+".out") {
			got := runRaw(t, exitFailure, command)
			if !strings.HasPrefix(got, "btflite: "+in+": ") || strings.Count(got, "\n") != 1 {
				t.Errorf("%d bytes, %q: %s", n, command, got)
			}
			if _, err := os.Stat(in + ".out"); err == nil {
				t.Fatalf("%d bytes, %q: there is an output", n, command)
			}
		}
	}
}
