package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/btflite/btflite/test/testfile"
)

// fullWriter is a standard output that takes nothing.
type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errors.New("full") }

// Where nothing can be written, also as root: a device that is always full, and a folder that takes
// no files, which nobody notices before the draft is made.
var unwritable = []string{"/dev/full", "/proc/btflite-output"}

// TestAllOutputsOrNone: if one output of a run cannot be written, the others stay as they were: files
// of an earlier run, files that are not there yet, and the input. The status is 1, and one line names
// the output that failed. Only the report is written, as it tells that the run has failed.
func TestAllOutputsOrNone(t *testing.T) {
	for _, c := range []struct {
		words   string   // OUT1, OUT2 are outputs, IN is the input, which may be an output
		outputs []string // OUT1, OUT2, IN, or "stdout"
	}{
		{"-J --btf_features=default --btf_encode_detached=OUT1 --extra_vars=OUT2 IN", []string{"OUT1", "OUT2"}},
		{"-J --btf_features=default --btf_encode_detached=OUT1 --inline=OUT2 INLINED", []string{"OUT1", "OUT2"}},
		{"-J --btf_features=default --btf_encode_detached=OUT1 --report=OUT2 IN", []string{"OUT1", "OUT2"}},
		{"-J --btf_features=default --btf_encode_detached=/dev/null --extra_vars=OUT1 --report=OUT2 IN", []string{"OUT1", "OUT2"}},
		{"-J --btf_features=default --btf_encode_detached=/dev/null --extra_vars=OUT1 --inline=OUT2 INLINED", []string{"OUT1", "OUT2"}},
		{"-J --btf_features=default --btf_encode_detached=OUT1 --stats IN", []string{"OUT1", "stdout"}},
		{"-J --btf_features=default --btf_encode_detached=OUT1 -V IN", []string{"OUT1", "stdout"}},
		{"-J --btf_features=default --btf_encode_detached=OUT1 --stats --extra_vars=OUT2 IN", []string{"OUT1", "OUT2", "stdout"}},
		{"-J --btf_features=default --extra_vars=OUT1 IN", []string{"IN", "OUT1"}},
		{"-J --btf_features=default --report=OUT1 IN", []string{"IN", "OUT1"}},
		{"-J --btf_features=default --stats IN", []string{"IN", "stdout"}},
		{"-J --btf_features=default --btf_encode_detached=OUT1 --report=OUT2 --stats IN", []string{"OUT1", "OUT2", "stdout"}},
		{"flatten -o OUT1 --origin=OUT2 BASE MODULE", []string{"OUT1", "OUT2"}},
		{"min -q --btf=BASE -o OUT1 --report=OUT2 PROGRAM", []string{"OUT1", "OUT2"}},
		{"min -q --btf=BASE --btf=PLAIN -o DIR --report=OUT1 PROGRAM", []string{"DIR/x86.base.btf", "OUT1"}},
	} {
		for _, bad := range c.outputs {
			for _, place := range unwritable {
				for _, old := range []string{"", "of an earlier run"} {
					if bad == "IN" || bad == "stdout" && place != unwritable[0] || strings.HasPrefix(bad, "DIR/") {
						continue
					}
					allOrNone(t, c.words, c.outputs, bad, place, old)
				}
			}
		}
	}
}

// allOrNone runs the words, where the output bad is at a place that cannot be written, and the other
// outputs have the contents old, or are not there if that is empty.
func allOrNone(t *testing.T, words string, outputs []string, bad, place, old string) {
	dir := t.TempDir()
	what := fmt.Sprintf("%s, %s at %s, with old %q", words, bad, place, old)
	in := filepath.Join(dir, "in.o")
	image := testfile.Read(t, splitFiles+"x86.base.o")
	testfile.Write(t, in, image)
	paths := map[string]string{"IN": in, "BASE": splitFiles + "x86.base.btf", "PLAIN": splitFiles + "s390x.base.btf", "MODULE": splitFiles + "x86.module.btf",
		"INLINED": "../../encode/testdata/golden/x86-gcc5.elf", "PROGRAM": "../../testdata/min/thing.bpf.o", "DIR": filepath.Join(dir, "dir")}
	for _, name := range outputs {
		if strings.HasPrefix(name, "OUT") {
			paths[name] = filepath.Join(dir, name)
		}
	}
	if bad != "stdout" {
		paths[bad] = place
	}
	fields := strings.Fields(words)
	for i := range fields {
		for name, path := range paths {
			if option, v, _ := strings.Cut(fields[i], "="); v == name {
				fields[i] = option + "=" + path
			} else if fields[i] == name {
				fields[i] = path
			}
		}
	}
	report := ""
	for _, w := range fields {
		if name, path, _ := strings.Cut(w, "="); name == "--report" && fields[0] == "-J" {
			report = path
		}
	}
	for _, name := range outputs {
		if path := paths[name]; old != "" && name != bad && strings.HasPrefix(name, "OUT") {
			testfile.Write(t, path, old)
		}
	}
	c, _, stderr := testCLI(t)
	if bad == "stdout" {
		c.stdout = fullWriter{}
	}
	if status := c.run(fields); status != exitFailure || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), "cannot write") {
		t.Errorf("%s: status %d, %q", what, status, stderr)
	}
	for _, name := range outputs {
		path := paths[name]
		switch {
		case name == bad || name == "stdout":
			continue
		case strings.HasPrefix(name, "DIR/"):
			path = filepath.Join(dir, "dir", name[len("DIR/"):])
		}
		data, err := os.ReadFile(path)
		switch {
		case path == report:
			if !strings.Contains(string(data), `"error":`) {
				t.Errorf("%s: the report says %.200q", what, data)
			}
		case name == "IN" && string(data) != string(image):
			t.Errorf("%s: the input was changed", what)
		case name != "IN" && string(data) != old && (err == nil || old != "" && !strings.HasPrefix(name, "DIR/")):
			t.Errorf("%s: %s has %d bytes, %v", what, name, len(data), err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); left != nil {
		t.Errorf("%s: left %q", what, left)
	}
}

// TestKilledWhileReporting: a run that waits for the reader of its report ends by a signal, and
// leaves the input as it was, although the new file was complete.
func TestKilledWhileReporting(t *testing.T) {
	for _, prefix := range []string{"", named} {
		dir := t.TempDir()
		in := filepath.Join(dir, "in")
		image := testfile.Read(t, splitFiles+"x86.base.o")
		testfile.Write(t, in, image)
		if err := syscall.Mkfifo(filepath.Join(dir, "report"), 0o600); err != nil {
			t.Skip(err)
		}
		cmd := command(dir, prefix+"realELF", "-J", "in", "--report=report")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		written := func() (list []string) {
			if prefix == "" {
				open, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", cmd.Process.Pid))
				for _, name := range open {
					if to, _ := os.Readlink(name); strings.HasPrefix(to, dir+"/#") {
						list = append(list, name)
					}
				}
				return list
			}
			list, _ = filepath.Glob(filepath.Join(dir, ".btflite-*"))
			return list
		}
		whole := false
		for i := 0; i < 2000 && !whole; i++ {
			for _, name := range written() {
				info, err := os.Stat(name)
				whole = err == nil && info.Mode().Perm() == 0o600 && info.Size() > int64(len(image))
			}
			time.Sleep(5 * time.Millisecond)
		}
		if !whole {
			t.Errorf("%sthe new file was not seen", prefix)
		}
		time.Sleep(100 * time.Millisecond) // to open the pipe
		stuck := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
		endBy(t, cmd, syscall.SIGTERM)
		stuck.Stop()
		onlyFiles(t, dir, "in", "report")
		if !bytes.Equal(testfile.Read(t, in), image) {
			t.Error("the input was changed")
		}
	}
}
