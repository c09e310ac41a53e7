package install

import (
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/sourcetree"
	"github.com/btflite/btflite/test/testfile"
)

// repository is a copy of the source tree with one commit, whose hash it returns too.
func repository(t *testing.T) (dir, commit string) {
	t.Helper()
	dir = sourcetree.Copy(t)
	if _, err := os.Stat(filepath.Join(dir, "vendor")); err == nil {
		t.Skip("this is a source archive: releases are made of a checkout")
	}
	sourcetree.Run(t, dir, "git", "init", "-q")
	sourcetree.Run(t, dir, "git", "add", "-A")
	sourcetree.Run(t, dir, "git", "commit", "-q", "-m", "all")
	return dir, strings.TrimSpace(sourcetree.Run(t, dir, "git", "rev-parse", "HEAD"))
}

// TestRelease: a release for one system has the files that docs/releasing.md lists, and is built
// from the commit, with the profile. Packages are tried by make package-check.
func TestRelease(t *testing.T) {
	corpus.Installed(t, "make", "git", "bash", "tar", "gzip", "sha256sum")
	if testing.Short() {
		t.Skip("compiles the program with its profile")
	}
	src, commit := repository(t)
	// What is not committed is not in a release.
	testfile.Write(t, filepath.Join(src, "encode.go"), "not Go")
	system := "linux/" + runtime.GOARCH
	name := "btflite-1.2.3-linux-" + runtime.GOARCH
	sourcetree.Run(t, src, "make", "release", "VERSION=1.2.3", "SYSTEMS="+system, "PACKAGES=", "SBOM=no")
	out := filepath.Join(src, "build/release")
	if got, want := files(t, out), []string{"SHA256SUMS", name, name + ".tar.gz", "btflite-1.2.3.tar.gz"}; !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Fatalf("the release has %q, want %q", got, want)
	}
	checkSums(t, out)
	checkProgram(t, filepath.Join(out, name), commit)

	unpacked := t.TempDir()
	sourcetree.Run(t, unpacked, "tar", "-xzf", filepath.Join(out, name+".tar.gz"), "--strip-components=1")
	got := files(t, unpacked)
	const documents = "share/doc/btflite/"
	for _, want := range []string{
		"bin/btflite", "share/man/man1/btflite-diff.1", "share/bash-completion/completions/btflite", "share/zsh/site-functions/_btflite",
		"share/fish/vendor_completions.d/btflite.fish", documents + "LICENSE", documents + "README.md", documents + "CHANGELOG.md",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("the archive has no %s", want)
		}
	}
	checkProgram(t, filepath.Join(unpacked, "bin/btflite"), commit)
	checkLicences(t, filepath.Join(unpacked, documents+"THIRD-PARTY-LICENCES"), filepath.Join(out, name))
	page := testfile.Read(t, filepath.Join(unpacked, "share/man/man1/btflite-diff.1"))
	if !regexp.MustCompile(`(?m)^\.TH .* "20\d\d-\d\d-\d\d" "btflite v1\.2\.3"`).Match(page) {
		t.Errorf("the manual page has no version or no date: %.200s", page)
	}
}

// checkSums: SHA256SUMS has every file of a release, by its bare name.
func checkSums(t *testing.T, dir string) {
	t.Helper()
	text := testfile.Read(t, filepath.Join(dir, "SHA256SUMS"))
	var names []string
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		data, err := os.ReadFile(filepath.Join(dir, name))
		if is := sha256.Sum256(data); err != nil || hex.EncodeToString(is[:]) != sum {
			t.Errorf("SHA256SUMS: %q does not hold (%v)", line, err)
		}
		names = append(names, name)
	}
	if n := len(files(t, dir)) - 1; len(names) != n {
		t.Errorf("SHA256SUMS has %d files, the folder %d more", len(names), n)
	}
}

// checkProgram: the program is static, tells version and commit, was compiled with the profile, and
// names no folder of this machine.
func checkProgram(t *testing.T, program, commit string) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s is not static", program)
		}
	}
	if got := sourcetree.Run(t, ".", program, "version"); !regexp.MustCompile(`^btflite v1\.2\.3, commit ` + commit + `, 20\d\d-\d\d-\d\d, go`).MatchString(got) {
		t.Errorf("it says %s", got)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(info.String(), "-pgo=") || !strings.Contains(info.String(), "btflite.pgo") {
		t.Errorf("it was compiled without the profile:\n%s", info)
	}
	data, err := os.ReadFile(program)
	if err != nil || strings.Contains(string(data), os.TempDir()+"/") {
		t.Errorf("the program names a folder of this machine (%v)", err)
	}
}

// checkLicences: the file has the licence of every module that the program was linked from.
func checkLicences(t *testing.T, file, program string) {
	t.Helper()
	text := testfile.Read(t, file)
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Deps) < 5 || !strings.Contains(string(text), "\n==== Go\n") {
		t.Errorf("%d modules; %.100s", len(info.Deps), text)
	}
	for _, module := range info.Deps {
		_, licence, found := strings.Cut(string(text), "\n==== "+module.Path+"\n\n")
		if licence, _, _ = strings.Cut(licence, "\n==== "); !found || len(licence) < 200 {
			t.Errorf("no licence of %s: %q", module.Path, licence)
		}
	}
}

// TestReleaseRefuses: a wrong version and a tag at another commit end a release before it builds
// anything.
func TestReleaseRefuses(t *testing.T) {
	corpus.Installed(t, "make", "git", "bash")
	src, _ := repository(t)
	sourcetree.Run(t, src, "git", "tag", "v1.2.3")
	sourcetree.Run(t, src, "git", "commit", "-q", "--allow-empty", "-m", "later")
	for _, c := range []struct{ version, says string }{
		{"", "usage: make release VERSION=1.0.0"},
		{"1.0", `"1.0" is not a version of three numbers`},
		{"1.0.0;id", "is not a version of three numbers"},
		{"1.0.0-1", "is not a version of three numbers"}, // for packages the second build of 1.0.0
		{"1.0.0-x.1", "is not a version of three numbers"},
		{"1.2.3", "the tag v1.2.3 is at another commit: git checkout v1.2.3"},
	} {
		out, err := sourcetree.Try(src, "scripts/release.sh", c.version)
		if err == nil || !strings.Contains(out, c.says) {
			t.Errorf("%q: %v, %s", c.version, err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(src, "build")); err == nil {
		t.Error("a refused release leaves the folder build")
	}
}

// TestModule: the files of the module have names and sizes that the go command takes from a module proxy, so that
// "go install ...@latest" works. Folders with a go.mod of their own are other modules.
func TestModule(t *testing.T) {
	allowed := regexp.MustCompile(`^[A-Za-z0-9 !#$%&()+,\-.=@\[\]^_{}~]+$`)
	reserved := regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)
	seen, total := map[string]string{}, int64(0)
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == root {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == ".git" || name == "build" || name == "vendor") {
			return fs.SkipDir
		}
		if d.IsDir() {
			if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil {
				return fs.SkipDir
			}
		}
		if !allowed.MatchString(name) || reserved.MatchString(name) || strings.HasSuffix(name, ".") {
			t.Errorf("%s: the go command takes no such name", file)
		}
		if other, ok := seen[strings.ToLower(file)]; ok {
			t.Errorf("%s and %s differ only in their case", file, other)
		}
		seen[strings.ToLower(file)] = file
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	const most = 500 << 20
	if err != nil || len(seen) < 500 || total > most {
		t.Errorf("%d files with %d bytes, %v", len(seen), total, err)
	}
}

// TestToolVersions: the versions of programs that "go run" fetches are in one place.
func TestToolVersions(t *testing.T) {
	version := regexp.MustCompile(`[a-z]+\.[a-z.]+/[\w./-]+@v[0-9]\S*`)
	for _, pattern := range []string{"../../scripts/*.sh", "../../Makefile", "../../.ci/run", "../../.github/workflows/*.yml"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %q, %v", pattern, names, err)
		}
		for _, name := range names {
			tools := version.FindAll(testfile.Read(t, name), -1)
			if here := filepath.Base(name) == "tools.sh"; here != (len(tools) > 0) {
				t.Errorf("%s names these tools: %q", name, tools)
			}
		}
	}
}
