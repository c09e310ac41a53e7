package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// TestPatternsAreAlike: in every command that takes patterns, a slash is a character like others, and a name that looks like
// a pattern is a name first. Functions and types of C++ and Rust have such names.
func TestPatternsAreAlike(t *testing.T) {
	file, other := filepath.Join(t.TempDir(), "a.btf"), filepath.Join(t.TempDir(), "b.btf")
	b := btftest.New()
	b.Int("int", 4)
	proto := b.Proto(1)
	for _, name := range []string{"op/", "op[]", "op*"} {
		b.Func(name, 0, proto)
		b.Struct(name, 4, b.Member("x", 1, 0))
	}
	testfile.Write(t, file, b.Encode(false))
	b = btftest.New()
	b.Int("int", 4)
	testfile.Write(t, other, b.Encode(false))
	for _, tt := range []struct {
		args   string
		status int
		want   []string
		not    string
	}{
		{"funcs -f op? FILE", exitOK, []string{"int op/", "int op*"}, "op[]"},
		{"funcs -f op[] FILE", exitOK, []string{"int op[]"}, "op/"},
		{"funcs -f op* FILE", exitOK, []string{"int op*"}, "op/"},
		{"show op? FILE", exitOK, []string{"struct op/ {", "struct op* {"}, "op[]"},
		{"show op[] FILE", exitOK, []string{"struct op[] {"}, "op/"},
		{"show op* FILE", exitOK, []string{"struct op* {"}, "op/"},
		{"dump --name=op? FILE", exitOK, []string{"STRUCT 'op/'", "FUNC 'op*'"}, "op[]"},
		{"dump --name=op* FILE", exitOK, []string{"STRUCT 'op*'"}, "op/"},
		{"diff --name=op? OTHER FILE", exitFailure, []string{"+ struct op/", "+ function op*"}, "op[]"},
	} {
		args := strings.Fields(strings.NewReplacer("FILE", file, "OTHER", other).Replace(tt.args))
		stdout, _ := btfliteRun(t, tt.status, args...)
		for _, want := range tt.want {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: no %q in %s", tt.args, want, stdout)
			}
		}
		if strings.Contains(stdout, tt.not) {
			t.Errorf("%s: %q in %s", tt.args, tt.not, stdout)
		}
	}
}
