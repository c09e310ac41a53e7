// Package install tests what a user gets from the Makefile: "make install", the
// link called pahole, and the version that a program tells. All of it happens
// in a copy of the source tree.
package install

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/sourcetree"
	"github.com/btflite/btflite/test/testfile"
)

// files lists what is below dir but folders, sorted.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// documents are the documents that belong to an installation: the licence, all
// documents, and the pictures in them. The manual pages name only such files.
func documents(t *testing.T, pages []string) []string {
	t.Helper()
	const root, folder = "../../", "usr/share/doc/btflite/"
	list := []string{folder + "LICENSE"}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/results/*.md", "bench/plots/*.svg", "deploy/*"} {
		found, err := filepath.Glob(root + pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %q, %v", pattern, found, err)
		}
		for _, d := range found {
			list = append(list, folder+filepath.ToSlash(strings.TrimPrefix(d, root)))
		}
	}
	named := regexp.MustCompile(`docs/[a-z-]+\.md`)
	for _, p := range pages {
		text := strings.ReplaceAll(string(testfile.Read(t, p)), `\-`, "-")
		for _, name := range named.FindAllString(text, -1) {
			if !slices.Contains(list, folder+name) {
				t.Errorf("%s names %s, which is not installed", p, name)
			}
		}
		if !strings.Contains(text, `"btflite 1.2-3"`) {
			t.Errorf("%s: no version: %.80q", p, text)
		}
	}
	return list
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)\s]*)?\)`)

// checkLinks: what the installed documents link to is installed too.
func checkLinks(t *testing.T, dest string, installed []string) {
	t.Helper()
	links := 0
	for _, name := range installed {
		if path.Ext(name) != ".md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dest, name))
		if err != nil {
			t.Error(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			if !slices.Contains(installed, path.Join(path.Dir(name), m[1])) {
				t.Errorf("%s links to %s, which is not installed", name, m[1])
			}
		}
	}
	if links < 20 {
		t.Errorf("only %d links found", links)
	}
}

func TestInstall(t *testing.T) {
	corpus.Installed(t, "make")
	src, dest := sourcetree.Copy(t), t.TempDir()
	sourcetree.Run(t, src, "make", "install", "DESTDIR="+dest, "PREFIX=/usr", "VERSION=1.2-3")
	pages, err := filepath.Glob(filepath.Join(dest, "usr/share/man/man1/*.1"))
	if err != nil || len(pages) == 0 {
		t.Errorf("no manual pages (%v)", err)
	}
	want := []string{"usr/bin/btflite"}
	for _, p := range pages {
		want = append(want, "usr/share/man/man1/"+filepath.Base(p))
	}
	want = append(want, "usr/share/bash-completion/completions/btflite", "usr/share/fish/vendor_completions.d/btflite.fish",
		"usr/share/zsh/site-functions/_btflite")
	want = append(want, documents(t, pages)...)
	slices.Sort(want)
	if got := files(t, dest); !slices.Equal(got, want) {
		t.Errorf("installed:\n%q\nwant\n%q", got, want)
	}
	for _, name := range want {
		info, err := os.Stat(filepath.Join(dest, name))
		if err != nil {
			t.Error(err)
			continue
		}
		mode := fs.FileMode(0o644)
		if name == "usr/bin/btflite" {
			mode = 0o755
		}
		if info.Mode() != mode || info.Size() == 0 {
			t.Errorf("%s: mode %v, %d bytes", name, info.Mode(), info.Size())
		}
	}
	checkLinks(t, dest, want)
	program := filepath.Join(dest, "usr/bin/btflite")
	if got := sourcetree.Run(t, src, program, "version"); !strings.HasPrefix(got, "btflite 1.2-3, go") {
		t.Errorf("make VERSION=1.2-3, and it says %s", got)
	}
	if _, err := exec.LookPath("bash"); err == nil {
		sourcetree.Run(t, dest, "bash", "-n", "usr/share/bash-completion/completions/btflite")
	}

	// Once more without Go: all is built.
	if out := sourcetree.Run(t, src, "make", "install", "DESTDIR="+dest, "PREFIX=/usr", "VERSION=1.2-3"); strings.Contains(out, "go build") {
		t.Errorf("a second make install builds again:\n%s", out)
	}

	sourcetree.Run(t, src, "make", "install-pahole-link", "DESTDIR="+dest, "PREFIX=/usr")
	sourcetree.Run(t, src, "make", "install-pahole-link", "DESTDIR="+dest, "PREFIX=/usr") // its own link is no obstacle
	if got := sourcetree.Run(t, src, filepath.Join(dest, "usr/bin/pahole"), "--version"); got != "v1.32\n" {
		t.Errorf("the link: %q", got)
	}
	sourcetree.Run(t, src, "make", "uninstall", "DESTDIR="+dest, "PREFIX=/usr")
	if left := files(t, dest); len(left) > 0 {
		t.Errorf("make uninstall leaves %q", left)
	}
	if _, err := os.Stat(filepath.Join(dest, "usr/share/doc/btflite")); err == nil {
		t.Error("make uninstall leaves the folder of documents")
	}
}

func TestPaholeIsNotOverwritten(t *testing.T) {
	corpus.Installed(t, "make")
	dest := t.TempDir()
	bin := filepath.Join(dest, "bin")
	link := []string{"make", "install-pahole-link", "DESTDIR=" + dest, "PREFIX="}
	root := filepath.Join("..", "..")
	if out, err := sourcetree.Try(root, link...); err == nil || !strings.Contains(out, "make install first") {
		t.Errorf("a link to nothing: %v, %s", err, out)
	}
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "btflite"), []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	pahole := filepath.Join(bin, "pahole")
	for _, make := range []func() error{
		func() error { return os.WriteFile(pahole, []byte("real"), 0o755) },
		func() error { return os.Symlink("pahole-1.31", pahole) }, // leads nowhere
	} {
		if err := make(); err != nil {
			t.Fatal(err)
		}
		before, err := os.Lstat(pahole)
		if err != nil {
			t.Fatal(err)
		}
		out, err := sourcetree.Try(root, link...)
		if err == nil || !strings.Contains(out, "left as it is") || !strings.Contains(out, "make PAHOLE=/bin/btflite") {
			t.Errorf("over another pahole: %v, %s", err, out)
		}
		sourcetree.Run(t, root, "make", "uninstall", "DESTDIR="+dest, "PREFIX=")
		if after, err := os.Lstat(pahole); err != nil || !os.SameFile(before, after) {
			t.Errorf("pahole is another file, or gone (%v)", err)
		}
		if err := os.WriteFile(filepath.Join(bin, "btflite"), []byte("program"), 0o755); err != nil {
			t.Fatal(err)
		}
		os.Remove(pahole)
	}
}

// TestVersion: whatever a program was built from, it says which version it is.
func TestVersion(t *testing.T) {
	corpus.Installed(t, "make", "git")
	src := sourcetree.Copy(t)
	git := func(args ...string) string { return sourcetree.Run(t, src, append([]string{"git"}, args...)...) }
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "all")
	commit := strings.TrimSpace(git("rev-parse", "HEAD"))
	check := func(how, dir, version string, build ...string) {
		t.Helper()
		sourcetree.Run(t, dir, build...)
		got := sourcetree.Run(t, dir, "./btflite", "version")
		want := `^btflite ` + version + `, commit ` + commit + `, 20\d\d-\d\d-\d\d, go1\.[0-9.]+.*, stands in for pahole v1\.32\n$`
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: %swant %s", how, got, want)
		}
		os.Remove(filepath.Join(dir, "btflite"))
	}
	goBuild := []string{"go", "build", "-trimpath", "-buildvcs=true", "./cmd/btflite"}
	noTag := `v0\.0\.0-[0-9]{14}-` + commit[:12]
	check("no tag, go build", src, noTag, goBuild...)
	if got := sourcetree.Run(t, src, "scripts/version.sh"); !regexp.MustCompile(`^` + noTag + `\n$`).MatchString(got) {
		t.Errorf("no tag, make: %s", got)
	}

	// Another commit, because the go command remembers that this one has no tag.
	git("commit", "-q", "--allow-empty", "-m", "tagged")
	commit = strings.TrimSpace(git("rev-parse", "HEAD"))
	git("tag", "unrelated")
	git("tag", "v0.7.1")
	check("tag, go build", src, `v0\.7\.1`, goBuild...)
	worktree := filepath.Join(t.TempDir(), "worktree") // where the go command does not look for git
	git("worktree", "add", "-q", worktree)
	check("tag, make", worktree, `v0\.7\.1`, "make", "build")
	if os.Getuid() == 0 {
		const nobody = 65534
		sourcetree.Run(t, src, "chown", "-R", strconv.Itoa(nobody), ".")
		check("the checkout of another user", src, `v0\.7\.1`, "env", "GOFLAGS=-buildvcs=auto", "make", "build")
		sourcetree.Run(t, src, "chown", "-R", "0", ".")
	}

	// An archive, unpacked in a repository that has nothing to do with it.
	other := t.TempDir()
	sourcetree.Run(t, other, "git", "init", "-q")
	sourcetree.Run(t, other, "git", "commit", "-q", "--allow-empty", "-m", "x")
	sourcetree.Run(t, other, "git", "tag", "v0.0.1")
	git("archive", "-o", filepath.Join(other, "a.tar"), "HEAD")
	sourcetree.Run(t, other, "tar", "xf", "a.tar")
	check("archive", other, `v0\.7\.1`, goBuild...)
	if got := sourcetree.Run(t, other, "scripts/version.sh"); got != "" {
		t.Errorf("archive in another repository, make: %s", got)
	}

	testfile.Write(t, filepath.Join(src, "Makefile"), "")
	if got := sourcetree.Run(t, src, "scripts/version.sh"); got != "v0.7.1-dirty\n" {
		t.Errorf("changed checkout: %s", got)
	}
}
