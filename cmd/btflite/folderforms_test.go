package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	at "github.com/btflite/btflite/internal/archive/archivetest"
	"github.com/btflite/btflite/internal/findbase"
	"github.com/btflite/btflite/test/testfile"
)

// TestFolderForms: commands that take a folder find BTF of every suffix in it, compressed or not, and
// make the same of it.
func TestFolderForms(t *testing.T) {
	kernel := btftest.Build(t, nil, func(b *btftest.Builder) { b.Int("int", 4) })
	module := func(name string) *btf.Blob {
		return btftest.Build(t, kernel, func(b *btftest.Builder) { b.Struct(name, 4, b.Member("x", 1, 0)) })
	}
	dir := t.TempDir()
	vmlinux := filepath.Join(dir, "vmlinux.btf")
	testfile.Write(t, vmlinux, kernel.Encode())
	want := map[string]string{}
	for _, suffix := range append([]string{""}, findbase.Compressed...) {
		folder := filepath.Join(dir, "folder"+suffix)
		for _, name := range []string{"a", "b"} {
			// One of them is never compressed, so that a folder is not told to have nothing.
			form := strings.TrimPrefix(suffix, ".")
			if name == "a" {
				form = ""
			}
			path := filepath.Join(folder, name+findbase.Suffix)
			if form != "" {
				path += suffix
			}
			testfile.Write(t, path, at.Compress(form, module(name).Encode()))
		}
		for command, args := range map[string][]string{
			"verify":  {"verify", "--btf_base=" + vmlinux, folder},
			"flatten": {"flatten", "-o", filepath.Join(dir, "out"), vmlinux, folder},
		} {
			got, stderr := btfliteRun(t, exitOK, args...)
			if data, err := os.ReadFile(filepath.Join(dir, "out")); err == nil && command == "flatten" {
				got += string(data)
			}
			if suffix == "" {
				want[command] = got
			} else if got != want[command] || stderr != "" {
				t.Errorf("%s of %s: %q, %s; want %q", command, suffix, got, stderr, want[command])
			}
		}
	}
}
