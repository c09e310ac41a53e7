package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// TestMinOfManyKernels: an archive may have thousands of kernels, most of which lack what a program asks for. min
// names the first of them and counts the others. Its report has all.
func TestMinOfManyKernels(t *testing.T) {
	const kernels = 25
	dir := t.TempDir()
	for i := range kernels {
		testfile.Write(t, filepath.Join(dir, fmt.Sprintf("in/%02d.btf", i)), testfile.Read(t, splitFiles+"x86.base.btf"))
	}
	words := []string{"min", "--btf=" + filepath.Join(dir, "in"), "-o", filepath.Join(dir, "out"), "../../testdata/min/thing.bpf.o"}
	report := filepath.Join(dir, "report.json")
	for _, c := range []struct{ option, first, last string }{
		{"", "00.btf: note: 3 of 16 relocations find nothing; --report=FILE lists them\n", "btflite: note: relocations find nothing in 15 kernels more; --report=FILE lists them\n"},
		{"--report=" + report, "00.btf: note: 3 of 16 relocations find nothing\n", "btflite: note: relocations find nothing in 15 kernels more\n"},
	} {
		all := words
		if c.option != "" {
			all = append(words[:len(words):len(words)], c.option)
		}
		_, stderr := runs(t, exitOK, all...)
		if strings.Count(stderr, "\n") != toldLacking+1 || !strings.Contains(stderr, c.first) || !strings.HasSuffix(stderr, c.last) {
			t.Errorf("%q", stderr)
		}
	}
	if n := strings.Count(string(testfile.Read(t, report)), `"outputs":`); n != kernels {
		t.Errorf("%d kernels in the report, want %d", n, kernels)
	}
}

// TestMinKeepsTheFoldersOfAnArchive: what is made of the kernels of a folder has their paths in that folder, whatever
// else is there. If they followed from the kernels, a second distribution in an archive would move all of them.
func TestMinKeepsTheFoldersOfAnArchive(t *testing.T) {
	dir := archiveOf(t, "raw")
	kernel := func(i int) string { return fmt.Sprintf("debian/12/x86_64/6.%d.0.btf", i) }
	for _, c := range []struct {
		kernels []string // below dir, or the base
		want    string   // one of the files
	}{
		{[]string{"."}, kernel(1)}, {[]string{"debian"}, kernel(1)[len("debian/"):]}, {[]string{"debian/12/x86_64/"}, "6.1.0.btf"},
		{[]string{kernel(0), kernel(1)}, "6.1.0.btf"}, {[]string{"debian", "debian/12/x86_64"}, ""},
		{[]string{"debian/12/x86_64/6.0.0", "debian/12/x86_64/6.1.0"}, "6.1.0/a.btf"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		words := []string{"min", "-q", "-o", out}
		for _, k := range c.kernels {
			words = append(words, "--btf="+dir+"/"+k)
		}
		status := exitOK
		if c.want == "" {
			status = exitFailure // each is given twice
		}
		runs(t, status, append(words, "../../testdata/min/thing.bpf.o")...)
		if _, err := os.Stat(filepath.Join(out, c.want)); (err == nil) != (c.want != "") {
			t.Errorf("%q: %v", c.kernels, err)
		}
	}
}

// TestPreparedOutputsNeedNoMemory: what is on the disk is not kept in memory too, until all outputs are in place.
func TestPreparedOutputsNeedNoMemory(t *testing.T) {
	c, _, _ := testCLI(t)
	dir := t.TempDir()
	const outputs, size = 64, 1 << 20
	var outs []output
	for i := range outputs {
		to, err := c.resolveTarget(filepath.Join(dir, fmt.Sprint(i)), nil)
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, size)
		outs = append(outs, output{to: to, content: func(w io.Writer) error { _, err := w.Write(data); return err }})
		if err := prepareAll(c.guard, outs[i:], false); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > outputs*size/2 {
		t.Errorf("%d MiB are in use for %d MiB on the disk", m.HeapAlloc>>20, outputs*size>>20)
	}
	if err := writeTogether(c.guard, outs, nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "63")); err != nil || info.Size() != size {
		t.Errorf("%v, %v", info, err)
	}
}
