package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// calledAs runs the program as a link of that name.
func calledAs(t *testing.T, name string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	c := newCLI(&out, &errs, func(string) (string, bool) { return "", false })
	c.calledAs = name
	return c.run(args), out.String(), errs.String()
}

// TestHabits: command lines of pahole, pfunct and bpftool print what our own do.
func TestHabits(t *testing.T) {
	file := testfile.Abs(t, smallFile)
	t.Chdir(t.TempDir())
	for line, same := range map[string]string{
		"pahole list_head FILE":                                 "btflite show list_head FILE",
		"pahole list_head,flags FILE.btf":                       "btflite show list_head flags FILE.btf",
		"pahole list_head flags FILE":                           "btflite show list_head flags FILE",
		"pahole -E list_head FILE":                              "btflite show -E list_head FILE",
		"pahole list_head FILE --hex":                           "btflite show --hex list_head FILE",
		"btflite show struct list_head FILE":                    "btflite show list_head FILE",
		"btflite show enum color struct list_head FILE":         "btflite show color list_head FILE",
		"pfunct FILE":                                           "btflite funcs FILE",
		"pfunct -f print FILE":                                  "btflite funcs --function=print FILE",
		"pfunct -PV --no_parm_names FILE":                       "btflite funcs -PV --no_parm_names FILE",
		"pfunct --version":                                      "btflite --version",
		"btflite btf dump file FILE":                            "btflite dump FILE",
		"btflite btf dump file FILE format raw":                 "btflite dump --format=raw FILE",
		"btflite btf dump file FILE format c":                   "btflite dump --format=c FILE",
		"btflite btf dump file FILE format c unsorted":          "btflite dump --format=c --unsorted FILE",
		"btflite btf d file FILE format c root_id 4 root_id 5":  "btflite dump --format=c --id=4 --id=5 FILE",
		"btflite -j btf dump file FILE":                         "btflite dump --json FILE",
		"btflite btf dump --pretty file FILE":                   "btflite dump --pretty FILE",
		"bpftool btf dump file FILE format c":                   "btflite dump --format=c FILE",
		"bpftool -jp btf dump file FILE.btf":                    "btflite dump --pretty FILE.btf",
		"bpftool btf help":                                      "btflite dump --help",
		"bpftool version":                                       "btflite version",
		"bpftool -B BASE btf dump file MODULE":                  "btflite dump --btf_base=BASE MODULE",
		"bpftool --base-btf BASE btf dump file MODULE format c": "btflite dump --btf_base=BASE --format=c MODULE",
		"bpftool btf dump file MODULE --base-btf=BASE":          "btflite dump --btf_base=BASE MODULE",
		"btflite -BBASE btf dump file MODULE":                   "btflite dump --btf_base=BASE MODULE",
	} {
		run := func(line string) string {
			split := filepath.Join(filepath.Dir(file), "../split/x86.")
			words := strings.Fields(strings.NewReplacer("FILE", file, "BASE", split+"base.btf", "MODULE", split+"module.btf").Replace(line))
			status, stdout, stderr := calledAs(t, words[0], words[1:]...)
			if status != exitOK || stderr != "" || stdout == "" {
				t.Errorf("%s: status %d, %q", line, status, stderr)
			}
			return stdout
		}
		if run(line) != run(same) {
			t.Errorf("%s: not as %s", line, same)
		}
	}
}

// TestUsageStatus: a wrong command line has the same status in every command.
func TestUsageStatus(t *testing.T) {
	t.Chdir(t.TempDir())
	lines := []string{"--nosuch", "-J --nosuch", "-J", "-J --lang=klingon x", "-J --btf_features_strict=no x",
		"dedup", "dedup -o x", "diff", "diff a", "diff a b c", "diff --json --format=html a b", "fullcircle", "fullcircle a b", "inline", "inline a",
		"sort", "sort a", "sort a b c", "lower", "lower a b", "lower --kernel=5.10 a", "lower --kernel=4.4 a b", "lower --kernel=5.10 --enum64=union a b", "doctor a b", "why", "why a", "modules", "modules --btf_base=x", "verify", "cc", "completion", "completion x", "manual x",
		"help x", "version x", "stats a b", "funcs a/b c/d", "dump --id=0 a", "show --holes=x a"}
	for _, entry := range commands() {
		lines = append(lines, entry.name+" --nosuch", entry.name+" -%", entry.name+" --quiet=1")
	}
	for _, line := range lines {
		status, stdout, stderr := calledAs(t, programName, strings.Fields(line)...)
		if status != exitUsage || stdout != "" || !strings.Contains(stderr, "\n") {
			t.Errorf("%s: status %d, want %d; %q, %q", line, status, exitUsage, stdout, stderr)
		}
	}
}

// TestAloneNamesTheCommands: the name of the program alone lists the commands.
func TestAloneNamesTheCommands(t *testing.T) {
	status, stdout, stderr := calledAs(t, programName)
	if status != exitUsage || stdout != "" {
		t.Errorf("status %d, %q", status, stdout)
	}
	for _, entry := range commands() {
		if !strings.Contains(stderr, " "+entry.name) {
			t.Errorf("no %s: %s", entry.name, stderr)
		}
	}
}

// TestWithoutAFile: if the kernel has no BTF, the error says that a file is needed.
func TestWithoutAFile(t *testing.T) {
	const want = "btflite: nowhere: cannot open: no such file or directory; without FILE, the running kernel's types are read: give a FILE\n"
	for _, command := range []string{"dump", "show", "funcs", "stats"} {
		var stdout, stderr bytes.Buffer
		c := newCLI(&stdout, &stderr, func(name string) (string, bool) { return "nowhere", name == kernelBTFEnv })
		if status := c.run([]string{command}); status != exitFailure || stderr.String() != want {
			t.Errorf("%s: status %d, %q", command, status, &stderr)
		}
	}
}
