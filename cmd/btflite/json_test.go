package main

import (
	"encoding/json"
	"errors"
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

// TestReportHasTheFieldsOfStats: --report alone writes each field of --stats=json, none of them null.
func TestReportHasTheFieldsOfStats(t *testing.T) {
	dir := t.TempDir()
	out, report := filepath.Join(dir, "out"), filepath.Join(dir, "report")
	stats, _ := btfliteRun(t, exitOK, "-J", "--stats=json", "--btf_encode_detached="+out, smallFile)
	btfliteRun(t, exitOK, "-J", "--report="+report, "--btf_encode_detached="+out, smallFile)
	var want, got map[string]any
	if err := errors.Join(json.Unmarshal([]byte(stats), &want), json.Unmarshal(testfile.Read(t, report), &got)); err != nil {
		t.Fatal(err)
	}
	for name := range want {
		if got[name] == nil {
			t.Errorf("%s is missing or null in the report", name)
		}
	}
}
