package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/test/testfile"
)

// variables lists the VARs of raw BTF over the chain of bases.
func variables(t *testing.T, path string, bases ...string) (names []string) {
	t.Helper()
	b, err := btfFiles.Chain(append(bases, path))
	if err != nil {
		t.Fatal(err)
	}
	for id := b.FirstID; id < b.TypeCount(); id++ {
		if b.Kind(id) == btf.KindVar {
			names = append(names, b.Name(b.Record(id)[0]))
		}
	}
	return names
}

// TestExtraVarsCommand: the option does not change the main output, in place and
// detached, and the commands for BTF can read the other file.
func TestExtraVarsCommand(t *testing.T) {
	dir := t.TempDir()
	in, main, extra, object := filepath.Join(dir, "in.o"), filepath.Join(dir, "main"), filepath.Join(dir, "extra"), filepath.Join(dir, "extra.o")
	for _, target := range []string{"x86", "s390x"} {
		copyFile(t, target+".base.o", in)
		run := func(args ...string) string {
			t.Helper()
			_, stderr := btfliteRun(t, exitOK, append([]string{"-J", "--btf_features=default"}, args...)...)
			return stderr
		}
		run("--btf_encode_detached="+main, "--extra_vars="+extra, in)
		sameAs(t, main, "", target+".base.btf")
		if got := variables(t, extra, main); !slices.Equal(got, []string{"anon_enum"}) {
			t.Errorf("%s: variables %q", target, got)
		}
		run("--extra_vars="+object, in)
		sameAs(t, in, ".BTF", target+".base.btf")
		raw := testfile.Read(t, extra)
		if !bytes.Equal(elftest.Contents(t, object, ".BTF"), raw) {
			t.Errorf("%s: the object has other BTF", target)
		}
		got, err := elf.Open(object)
		if err != nil {
			t.Fatal(err)
		}
		want, err := elf.Open(in)
		if err != nil {
			t.Fatal(err)
		}
		if got.Machine != want.Machine || got.Data != want.Data || got.Type != elf.ET_REL {
			t.Errorf("%+v", got.FileHeader)
		}
		got.Close()
		want.Close()
		for _, f := range []string{extra, object} {
			btfliteRun(t, exitOK, "verify", "--btf_base="+main, f)
			btfliteRun(t, exitOK, "verify", "--btf_base="+in, f)
		}
		// Sorted, they are still the same.
		var plain []string
		for _, order := range []string{"", "name", "canonical"} {
			chain := []string{main + order, extra + order}
			if order != "" {
				run("--btf_sort="+order, "--btf_encode_detached="+chain[0], "--extra_vars="+chain[1], in)
				btfliteRun(t, exitOK, "verify", "--btf_base="+chain[0], chain[1])
			}
			b, err := btfFiles.Chain(chain)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for id := b.FirstID; id < b.TypeCount(); id++ {
				r := b.Record(id)
				switch b.Kind(id) {
				case btf.KindVar:
					to := b.Record(r[2])
					lines = append(lines, fmt.Sprint(b.Name(r[0]), btf.InfoKind(to[1]), b.Name(to[0]), to[2]))
				case btf.KindDatasec:
					lines = append(lines, fmt.Sprint(b.Name(r[0]), r[2], b.Name(b.Record(r[3])[0])))
				}
			}
			slices.Sort(lines)
			if order == "" {
				plain = lines
			} else if !slices.Equal(lines, plain) {
				t.Errorf("%s, %s: %q, want %q", target, order, lines, plain)
			}
		}
		// The object knows its base.
		other := filepath.Join(dir, "other")
		btfliteRun(t, exitOK, "sort", main, other)
		stdout, _ := btfliteRun(t, exitFailure, "verify", "--btf_base="+other, object)
		if !strings.Contains(stdout, "section .note.btflite.base: the checksum of the BTF that it was split from is not the base's") {
			t.Errorf("%q", stdout)
		}
		// Without variables there is nothing to write.
		os.Remove(extra)
		os.Remove(other)
		if stderr := run("-Xbase", "--btf_base="+main, "--btf_encode_detached="+other, "--extra_vars="+extra, in); !strings.Contains(stderr, "nothing written") {
			t.Errorf("%q", stderr)
		}
		if _, err := os.Stat(extra); err == nil {
			t.Error("a file without extra variables was written")
		}
	}
}

func TestExtraVarsRefused(t *testing.T) {
	dir := t.TempDir()
	in, out, old := filepath.Join(dir, "in.o"), filepath.Join(dir, "out"), filepath.Join(dir, "old")
	copyFile(t, "x86.base.o", in)
	copyFile(t, "x86.base.btf", old)
	detached := "--btf_encode_detached=" + out
	for _, c := range []struct {
		status int
		args   []string
		want   string
	}{
		{exitUsage, []string{detached, "--extra_vars="}, "empty file name"},
		{exitUsage, []string{detached, "--extra_vars=x", "--btf_features=default,global_var"}, "--extra_vars with the feature global_var: all variables are in the main BTF already"},
		{exitUsage, []string{"--extra_vars=x", "--btf_base=" + old, "--btf_features=default,distilled_base"}, "other ids in each kernel"},
		{exitFailure, []string{detached, "--extra_vars=" + out}, "the extra variables would replace the output"},
		{exitFailure, []string{detached, "--extra_vars=" + in}, "the output is the input file"},
		{exitFailure, []string{detached, "--extra_vars=" + dir + "/none/x"}, "cannot write"},
		{exitFailure, []string{detached, "--report=" + dir + "/r", "--extra_vars=" + dir + "/r"}, "the report would replace the output"},
		{exitFailure, []string{"--btf_encode_detached=-", "--report=-"}, "standard output: the report would replace the output"},
		{exitFailure, []string{"--btf_encode_detached=-", "--extra_vars=-"}, "standard output: the extra variables would replace the output"},
		{exitFailure, []string{detached, "--extra_vars=" + old, "--lang=rust"}, "of an earlier run is still there"},
	} {
		_, stderr := btfliteRun(t, c.status, append([]string{"-J", in}, c.args...)...)
		if !strings.Contains(stderr, c.want) {
			t.Errorf("%q: %q, want %q", c.args, stderr, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%q: the output was written", c.args)
		}
		sameAs(t, in, "", "x86.base.o")
		sameAs(t, old, "", "x86.base.btf")
	}
}

// TestExtraVarsOfModules: a file for each module, in place and detached.
func TestExtraVarsOfModules(t *testing.T) {
	dir := t.TempDir()
	base := splitFiles + "x86.base.btf"
	for _, c := range []struct {
		option, suffix string
	}{{"--extra_vars", ".vars.btf"}, {"--extra_vars=-extra.o", "-extra.o"}} {
		in := filepath.Join(dir, "in"+c.suffix)
		out := filepath.Join(dir, "out"+c.suffix)
		for _, d := range []string{in, out} {
			if err := os.Mkdir(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		copyFile(t, "x86.module.o", filepath.Join(in, "m.ko"))
		copyFile(t, "x86.base.o", filepath.Join(in, "b.ko"))
		args := []string{"modules", "-j2", compat, "--btf_features=encode_force,decl_tag,type_tag,float,enum64", "--btf_base=" + base, c.option}
		btfliteRun(t, exitOK, append(args, "--btf_encode_detached_dir="+out, in)...)
		btfliteRun(t, exitOK, append(args, in)...)
		for _, folder := range []string{in, out} {
			main := filepath.Join(folder, "m.ko")
			if folder == out {
				main += ".btf"
			}
			if got := variables(t, filepath.Join(folder, "m.ko"+c.suffix), base, main); !slices.Equal(got, []string{"mine"}) {
				t.Errorf("%s: variables %q", folder, got)
			}
			btfliteRun(t, exitOK, "verify", "--btf_base="+base, "--btf_base="+main, filepath.Join(folder, "m.ko"+c.suffix))
		}
	}
	_, stderr := btfliteRun(t, exitFailure, "modules", "--btf_base="+base, "--extra_vars=.btf", "--btf_encode_detached_dir="+dir, filepath.Join(dir, "in-extra.o"))
	if !strings.Contains(stderr, "would be written there") {
		t.Errorf("%q", stderr)
	}
	btfliteRun(t, exitUsage, "modules", "--btf_base="+base, "--extra_vars=a/b", dir)
}
