package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// What a program is started with: streams that are closed, and limits.

// shellRun runs btflite by a line of the shell, in which "$0" "$@" are its words.
func shellRun(t *testing.T, line string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	cmd := command(".", "slowModules", args...)
	cmd.Args = append([]string{"sh", "-c", line, cmd.Path}, args...)
	cmd.Path = "/bin/sh"
	return runCommand(t, cmd)
}

func runCommand(t *testing.T, cmd *exec.Cmd) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// printingCommands are command lines, one or more of each command, that print something.
func printingCommands() [][]string {
	b, o := splitFiles+"x86.base.btf", splitFiles+"x86.base.o"
	lines := [][]string{
		{"--help"}, {"--version"}, {"--supported_btf_features"}, {"version"}, {"help", "show"}, {"manual"}, {"completion", "bash"},
		{"dump", b}, {"dump", "--format=c", b}, {"dump", "--json", b}, {"show", b}, {"show", "--format=html", b},
		{"funcs", o}, {"stats", b}, {"verify", b}, {"diff", b, splitFiles + "s390x.base.btf"}, {"why", "base_function", o},
		{"-J", "--btf_encode_detached=-", o}, {"-J", "-V", "--btf_encode_detached=/dev/null", o}, {"modules", "--btf_base=" + b, "--btf_encode_detached_dir=DIR", splitFiles + "x86.module.o"},
		{"sort", b, "-"}, {"dedup", "-o", "-", b},
	}
	return lines
}

// TestClosedStandardOutput: it is an error if the result cannot be printed, as with other
// programs. It is not an error if the output is /dev/null.
func TestClosedStandardOutput(t *testing.T) {
	for _, args := range printingCommands() {
		args = slices.Clone(args)
		for i := range args {
			args[i] = strings.Replace(args[i], "DIR", t.TempDir(), 1)
		}
		normal, stdout, stderr := shellRun(t, `"$0" "$@"; exit $?`, args...)
		if stdout == "" {
			t.Errorf("%q: nothing is printed: %s", args, stderr)
			continue
		}
		status, _, stderr := shellRun(t, `"$0" "$@" >&-; exit $?`, args...)
		if status == exitOK || status == normal && normal == exitFailure && args[0] == "diff" || !strings.Contains(stderr, "standard output: cannot write: it is closed") {
			t.Errorf("%q: status %d, %q", args, status, stderr)
		}
		if args[0] != "dump" && args[0] != "-J" { // one kind of printing each
			continue
		}
		for _, line := range []string{`"$0" "$@" >/dev/null; exit $?`, `exec 1<>/dev/null; "$0" "$@"; exit $?`} {
			if status, _, stderr := shellRun(t, line, args...); status != normal {
				t.Errorf("%s %q: status %d, without it %d: %q", line, args, status, normal, stderr)
			}
		}
	}
	// Python's DEVNULL: open for both, but not by a shell.
	if python, err := exec.LookPath("python3"); err == nil {
		cmd := command(".", "slowModules", "dump", splitFiles+"x86.base.btf")
		cmd.Args = append([]string{python, "-c", "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL))"}, cmd.Args...)
		cmd.Path = python
		if status, _, stderr := runCommand(t, cmd); status != exitOK {
			t.Errorf("below Python: status %d, %q", status, stderr)
		}
	}
}

// TestOtherClosedStreams: a closed standard input is named, and a closed standard error
// changes neither the status nor a file.
func TestOtherClosedStreams(t *testing.T) {
	for _, args := range [][]string{{"dump", "-"}, {"stats", "-"}, {"show", "-"}, {"sort", "-", "/dev/null"}, {"dedup", "-o", "/dev/null", "-"}, {"modules", "--btf_base=" + splitFiles + "x86.base.btf", "-"}} {
		status, _, stderr := shellRun(t, `"$0" "$@" <&-; exit $?`, args...)
		if status == exitOK || !strings.Contains(stderr, "standard input is closed") {
			t.Errorf("%q: status %d, %q", args, status, stderr)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	for _, streams := range []string{"2>&-", "<&- 2>&-", "<&- >&- 2>&-"} {
		os.Remove(out)
		if status, _, _ := shellRun(t, `"$0" "$@" `+streams+`; exit $?`, "-J", "--btf_encode_detached="+out, splitFiles+"x86.base.o"); status != exitOK {
			t.Errorf("%s: status %d", streams, status)
		}
		if info, err := os.Stat(out); err != nil || info.Size() < 100 {
			t.Errorf("%s: no output: %v", streams, err)
		}
		if status, _, _ := shellRun(t, `"$0" "$@" `+streams+`; exit $?`, "dump", "missing"); status != exitFailure {
			t.Errorf("%s: status %d for a missing file", streams, status)
		}
	}
}

// oneLine checks that a run under a limit has worked or has said in one line why not,
// unless Go's runtime itself did not come up.
func oneLine(t *testing.T, limit string, status int, stderr string) {
	t.Helper()
	switch {
	case status == exitOK && stderr == "":
	case status == exitFailure && strings.HasPrefix(stderr, "btflite: ") && strings.Count(stderr, "\n") == 1:
	case status == 2 && !strings.Contains(stderr, "main.main") && !strings.Contains(limit, "-n"):
		// Nothing of ours has run yet.
	default:
		t.Errorf("ulimit %s: status %d, %.600s", limit, status, stderr)
	}
}

// TestFewDescriptors, with each number of them.
func TestFewDescriptors(t *testing.T) {
	told := 0
	for n := 4; n <= 14; n++ {
		for _, args := range [][]string{
			{"dump", splitFiles + "x86.base.btf"},
			{"-J", "-j4", "--btf_base=" + splitFiles + "x86.base.btf", "--btf_encode_detached=" + filepath.Join(t.TempDir(), "x"), splitFiles + "x86.module.o"},
		} {
			limit := fmt.Sprintf("-n %d", n)
			status, _, stderr := shellRun(t, "ulimit "+limit+`; exec "$0" "$@"`, args...)
			oneLine(t, limit, status, stderr)
			if strings.Contains(stderr, "files may be open (ulimit -n)") {
				told++
			}
		}
	}
	if told == 0 {
		t.Error("no limit was told")
	}
}

// TestFewAddresses, from less than Go's runtime needs on.
func TestFewAddresses(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); !ok || !slices.Contains(info.Settings, debug.BuildSetting{Key: "CGO_ENABLED", Value: "0"}) {
		t.Skip("the test is built with cgo, whose threads are others than those of the program (CGO_ENABLED=0)")
	}
	told := 0
	for mib := 690; mib <= 860; mib += 5 {
		limit := fmt.Sprintf("-v %d", mib<<10)
		status, _, stderr := shellRun(t, "ulimit "+limit+`; exec "$0" "$@"`, "dump", splitFiles+"x86.base.btf")
		oneLine(t, limit, status, stderr)
		if strings.Contains(stderr, "addresses may be used (ulimit -v)") {
			told++
		}
	}
	if told == 0 {
		t.Error("no limit was told")
	}
}

// TestFewThreads runs as a user without other programs.
func TestFewThreads(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become a user without programs")
	}
	dir := t.TempDir()
	if err := orFirst(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	program, self := filepath.Join(dir, "btflite"), command(dir, "slowModules")
	copyTo(t, self.Path, program)
	copyTo(t, splitFiles+"x86.base.o", filepath.Join(dir, "in.o"))
	if err := orFirst(os.Chmod(program, 0o755), os.Chmod(filepath.Join(dir, "in.o"), 0o644)); err != nil {
		t.Fatal(err)
	}
	told := 0
	for n := 1; n <= 16; n++ {
		limit := fmt.Sprintf("-u %d", n)
		cmd := &exec.Cmd{Path: "/bin/bash", Env: self.Env, Dir: dir,
			Args:        []string{"bash", "-c", "ulimit " + limit + `; exec "$0" "$@"`, program, "-J", "-j8", "--btf_encode_detached=/dev/null", "in.o"},
			SysProcAttr: &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}}
		if _, err := os.Stat(cmd.Path); err != nil {
			t.Skip("no bash: dash has another letter for this limit")
		}
		status, _, stderr := runCommand(t, cmd)
		if strings.Contains(stderr, "bash: ") {
			t.Skip("the limit cannot be set: ", stderr)
		}
		if n < 4 { // the runtime has four threads before ours is asked
			continue
		}
		oneLine(t, limit, status, stderr)
		if strings.Contains(stderr, "threads (ulimit -u)") {
			told++
		}
	}
	if told == 0 {
		t.Error("no limit was told")
	}
}
