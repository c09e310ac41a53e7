package main

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/test/testfile"
)

// TestScripts runs the scripts of testdata/script, each in its own folder: command lines,
// then the files and the output that they expect. -update writes the expected output
// again. In addition to testscript's commands, the scripts use these:
//
//	status N btflite ...   the program ends with status N
//	same FILE FILE         two files have the same bytes
//	section FILE NAME OUT  OUT gets the contents of a section of an ELF file
//	only DIR NAME...       DIR has these files and folders, and no others
//
// $F is the folder testdata/split, $M testdata/min.
func TestScripts(t *testing.T) {
	files := testfile.Abs(t, splitFiles)
	programs := testfile.Abs(t, "../../testdata/min")
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("F", files)
			e.Setenv("M", programs)
			e.Setenv(kernelVariable, e.WorkDir) // where btflite cc notes its messages, also below make
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": scriptStatus, "same": scriptSame, "section": scriptSection, "only": scriptOnly,
		},
	})
}

func scriptStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	status := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		status = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if status != want {
		ts.Fatalf("status %d, want %d", status, want)
	}
}

func scriptSame(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same FILE FILE")
	}
	if same := ts.ReadFile(args[0]) == ts.ReadFile(args[1]); same == neg {
		ts.Fatalf("%s and %s: the same is %v", args[0], args[1], same)
	}
}

func scriptSection(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: section FILE NAME OUT")
	}
	data, err := elftest.ReadSection(ts.MkAbs(args[0]), args[1])
	ts.Check(err)
	if data == nil {
		ts.Fatalf("%s: no section %s", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), data, 0o600))
}

func scriptOnly(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: only DIR NAME...")
	}
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := slices.Sorted(slices.Values(args[1:]))
	if !slices.Equal(names, want) {
		ts.Fatalf("%s has %q, want %q", args[0], names, want)
	}
}
