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
	"time"

	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/job"
	"github.com/btflite/btflite/test/testfile"
)

// copyFile copies a file of testdata/split to path.
func copyFile(t *testing.T, name, path string) {
	t.Helper()
	testfile.Write(t, path, testfile.Read(t, splitFiles+name))
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

// TestEncodeOverChain: BTF over a module that is split from a base. The golden files are
// pahole's over one file with the types of both.
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

// panicky is a session with a fault.
type panicky struct{ session }

func (p panicky) Encode(path string) (*finish.Encoded, error) {
	if strings.HasSuffix(path, "bad.ko") {
		panic("no such thing")
	}
	return p.session.Encode(path)
}

// TestModulesPanic: a fault while one module is encoded fails that module.
func TestModulesPanic(t *testing.T) {
	real := newSession
	defer func() { newSession = real }()
	newSession = func(o *job.Options) session { return panicky{real(o)} }
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
	name := "nf_conntrack_netlink.ko"
	for columns, want := range map[int]string{
		200: "[#####               ]  25%  1,003 of 4,230 modules, 30 s left: nf_conntrack_netlink.ko",
		80:  "[##        ]  25%  1,003 of 4,230 modules, 30 s left: nf_conntrack_netlink.ko",
		68:  " 25%  1,003 of 4,230 modules, 30 s left: nf_conntrack_netlink.ko",
		60:  " 25%  1,003 of 4,230 modules, 30 s left",
		30:  " 25%  1,003 of 4,230 modules",
		20:  " 25%  1003 of 4230",
		10:  " 25%",
		4:   "",
	} {
		got := fitting(batchProgress(1, 4, 1003, 4230, leftText(1, 4, 10*time.Second), &name), columns)
		if got != want || len(got) >= columns || regexp.MustCompile(`[^ -~]`).MatchString(got) {
			t.Errorf("%d columns: %q", columns, got)
		}
	}
	if got := fitting(batchProgress(0, 4, 0, 4230, leftText(0, 4, time.Second), nil), 80); got != "[                    ]   0%  0 of 4,230 modules" {
		t.Errorf("at the beginning: %q", got)
	}
}

func TestLeftText(t *testing.T) {
	for so, want := range map[time.Duration]string{
		time.Second: ", 1 s left", time.Minute: ", 60 s left", 10 * time.Minute: ", 10 min left", 5 * time.Hour: ", 5 h left",
	} {
		if got := leftText(50, 100, so); got != want {
			t.Errorf("%v: %q", so, got)
		}
	}
	for done, want := range map[uint64]string{99: ", 1 s left", 100: ", finishing"} {
		if got := leftText(done, 100, time.Second); got != want {
			t.Errorf("%d of 100: %q, want %q", done, got, want)
		}
	}
	if got := leftText(1, 100, time.Second); got != "" {
		t.Errorf("too early: %q", got)
	}
}
