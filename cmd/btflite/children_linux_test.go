package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/btflite/btflite/internal/debuginfod"
	"github.com/btflite/btflite/test/testfile"
)

// TestSignalEndsChildren: a signal that ends btflite ends the program that it waits for, too. The
// pager is another matter: it ends when nothing comes any more.
func TestSignalEndsChildren(t *testing.T) {
	stripped, _ := strippedFile(t, "\x01\x02\x03\x04\x05\x06\x07\x08")
	small := testfile.Abs(t, smallFile)
	program, pid := filepath.Join(t.TempDir(), "debuginfod-find"), filepath.Join(t.TempDir(), "pid")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho $$ >"+pid+".new; mv "+pid+".new "+pid+"\nexec sleep 60\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		file string // where the program is started
		args []string
	}{
		{"internal/debuginfod/debuginfod.go", []string{"show", stripped}},
		{"internal/debuginfod/debuginfod.go", []string{"why", "none", stripped}},
		{"cmd/btflite/doctorcmd.go", []string{"doctor", "."}},
		{"internal/fullcircle/compiler.go", []string{"fullcircle", "--cc=" + program, small}},
		{"cmd/btflite/cccmd.go", []string{"cc", program, "-c", "a.c", "-o", "a.o"}},
	}
	known := map[string]bool{"cmd/btflite/screen.go": true}
	for _, x := range rows {
		known[x.file] = true
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
			if signal.Ignored(sig) {
				continue // nohup; the command keeps it ignored
			}
			os.Remove(pid)
			cmd := command(t.TempDir(), "", x.args...)
			cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "PAHOLE="+program, debuginfod.URLs+"=http://localhost")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var child int
			for range 1000 {
				if data, err := os.ReadFile(pid); err == nil {
					child, _ = strconv.Atoi(strings.TrimSpace(string(data)))
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			endBy(t, cmd, sig)
			if child == 0 {
				t.Errorf("%q has not started the program", x.args)
			} else if err := syscall.Kill(child, 0); err != syscall.ESRCH {
				t.Errorf("%q, %v: the program goes on (%v)", x.args, sig, err)
				syscall.Kill(child, syscall.SIGKILL)
			}
		}
	}
	starts := regexp.MustCompile(`exec\.(Command|CommandContext)\(|exec\.Cmd\{`)
	for _, dir := range []string{"cmd/btflite", "internal/*"} {
		files, err := filepath.Glob("../../" + dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if name := strings.TrimPrefix(path, "../../"); !strings.HasSuffix(name, "_test.go") && starts.Match(testfile.Read(t, path)) && !known[name] {
				t.Errorf("%s starts a program that this test does not have", name)
			}
		}
	}
}

// TestDoctorsPahole: a pahole that does not end, or prints without end, does not keep doctor.
func TestDoctorsPahole(t *testing.T) {
	for _, script := range []string{"exec sleep 60", "exec yes", "sleep 60 & echo v1.32"} {
		program := filepath.Join(t.TempDir(), "pahole")
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		c, _, _ := testCLI(t)
		c.lookupEnv = func(name string) (string, bool) { return program, name == "PAHOLE" }
		versionTime = time.Second
		began := time.Now()
		h := hostOf(c)
		if took := time.Since(began); took > 20*time.Second || len(h.PaholeVersion) > 10 {
			t.Errorf("%s: %v, version %.20q", script, took, h.PaholeVersion)
		}
	}
	versionTime = 10 * time.Second
}
