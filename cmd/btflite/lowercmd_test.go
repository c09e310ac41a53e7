package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/lower"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/test/testfile"
)

// newBTF has a type of each kind that releases before 6.1 lack.
func newBTF(b *btftest.Builder) {
	b.Int("int", 4)
	b.Ptr(b.TypeTag("user", 1))
	b.Enum64("wide", b.Value64("BIG", 1<<40))
	b.Struct("s", 8, b.Member("d", b.Float("double", 8), 0))
	b.DeclTag("tag", 6, btftest.Whole)
	b.Func("f.part", btftest.Global, b.Proto(0))
}

// objectWith is an object of a machine with these sections.
func objectWith(t *testing.T, machine int, sections ...elftest.Section) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "object")
	data := elftest.Image{Layout: elftest.Of(true, false), Type: 1, Machine: machine, Sections: sections}.Bytes()
	testfile.Write(t, path, data)
	return path
}

// TestLower: BTF is lowered from raw files, objects, compressed files and a pipe, in both byte
// orders, into another file or in place.
func TestLower(t *testing.T) {
	const note = ": note: values of ENUM64 are cut to 32 bits: [4] wide (BIG = 0x10000000000)"
	for _, big := range []bool{false, true} {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		b := btftest.New()
		b.BigEndian = big
		newBTF(b)
		data := b.Encode(big)
		testfile.Write(t, in, data)
		_, stderr := btfliteRun(t, exitOK, "lower", "--kernel=5.10", in, out)
		if !strings.Contains(stderr, in+note) || !strings.Contains(stderr, "names that Linux 5.10 refuses: [9] f.part is f_part") {
			t.Error(stderr)
		}
		btfliteRun(t, exitOK, "verify", "--kernel=5.10", out)
		want := testfile.Read(t, out)
		if stdout, stderr := btfliteRun(t, exitOK, "lower", "-q", "--kernel=5.10", in, "-"); stdout != string(want) || stderr != "" {
			t.Errorf("to standard output: %d bytes, %q", len(stdout), stderr)
		}
		if _, stderr := btfliteRun(t, exitOK, "lower", "--kernel=5.10", out, out); stderr != "" || !bytes.Equal(testfile.Read(t, out), want) {
			t.Errorf("lowered twice: %q", stderr)
		}
		btfliteRun(t, exitOK, "lower", "--kernel=5.10", in, in)
		if !bytes.Equal(testfile.Read(t, in), want) {
			t.Error("in place: other bytes")
		}
		object := objectWith(t, 62, elftest.Section{Name: loadbtf.SectionBTF, Data: data})
		btfliteRun(t, exitOK, "lower", "--kernel=5.10", object, out)
		if !bytes.Equal(testfile.Read(t, out), want) {
			t.Error("of an object: other bytes")
		}
		for range 2 {
			btfliteRun(t, exitOK, "lower", "--kernel=5.10", object, object)
			if got := sectionOf(t, object, loadbtf.SectionBTF); !bytes.Equal(got, want) {
				t.Error("in an object: other bytes")
			}
		}
	}
}

// sectionOf is the contents of a section.
func sectionOf(t *testing.T, path, name string) []byte {
	t.Helper()
	var data []byte
	err := btfFiles.With(path, func(raw loadbtf.Raw) error {
		data = bytes.Clone(map[string][]byte{loadbtf.SectionBTF: raw.BTF, loadbtf.SectionBTFBase: raw.Base}[name])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestLowerCompressed: a compressed file is read, but not replaced.
func TestLowerCompressed(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"x86.base.btf", "x86.base-btf.o"} {
		btfliteRun(t, exitOK, "lower", "--kernel=5.12", splitFiles+name, filepath.Join(dir, "want"))
		for _, suffix := range []string{".gz", ".xz", ".zst"} {
			in := filepath.Join(dir, name+suffix)
			copyFile(t, name+suffix, in)
			was := testfile.Read(t, in)
			btfliteRun(t, exitOK, "lower", "--kernel=5.12", in, filepath.Join(dir, "out"))
			if !bytes.Equal(testfile.Read(t, filepath.Join(dir, "out")), testfile.Read(t, filepath.Join(dir, "want"))) {
				t.Errorf("%s: other bytes than of %s", in, name)
			}
			if _, stderr := btfliteRun(t, exitFailure, "lower", "--kernel=5.12", in, in); !strings.Contains(stderr, "its BTF cannot be replaced; write to another file") || !bytes.Equal(testfile.Read(t, in), was) {
				t.Error(stderr)
			}
		}
	}
}

// TestLowerSplit: what was split from the old base is valid over the lowered one, lowered over
// either of them.
func TestLowerSplit(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	base := btftest.Build(t, nil, newBTF)
	over := btftest.Over(base)
	over.Ptr(over.Struct("own", 8, over.Member("m", 2, 0)))
	over.Enum64("more", over.Value64("BIG", 1<<41))
	over.Var("v", 4, 1)
	over.Func("f.part", btftest.Static, 8)
	for name, data := range map[string][]byte{"base": base.Encode(), "split": over.Encode(false)} {
		testfile.Write(t, at(name), data)
	}
	btfliteRun(t, exitOK, "lower", "--kernel=5.12", at("base"), at("low"))
	btfliteRun(t, exitOK, "verify", "--kernel=6.0", "--btf_base="+at("low"), at("split"))
	for _, below := range []string{"base", "low"} {
		btfliteRun(t, exitOK, "lower", "--kernel=5.12", "--btf_base="+at(below), at("split"), at("over-"+below))
		btfliteRun(t, exitOK, "verify", "--kernel=5.12", "--btf_base="+at("low"), at("over-"+below))
	}
	if _, stderr := btfliteRun(t, exitFailure, "lower", "--kernel=5.10", "--btf_base="+at("base"), at("split"), at("none")); !strings.Contains(stderr, "it cannot be lowered to Linux 5.10: split BTF needs Linux 5.11") {
		t.Error(stderr)
	}
	btfliteRun(t, exitFailure, "lower", "--kernel=5.12", "--btf_base="+at("base"), at("split"), at("base"))
	btfliteRun(t, exitFailure, "lower", "--kernel=5.12", at("split"), at("none"))
	if _, err := os.Stat(at("none")); err == nil {
		t.Error("a refused output was written")
	}
}

// TestLowerDistilled: an object with a distilled base keeps both parts, and old kernels have
// no use for it.
func TestLowerDistilled(t *testing.T) {
	below := btftest.Parse(t, testfile.Read(t, splitFiles+"x86.distilled.base.btf"), nil)
	below.Form = btf.WithLayout()
	own := btftest.Parse(t, testfile.Read(t, splitFiles+"x86.distilled.btf"), below)
	own.Form = btf.WithLayout()
	object := objectWith(t, 62, elftest.Section{Name: loadbtf.SectionBTF, Data: own.Encode()}, elftest.Section{Name: loadbtf.SectionBTFBase, Data: below.Encode()})
	for _, whom := range []string{"kernel", "reader"} {
		if _, stderr := btfliteRun(t, exitFailure, "lower", "--for="+whom, "--kernel=6.10", object, object); !strings.Contains(stderr, "a distilled base (.BTF.base) needs Linux 6.11") {
			t.Error(stderr)
		}
	}
	btfliteRun(t, exitOK, "lower", "--kernel=6.11", object, object)
	for _, name := range []string{loadbtf.SectionBTF, loadbtf.SectionBTFBase} {
		want := testfile.Read(t, splitFiles+map[string]string{loadbtf.SectionBTF: "x86.distilled.btf", loadbtf.SectionBTFBase: "x86.distilled.base.btf"}[name])
		if !bytes.Equal(sectionOf(t, object, name), want) {
			t.Errorf("%s: other bytes", name)
		}
	}
	btfliteRun(t, exitOK, "verify", "--kernel=6.11", object)
}

// TestLowerLinkedKernel: BTF that a kernel loads keeps its place, and its strings stay as long
// as they are, because BTF of modules begins behind them.
func TestLowerLinkedKernel(t *testing.T) {
	b := btftest.Build(t, nil, newBTF)
	b.Form = btf.WithLayout()
	data := b.Encode()
	path := filepath.Join(t.TempDir(), "vmlinux")
	image := elftest.Image{Layout: elftest.Of(true, false), Linked: true, Sections: []elftest.Section{{Name: loadbtf.SectionBTF, Data: data, Flags: 2}}}
	if err := os.WriteFile(path, image.Bytes(), 0o755); err != nil {
		t.Fatal(err)
	}
	btfliteRun(t, exitOK, "lower", "--kernel=5.10", path, path)
	got := sectionOf(t, path, loadbtf.SectionBTF)
	low := btftest.Parse(t, got, nil)
	if len(got) != len(data) || len(low.Strings) != len(b.Strings) || low.Form.HeaderLen <= 24 || len(low.Form.Layout) > 0 {
		t.Errorf("%d bytes of %d, %d of strings of %d, %+v", len(got), len(data), len(low.Strings), len(b.Strings), low.Form)
	}
	btfliteRun(t, exitOK, "verify", "--kernel=5.10", path)
	was := testfile.Read(t, path)
	btfliteRun(t, exitOK, "lower", "--kernel=5.10", path, path)
	if !bytes.Equal(testfile.Read(t, path), was) {
		t.Error("lowered twice: other bytes")
	}
}

// TestLowerBPF: BTF of a BPF object is judged as libbpf loads it.
func TestLowerBPF(t *testing.T) {
	const machineBPF = 247
	b := btftest.New()
	b.Int("int", 4)
	b.Datasec(".maps", 0, btftest.Place(b.Var("m", 1, 2), 0, 4)) // extern, and no size yet
	b.Float("double", 8)
	object := objectWith(t, machineBPF, elftest.Section{Name: loadbtf.SectionBTF, Data: b.Encode(false)})
	btfliteRun(t, exitOK, "lower", "--kernel=5.10", object, object)
	if stdout, _ := btfliteRun(t, exitOK, "dump", object); !strings.Contains(stdout, "[4] INT 'double' size=8") {
		t.Error(stdout)
	}
}

// TestLowerRefuses: what cannot be lowered, and what no kernel takes, is named.
func TestLowerRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		add    func(b *btftest.Builder)
		args   string
		status int
		want   string
	}{
		{func(b *btftest.Builder) { b.Fwd("a b") }, "--kernel=5.10", exitFailure, `nothing written: a kernel would refuse the input's BTF type [2] FWD "a b": name is not a C identifier; --verify=warn writes it all the same`},
		{func(b *btftest.Builder) { b.Fwd("a b") }, "--kernel=5.10 --for=reader", exitFailure, `nothing written: a kernel would refuse the input's BTF type [2] FWD "a b"`},
		{func(b *btftest.Builder) { b.Fwd("a.b") }, "--kernel=5.10 --for=reader", exitOK, ""},
		{func(b *btftest.Builder) { b.Fwd("a b") }, "--kernel=5.10 --verify=warn", exitOK, `warning: a kernel refuses the BTF type [2] FWD "a b"`},
		{func(b *btftest.Builder) {
			b.Typedef(".data", 1)
			b.Datasec(".data", 4, btftest.Place(b.Var("v", 1, 0), 0, 4))
		}, "--kernel=6.1", exitFailure, "it cannot be lowered to Linux 6.1: btf: types: DATASEC [4] shares its name with another type"},
		{func(b *btftest.Builder) {
			values := make([]btftest.Part, 1<<16)
			for i := range values {
				values[i] = b.Value("A", 1)
			}
			b.Enum("e", values...)
		}, "--kernel=7.1 --for=reader", exitFailure, `it cannot be lowered to Linux 7.1: BTF type [2] ENUM "e": more than 65,535 elements needs Linux 7.2`},
		{newBTF, "", exitUsage, "no release; give --kernel=RELEASE"},
		{newBTF, "--kernel=3.10", exitUsage, "'3.10' is not a release that is known; known are 5.2 to 7.2"},
		{newBTF, "--kernel=5.10 --enum64=union", exitUsage, "--enum64=union is for --for=reader"},
		{newBTF, "--kernel=5.10 --for=reader --enum64=union", exitOK, "note: ENUM64 with values over 32 bits are unions without values: [5] wide (BIG = 0x10000000000)"},
	} {
		b := btftest.New()
		b.Int("int", 4)
		c.add(b)
		in, out := filepath.Join(dir, "in"), filepath.Join(t.TempDir(), "out")
		testfile.Write(t, in, b.Encode(false))
		_, stderr := btfliteRun(t, c.status, append(append([]string{"lower"}, strings.Fields(c.args)...), in, out)...)
		if !strings.Contains(stderr, c.want) || c.want == "" && stderr != "" {
			t.Errorf("%s: %s\nwant %s", c.args, stderr, c.want)
		}
		if _, err := os.Stat(out); (err == nil) != (c.status == exitOK) {
			t.Errorf("%s: %v", c.args, err)
		}
	}
}

// TestTargetKernel: --target_kernel gives the bytes of lower, and refuses what does not go
// together.
func TestTargetKernel(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	run := func(args ...string) { t.Helper(); btfliteRun(t, exitOK, args...) }
	base := splitFiles + "x86.base.btf"
	for _, sorted := range []string{"--dedup=auto", "--btf_sort"} {
		run("-J", sorted, "--btf_features=all", "--btf_encode_detached="+at("all"), splitFiles+"x86.base.o")
		run("lower", "-q", "--kernel=5.10", at("all"), at("want"))
		run("-J", "-q", sorted, "--btf_features=all", "--target_kernel=5.10", "--btf_encode_detached="+at("got"), splitFiles+"x86.base.o")
		if !bytes.Equal(testfile.Read(t, at("got")), testfile.Read(t, at("want"))) || bytes.Equal(testfile.Read(t, at("got")), testfile.Read(t, at("all"))) {
			t.Errorf("%s: other bytes than those of lower", sorted)
		}
		run("-J", sorted, "--btf_features=default", "--btf_base="+base, "--btf_encode_detached="+at("split"), splitFiles+"x86.module.o")
		run("lower", "-q", "--kernel=5.12", "--btf_base="+base, at("split"), at("want"))
		copyFile(t, "x86.module.o", at("m.ko"))
		run("modules", sorted, "--btf_features=default", "--target_kernel=5.12", "--btf_base="+base, "--extra_vars", at("m.ko"))
		if !bytes.Equal(sectionOf(t, at("m.ko"), loadbtf.SectionBTF), testfile.Read(t, at("want"))) {
			t.Errorf("%s: modules: other bytes than those of lower", sorted)
		}
		run("verify", "--kernel=5.12", "--btf_base="+base, at("m.ko"))
	}
	copyFile(t, "x86.module.o", at("d.ko"))
	run("-J", "--btf_features=default,distilled_base", "--btf_base="+base, "--target_kernel=6.11", at("d.ko"))
	run("verify", "--kernel=6.11", at("d.ko"))
	for args, want := range map[string]string{
		"--btf_base=" + base + " --target_kernel=5.10":                                       "a base with --target_kernel: Linux takes split BTF from 5.11 on",
		"--btf_base=" + base + " --target_kernel=6.10 --btf_features=default,distilled_base": "the feature distilled_base with --target_kernel: Linux takes a distilled base from 6.11 on",
		"--inline=x --target_kernel=7.2":                                                     "--inline with --target_kernel: no release of Linux takes sites of inlined functions",
		"--target_kernel=2.6":                                                                "option '--target_kernel': '2.6' is not a release that is known",
	} {
		if _, stderr := btfliteRun(t, exitUsage, append(append([]string{"-J"}, strings.Fields(args)...), at("d.ko"))...); !strings.Contains(stderr, want) {
			t.Errorf("%s: %s", args, stderr)
		}
	}
}

// TestLowerRawInPlace: raw BTF is replaced as a section of an ELF file is: not if the file has
// other names, or has changed since it was read.
func TestLowerRawInPlace(t *testing.T) {
	old := testfile.Read(t, smallFile+".btf")
	for _, x := range []struct {
		name string
		do   func(file, second string) error
		want string
	}{
		{"hard link", os.Link, "2 hard links"},
		{"other time", func(file, _ string) error { return os.Chtimes(file, time.Time{}, time.Unix(1, 0)) }, "run again when no other program writes the file"},
		{"other file", func(file, second string) error {
			testfile.Write(t, second, old)
			return os.Rename(second, file)
		}, "run again when no other program writes the file"},
		{"nothing", func(string, string) error { return nil }, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := t.TempDir()
			file, second := filepath.Join(dir, "raw"), filepath.Join(dir, "second")
			testfile.Write(t, file, old)
			read, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := x.do(file, second); err != nil {
				t.Fatal(err)
			}
			if x.name == "hard link" { // made before it is read
				read, _ = os.Stat(file)
			}
			c, _, errs := testCLI(t)
			c.guard = newGuard()
			defer c.guard.stop()
			b, err := btfFiles.Load(file, nil)
			if err != nil {
				t.Fatal(err)
			}
			l := lowerCommand{opt: lower.Options{Kernel: verify.Release{Major: 5, Minor: 4}}}
			err = l.write(c, &lowered{path: file, raw: new(loadbtf.Raw), Blob: b, to: targetOf(t, c, file), same: true, read: read})
			if x.want == "" {
				if err != nil || bytes.Equal(testfile.Read(t, file), old) {
					t.Errorf("%v: %s", err, errs)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), x.want) || !bytes.Equal(testfile.Read(t, file), old) {
				t.Errorf("%v, want %q", err, x.want)
			}
		})
	}
}
