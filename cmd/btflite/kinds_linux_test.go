package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// kindsFiles are files with a type of each kind (btftest.EveryKind, which a test holds to
// that), alone, over a base, and as a base, in both byte orders.
func kindsFiles(t *testing.T) (files []*damaged) {
	for _, big := range []bool{false, true} {
		seeds := newReaderSeeds(t, big)
		whole := btftest.New()
		whole.BigEndian = big
		btftest.EveryKind(whole)
		small := btftest.New()
		small.BigEndian = big
		small.Int("long", 8)
		over := btftest.Over(small.Blob(t))
		btftest.EveryKind(over)
		above := btftest.Over(whole.Blob(t))
		above.Ptr(above.Struct("above", 8, above.Member("l", 3, 0)))
		for _, f := range []*damaged{
			{name: "alone", data: whole.Encode(big)},
			{name: "over a base", data: over.Encode(big), base: small.Encode(big)},
			{name: "as the base", data: above.Encode(big), base: whole.Encode(big)},
		} {
			f.name = fmt.Sprintf("%s, big endian %v", f.name, big)
			f.file, f.good, f.elf, f.prog = "m.btf", f.data, seeds.elf, seeds.prog
			files = append(files, f)
		}
	}
	return files
}

// failOnKinds begin the command lines that want something else than raw BTF, or names that
// the files do not have.
var failOnKinds = regexp.MustCompile(`^(dump --for|doctor|funcs --addr|funcs --sizes|why|fullcircle|show .* --range|-J --btf_encode_detached=OUT FILE|diff --btf_base_b|verify --kernel=5.15|verify --btf_base=FILE|flatten -o OUT GOOD FILE|min --btf=GOOD)`)

// TestEveryKindByEveryCommand: each command line that reads BTF accepts each kind, old
// and new, and its output has them all.
func TestEveryKindByEveryCommand(t *testing.T) {
	dir := t.TempDir()
	for _, d := range kindsFiles(t) {
		d.put(t, dir)
		for i := range readerLines {
			line := &readerLines[i]
			out, errs := &readText{colour: strings.Contains(line.words, "--color=always")}, new(bytes.Buffer)
			words := d.words(dir, line)
			status := newCLI(out, errs, func(string) (string, bool) { return "", false }).run(words)
			bad, why := d.judge(dir, line, status, out, errs.String())
			if bad == "" && status != exitOK && !failOnKinds.MatchString(line.words) {
				bad, why = "REFUSED", fmt.Sprintf("status %d: %s", status, errs)
			}
			if bad != "" {
				t.Errorf("%s: %s: %s: %s", d.name, line.words, bad, why)
			}
			if line.writes == sameBase && status == exitOK && !strings.HasPrefix(line.words, "lower") { // which replaces kinds
				d.sameKinds(t, line, filepath.Join(dir, "out"))
			}
		}
	}
}

// sameKinds compares how many types of each kind there are before and after.
func (d *damaged) sameKinds(t *testing.T, line *readerLine, out string) {
	t.Helper()
	before, err := btf.Count(d.data)
	if err != nil {
		t.Fatal(err)
	}
	got, err := btf.Count(testfile.Read(t, out))
	if err != nil {
		t.Fatal(err)
	}
	for k := range btf.Kind(btf.NumKinds) {
		files := strings.Count(line.words, "FILE") + strings.Count(line.words, "GOOD")
		want := before.Kinds[k]
		switch k { // never merged
		case btf.KindVar, btf.KindDatasec, btf.KindLocsec:
			want *= files
		}
		if got.Kinds[k] != want {
			t.Errorf("%s: %s: %d of kind %v, want %d", d.name, line.words, got.Kinds[k], k, want)
		}
	}
}

// TestEveryKindIsPrinted: all printers of kinds know the name of each.
func TestEveryKindIsPrinted(t *testing.T) {
	dir := t.TempDir()
	for _, d := range kindsFiles(t) {
		if d.base != nil {
			continue
		}
		d.put(t, dir)
		file := filepath.Join(dir, d.file)
		for _, args := range []string{"dump", "dump -j", "dump --json-lines", "stats --json"} {
			text, _ := btfliteRun(t, exitOK, append(strings.Fields(args), file)...)
			for k := btf.KindVoid + 1; int(k) < btf.NumKinds; k++ {
				if !strings.Contains(text, k.String()) {
					t.Errorf("%s: %s: no %v", d.name, args, k)
				}
			}
		}
	}
}
