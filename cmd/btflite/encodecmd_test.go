package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/loadbtf"
)

// TestLeadingInput: the first input with a unit that no filter leaves out stands
// for all: its sections hold the variables, and BTF in place goes there.
func TestLeadingInput(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"c99", "c11"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, mustRead(t, inputFiles+name), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	want := mustRead(t, inputFiles+"c11.btf") // what pahole makes of both
	for _, filter := range []string{"--lang_exclude=c99", "--lang=c11", "--cu_exclude=c99"} {
		out := filepath.Join(dir, "out")
		btfliteRun(t, exitOK, append([]string{"-J", "--btf_features=default", filter, "--btf_encode_detached=" + out}, paths...)...)
		if !bytes.Equal(mustRead(t, out), want) {
			t.Errorf("%s: not the bytes of pahole", filter)
		}
	}
	btfliteRun(t, exitOK, append([]string{"-J", "--btf_features=default", "--lang_exclude=c99"}, paths...)...)
	if !bytes.Equal(mustRead(t, paths[0]), mustRead(t, inputFiles+"c99")) {
		t.Error("the input that is left out has changed")
	}
	err := btfFiles.With(paths[1], func(raw loadbtf.Raw) error {
		if !bytes.Equal(raw.BTF, want) {
			t.Error("section .BTF has other bytes")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestSeveralInputsAreNamed: a message about several inputs does not name only the first.
func TestSeveralInputsAreNamed(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"a", "b", "c"} {
		path := filepath.Join(dir, name)
		// Variables of one name are one; here, others lie in the same places of one section.
		data := bytes.ReplaceAll(mustRead(t, "../../encode/testdata/golden/x86-gcc5-r.elf"), []byte("pcpu_node\x00"), []byte("pcpu_nod"+name+"\x00"))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	for n, want := range map[int]string{2: " and 1 more input: ", 3: " and 2 more inputs: "} {
		_, stderr := btfliteRun(t, exitFailure, append([]string{"-J", "--btf_features=all", "--btf_encode_detached=" + filepath.Join(dir, "out")}, paths[:n]...)...)
		if text := "btflite: " + paths[0] + want + "nothing written: a kernel would refuse"; !strings.HasPrefix(stderr, text) {
			t.Errorf("got %q, want %q", stderr, text)
		}
		_, stderr = btfliteRun(t, exitOK, append([]string{"-J", "--lang_exclude=c11", "--btf_encode_detached=" + filepath.Join(dir, "out")}, paths[:n]...)...)
		if text := "btflite: " + paths[0] + want + "all compile units are left out"; !strings.HasPrefix(stderr, text) {
			t.Errorf("got %q, want %q", stderr, text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("something was written")
	}
}
