package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// TestShowWords: which words are names and which is the file.
func TestShowWords(t *testing.T) {
	file := shownFiles + "plain.btf"
	t.Setenv(kernelBTFEnv, file)
	for line, want := range map[string]string{
		"show -s s1 " + file:                  "s1\t8\t1\n\n",
		"show -s s1":                          "s1\t8\t1\n\n",
		"show -s s1,s2":                       "s1\t8\t1\n\ns2\t32\t2\n\n",
		"show -s s[12] " + file:               "s1\t8\t1\n\ns2\t32\t2\n\n",
		"show -s s1_t " + file:                "s1_t\t8\t1\n\n",
		"show -s --unions " + file:            "u1\t12\t0\n",
		"-C s1 -s " + file:                    "s1\t8\t1\n\n",
		"-s --unions " + file:                 "u1\t12\t0\n",
		"show --skip_missing -s x s1 " + file: "s1\t8\t1\n\n",
	} {
		var out, errs bytes.Buffer
		c := newCLI(&out, &errs, os.LookupEnv)
		if status := c.run(strings.Fields(line)); status != exitOK {
			t.Errorf("%s: status %d, %s", line, status, &errs)
		}
		if out.String() != want {
			t.Errorf("%s: %q, want %q", line, &out, want)
		}
	}
}

// TestShowNamesNoFile: the last of several words that is neither a file nor a type ends the
// run before the kernel's types are printed.
func TestShowNamesNoFile(t *testing.T) {
	file := shownFiles + "plain.btf"
	t.Setenv(kernelBTFEnv, file)
	for line, want := range map[string]string{
		"show s1 vmlinux-6.1":    "vmlinux-6.1: no such file, and " + file + ": no type vmlinux-6.1",
		"show -C s1 nosuch":      "nosuch: no such file, and " + file + ": no type nosuch",
		"show -s s1 s22":         "s22: no such file, and " + file + ": no type s22; did you mean s2?",
		"show --format=svg s1 x": "x: no such file, and " + file + ": no type x",
		"show nosuch":            file + ": no type nosuch",
	} {
		var out, errs bytes.Buffer
		c := newCLI(&out, &errs, os.LookupEnv)
		if status := c.run(strings.Fields(line)); status != exitFailure || out.Len() > 0 || errs.String() != "btflite: "+want+"\n" {
			t.Errorf("%s: status %d, %q, %q, want %q", line, status, &out, &errs, want)
		}
	}
}

// TestShowNamesInFiles: a list may have files of names.
func TestShowNamesInFiles(t *testing.T) {
	file, list := shownFiles+"plain.btf", filepath.Join(t.TempDir(), "names")
	testfile.Write(t, list, "s1\n\ns2 \r\nen")
	for _, option := range []string{"-C", "-i"} {
		want, _ := btfliteRun(t, exitOK, "show", "-q", option, "u1,s1,s2,en,e0", file)
		if got, _ := btfliteRun(t, exitOK, "show", "-q", option, "u1,file://"+list+",e0", file); got != want || got == "" {
			t.Errorf("%s: %q, want %q", option, got, want)
		}
		if _, errs := btfliteRun(t, exitFailure, "show", option, "file://"+list+".not", file); !strings.Contains(errs, "no such file") {
			t.Errorf("%s: %q", option, errs)
		}
	}
}

// TestShowOtherThanTypes: a name of something else than a type, and how to print it.
func TestShowOtherThanTypes(t *testing.T) {
	b := btftest.Build(t, nil, func(b *btftest.Builder) {
		b.Int("int", 4)
		b.Add("run", btf.Info(btf.KindFunc, 0, false), b.Add("", btf.Info(btf.KindFuncProto, 0, false), 0))
		b.Add("here", btf.Info(btf.KindVar, 0, false), 1, 1)
		b.Add("colour", btf.Info(btf.KindEnum, 1, false), 4, b.Str("RED"), 1)
	})
	file := testfile.New(t, "x.btf", b.Encode())
	for name, want := range map[string]string{
		"run":  "a function: btflite funcs --function=run prints it",
		"here": "a variable: btflite dump --name=here prints its type",
		"RED":  "an enumerator: btflite show --contains_enumerator=RED prints its enum",
	} {
		if _, stderr := btfliteRun(t, exitFailure, "show", name, file); stderr != "btflite: "+file+": no type "+name+"; it is "+want+"\n" {
			t.Errorf("%s: %q", name, stderr)
		}
	}
}
