package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/btflite/btflite/internal/elfwrite"
)

// TestWrongBase: a run warns once about a base of another kernel than the module's, and
// the output does not change.
func TestWrongBase(t *testing.T) {
	dir := t.TempDir()
	base := filepath.Join(dir, "vmlinux")
	put := func(path, from, section, data string) {
		t.Helper()
		copyFile(t, from, path)
		if err := elfwrite.Set(path, nil, nil, bytesSection(section, []byte(data))); err != nil {
			t.Fatal(err)
		}
	}
	put(base, "x86.base-btf.o", ".rodata", "Linux version 6.12.0 (x@y)")
	module := func(name, release string) string {
		path := filepath.Join(dir, "k", name)
		put(path, "x86.module.o", ".modinfo", "license=GPL\x00vermagic="+release+" SMP \x00")
		return path
	}
	good, bad := module("a.ko", "6.12.0"), module("b.ko", "6.1.0")
	options := []string{"--btf_base=" + base, compat, "--btf_features=default"}
	out := filepath.Join(dir, "out")
	why := fmt.Sprintf("built for 6.1.0, but the base %s is of 6.12.0", base)
	for path, want := range map[string]string{good: "", bad: "btflite: " + bad + ": warning: " + why + ": the BTF fits neither kernel\n"} {
		_, stderr := btfliteRun(t, exitOK, append(options, "-J", "--btf_encode_detached="+out, path)...)
		if stderr != want {
			t.Errorf("%q, want %q", stderr, want)
		}
		sameAs(t, out, "", "x86.module.btf")
		// Raw BTF does not tell its release.
		_, stderr = btfliteRun(t, exitOK, "-J", "--btf_base="+splitFiles+"x86.base.btf", compat, "--btf_features=default", "--btf_encode_detached="+out, path)
		if stderr != "" {
			t.Errorf("%q", stderr)
		}
	}
	run := func() (stdout, stderr string) {
		return btfliteRun(t, exitOK, append([]string{"modules", "--stats=json", "--btf_encode_detached_dir=" + out + ".d", filepath.Join(dir, "k")}, options...)...)
	}
	if _, stderr := run(); stderr != "btflite: "+bad+": warning: "+why+": the BTF fits neither kernel\n" {
		t.Errorf("%q", stderr)
	}
	module("c.ko", "6.1.0")
	stdout, stderr := run()
	if want := "btflite: warning: 2 of 3 modules are not of the base's kernel: " + bad + ": " + why + ": the BTF fits neither kernel\n"; stderr != want {
		t.Errorf("%q, want %q", stderr, want)
	}
	var r batchReport
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || r.Modules[0].Mismatch != "" || r.Modules[1].Mismatch != why {
		t.Errorf("%v: %s", err, stdout)
	}
}
