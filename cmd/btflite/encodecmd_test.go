package main

import (
	"bytes"
	"os"
	"path/filepath"
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
