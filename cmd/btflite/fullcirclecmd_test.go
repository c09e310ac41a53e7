package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/elfabi"
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

// TestCompilerOptions: only options of fixed lists pass from a file's producer to a
// compiler.
func TestCompilerOptions(t *testing.T) {
	for made, want := range map[string]string{
		"GNU C11 999.1 -m64 -mabi=ms;x -march=x86-64 -fplugin=evil.so -funsigned-char -mcmodel=kernel -B/evil -specs=evil": "-m64 -march=x86-64 -funsigned-char -std=gnu11",
		"GNU C17 12.2.0 -std=gnu11 -std=c99 @file -include x -DA -D B":                                                     "-std=c99",
		"GNU C23 16.1.0 -mtune=generic":                      "-std=gnu2x",
		"GNU C11 12 -std=iso9899:2011 -std=gnu17;x -std= -x": "-std=c11",
		"GNU C89 4.9 -std=iso9899:1999":                      "-std=c99",
		"Debian clang version 14.0.6":                        "",
		"clang version 20 -std=gnu23":                        "-std=gnu2x",
		"GNU C++17 12.2.0":                                   "",
		"GNU C11\u00a012 -std=c11\x00x -std=@x":              "",
	} {
		if got := strings.Join(optionsOf(made), " "); got != want {
			t.Errorf("%q: %q, want %q", made, got, want)
		}
	}
	if _, err := findCompiler("GNU C11 12", elfMachine{94, true, false}, nil); err == nil || !strings.Contains(err.Error(), "machine 94") {
		t.Error(err)
	}
}

// TestNamedCompiler: the standard of the file comes before the options of --cc, and after
// the compiler if another program starts it.
func TestNamedCompiler(t *testing.T) {
	b := withCycle(nil, nil).Blob(t)
	for cc, want := range map[string]string{
		"gcc":                   "gcc -std=gnu11",
		"gcc -m32 -std=c99":     "gcc -std=gnu11 -m32 -std=c99",
		"ccache gcc-12 -m32":    "ccache gcc-12 -std=gnu11 -m32",
		"/opt/x/my-program -m4": "/opt/x/my-program -std=gnu11 -m4",
	} {
		f := fullcircleCommand{cc: strings.Fields(cc)}
		c, err := f.compiler("GNU C17 12.2.0 -std=gnu11 -mabi=sysv", elfMachine{elfabi.EMX8664, true, false}, b)
		if err != nil || strings.Join(c.words, " ") != want {
			t.Errorf("%s: %q, %v, want %q", cc, c.words, err, want)
		}
	}
}

// TestFindCompiler: a compiler of the file's release comes before one that only has the name of
// the machine.
func TestFindCompiler(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"x86_64-linux-gnu-gcc", "gcc-16", "clang", "s390x-linux-gnu-gcc"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	for _, tt := range []struct {
		producer      string
		t             elfMachine
		want, instead string
	}{
		{"GNU C11 16.1.0 -std=gnu11", elfMachine{elfabi.EMX8664, true, false}, "gcc-16 -m64 -std=gnu11", ""},
		{"GNU C11 12.2.0", elfMachine{elfabi.EMX8664, true, false}, "x86_64-linux-gnu-gcc -std=gnu11", "gcc-12"},
		{"GNU C11 12.2.0", elfMachine{elfabi.EMX8664, false, false}, "x86_64-linux-gnu-gcc -mx32 -std=gnu11", "gcc-12"},
		{"clang version 14.0.6", elfMachine{elfabi.EMX8664, false, false}, "clang --target=x86_64-linux-gnux32", "clang-14"},
		{"clang version 14.0.6", elfMachine{elfabi.EMRISCV, false, false}, "clang --target=riscv32-linux-gnu", "clang-14"},
		{"clang version 14.0.6", elfMachine{elfabi.EMAArch64, true, true}, "clang --target=aarch64_be-linux-gnu", "clang-14"},
		{"GNU C17 12.2.0", elfMachine{elfabi.EMS390, false, true}, "s390x-linux-gnu-gcc -m31 -std=gnu17", "gcc-12"},
		{"", elfMachine{elfabi.EMX8664, true, false}, "x86_64-linux-gnu-gcc", ""},
	} {
		c, err := findCompiler(tt.producer, tt.t, optionsOf(tt.producer))
		if err != nil {
			t.Errorf("%s: %v", tt.producer, err)
			continue
		}
		c.words[0] = filepath.Base(c.words[0])
		if got := strings.Join(c.words, " "); got != tt.want || c.instead != tt.instead {
			t.Errorf("%s %v: %q instead of %q, want %q and %q", tt.producer, tt.t, got, c.instead, tt.want, tt.instead)
		}
	}
}
