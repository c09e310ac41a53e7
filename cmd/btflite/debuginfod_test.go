package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/internal/debuginfod"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/test/testfile"
)

// strippedFile writes a file with a build-id and without DWARF, and returns it and the
// bytes of its debug file.
func strippedFile(t *testing.T, id string) (path string, debug []byte) {
	t.Helper()
	note := dt.Section{Name: ".note.gnu.build-id", Type: elfabi.SHTNote, Data: []byte("\x04\x00\x00\x00" + string(rune(len(id))) + "\x00\x00\x00\x03\x00\x00\x00GNU\x00" + id)}
	number := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	item := dt.N(dt.TagStructureType, dt.Name("item"), dt.Size(4), dt.N(dt.TagMember, dt.Name("count"), dt.Type(number), dt.MemberAt(0)))
	path = filepath.Join(t.TempDir(), "in")
	testfile.Write(t, path, (&dt.File{NoDebug: true, Type: 2, Sections: []dt.Section{note}}).Bytes())
	return path, (&dt.File{Type: 2, Units: []*dt.Unit{dt.CU(number, item)}, Sections: []dt.Section{note}}).Bytes()
}

// runAsking runs btflite with servers to ask.
func runAsking(t *testing.T, status int, urls string, args ...string) (stdout, stderr string) {
	t.Helper()
	c, out, errs := testCLI(t)
	c.lookupEnv = func(name string) (string, bool) {
		if name == debuginfod.URLs && urls != "" {
			return urls, true
		}
		return "", false
	}
	if got := c.run(args); got != status {
		t.Errorf("%q: status %d, want %d: %s", args, got, status, errs)
	}
	return out.String(), errs.String()
}

// TestAskServers: when a debug file is asked for, how often, and what is said.
func TestAskServers(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh")
	}
	const id, other = "\x01\x02\x03\x04\x05\x06\x07\x08", "\x01\x02\x03\x04\x05\x06\x07\x09"
	path, debug := strippedFile(t, id)
	_, wrong := strippedFile(t, other)
	whole := filepath.Join(t.TempDir(), "whole")
	withBTF := filepath.Join(t.TempDir(), "with-btf")
	program := t.TempDir()
	calls := filepath.Join(program, "calls")
	for name, data := range map[string]string{
		whole: string(debug), withBTF: string(testfile.Read(t, path)),
		filepath.Join(program, "debug"): string(debug), filepath.Join(program, "wrong"): string(wrong),
		filepath.Join(program, "debuginfod-find"): "#!/bin/sh\necho $2 >>" + calls + "\n" +
			"[ $ANSWER = none ] && { echo 'Server query failed: No such file or directory' >&2; exit 1; }\necho " + program + "/$ANSWER\n",
	} {
		if err := os.WriteFile(name, []byte(data), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	addBTF(t, withBTF, debug)
	t.Setenv("PATH", program+":"+os.Getenv("PATH"))
	const asked = ": note: the debug file of build-id 0102030405060708 is in no folder here: debuginfod-find asks http://localhost and 1 more server\n"
	const servers = "http://localhost http://other"
	out := filepath.Join(t.TempDir(), "out")
	for _, x := range []struct {
		what, urls, answer string
		args               []string
		status, calls      int
		stdout, stderr     string // a part; all of it if it is empty
	}{
		{"show", servers, "debug", []string{"show", path}, 0, 1, "struct item {", "btflite: " + path + asked},
		{"where it is declared", servers, "debug", []string{"show", "-I", path}, 0, 1, "Used at: t.c", "btflite: " + path + asked},
		{"-J", servers, "debug", []string{"-J", "--btf_encode_detached=" + out, path}, 0, 1, "", "btflite: " + path + asked},
		{"quiet", servers, "debug", []string{"-q", "-J", "--btf_encode_detached=" + out, path}, 0, 1, "", ""},
		{"why", servers, "debug", []string{"why", "none", path}, 1, 1, "", "btflite: " + path + asked},
		{"inline", servers, "debug", []string{"inline", "none", path}, 1, 1, "", "btflite: " + path + asked},
		{"no server has it", servers, "none", []string{"-J", "--btf_encode_detached=" + out, path}, 0, 1, "",
			path + ": note: no debug file: debuginfod-find: Server query failed: No such file or directory\n"},
		{"no server has it, for a reader", servers, "none", []string{"dump", path}, 1, 1, "", "no section .BTF and no DWARF to encode\n"},
		{"the file of another", servers, "wrong", []string{"-J", "--btf_encode_detached=" + out, path}, 1, 1, "",
			"its separate debug file cannot be used: " + program + "/wrong: its build-id is another (remove it, and the server is asked again)\n"},
		{"a file that is not there", servers, "nothing", []string{"dump", path}, 1, 1, "",
			"its separate debug file cannot be used: " + program + "/nothing: cannot open: no such file or directory\n"},
		{"no variable", "", "debug", []string{"dump", path}, 1, 0, "", "no section .BTF and no DWARF to encode\n"},
		{"with DWARF", servers, "debug", []string{"-J", "--btf_encode_detached=" + out, whole}, 0, 0, "", ""},
		{"with BTF", servers, "debug", []string{"dump", withBTF}, 0, 0, "STRUCT 'item'", ""},
		{"with BTF, and DWARF is preferred", servers, "debug", []string{"show", "-F", "dwarf,btf", withBTF}, 0, 0, "struct item {", ""},
		{"with BTF, and only DWARF is wanted", servers, "debug", []string{"show", "-F", "dwarf", withBTF}, 0, 1, "struct item {", "btflite: " + withBTF + asked},
		{"modules", servers, "debug", []string{"modules", "--btf_base=" + withBTF, "--btf_encode_detached_dir=" + t.TempDir(), path}, 0, 0, "", ""},
	} {
		t.Run(x.what, func(t *testing.T) {
			t.Setenv("ANSWER", x.answer)
			os.Remove(calls)
			os.Remove(out)
			stdout, stderr := runAsking(t, x.status, x.urls, x.args...)
			data, _ := os.ReadFile(calls)
			if n := strings.Count(string(data), "0102030405060708\n"); n != x.calls {
				t.Errorf("asked %d times, want %d", n, x.calls)
			}
			if !strings.Contains(stdout, x.stdout) {
				t.Errorf("output %q, want %q", stdout, x.stdout)
			}
			if !strings.Contains(stderr, x.stderr) || x.what == "quiet" && stderr != "" {
				t.Errorf("stderr %q, want %q", stderr, x.stderr)
			}
			if x.calls == 0 && strings.Contains(stderr, "debuginfod") {
				t.Errorf("stderr %q", stderr)
			}
		})
	}
}

// addBTF puts the BTF of its debug file into a file.
func addBTF(t *testing.T, path string, debug []byte) {
	t.Helper()
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, ".build-id", "01"), 0o777); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(folder, ".build-id", "01", "02030405060708.debug"), debug)
	btfliteRun(t, exitOK, "-J", "--debug_dir="+folder, path)
}

// freePort returns a port of the loopback that nobody listens on. In a network namespace of its own
// the loopback is down until somebody sets it up: then one can listen, but not connect.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback: ", err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Skip("no loopback: ", err)
	}
	c.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// TestDebuginfod: elfutils' server on the loopback has the debug file of a stripped
// program. The BTF must be what the unstripped program gives.
func TestDebuginfod(t *testing.T) {
	for _, name := range []string{"debuginfod", "debuginfod-find", "gcc", "objcopy", "strip"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("no " + name + ": Debian's packages debuginfod, gcc and binutils have it")
		}
	}
	dir, served := t.TempDir(), t.TempDir()
	command := func(args ...string) {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", args, err, text)
		}
	}
	testfile.Write(t, filepath.Join(dir, "a.c"), "struct item { int count; } x; int main(void) { return x.count; }\n")
	command("gcc", "-g", "-Wl,--build-id", "-o", "a", "a.c")
	command("objcopy", "--only-keep-debug", "a", filepath.Join(served, "a.debug"))
	command("strip", "-o", "stripped", "a")
	command("gcc", "-g", "-Wl,--build-id", "-DOTHER", "-O1", "-o", "b", "a.c")
	command("strip", "-o", "other", "b")
	port := freePort(t)
	server := exec.Command("debuginfod", "-p", fmt.Sprint(port), "-d", ":memory:", "-F", served, "-t0")
	if err := server.Start(); err != nil {
		t.Skip("debuginfod does not start: ", err)
	}
	defer server.Wait()
	defer server.Process.Kill()
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	for variable, value := range map[string]string{debuginfod.URLs: url, "DEBUGINFOD_CACHE_PATH": filepath.Join(dir, "cache")} {
		t.Setenv(variable, value)
	}
	want, got := filepath.Join(dir, "want"), filepath.Join(dir, "got")
	btfliteRun(t, exitOK, "-J", "--btf_encode_detached="+want, filepath.Join(dir, "a"))
	for began := time.Now(); ; time.Sleep(200 * time.Millisecond) { // until the server has read the folder
		_, text := runAsking(t, exitOK, url, "-J", "--btf_encode_detached="+got, filepath.Join(dir, "stripped"))
		if _, err := os.Stat(got); err == nil {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("the server does not have the file: %s", text)
		}
		os.RemoveAll(filepath.Join(dir, "cache")) // it remembers what the server did not have
	}
	if string(testfile.Read(t, got)) != string(testfile.Read(t, want)) {
		t.Error("other BTF than that of the whole file")
	}
	if _, text := runAsking(t, exitFailure, url, "show", filepath.Join(dir, "other")); !strings.Contains(text, "note: no debug file: debuginfod-find: Server query failed: No such file or directory\n") {
		t.Error(text)
	}
	server.Process.Kill()
	if out, _ := runAsking(t, exitOK, url, "show", "-C", "item", filepath.Join(dir, "stripped")); !strings.Contains(out, "count;") {
		t.Errorf("without the server, the cache gives %q", out)
	}
}
