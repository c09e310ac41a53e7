package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/btflite/btflite/test/testfile"
)

// TestJSONIsSafe: no command prints JSON with a character of a file's name that a terminal obeys.
func TestJSONIsSafe(t *testing.T) {
	dir := t.TempDir()
	odd := filepath.Join(dir, "a\u009b31m\u202e")
	elf, bare, module := odd+".elf", odd+".btf", odd+".ko"
	testfile.Write(t, elf, testfile.Read(t, smallFile))
	testfile.Write(t, bare, testfile.Read(t, splitDir+"x86.base.btf"))
	testfile.Write(t, module, testfile.Read(t, splitDir+"x86.module.o"))
	out := filepath.Join(dir, "out")
	for _, args := range [][]string{
		{"-J", "--stats=json", "--btf_encode_detached=" + out, elf},
		{"-J", "--report=-", "--btf_encode_detached=" + out, elf},
		{"modules", "--stats=json", "--btf_base=" + bare, "--btf_encode_detached_dir=" + dir, module},
		{"doctor", "--json", bare},
		{"verify", "--json", bare},
		{"diff", "--json", bare, bare},
		{"flatten", "--origin=-", "-o", out, bare},
	} {
		c, stdout, stderr := testCLI(t)
		c.run(args)
		text := stdout.String()
		if !json.Valid([]byte(text)) || !strings.Contains(text, `\u009b31m\u202e`) {
			t.Errorf("%q: %s%s", args, text, stderr)
		}
		for _, r := range text {
			if !unicode.IsPrint(r) && r != '\n' {
				t.Errorf("%q: %U", args, r)
				break
			}
		}
	}
}
