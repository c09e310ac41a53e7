package main

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// withTags returns b with type tags behind some of its pointers, also several, as annotations of the
// source put them there. Pointers to void get none: pahole prints <ERROR for those.
func withTags(b *btf.Blob, r *rand.Rand) []byte {
	out := *b
	out.Words, out.Off = append([]uint32{}, b.Words...), append([]uint32{}, b.Off...)
	name := b.StrEnd()
	out.Strings = append(append([]byte{}, b.Strings...), "user\x00"...)
	for _, off := range b.Off {
		p := btf.Record(out.Words[off:])
		if p.Kind() != btf.KindPtr || p.Third() == 0 {
			continue
		}
		for range r.IntN(3) {
			id := out.FirstID + uint32(len(out.Off))
			out.Off = append(out.Off, uint32(len(out.Words)))
			out.Words = append(out.Words, name, btf.Info(btf.KindTypeTag, 0, false), out.Words[off+2])
			out.Words[off+2] = id
		}
	}
	return out.Encode()
}

// TestTagsAsPahole: types with tags at random are printed as pahole prints them, with pointers
// followed or not.
func TestTagsAsPahole(t *testing.T) {
	program := corpus.Pahole()
	if program == "" {
		t.Skip("no pahole")
	}
	files, err := filepath.Glob("../../encode/testdata/golden/x86-*c*5*.default.btf")
	files = slices.DeleteFunc(files, func(path string) bool { return strings.Contains(path, "++") }) // pahole shows static members as others
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	file, tagged := filepath.Join(t.TempDir(), "tags.btf"), 0
	for i, path := range files {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		data := withTags(btftest.Read(t, path, nil), r)
		if tags := strings.Count(btftest.Text(btftest.Parse(t, data, nil)), "TYPE_TAG"); tags > 0 {
			tagged++
		}
		testfile.Write(t, file, data)
		for _, line := range []string{"", "-E", "-p", "-p -E", "-s", "-E -r", "-p --hex"} {
			args := append(append([]string{"-F", "btf"}, strings.Fields(line)...), file)
			want, err := exec.Command(program, args...).Output()
			if err != nil {
				continue // some types lead to themselves, for which it crashes
			}
			status, got, stderr := asPahole(args...)
			if what := fmt.Sprintf("%s %s", filepath.Base(path), line); status != exitOK {
				t.Errorf("%s: status %d, %s", what, status, stderr)
			} else if got != string(want) {
				a, b := firstDifference(got, string(want))
				t.Errorf("%s: %q, pahole prints %q", what, a, b)
			}
		}
	}
	if tagged < 5 {
		t.Errorf("%d files with tags", tagged)
	}
}

// firstDifference returns the first lines in which two texts differ.
func firstDifference(a, b string) (string, string) {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i], y[i]
		}
	}
	return fmt.Sprint(len(x), " lines"), fmt.Sprint(len(y), " lines")
}
