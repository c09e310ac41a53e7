package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// TestDamagedOverBase: of a file that no base can help, every command that reads it over a base says what
// is wrong with the file, and does not blame the base.
func TestDamagedOverBase(t *testing.T) {
	kernel := btftest.Build(t, nil, func(b *btftest.Builder) { b.Int("int", 4) })
	module := btftest.Build(t, kernel, func(b *btftest.Builder) { b.Struct("own", 4, b.Member("x", 1, 0)) }).Encode()
	dir := t.TempDir()
	base, in, out := filepath.Join(dir, "vmlinux.btf"), filepath.Join(dir, "in.btf"), filepath.Join(dir, "out")
	testfile.Write(t, base, kernel.Encode())
	over := "--btf_base=" + base
	for what, data := range map[string][]byte{
		"zeros": make([]byte, 100), "text": []byte("something else\n"), "long text": bytes.Repeat([]byte("something else\n"), 1000),
		"half a header": module[:12], "no types": module[:24], "half": module[:len(module)-10], "another magic": append([]byte{1}, module[1:]...),
	} {
		testfile.Write(t, in, data)
		for _, args := range [][]string{
			{"dump", over, in}, {"stats", over, in}, {"funcs", over, in}, {"show", over, in}, {"sort", over, in, out}, {"dedup", over, "-o", out, in},
			{"lower", "--kernel=5.15", over, in, out}, {"flatten", "-o", out, base, in}, {"flatten", "-o", out, in}, {"diff", over, "--btf_base_b=" + base, in, in}, {"verify", over, in},
		} {
			c, stdout, stderr := testCLI(t)
			status := c.run(args)
			said := stdout.String() + stderr.String()
			if status == exitOK || !strings.Contains(said, in+": ") || strings.Contains(strings.ReplaceAll(said, base, "?"), "base") || strings.Count(said, "\n") != 1 {
				t.Errorf("%s: %s: status %d: %s", what, args[0], status, said)
			}
		}
	}
}
