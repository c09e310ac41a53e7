package main

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// TestSingular: of one thing, nothing is said in the plural.
func TestSingular(t *testing.T) {
	dir := t.TempDir()
	b := btftest.New()
	b.Struct("s", 8)
	b.Struct("s", 16)
	testfile.Write(t, filepath.Join(dir, "twice.btf"), b.Encode(false))
	b = btftest.New()
	b.Int("int", 4)
	testfile.Write(t, filepath.Join(dir, "one.btf"), b.Encode(false))
	t.Chdir(dir)
	plural := regexp.MustCompile(`(?m)(^|[^0-9.,])1 (types|names|structs|modules|files|kernels|units|programs)\b`)
	for _, tt := range []struct {
		status int
		args   []string
	}{
		{exitOK, []string{"verify", "one.btf"}},
		{exitFailure, []string{"verify", "--no-dups", "twice.btf"}},
		{exitFailure, []string{"diff", "one.btf", "twice.btf"}},
		{exitOK, []string{"stats", "twice.btf"}},
		{exitFailure, []string{"modules", "--btf_base=one.btf", "missing.ko"}},
		{exitFailure, []string{"min", "--btf=one.btf", "-o", "out", "one.btf", "twice.btf"}},
		{exitTemporary, []string{"archive", "-o", "archive", "missing.deb"}},
		{exitOK, []string{"archive", "-o", "archive", "one.btf"}},
		{exitOK, []string{"archive", "index", "-o", "archive"}},
	} {
		stdout, stderr := btfliteRun(t, tt.status, tt.args...)
		if found := plural.FindString(stdout + stderr); found != "" {
			t.Errorf("%q: %q in %s%s", tt.args, found, stdout, stderr)
		}
	}
}
