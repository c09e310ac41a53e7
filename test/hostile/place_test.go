//go:build linux

package hostile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/test/testfile"
	"golang.org/x/sys/unix"
)

// The cases of this file and of faults_test.go are about where BTF goes: names,
// kinds of files, permissions, and what happens to what was there.

// encodeTo are the arguments of a run into the file out.
func encodeTo(out string, in ...string) []string {
	return append([]string{"-J", "--btf_features=default", "--btf_encode_detached=" + out}, in...)
}

func inPlace(in string) []string { return []string{"-J", "--btf_features=default", in} }

// compiled is an object that GCC wrote; linked is an executable.
const (
	compiled = "../../encode/testdata/golden/x86-gcc5-r.elf"
	linked   = "../../encode/testdata/golden/x86-gcc5.elf"
)

// folder is a folder with the file f.o, a copy of from.
func folder(t *testing.T, from string) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	os.Chmod(dir, 0o777)
	file = filepath.Join(dir, "f.o")
	testfile.Write(t, file, testfile.Read(t, from))
	return dir, file
}

// succeeds runs btflite and wants status 0.
func succeeds(t *testing.T, dir string, args ...string) {
	t.Helper()
	if r := run(t, dir, args...); r.status != 0 {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	} else {
		r.clean(t)
	}
}

// fails runs btflite and wants one line of error that has text.
func fails(t *testing.T, text, dir string, args ...string) {
	t.Helper()
	r := run(t, dir, args...)
	r.clean(t)
	if r.status != 1 || !strings.Contains(r.stderr, text) {
		t.Fatalf("status %d, want an error with %q: %s", r.status, text, r.stderr)
	}
}

func wantNames(t *testing.T, dir, want string) {
	t.Helper()
	if got := names(t, dir); got != want {
		t.Errorf("in the folder: %s; want %s", got, want)
	}
}

// unchanged wants the file to be a copy of from.
func unchanged(t *testing.T, file, from string) {
	t.Helper()
	if !bytes.Equal(testfile.Read(t, file), testfile.Read(t, from)) {
		t.Errorf("%s was changed", file)
	}
}

// hasBTF wants the file to have a .BTF that kernels take.
func hasBTF(t *testing.T, file string) {
	t.Helper()
	data := elftest.Contents(t, file, ".BTF")
	if data == nil {
		t.Fatalf("%s: no .BTF", file)
	}
	takes(t, data)
}

// asNobody makes a run one of an unprivileged user.
func asNobody(t *testing.T, dir string, args ...string) done {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not root: cannot be another user")
	}
	for d := dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		if info, err := os.Stat(d); err == nil && info.Mode()&0o001 == 0 {
			os.Chmod(d, info.Mode()|0o001)
		}
	}
	cmd := command(dir, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return finish(t, cmd)
}

// placeCases are cases by name.
var placeCases = map[string]func(t *testing.T){
	"inplace-rel": func(t *testing.T) {
		dir, file := folder(t, compiled)
		succeeds(t, dir, inPlace("f.o")...)
		hasBTF(t, file)
		wantNames(t, dir, "f.o")
		for _, s := range []string{".text", ".debug_info", ".symtab", ".rela.debug_info"} {
			if !bytes.Equal(elftest.Contents(t, file, s), elftest.Contents(t, compiled, s)) {
				t.Errorf("section %s was changed", s)
			}
		}
	},
	"inplace-exec": func(t *testing.T) {
		dir, file := folder(t, linked)
		succeeds(t, dir, inPlace("f.o")...)
		hasBTF(t, file)
		wantNames(t, dir, "f.o")
	},
	"inplace-twice":      func(t *testing.T) { twice(t, compiled) },
	"inplace-exec-twice": func(t *testing.T) { twice(t, linked) },
	"inplace-mode-755":   func(t *testing.T) { keepsMode(t, 0o755) },
	"inplace-mode-640":   func(t *testing.T) { keepsMode(t, 0o640) },
	"inplace-mode-444":   func(t *testing.T) { keepsMode(t, 0o444) },
	"inplace-mode-4755":  func(t *testing.T) { keepsMode(t, 0o755|os.ModeSetuid) },
	"inplace-owner": func(t *testing.T) {
		dir, file := folder(t, compiled)
		if err := os.Chown(file, 1234, 5678); err != nil {
			t.Skip(err)
		}
		succeeds(t, dir, inPlace("f.o")...)
		var st unix.Stat_t
		if err := unix.Stat(file, &st); err != nil || st.Uid != 1234 || st.Gid != 5678 {
			t.Errorf("owner %d:%d, %v", st.Uid, st.Gid, err)
		}
		hasBTF(t, file)
	},
	"inplace-xattr": func(t *testing.T) {
		dir, file := folder(t, compiled)
		if err := unix.Setxattr(file, "user.note", []byte("kept"), 0); err != nil {
			t.Skip(err)
		}
		succeeds(t, dir, inPlace("f.o")...)
		value := make([]byte, 20)
		if n, err := unix.Getxattr(file, "user.note", value); err != nil || string(value[:n]) != "kept" {
			t.Errorf("attribute %q, %v", value[:max(n, 0)], err)
		}
	},
	"inplace-hardlink": func(t *testing.T) {
		dir, file := folder(t, compiled)
		if err := os.Link(file, filepath.Join(dir, "g.o")); err != nil {
			t.Fatal(err)
		}
		fails(t, "hard links", dir, inPlace("f.o")...)
		unchanged(t, file, compiled)
	},
	"inplace-symlink": func(t *testing.T) {
		dir, file := folder(t, compiled)
		os.Symlink("f.o", filepath.Join(dir, "link"))
		succeeds(t, dir, inPlace("link")...)
		hasBTF(t, file)
		if to, err := os.Readlink(filepath.Join(dir, "link")); to != "f.o" {
			t.Errorf("link to %q, %v", to, err)
		}
	},
	"inplace-symlink-dangling": func(t *testing.T) {
		dir := t.TempDir()
		os.Symlink("none", filepath.Join(dir, "link"))
		fails(t, "no such file", dir, inPlace("link")...)
	},
	"name-with_space_o":   func(t *testing.T) { takesName(t, "with space.o") },
	"name-semi;touch____": func(t *testing.T) { takesName(t, "semi;touch x;.o") },
	"name-$_touch_______": func(t *testing.T) { takesName(t, "$(touch x).o") },
	"name-back_touch____": func(t *testing.T) { takesName(t, "back`touch x`.o") },
	"name-quote__o":       func(t *testing.T) { takesName(t, `quote"'.o`) },
	"name-new_line_o":     func(t *testing.T) { takesName(t, "new\nline.o") },
	"name-___o":           func(t *testing.T) { takesName(t, "\xff\xfe\x80.o") },
	"name-aaaaaaaaaaaaaa": func(t *testing.T) { takesName(t, strings.Repeat("a", 255)) },
	"name-leading-dash": func(t *testing.T) {
		dir, file := folder(t, compiled)
		os.Rename(file, filepath.Join(dir, "-f.o"))
		succeeds(t, dir, "-J", "--", "-f.o")
		hasBTF(t, filepath.Join(dir, "-f.o"))
		succeeds(t, dir, inPlace("./-f.o")...)
	},
	"tmp-existing-file": func(t *testing.T) {
		dir, file := folder(t, compiled)
		testfile.Write(t, file+".btf", "mine")
		succeeds(t, dir, inPlace("f.o")...)
		if string(testfile.Read(t, file+".btf")) != "mine" {
			t.Error("the neighbour was changed")
		}
	},
	"tmp-symlink-attack": func(t *testing.T) {
		dir, file := folder(t, compiled)
		testfile.Write(t, filepath.Join(dir, "victim"), "mine")
		os.Symlink("victim", file+".btf")
		succeeds(t, dir, inPlace("f.o")...)
		if string(testfile.Read(t, filepath.Join(dir, "victim"))) != "mine" {
			t.Error("a link was followed")
		}
	},
	"perm-readonly-file": func(t *testing.T) {
		dir, file := folder(t, compiled)
		os.Chmod(file, 0o444)
		oldOrNew(t, asNobody(t, dir, inPlace("f.o")...), dir, file)
	},
	"perm-readonly-dir": func(t *testing.T) {
		dir, file := folder(t, compiled)
		os.Chmod(file, 0o666)
		os.Chmod(dir, 0o555)
		oldOrNew(t, asNobody(t, dir, inPlace("f.o")...), dir, file)
	},
	"perm-unreadable": func(t *testing.T) {
		dir, file := folder(t, compiled)
		os.Chmod(file, 0)
		r := asNobody(t, dir, inPlace("f.o")...)
		if r.status != 1 || !strings.Contains(r.stderr, "permission denied") {
			t.Errorf("status %d: %s", r.status, r.stderr)
		}
	},
	"input-missing":   func(t *testing.T) { fails(t, "no such file", t.TempDir(), inPlace("none")...) },
	"input-directory": func(t *testing.T) { fails(t, "a folder", t.TempDir(), inPlace(".")...) },
	"input-fifo": func(t *testing.T) {
		dir := t.TempDir()
		if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o666); err != nil {
			t.Skip(err)
		}
		fails(t, "not a regular file", dir, inPlace("fifo")...)
		fails(t, "not a regular file", dir, encodeTo("out", "fifo")...)
		wantNames(t, dir, "fifo")
	},
	"detached-mode": func(t *testing.T) {
		dir, _ := folder(t, compiled)
		succeeds(t, dir, encodeTo("out", "f.o")...)
		f, err := os.Create(filepath.Join(dir, "other")) // with 0666 less the umask
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		want, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(filepath.Join(dir, "out")); err != nil {
			t.Fatal(err)
		} else if info.Mode() != want.Mode() {
			t.Errorf("mode %v, want %v", info.Mode(), want.Mode())
		}
	},
	"detached-replaces-longer": func(t *testing.T) {
		dir, _ := folder(t, compiled)
		out := filepath.Join(dir, "out")
		testfile.Write(t, out, bytes.Repeat([]byte("x"), 1<<20))
		succeeds(t, dir, encodeTo("out", "f.o")...)
		takes(t, testfile.Read(t, out))
	},
	"detached-is-input": func(t *testing.T) {
		dir, file := folder(t, compiled)
		fails(t, "is the input", dir, encodeTo("f.o", "f.o")...)
		fails(t, "is the input", dir, encodeTo("./f.o", "f.o")...)
		unchanged(t, file, compiled)
	},
	"detached-is-hardlink-of-input": func(t *testing.T) {
		dir, file := folder(t, compiled)
		os.Link(file, filepath.Join(dir, "g.o"))
		fails(t, "is the input", dir, encodeTo("g.o", "f.o")...)
		unchanged(t, file, compiled)
	},
	"detached-dir-missing": func(t *testing.T) {
		dir, _ := folder(t, compiled)
		fails(t, "no such file or directory", dir, encodeTo("no/o", "f.o")...)
	},
	"detached-is-directory": func(t *testing.T) {
		dir, _ := folder(t, compiled)
		os.Mkdir(filepath.Join(dir, "d"), 0o755)
		fails(t, "is a directory", dir, encodeTo("d", "f.o")...)
	},
	"detached-device-full": func(t *testing.T) {
		dir, _ := folder(t, compiled)
		full := filepath.Join(dir, "full")
		if err := unix.Mknod(full, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 7))); err != nil {
			t.Skip(err)
		}
		fails(t, "", dir, encodeTo("full", "f.o")...)
		if info, err := os.Lstat(full); err != nil || info.Mode()&os.ModeDevice == 0 {
			t.Errorf("the device is gone: %v", err)
		}
	},
	"detached-stdout": func(t *testing.T) {
		dir, _ := folder(t, compiled)
		cmd := command(dir, encodeTo("/dev/stdout", "f.o")...)
		var out bytes.Buffer
		cmd.Stdout = &out
		if r := finish(t, cmd); r.status != 0 {
			t.Fatal(r.stderr)
		}
		takes(t, out.Bytes())
	},
	"detached-failure-keeps-old": func(t *testing.T) {
		dir := t.TempDir()
		testfile.Write(t, filepath.Join(dir, "bad"), testfile.Read(t, compiled)[:5000])
		testfile.Write(t, filepath.Join(dir, "out"), "old output")
		fails(t, "", dir, encodeTo("out", "bad")...)
		if string(testfile.Read(t, filepath.Join(dir, "out"))) != "old output" {
			t.Error("the old output was changed")
		}
	},
	"fds-closed": func(t *testing.T) { closedDescriptors(t, testfile.Read(t, compiled)) },
	"fds-closed-warning": func(t *testing.T) {
		closedDescriptors(t, testfile.Read(t, "../../encode/testdata/leftout/x86-g++5.elf"))
	},
	"parallel-reader": func(t *testing.T) {
		dir, _ := folder(t, compiled)
		succeeds(t, dir, encodeTo("out", "f.o")...)
		out := filepath.Join(dir, "out")
		want := testfile.Read(t, out)
		over := time.Now().Add(time.Second / 2)
		for time.Now().Before(over) {
			cmd := command(dir, encodeTo("out", "f.o")...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for ended := make(chan error, 1); ; {
				go func() { ended <- cmd.Wait() }()
				for len(ended) == 0 {
					if !bytes.Equal(testfile.Read(t, out), want) {
						t.Fatal("a reader saw a part of the output")
					}
				}
				break
			}
		}
	},
	"parallel-same-file": func(t *testing.T) {
		dir, file := folder(t, linked)
		together(t, 8, dir, inPlace("f.o"))
		hasBTF(t, file)
		wantNames(t, dir, "f.o")
		once := filepath.Join(t.TempDir(), "f.o")
		testfile.Write(t, once, testfile.Read(t, linked))
		succeeds(t, filepath.Dir(once), inPlace("f.o")...)
		unchanged(t, file, once)
	},
	"parallel-detached-same-output": func(t *testing.T) {
		dir, _ := folder(t, linked)
		together(t, 8, dir, encodeTo("out", "f.o"))
		takes(t, testfile.Read(t, filepath.Join(dir, "out")))
		wantNames(t, dir, "f.o out")
	},
	"determinism": func(t *testing.T) {
		first := []byte(nil)
		for i := range 20 {
			dir, file := folder(t, linked)
			succeeds(t, dir, "-J", "-j"+string(rune('1'+i%4)), "--btf_features=default", "f.o")
			if b := testfile.Read(t, file); first == nil {
				first = b
			} else if !bytes.Equal(b, first) {
				t.Fatal("another run, another file")
			}
		}
	},
}

func TestPlaces(t *testing.T) {
	for name, test := range placeCases {
		t.Run(name, test)
	}
	if n := len(placeCases) + len(faultCases); n != 57 {
		t.Errorf("%d cases, not 57", n)
	}
}

func twice(t *testing.T, from string) {
	dir, file := folder(t, from)
	succeeds(t, dir, inPlace("f.o")...)
	once := testfile.Read(t, file)
	succeeds(t, dir, inPlace("f.o")...)
	if !bytes.Equal(testfile.Read(t, file), once) {
		t.Error("the second run gives another file")
	}
	hasBTF(t, file)
}

func keepsMode(t *testing.T, mode os.FileMode) {
	dir, file := folder(t, compiled)
	os.Chmod(file, mode)
	succeeds(t, dir, inPlace("f.o")...)
	if info, err := os.Stat(file); err != nil || info.Mode() != mode {
		t.Errorf("mode %v, want %v", info.Mode(), mode)
	}
	hasBTF(t, file)
}

func takesName(t *testing.T, name string) {
	dir, file := folder(t, compiled)
	if err := os.Rename(file, filepath.Join(dir, name)); err != nil {
		t.Skip(err)
	}
	succeeds(t, dir, inPlace(name)...)
	hasBTF(t, filepath.Join(dir, name))
	wantNames(t, dir, name)
	testfile.Write(t, filepath.Join(dir, name), "no ELF file")
	fails(t, "not an ELF file", dir, inPlace(name)...) // quoted, as clean checks
}

// oldOrNew wants status 1 and the file as it was, or status 0 and BTF in it.
func oldOrNew(t *testing.T, r done, dir, file string) {
	t.Helper()
	r.clean(t)
	if r.status == 0 {
		hasBTF(t, file)
	} else {
		unchanged(t, file, compiled)
	}
	wantNames(t, dir, "f.o")
}

// closedDescriptors runs without standard input, output and error: what is
// opened then gets their numbers.
func closedDescriptors(t *testing.T, image []byte) {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "in"), image)
	succeeds(t, dir, encodeTo("want", "in")...)
	cmd := command(dir, encodeTo("out", "in")...)
	cmd.Args = append([]string{"sh", "-c", `exec "$0" "$@" <&- >&- 2>&-`, program}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	if r := finish(t, cmd); r.status != 0 {
		t.Fatalf("status %d", r.status)
	}
	if !bytes.Equal(testfile.Read(t, filepath.Join(dir, "out")), testfile.Read(t, filepath.Join(dir, "want"))) {
		t.Error("other output")
	}
}

// together runs btflite n times at once; each run ends with status 0, or with
// an error where it sees that another has changed the file.
func together(t *testing.T, n int, dir string, args []string) {
	t.Helper()
	ends := make(chan done)
	for range n {
		go func() { ends <- finish(t, command(dir, args...)) }()
	}
	good := 0
	for range n {
		r := <-ends
		r.clean(t)
		if r.status == 0 {
			good++
		}
	}
	if good == 0 {
		t.Error("no run succeeded")
	}
}
