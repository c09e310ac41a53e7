package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/elfwrite"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/test/testfile"
)

// A run must remove only files that it has made itself.

// TestModulesStale: where a module has nothing to encode, no output of an earlier
// run stays unnoticed: neither a file nor the section in the module.
func TestModulesStale(t *testing.T) {
	for _, tt := range []struct {
		name string
		old  string // what is there before, below the folder
		args string
		want string // after the module's name; "" for status 0
	}{
		{name: "nothing old", args: "--btf_encode_detached_dir=D"},
		{name: "nothing old, in place"},
		{"detached", "k/m.ko.btf", "--btf_encode_detached_dir=D/k", "D/k/m.ko.btf of an earlier run is still there; remove it"},
		{"extra variables", "k/m.ko.vars.btf", "--btf_encode_detached_dir=D/k --extra_vars", "D/k/m.ko.vars.btf of an earlier run is still there; remove it"},
		{"extra variables in place", "k/m.ko.vars.btf", "--extra_vars", "D/k/m.ko.vars.btf of an earlier run is still there; remove it"},
		{"in place", "section", "", "section .BTF of D/k/m.ko is not of this run; remove it, as by objcopy --remove-section=.BTF"},
		{"in place with extra variables", "section", "--extra_vars", "section .BTF of D/k/m.ko is not of this run; remove it, as by objcopy --remove-section=.BTF"},
	} {
		for _, dwarf := range []bool{false, true} {
			dir := t.TempDir()
			m := filepath.Join(dir, "k/m.ko")
			why, filter := "all compile units are left out by their language or name", " --lang=rust"
			copyFile(t, "x86.module.o", m)
			if !dwarf {
				why, filter = encode.ErrNoDwarf.Error(), ""
				withoutDwarf(t, m)
			}
			switch {
			case tt.old == "section":
				if err := elfwrite.Set(m, nil, nil, bytesSection(".BTF", []byte("old"))); err != nil {
					t.Fatal(err)
				}
			case tt.old != "":
				testfile.Write(t, filepath.Join(dir, tt.old), "old")
			}
			before := testfile.Read(t, m)
			args := strings.Fields("modules --btf_features=default " + strings.ReplaceAll(tt.args, "D", dir) + filter)
			status, want := exitOK, ""
			if tt.want != "" {
				status = exitFailure
				want = "btflite: " + dir + "/k/m.ko: " + why + ": nothing written, and " + strings.ReplaceAll(tt.want, "D/", dir+"/") + "\nbtflite: 1 of 1 module failed\n"
			}
			_, stderr := btfliteRun(t, status, append(args, "--btf_base="+splitFiles+"x86.base.btf", m)...)
			if stderr != want {
				t.Errorf("%s, DWARF %v: %q, want %q", tt.name, dwarf, stderr, want)
			}
			if after, err := os.ReadFile(m); err != nil || string(after) != string(before) {
				t.Errorf("%s: the module changed (%v)", tt.name, err)
			}
		}
	}
}

// withoutDwarf replaces an ELF file by an object for the same machine that has
// nothing to encode.
func withoutDwarf(t *testing.T, path string) {
	t.Helper()
	to, err := elfwrite.TargetOf(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := to.NewObject(bytesSection(".comment", []byte("no types"))).Write(f); err != nil {
		t.Fatal(err)
	}
}

// slowSession encodes a file of a certain name for a minute.
type slowSession struct{ session }

func (s slowSession) Encode(path string) (*finish.Encoded, error) {
	if filepath.Base(path) == "slow.ko" {
		os.Stdout.WriteString("encoding\n")
		time.Sleep(time.Minute)
	}
	return s.session.Encode(path)
}

func TestSignalLeavesNoEmptyFolder(t *testing.T) {
	base := testfile.Abs(t, splitFiles+"x86.base.btf")
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		if signal.Ignored(sig) {
			continue
		}
		for _, first := range []bool{false, true} {
			dir := t.TempDir()
			copyFile(t, "x86.module.o", dir+"/k/b/slow.ko")
			if first { // -j2 encodes it meanwhile
				copyFile(t, "x86.module.o", dir+"/k/a/one.ko")
			}
			cmd := command(dir, "slowModules", "modules", "-j2", "--btf_base="+base, "--btf_encode_detached_dir=out/deep", "k")
			startSlow(t, cmd, "encoding")
			for range 500 {
				if _, err := os.Stat(dir + "/out/deep/a/one.ko.btf"); err == nil || !first {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if _, err := os.Stat(dir + "/out/deep"); err != nil {
				t.Error(err)
			}
			endBy(t, cmd, sig)
			if first {
				onlyFiles(t, dir+"/out/deep", "a")
				onlyFiles(t, dir+"/out/deep/a", "one.ko.btf")
			} else {
				onlyFiles(t, dir, "k")
			}
		}
	}
}

// TestGuardRemovesFolders: folders with a file stay, and so do folders that others have
// made.
func TestGuardRemovesFolders(t *testing.T) {
	tree(t, map[string]string{"there/file": "", "taken": ""})
	c, _, _ := testCLI(t)
	for path, fails := range map[string]bool{"there": false, "there/a/b": false, "new/c": false, "new/d/e/": false, "taken": true, "taken/f": true} {
		if err := c.guard.makeFolder(path); (err != nil) != fails {
			t.Errorf("%s: %v", path, err)
		}
	}
	testfile.Write(t, "new/c/file", "")
	c.guard.removeFolders()
	onlyFiles(t, ".", "new", "taken", "there")
	onlyFiles(t, "new", "c")
	onlyFiles(t, "there", "file")
}
