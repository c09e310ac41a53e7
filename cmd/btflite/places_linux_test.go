package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/draft"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/job"
	"github.com/btflite/btflite/test/testfile"
)

// Files that change under a run, outputs that are one file, and names that we make up.

// meddlingSession changes a file once it has been encoded.
type meddlingSession struct {
	session
	meddle func(path string)
}

func (s meddlingSession) Encode(path string) (*finish.Encoded, error) {
	out, err := s.session.Encode(path)
	s.meddle(path)
	return out, err
}

// meddling has every encoder of the test call meddle with the input that it has encoded.
func meddling(t *testing.T, meddle func(path string)) {
	t.Helper()
	oldRun, oldSession := runEncode, newSession
	t.Cleanup(func() { runEncode, newSession = oldRun, oldSession })
	runEncode = func(paths []string, o *job.Options) (*finish.Encoded, error) {
		enc, err := oldRun(paths, o)
		for _, p := range paths {
			meddle(p)
		}
		return enc, err
	}
	newSession = func(o *job.Options) session { return meddlingSession{oldSession(o), meddle} }
}

// TestInPlaceIsTheFileThatWasRead: a file that another program replaces or rewrites while
// it is encoded keeps what that program wrote, and the run fails.
func TestInPlaceIsTheFileThatWasRead(t *testing.T) {
	base := "--btf_base=" + splitFiles + "x86.base.btf"
	newer := testfile.Read(t, splitFiles+"x86.base.o")
	for name, meddle := range map[string]func(path string) error{
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", newer, 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
		"rewritten": func(path string) error { return os.WriteFile(path, newer, 0o600) },
		"a link to another": func(path string) error {
			if err := os.WriteFile(path+".new", newer, 0o600); err != nil {
				return err
			}
			os.Remove(path)
			return os.Symlink(filepath.Base(path)+".new", path)
		},
	} {
		for _, args := range [][]string{{"-J"}, {"-J", base, "--btf_features=default,distilled_base"}, {"-J", "-j2", "SECOND"}, {"modules", base, "--full_sizes"}, {"modules", base, "--extra_vars"}} {
			t.Run(name+" "+strings.Join(args, " "), func(t *testing.T) {
				m := filepath.Join(t.TempDir(), "m.ko")
				copyFile(t, "x86.module.o", m)
				args := slices.Clone(args)
				if i := slices.Index(args, "SECOND"); i >= 0 {
					args[i] = splitFiles + "x86.base.o"
					args = slices.Insert(args, i, m)
				} else {
					args = append(args, m)
				}
				done := false
				meddling(t, func(path string) {
					if path != m || done {
						return
					}
					done = true
					if err := meddle(path); err != nil {
						t.Error(err)
					}
				})
				_, stderr := btfliteRun(t, exitFailure, args...)
				if !strings.Contains(stderr, m+": another program has changed it meanwhile: nothing written; run again") {
					// A file cut short is noticed where it is read, too.
					if name != "rewritten" || !strings.Contains(stderr, m) {
						t.Errorf("%q", stderr)
					}
				}
				if got, err := os.ReadFile(m); err != nil || string(got) != string(newer) {
					t.Errorf("it is not what the other program wrote (%v)", err)
				}
				want := []string{"m.ko"}
				if name == "a link to another" {
					want = append(want, "m.ko.new")
				}
				onlyFiles(t, filepath.Dir(m), want...)
			})
		}
	}
}

// TestOutputsThatAreOneFile: no two outputs of a run are one file, by whatever names, and
// none is an input or a base. Nothing is written then.
func TestOutputsThatAreOneFile(t *testing.T) {
	base := testfile.Abs(t, splitFiles+"x86.base.btf")
	for _, names := range [][2]string{
		{"d/y", "d/y"}, {"d/y", "linked/y"}, {"linked/y", "d/y"}, {"d/y", "d/../linked/y"}, {"d/y", "dangling"}, {"dangling", "linked/y"},
		{"d/old", "hard"}, {"linked/old", "soft"}, {"d/y", "ABS/linked/y"}, {"-", "d/stdout"}, {"d/stdout", "/dev/fd/1"},
		{"m.ko", "none"}, {"inhard", "none"}, {"linked/../m.ko", "none"}, {"base.btf", "none"}, {"basehard", "none"},
	} {
		options := []string{"--btf_encode_detached=", "--extra_vars=", "--inline=", "--report="}
		for i, first := range options {
			for j, second := range options {
				if i == j || names[1] == "none" && j != (i+1)%len(options) {
					continue
				}
				dir := t.TempDir()
				t.Chdir(dir)
				copyTo(t, base, "base.btf")
				copyTo(t, strings.TrimSuffix(base, "base.btf")+"module.o", "m.ko")
				for _, err := range []error{
					os.Mkdir("d", 0o700), os.Symlink("d", "linked"), os.Symlink("linked/y", "dangling"), os.WriteFile("d/old", []byte("old"), 0o600),
					os.Link("d/old", "hard"), os.Symlink("d/old", "soft"), os.Link("m.ko", "inhard"), os.Link("base.btf", "basehard"),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
				c, _, stderr := testCLI(t)
				stdout, err := os.Create("d/stdout")
				if err != nil {
					t.Fatal(err)
				}
				c.stdout = stdout
				before := contentsBelow(t, ".")
				args := []string{"-J", "--btf_base=base.btf", first + strings.Replace(names[0], "ABS", dir, 1), second + strings.Replace(names[1], "ABS", dir, 1)}
				if names[1] == "/dev/fd/1" {
					names[1] = "-" // descriptor 1 belongs to the test
					args[3] = second + "-"
				}
				if i > 0 && j > 0 {
					args = append(args, "--btf_encode_detached=main")
				}
				status := c.run(append(args, "m.ko"))
				if status != exitFailure || stderr.Len() == 0 {
					t.Errorf("%q: status %d, %s", args, status, stderr)
				}
				if after := contentsBelow(t, "."); after != before {
					t.Errorf("%q: files changed: %s", args, after)
				}
				stdout.Close()
			}
		}
	}
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// contentsBelow are the files below dir with their first bytes, as text.
func contentsBelow(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s %v", path, d.Type())
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, " %d bytes, %.8q", len(data), data)
		}
		out.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestDevicesTakeSeveralOutputs: a device that discards all data can be any number of
// outputs.
func TestDevicesTakeSeveralOutputs(t *testing.T) {
	btfliteRun(t, exitOK, "-J", "--btf_encode_detached=/dev/null", "--report=/dev/null", "--extra_vars=/dev/null", splitFiles+"x86.base.o")
}

// TestLateAlias: outputs that become one file while the run goes on are noticed before
// the second takes the place of the first.
func TestLateAlias(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, d := range []string{"a", "b"} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c, _, _ := testCLI(t)
	one := targetOf(t, c, "a/y")
	two, err := c.resolveTarget("b/y", nil)
	if err != nil || one.sameFile(two) {
		t.Fatal(err)
	}
	if err := one.write(c.guard, writeText("one")); err != nil {
		t.Fatal(err)
	}
	defer func() { draft.Nameless = true }()
	draft.Nameless = false // so that the file moves with its folder
	err = two.write(c.guard, func(w io.Writer) error {
		_, err := io.WriteString(w, "two")
		temp, _ := filepath.Glob("b/.btflite-*")
		if len(temp) != 1 {
			t.Fatalf("temporary files %q", temp)
		}
		return orFirst(err, os.Rename(temp[0], "a/"+filepath.Base(temp[0])), os.Remove("b"), os.Symlink("a", "b"))
	})
	if err == nil || err.Error() != "b/y: cannot write: it is the file that this run has written as a/y" {
		t.Errorf("error %v", err)
	}
	wantFile(t, "a/y", "one", 0o644)
	onlyFiles(t, "a", "y")
}

// orFirst is the first error.
func orFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestMadeUpNamesFollowNoLink: where we make up the name of an output, neither a link of
// that name nor one to a folder on the way there is followed, and nothing but a file is
// replaced.
func TestMadeUpNamesFollowNoLink(t *testing.T) {
	base := "--btf_base=" + splitFiles + "x86.base.btf"
	for _, tt := range []struct{ link, to, args string }{
		{"k/sub/m.ko.vars.btf", "../../victim", "--extra_vars D/k"},
		{"k/sub/m.ko.vars.btf", "../../none", "--extra_vars D/k"},
		{"k/sub/m.ko.vars.btf", "m.ko", "--extra_vars D/k"},
		{"k/sub/m.ko.v", "../../victim", "--extra_vars=.v D/k/sub/m.ko"},
		{"k/sub/m.ko.inline.btf", "../../victim", "--inline D/k"},
		{"out/sub/m.ko.btf", "../../victim", "--btf_encode_detached_dir=D/out D/k"},
		{"out/sub/m.ko.btf", "../../none", "--btf_encode_detached_dir=D/out D/k"},
		{"out/sub/m.ko.vars.btf", "../../victim", "--extra_vars --btf_encode_detached_dir=D/out D/k"},
		{"out/sub/m.ko.inline.btf", "../../victim", "--inline --btf_encode_detached_dir=D/out D/k"},
		{"out/sub", "../folder", "--btf_encode_detached_dir=D/out D/k"},
		{"out/sub", "../nofolder", "--btf_encode_detached_dir=D/out D/k"},
		{"k/sub/m.ko.vars.btf", "FOLDER", "--extra_vars D/k"},
	} {
		for _, lang := range []string{"", " --lang=rust"} { // with the second there is nothing to encode
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			copyFile(t, "x86.module.o", at("k/sub/m.ko"))
			if err := orFirst(os.Mkdir(at("folder"), 0o700), os.WriteFile(at("victim"), []byte("precious"), 0o600), os.MkdirAll(filepath.Dir(at(tt.link)), 0o700)); err != nil {
				t.Fatal(err)
			}
			if tt.to == "FOLDER" {
				if err := os.Mkdir(at(tt.link), 0o700); err != nil {
					t.Fatal(err)
				}
			} else if err := os.Symlink(tt.to, at(tt.link)); err != nil {
				t.Fatal(err)
			}
			if lang != "" && strings.HasSuffix(tt.to, "folder") {
				continue // nothing is looked for there
			}
			before := contentsBelow(t, dir)
			args := strings.Fields("modules --btf_features=default " + strings.ReplaceAll(tt.args, "D/", dir+"/") + lang)
			_, stderr := btfliteRun(t, exitFailure, append(args, base)...)
			want := at(tt.link) + " is a symbolic link"
			switch tt.to {
			case "FOLDER":
				want = "not a regular file; remove it"
			case "m.ko":
				want = "would be written there, and it is a module of this run"
			}
			if !strings.Contains(stderr, want) {
				t.Errorf("%s -> %s, %s: %q", tt.link, tt.to, tt.args, stderr)
			}
			if after := contentsBelow(t, dir); after != before {
				t.Errorf("%s -> %s, %s: files changed:\n%s", tt.link, tt.to, tt.args, after)
			}
		}
	}
	// Folders that the user names may be links.
	dir := t.TempDir()
	copyFile(t, "x86.module.o", filepath.Join(dir, "k/m.ko"))
	if err := orFirst(os.Mkdir(filepath.Join(dir, "real"), 0o700), os.Symlink("real", filepath.Join(dir, "out")), os.Symlink("k", filepath.Join(dir, "l"))); err != nil {
		t.Fatal(err)
	}
	btfliteRun(t, exitOK, "modules", base, "--extra_vars", "--btf_encode_detached_dir="+filepath.Join(dir, "out"), filepath.Join(dir, "l"))
	btfliteRun(t, exitOK, "modules", base, "--extra_vars", filepath.Join(dir, "l"))
}

// TestModulesOutputsThatAreOneFile: an output of one module must not replace another
// module, a base, or another module's output.
func TestModulesOutputsThatAreOneFile(t *testing.T) {
	for _, tt := range []struct{ from, to string }{
		{"k/b.ko", "k/a.ko.vars.btf"}, {"base.btf", "k/a.ko.vars.btf"}, {"base.btf", "k/b.ko.inline.btf"},
		{"old", "k/a.ko.vars.btf k/b.ko.vars.btf"}, {"old", "k/a.ko.vars.btf k/a.ko.inline.btf"},
	} {
		dir := t.TempDir()
		copyFile(t, "x86.module.o", filepath.Join(dir, "k/a.ko"))
		copyFile(t, "x86.module.o", filepath.Join(dir, "k/b.ko"))
		copyFile(t, "x86.base.btf", filepath.Join(dir, "base.btf"))
		copyFile(t, "x86.base.btf", filepath.Join(dir, "old"))
		for _, to := range strings.Fields(tt.to) {
			if err := os.Link(filepath.Join(dir, tt.from), filepath.Join(dir, to)); err != nil {
				t.Fatal(err)
			}
		}
		before := contentsBelow(t, dir)
		_, stderr := btfliteRun(t, exitFailure, "modules", "--btf_base="+filepath.Join(dir, "base.btf"), "--extra_vars", "--inline", filepath.Join(dir, "k"))
		if !strings.Contains(stderr, "would be written there, and it is") {
			t.Errorf("%+v: %q", tt, stderr)
		}
		if after := contentsBelow(t, dir); after != before {
			t.Errorf("%+v: files changed:\n%s", tt, after)
		}
	}
}
