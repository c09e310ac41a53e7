package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/corpus"
)

// TestFullcircle: nothing is lost from the DWARF of the test objects to C and back.
func TestFullcircle(t *testing.T) {
	corpus.Installed(t, "gcc")
	files := []string{smallFile}
	for _, pattern := range []string{"../../testdata/*/*.o", "../../encode/testdata/*/*.o"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	n := 0
	for _, file := range files {
		c, stdout, stderr := testCLI(t)
		switch status := c.run([]string{"fullcircle", file}); {
		case status == exitOK:
			n++
		case strings.Contains(stderr.String(), "name a compiler by --cc"), strings.Contains(stderr.String(), "no DWARF"):
			t.Logf("left out: %s", stderr)
		default:
			t.Errorf("%s: status %d\n%s%s", file, status, stdout, stderr)
		}
	}
	if n < 5 {
		t.Errorf("%d files of %d came around", n, len(files))
	}
}

// TestFullcircleFindsLosses: a difference that another compiler makes is reported, and a
// failure is an error.
func TestFullcircleFindsLosses(t *testing.T) {
	corpus.Installed(t, "gcc")
	out, _ := btfliteRun(t, exitFailure, "fullcircle", "--cc=gcc -Dlow=lower", smallFile)
	if !strings.Contains(out, "~ struct node") || !strings.Contains(out, "lower") {
		t.Error(out)
	}
	kept := filepath.Join(t.TempDir(), "types.c")
	btfliteRun(t, exitOK, "fullcircle", "-q", "--keep="+kept, smallFile)
	if text, err := os.ReadFile(kept); err != nil || !strings.Contains(string(text), "\ns64 walk(struct node **nodes, int n,") {
		t.Errorf("%v: %.2000s", err, text)
	}
	for args, want := range map[string]string{
		"--cc=false " + smallFile:                     "false -std=gnu17 -fsigned-char: exit status 1\n",
		"--cc=true " + smallFile:                      smallFile + ": true -std=gnu17 -fsigned-char: has written no object\n",
		"--cc=no-such-compiler " + smallFile:          "no-such-compiler -std=gnu17 -fsigned-char: ",
		"--keep=" + smallFile + " " + smallFile:       "the output is the input file",
		smallFile + ".btf":                            "already BTF",
		splitDir + "x86.base-btf.o":                   "no DWARF",
		"--cc=gcc --cc=gcc none.o":                    "none.o: cannot open",
		smallFile + " " + smallFile:                   "takes one file",
		"--cc=gcc\u00a0-Dstruct=union " + smallFile:   "",
		"--cc=gcc -include=/no/such/file " + splitDir: "",
	} {
		c, stdout, stderr := testCLI(t)
		status := c.run(append([]string{"fullcircle"}, strings.Fields(args)...))
		if status != exitTrouble && status != exitUsage || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("%s: status %d, %s%s", args, status, stdout, stderr)
		}
	}
}
