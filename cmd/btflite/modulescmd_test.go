package main

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
)

// copyFile copies a file of testdata/split to path.
func copyFile(t *testing.T, name, path string) {
	t.Helper()
	data, err := os.ReadFile(splitFiles + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// sameAs compares the file path, or its section, with a file of testdata/split.
func sameAs(t *testing.T, path, section, want string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil && section != "" {
		var f *elf.File
		if f, err = elf.NewFile(bytes.NewReader(data)); err == nil {
			s := f.Section(section)
			if s == nil {
				t.Errorf("%s: no section %s", path, section)
				return
			}
			data, err = s.Data()
		}
	}
	expected, err2 := os.ReadFile(splitFiles + want)
	if err != nil || err2 != nil {
		t.Error(err, err2)
	} else if !bytes.Equal(data, expected) {
		t.Errorf("%s %s: %d bytes are not those of %s", path, section, len(data), want)
	}
}

// btfliteRun runs the command in this process and returns its streams.
func btfliteRun(t *testing.T, status int, args ...string) (stdout, stderr string) {
	t.Helper()
	c, out, errs := testCLI(t)
	if got := c.run(args); got != status {
		t.Errorf("%q: status %d, want %d: %s", args, got, status, errs)
	}
	return out.String(), errs.String()
}

const compat = "--btf_compat=libbpf-1.7"

// TestEncodeOverBase: one module, detached and in place, with and without a
// distilled base, over each form of the base.
func TestEncodeOverBase(t *testing.T) {
	for _, target := range []string{"x86", "s390x"} {
		dir := t.TempDir()
		m, out := filepath.Join(dir, "m.ko"), filepath.Join(dir, "out")
		bases := []string{".base.btf", ".base-btf.o"}
		if target == "x86" {
			bases = append(bases, ".base.btf.gz", ".base-btf.o.xz", ".base-btf.o.zst")
		}
		for _, b := range bases {
			base := "--btf_base=" + splitFiles + target + b
			copyFile(t, target+".module.o", m)
			// distilled_base has no effect on a detached file.
			for _, features := range []string{"default", "default,distilled_base"} {
				btfliteRun(t, exitOK, "-J", base, compat, "--btf_features="+features, "--btf_encode_detached="+out, m)
				sameAs(t, out, "", target+".module.btf")
			}
			sameAs(t, m, "", target+".module.o")
			btfliteRun(t, exitOK, "-J", base, compat, "--btf_features=default", m)
			sameAs(t, m, ".BTF", target+".module.btf")
			for range 2 {
				btfliteRun(t, exitOK, "-J", base, compat, "--btf_features=default,distilled_base", m)
				sameAs(t, m, ".BTF", target+".distilled.btf")
				sameAs(t, m, ".BTF.base", target+".distilled.base.btf")
			}
		}
	}
}

// TestEncodeOverChain: what builds upon a module that builds upon a base; the
// golden files are pahole's over one file with the types of both.
func TestEncodeOverChain(t *testing.T) {
	for _, target := range []string{"x86", "s390x"} {
		dir := t.TempDir()
		m, out := filepath.Join(dir, "m.ko"), filepath.Join(dir, "out")
		copyFile(t, target+".upper.o", m)
		chain := []string{"--btf_base=" + splitFiles + target + ".base-btf.o", "--btf_base=" + splitFiles + target + ".module.btf"}
		for _, dedup := range []string{"stream", "exact"} {
			args := append([]string{"--dedup=" + dedup, compat, "--btf_features=default"}, chain...)
			btfliteRun(t, exitOK, append(args, "--btf_encode_detached="+out, m)...)
			sameAs(t, out, "", target+".upper.btf")
			btfliteRun(t, exitOK, append([]string{"modules", "--btf_encode_detached_dir=" + dir}, append(args, m)...)...)
			sameAs(t, m+".btf", "", target+".upper.btf")
		}
		// Merged with itself over the chain, nothing is left twice.
		merged := filepath.Join(dir, "merged")
		for _, in := range [][]string{{out}, {out, out}} {
			btfliteRun(t, exitOK, slices.Concat([]string{"dedup", "-o", merged}, chain, in)...)
			btfliteRun(t, exitOK, slices.Concat([]string{"verify"}, chain, []string{merged})...)
		}
	}
}

func TestEncodeOverBaseErrors(t *testing.T) {
	dir := t.TempDir()
	m := filepath.Join(dir, "m.ko")
	copyFile(t, "x86.module.o", m)
	base := "--btf_base=" + splitFiles + "x86.base.btf"
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--btf_base=" + dir + "/none"}, dir + "/none: cannot open: no such file or directory"},
		{[]string{"--btf_base=" + m}, m + ": no section .BTF"},
		{[]string{"--btf_base=" + splitFiles + "s390x.base.btf"}, "byte order differs from the base's"},
		{[]string{base, base}, "x86.base.btf: btf: it is whole by itself, not split from the base"},
		{[]string{base, "--btf_base=" + splitFiles + "s390x.module.btf"}, "s390x.module.btf: btf: header: byte order differs from the base's"},
		{[]string{base, "--btf_base=" + splitFiles + "x86.upper.btf"}, "x86.upper.btf: btf: types: STRUCT [42] at offset 0: name offset 391 out of range"},
		{[]string{"--btf_features=default,distilled_base"}, "the feature distilled_base needs a base; give --btf_base=BASE"},
		{[]string{base, "--btf_compat=libbpf-1.6"}, "option '--btf_compat': unknown value 'libbpf-1.6'; use libbpf-1.7"},
	} {
		status := exitFailure
		if strings.HasPrefix(tt.want, "option") {
			status = exitUsage
		}
		_, stderr := btfliteRun(t, status, append([]string{"-J", m}, tt.args...)...)
		if !strings.Contains(stderr, tt.want) {
			t.Errorf("%q, want %q", stderr, tt.want)
		}
		sameAs(t, m, "", "x86.module.o")
	}
	own := filepath.Join(dir, "base")
	copyFile(t, "x86.base.btf", own)
	_, stderr := btfliteRun(t, exitFailure, "-J", "--btf_base="+own, "--btf_encode_detached="+own, m)
	if want := "btflite: " + own + ": the output is the input file " + own + "\n"; stderr != want {
		t.Errorf("%q, want %q", stderr, want)
	}
	sameAs(t, own, "", "x86.base.btf")
	// A .BTF.base that no longer belongs to .BTF would mislead its readers.
	btfliteRun(t, exitOK, "-J", base, "--btf_features=default,distilled_base", m)
	for _, args := range [][]string{{"-J", m}, {"-J", base, m}} {
		_, stderr := btfliteRun(t, exitFailure, args...)
		if !strings.HasPrefix(stderr, "btflite: "+m+": section .BTF.base belongs to the .BTF that is to be replaced") {
			t.Errorf("%q", stderr)
		}
	}
}

// TestModulesWithDebugFiles: stripped modules in a folder, their debug files in
// another. The files were made of x86.module.o:
//
//	objcopy --only-keep-debug x86.module.o x86.module.debug
//	objcopy --strip-debug --add-gnu-debuglink=x86.module.debug x86.module.o x86.module.stripped.o
func TestModulesWithDebugFiles(t *testing.T) {
	dir := t.TempDir()
	k, debug := filepath.Join(dir, "k"), filepath.Join(dir, "debug")
	for _, name := range []string{"a/one.ko", "two.ko"} {
		copyFile(t, "x86.module.stripped.o", filepath.Join(k, name))
	}
	args := []string{"modules", "--btf_base=" + splitFiles + "x86.base.btf", compat, "--btf_features=default", "-j2", k}
	_, stderr := btfliteRun(t, exitFailure, args...)
	if strings.Count(stderr, `its separate debug file "x86.module.debug" is not in `) != 2 {
		t.Errorf("without debug files: %q", stderr)
	}
	copyFile(t, "x86.module.debug", filepath.Join(debug, "x86.module.debug"))
	btfliteRun(t, exitOK, append(args, "--debug_dir="+debug)...)
	for _, name := range []string{"a/one.ko", "two.ko"} {
		sameAs(t, filepath.Join(k, name), ".BTF", "x86.module.btf")
	}
}

func TestModulesEqualSingleRuns(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"k/a/one.ko", "k/b/two.ko", "k/three.ko"} {
		copyFile(t, "x86.module.o", filepath.Join(dir, name))
	}
	base := "--btf_base=" + splitFiles + "x86.base-btf.o.xz"
	k := filepath.Join(dir, "k")
	outDir := filepath.Join(dir, "out")
	if err := os.Mkdir(outDir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, jobs := range []string{"-j1", "-j3", "-j"} {
		stdout, stderr := btfliteRun(t, exitOK, "modules", base, compat, jobs, "--btf_features=default,distilled_base", "--btf_encode_detached_dir="+outDir, k)
		for _, name := range []string{"a/one.ko", "b/two.ko", "three.ko"} {
			sameAs(t, filepath.Join(outDir, name+".btf"), "", "x86.module.btf")
		}
		if !strings.Contains(stdout, "modules    3\n") || !strings.Contains(stdout, "BTF        1.4 KiB\n") || stderr != "" {
			t.Errorf("%s: stdout %q, stderr %q", jobs, stdout, stderr)
		}
	}
	btfliteRun(t, exitOK, "modules", base, compat, "-j2", "--btf_features=default,distilled_base", k)
	for _, name := range []string{"a/one.ko", "b/two.ko", "three.ko"} {
		sameAs(t, filepath.Join(k, name), ".BTF", "x86.distilled.btf")
		sameAs(t, filepath.Join(k, name), ".BTF.base", "x86.distilled.base.btf")
	}
}

// TestModulesFailures: a module that fails is named and stops no other.
func TestModulesFailures(t *testing.T) {
	dir := t.TempDir()
	k := filepath.Join(dir, "k")
	copyFile(t, "x86.module.o", filepath.Join(k, "good.ko"))
	copyFile(t, "x86.base-btf.o.xz", filepath.Join(k, "packed.ko.xz"))
	copyFile(t, "base.c", filepath.Join(k, "text.ko"))
	copyFile(t, "s390x.module.o", filepath.Join(k, "swapped.ko"))
	copyFile(t, "x86.module.o", filepath.Join(k, "also.ko"))
	copyFile(t, "x86.base.btf", filepath.Join(dir, "base"))
	args := []string{"modules", "--btf_base=" + dir + "/base", compat, "--btf_features=default", k}
	for _, jobs := range []string{"-j1", "-j4"} {
		stdout, stderr := btfliteRun(t, exitFailure, append(args, jobs)...)
		sameAs(t, filepath.Join(k, "good.ko"), ".BTF", "x86.module.btf")
		sameAs(t, filepath.Join(k, "also.ko"), ".BTF", "x86.module.btf")
		lines := strings.Split(stderr, "\n")
		for i, want := range []string{
			"packed.ko.xz: is compressed by xz; unpack it first",
			"swapped.ko: ELF header: byte order differs from the base's",
			"text.ko: ELF header+0x0: not an ELF file",
			"3 of 5 modules failed",
			"",
		} {
			if i >= len(lines) || !strings.HasSuffix(lines[i], want) {
				t.Fatalf("%s: stderr line %d of %q, want %q", jobs, i, stderr, want)
			}
		}
		if !strings.HasPrefix(stdout, "modules    5, 3 failed\n") {
			t.Errorf("stdout %q", stdout)
		}
	}
	// JSON on stdout stays JSON.
	stdout, _ := btfliteRun(t, exitFailure, append(args, "--stats=json", "--full_sizes")...)
	var r batchReport
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || r.Count != 5 || r.Failed != 3 || r.Full <= r.Bytes {
		t.Errorf("%v: %s", err, stdout)
	}
}

// panicky is a session with a fault.
type panicky struct{ session }

func (p panicky) Encode(path string) (*encode.Output, error) {
	if strings.HasSuffix(path, "bad.ko") {
		panic("no such thing")
	}
	return p.session.Encode(path)
}

// TestModulesPanic: a fault while one module is encoded fails that module.
func TestModulesPanic(t *testing.T) {
	real := newSession
	defer func() { newSession = real }()
	newSession = func(opt encode.Options) session { return panicky{real(opt)} }
	dir := t.TempDir()
	copyFile(t, "x86.module.o", filepath.Join(dir, "good.ko"))
	copyFile(t, "x86.module.o", filepath.Join(dir, "bad.ko"))
	_, stderr := btfliteRun(t, exitInternal, "modules", "-j1", compat, "--btf_features=default", "--btf_base="+splitFiles+"x86.base.btf", dir)
	sameAs(t, filepath.Join(dir, "good.ko"), ".BTF", "x86.module.btf")
	sameAs(t, filepath.Join(dir, "bad.ko"), "", "x86.module.o")
	if !strings.HasPrefix(stderr, "btflite: "+dir+"/bad.ko: internal error: no such thing at cmd/btflite.panicky.Encode") ||
		!strings.HasSuffix(stderr, "btflite: 1 of 2 modules failed\n") {
		t.Errorf("%q", stderr)
	}
}

func TestModulesUsage(t *testing.T) {
	dir := t.TempDir()
	m := filepath.Join(dir, "m.ko")
	copyFile(t, "x86.module.o", m)
	base := "--btf_base=" + splitFiles + "x86.base.btf"
	for _, tt := range []struct {
		status int
		want   string
		args   []string
	}{
		{exitUsage, "no base; give --btf_base=BASE", []string{m}},
		{exitUsage, "no input file", []string{base}},
		{exitUsage, "unrecognized option '--btf_encode_detachd_dir=x'; did you mean --btf_encode_detached_dir?", []string{base, "--btf_encode_detachd_dir=x", m}},
		{exitUsage, "option '--btf_encode_detached_dir': empty file name", []string{base, "--btf_encode_detached_dir=", m}},
		{exitFailure, dir + "/none: cannot open: no such file or directory", []string{base, dir + "/none"}},
		{exitFailure, m + ": cannot write: not a directory", []string{base, "--btf_encode_detached_dir=" + m, m}},
		{exitFailure, m + "/none: cannot write: not a directory", []string{base, "--btf_encode_detached_dir=" + m + "/none", m}},
		{exitUsage, "'-j 4' has a space too many; did you mean -j4?", []string{base, "-j", "4", m}},
	} {
		if _, stderr := btfliteRun(t, tt.status, append([]string{"modules"}, tt.args...)...); !strings.Contains(stderr, tt.want) {
			t.Errorf("%q, want %q", stderr, tt.want)
		}
		sameAs(t, m, "", "x86.module.o")
	}
}

// TestModulesMissing: what cannot be read is named, and all else is encoded.
func TestModulesMissing(t *testing.T) {
	dir := t.TempDir()
	copyFile(t, "x86.module.o", dir+"/k/one.ko")
	copyFile(t, "x86.module.o", dir+"/k/two.ko")
	list := strings.ReplaceAll("D/k/one.ko\nD/none.ko\nD/k\nD/k/two.ko\n", "D", dir)
	if err := os.WriteFile(dir+"/list", []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr := btfliteRun(t, exitFailure, "modules", "--btf_base="+splitFiles+"x86.base.btf", compat, "--btf_features=default", dir+"/list", dir+"/gone.ko")
	sameAs(t, dir+"/k/one.ko", ".BTF", "x86.module.btf")
	sameAs(t, dir+"/k/two.ko", ".BTF", "x86.module.btf")
	want := strings.ReplaceAll(`btflite: D/gone.ko: cannot open: no such file or directory
btflite: D/list: D/k: cannot open: is a directory
btflite: D/list: D/none.ko: cannot open: no such file or directory
btflite: 3 of 5 modules failed
`, "D", dir)
	if stderr != want || !strings.HasPrefix(stdout, "modules    5, 3 failed\n") {
		t.Errorf("stderr %q\nwant %q\nstdout %q", stderr, want, stdout)
	}
}

func TestModulesReport(t *testing.T) {
	results := []moduleResult{
		{Path: "k/b.ko", Output: "k/b.ko", Bytes: 1234, Full: 5678, Types: 9, NS: 5e6},
		{Path: "k/a.ko", Output: "k/a.ko", Bytes: 99000, Full: 990000, Types: 999, NS: 75e6},
		{Path: "k/d.ko", Output: "k/d.ko", Error: "k/d.ko: broken"},
		{Path: "k/c.ko", Output: "k/c.ko", Empty: true},
	}
	r := newBatchReport("vmlinux", results, 1500e6)
	r.PeakRSS = 40 << 20
	golden(t, "modules.txt", r.format(statsText)+"\n")
	short := r.format(statsNone)
	if !strings.HasPrefix(r.format(statsText), short+"\n\n") || r.Failed != 1 || r.Empty != 1 {
		t.Errorf("short form is\n%s", short)
	}
	var back batchReport
	if err := json.Unmarshal([]byte(r.format(statsJSON)), &back); err != nil || back.Bytes != 100234 || len(back.Modules) != 4 || back.Modules[3].Error == "" {
		t.Errorf("JSON: %v, %+v", err, back)
	}
}

func TestBatchProgress(t *testing.T) {
	got := batchProgress(1, 4, 1003, 4230)
	if want := "[##########                              ]  25%  1,003 of 4,230 modules"; got != want {
		t.Errorf("%q", got)
	}
	if len(got) > 79 || regexp.MustCompile(`[^ -~]`).MatchString(got) {
		t.Errorf("%q does not fit", got)
	}
}
