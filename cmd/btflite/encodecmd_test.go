package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/test/testfile"
)

// TestLeadingInput: the first input with a unit that no filter leaves out stands
// for all: its sections hold the variables, and BTF in place goes there.
func TestLeadingInput(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"c99", "c11"} {
		path := filepath.Join(dir, name)
		testfile.Write(t, path, testfile.Read(t, inputFiles+name))
		paths = append(paths, path)
	}
	want := testfile.Read(t, inputFiles+"c11.btf") // what pahole makes of both
	for _, filter := range []string{"--lang_exclude=c99", "--lang=c11", "--cu_exclude=c99"} {
		out := filepath.Join(dir, "out")
		btfliteRun(t, exitOK, append([]string{"-J", "--btf_features=default", filter, "--btf_encode_detached=" + out}, paths...)...)
		if !bytes.Equal(testfile.Read(t, out), want) {
			t.Errorf("%s: not the bytes of pahole", filter)
		}
	}
	btfliteRun(t, exitOK, append([]string{"-J", "--btf_features=default", "--lang_exclude=c99"}, paths...)...)
	if !bytes.Equal(testfile.Read(t, paths[0]), testfile.Read(t, inputFiles+"c99")) {
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
