package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/ccobject"
	"github.com/btflite/btflite/test/testfile"
)

// TestOtherProgram: a link stands for the next program of its name in PATH after it. For
// that program, the link is last in PATH, with the rest of its folder.
func TestOtherProgram(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, dir := range []string{"link", "link2", "cache", "bin", "none"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(root, dir, "gcc")
		switch {
		case strings.HasPrefix(dir, "link"):
			err = os.Symlink(self, file)
		case dir != "none":
			err = os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755)
		}
		if err != nil {
			t.Skip("no links here: ", err)
		}
	}
	list := func(names string) string {
		var dirs []string
		for _, n := range strings.Fields(names) {
			dirs = append(dirs, filepath.Join(root, n))
		}
		return strings.Join(dirs, string(filepath.ListSeparator))
	}
	for _, x := range []struct{ path, program, then string }{
		{"link cache bin", "cache", "cache bin link"},
		{"cache link bin", "bin", "cache bin link"},
		{"link link2 cache bin", "cache", "cache bin link link2"},
		{"cache link link2 none bin", "bin", "cache none bin link link2"},
		{"cache bin link", "", ""}, // as a cache finds it in the end
		{"cache bin", "cache", "cache bin"},
		{"bin link", "", ""},
		{"link none", "", ""},
	} {
		t.Setenv("PATH", list(x.path))
		program, path := otherProgram("gcc")
		want := ""
		if x.program != "" {
			want = filepath.Join(root, x.program, "gcc")
		}
		if program != want || path != list(x.then) {
			t.Errorf("%s: %q, PATH %q", x.path, program, path)
		}
	}
}

// TestKnownForm: outputs that are not ELF files are recognized before they are read as
// such.
func TestKnownForm(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.o")
	for text, want := range map[string]error{
		"\x7fELF":              nil,
		"BC\xc0\xde and so on": ccobject.ErrLTO,
		"\xde\xc0\x17\x0b....": ccobject.ErrLTO,
		"\xcf\xfa\xed\xfe":     ccobject.ErrNoDwarf, // Mach-O
		"x":                    nil,
	} {
		testfile.Write(t, file, text)
		if err := knownForm(file); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}
