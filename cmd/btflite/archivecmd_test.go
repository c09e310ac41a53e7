package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/archive"
	"github.com/btflite/btflite/internal/archive/archivetest"
	"github.com/btflite/btflite/internal/pack"
	"github.com/btflite/btflite/test/testfile"
)

// runArchive runs "btflite archive" in this process.
func runArchive(t *testing.T, want int, words ...string) (stdout, stderr string) {
	t.Helper()
	c, out, errs := testCLI(t)
	if status := c.run(append([]string{"archive"}, words...)); status != want {
		t.Errorf("%q: status %d, want %d: %s", words, status, want, errs)
	}
	return out.String(), errs.String()
}

// inFolder writes files into a new folder.
func inFolder(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		testfile.Write(t, filepath.Join(dir, name), data)
	}
	return dir
}

// TestArchive: packages become an archive, are not done twice, and are found by build-id.
func TestArchive(t *testing.T) {
	kernel := archivetest.Entry{Name: "boot/vmlinux", Data: archivetest.Kernel("6.99.0")}
	in := inFolder(t, map[string][]byte{"a.deb": archivetest.Deb("zst", kernel), "none.tar": archivetest.Tar(archivetest.Entry{Name: "x"}), "vmlinux": archivetest.Kernel("6.98.0")})
	dir := filepath.Join(t.TempDir(), "new/archive")
	words := []string{"-o", dir, "--distro=debian/12", filepath.Join(in, "a.deb"), filepath.Join(in, "none.tar"), filepath.Join(in, "vmlinux"), filepath.Join(in, "missing.deb")}
	out, errs := runArchive(t, exitTemporary, words...)
	if want := "debian/12/x86_64/6.99.0.btf: 1 type of 6.99.0 encoded\n" + "debian/12/x86_64/6.98.0.btf: 1 type of 6.98.0 encoded\n" +
		"2 kernels archived, 1 package without kernels, 1 package not done\n"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
	if want := "btflite: none.tar: no kernel with DWARF or BTF in it (1 file looked at)\nbtflite: " + in + "/missing.deb: cannot open: no such file or directory\n"; errs != want {
		t.Errorf("%q, want %q", errs, want)
	}
	out, errs = runArchive(t, exitOK, words[:len(words)-1]...)
	if out != "0 kernels archived, 3 done before\n" || errs != "" {
		t.Errorf("again: %q, %q", out, errs)
	}
	if out, errs = runArchive(t, exitOK, append([]string{"-q"}, words[:len(words)-1]...)...); out+errs != "" {
		t.Errorf("quiet: %q, %q", out, errs)
	}
	if out, _ = runArchive(t, exitOK, "index", "-o", dir); out != "2 kernels in the index\n" {
		t.Errorf("index: %q", out)
	}
	var x archive.Index
	data, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err == nil {
		err = json.Unmarshal(data, &x)
	}
	if err != nil || x.Format != 1 || len(x.Kernels) != 2 {
		t.Errorf("index: %+v, %v", x, err)
	}
	both := filepath.Join(dir, "debian/12/x86_64/6.98.0.btf") + "\n" + filepath.Join(dir, "debian/12/x86_64/6.99.0.btf") + "\n"
	for _, word := range []string{archivetest.BuildID, strings.ToUpper(archivetest.BuildID[:10]), filepath.Join(in, "vmlinux")} {
		if out, _ = runArchive(t, exitOK, "find", "-o", dir, word); out != both {
			t.Errorf("find %s: %q", word, out)
		}
	}
}

// TestArchiveErrors: what is refused, with its line.
func TestArchiveErrors(t *testing.T) {
	in := inFolder(t, map[string][]byte{"a.tar": archivetest.Tar(archivetest.Entry{Name: "../x", Data: []byte("x")}), "file": nil})
	file := filepath.Join(in, "file")
	for _, c := range []struct {
		status int
		words  string
		want   string
	}{
		{exitUsage, "x.deb", "no folder for the archive; give -o DIR"},
		{exitUsage, "-o OUT", "no input file"},
		{exitUsage, "-o OUT --distro=debian x", "'debian' is not a distribution; use NAME/VERSION, as debian/12"},
		{exitUsage, "-o OUT --distro=a/../b x", "is not a distribution"},
		{exitUsage, "-o OUT --existing=keep x", "unknown value 'keep'; use copy or encode or skip"},
		{exitUsage, "-o OUT --shard=4/4 x", "--shard=4/4: '4/4': shards are counted from 0, so the last one is 3/4"},
		{exitUsage, "-o OUT --shard=auto x", "--shard=auto: no engine that is known here has started this; give --shard=I/N"},
		{exitUsage, "-o OUT --shard= x", "'' is not a part; use I/N, as 0/4, or auto"},
		{exitUsage, "-o OUT --modules --target_kernel=5.10 x", "a base with --target_kernel: Linux takes split BTF from 5.11 on"},
		{exitUsage, "-o OUT index x", "index takes no further word"},
		{exitUsage, "-o OUT find x y", "find takes one kernel"},
		{exitUsage, "-o OUT find 0123", "'0123' is neither a file nor a build-id; a build-id has 8 hexadecimal digits or more"},
		{exitFailure, "-o OUT find 01234567", "cannot read"},
		{exitFailure, "-o OUT find " + file, "file"},
		{exitFailure, "-o OUT index", "cannot read"},
		{exitTemporary, "-o " + file + " x", "not a directory"},
		{exitTemporary, "-o " + file + "/y x", "not a directory"},
		{exitTemporary, "-o " + file + " index", "not a directory"},
		{exitTemporary, "-o " + file + " find 01234567", "not a directory"},
		{exitOK, "-o OUT " + filepath.Join(in, "a.tar"), `a.tar: entry 1 is called "../x", which leads out of the package`},
	} {
		words := strings.Fields(strings.Replace(c.words, "OUT", filepath.Join(t.TempDir(), "out"), 1))
		if _, errs := runArchive(t, c.status, words...); !strings.Contains(errs, c.want) || strings.Count(errs, "btflite: ") != 1 {
			t.Errorf("%s: %q, want %q", c.words, errs, c.want)
		}
	}
}

// TestArchiveFullOutput: a standard output that is full is trouble of the run, so an engine tries again.
func TestArchiveFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	in := inFolder(t, map[string][]byte{"vmlinux": archivetest.Kernel("6.98.0")})
	for _, option := range []string{"-j1", "--shard=auto"} {
		c, _, errs := testCLI(t)
		c.stdout = full
		c.lookupEnv = func(name string) (string, bool) { return "1", strings.HasPrefix(name, "CI_NODE_") }
		status := c.run([]string{"archive", option, "-o", t.TempDir(), filepath.Join(in, "vmlinux")})
		if want := "btflite: standard output: cannot write: no space left on device\n"; status != exitTemporary || errs.String() != want {
			t.Errorf("%s: status %d, %q, want %q", option, status, errs, want)
		}
	}
}

// TestArchiveDamaged: a damaged package is done if a record says so. A folder has none.
func TestArchiveDamaged(t *testing.T) {
	kernel := archivetest.Entry{Name: "a", Data: archivetest.Kernel("6.99.0")}
	whole := archivetest.Tar(kernel, archivetest.Entry{Name: "b", Data: kernel.Data})
	in := inFolder(t, map[string][]byte{"cut.tar": whole[:len(kernel.Data)+2000], "a": kernel.Data, "b": nil})
	if err := os.Truncate(filepath.Join(in, "b"), pack.UsualLimits.File+1); err != nil {
		t.Skip("no sparse files:", err)
	}
	const one = "debian/12/x86_64/6.99.0.btf: 1 type of 6.99.0 encoded\n1 kernel archived"
	for path, c := range map[string]struct {
		status      int
		out, reason string
	}{
		filepath.Join(in, "cut.tar"): {exitOK, one + ", 1 package damaged\n", "cut.tar: tar: in entry 2: it is cut short"},
		in:                           {exitTemporary, one + ", 1 package not done\n", "entry 3, b, has 17179869185 bytes, more than "},
	} {
		out, errs := runArchive(t, c.status, "--distro=debian/12", "-o", filepath.Join(t.TempDir(), "btf"), path)
		if out != c.out || !strings.Contains(errs, c.reason) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: %q, %q, want %q, %q", path, out, errs, c.out, c.reason)
		}
	}
}

// TestArchiveShards: shards do every package once, and the folder is the same as after one run.
func TestArchiveShards(t *testing.T) {
	files := map[string][]byte{}
	for i := range 12 {
		release := fmt.Sprintf("6.%d.0", i)
		files[release+".tar"] = archivetest.Tar(archivetest.Entry{Name: "vmlinux", Data: bytes.Replace(archivetest.Kernel(release), []byte("\x01\x02\x03\x04\x05"), []byte{byte(i), 2, 3, 4, 5}, 1)})
	}
	in := inFolder(t, files)
	var words []string
	for name := range files {
		words = append(words, filepath.Join(in, name))
	}
	one, parts := t.TempDir(), t.TempDir()
	runArchive(t, exitOK, append([]string{"-o", one}, words...)...)
	kernels := 0
	for i := range 5 {
		t.Setenv("CI_NODE_INDEX", strconv.Itoa(i+1))
		t.Setenv("CI_NODE_TOTAL", "5")
		c, out, _ := testCLI(t)
		c.lookupEnv = os.LookupEnv
		if status := c.run(append([]string{"archive", "-o", parts, "--shard=auto"}, words...)); status != exitOK {
			t.Errorf("shard %d: status %d", i, status)
		}
		first, rest, _ := strings.Cut(out.String(), "\n")
		if want := fmt.Sprintf("shard %d/5 of GitLab: CI_NODE_INDEX=%d, CI_NODE_TOTAL=5", i, i+1); first != want {
			t.Errorf("%q, want %q", first, want)
		}
		kernels += strings.Count(rest, " encoded\n")
	}
	if kernels != len(files) {
		t.Errorf("%d kernels of %d", kernels, len(files))
	}
	for _, dir := range []string{one, parts} {
		runArchive(t, exitOK, "index", "-o", dir)
	}
	a, err := os.ReadFile(filepath.Join(one, "index.json"))
	b, err2 := os.ReadFile(filepath.Join(parts, "index.json"))
	if err != nil || err2 != nil || !bytes.Equal(a, b) {
		t.Errorf("the indexes differ: %v, %v", err, err2)
	}
}

// TestArchiveModules: what is printed about modules, that min takes the kernels of an archive only, and
// that flatten takes a kernel with its modules.
func TestArchiveModules(t *testing.T) {
	entries := []archivetest.Entry{{Name: "vmlinux", Data: archivetest.Kernel("6.99.0")}, {Name: "fs/xfs.ko.xz", Data: archivetest.Compress("xz", archivetest.Module("6.99.0", "xfs", 'x'))},
		{Name: "other.ko", Data: archivetest.Module("6.98.0", "other", 'o')}}
	for i := range 12 {
		entries = append(entries, archivetest.Entry{Name: fmt.Sprintf("broken%02d.ko", i), Data: archivetest.BrokenModule("6.99.0", "b", byte(i))})
	}
	in := inFolder(t, map[string][]byte{"a.tar": archivetest.Tar(entries...)})
	dir := filepath.Join(t.TempDir(), "archive")
	out, errs := runArchive(t, exitOK, "--modules", "--distro=debian/12", "-o", dir, filepath.Join(in, "a.tar"))
	if want := "debian/12/x86_64/6.99.0.btf: 1 type of 6.99.0 encoded\ndebian/12/x86_64/6.99.0/: 1 module of 6.99.0\n1 kernel archived, 1 module, 12 modules without BTF\n"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
	for _, want := range []string{"btflite: a.tar: broken00.ko: no BTF: ", "btflite: a.tar: broken09.ko: no BTF: ",
		"btflite: a.tar: no BTF for 2 modules more; see debian/12/x86_64/6.99.0/modules.json\n", "btflite: a.tar: 1 module of no kernel in it\n"} {
		if !strings.Contains(errs, want) || strings.Count(errs, "\n") != toldModules+2 {
			t.Errorf("%q, want %q", errs, want)
		}
	}
	if out, errs = runArchive(t, exitOK, "--modules", "-o", dir, filepath.Join(in, "a.tar")); out != "0 kernels archived, 1 done before\n" || errs != "" {
		t.Errorf("again: %q, %q", out, errs)
	}
	if out, _ = runArchive(t, exitOK, "find", "-o", dir, "7802030405060708"); out != filepath.Join(dir, "debian/12/x86_64/6.99.0/xfs.btf")+"\n" {
		t.Errorf("find: %q", out)
	}
	kernels, err := findMinKernels([]string{dir})
	if err != nil || len(kernels) != 1 || kernels[0].path != filepath.Join(dir, "debian/12/x86_64/6.99.0.btf") {
		t.Errorf("min takes %+v, %v", kernels, err)
	}
	c, _, _ := testCLI(t)
	if status := c.run([]string{"flatten", "-o", filepath.Join(t.TempDir(), "all.btf"), filepath.Join(dir, "debian/12/x86_64/6.99.0.btf"), filepath.Join(dir, "debian/12/x86_64/6.99.0/xfs.btf")}); status != exitOK {
		t.Errorf("flatten: status %d", status)
	}
}

// TestArchiveStdin: "-" is a package on the standard input. If that is a file it may be read twice, a pipe
// may not.
func TestArchiveStdin(t *testing.T) {
	kernel := archivetest.Entry{Name: "vmlinux", Data: archivetest.Kernel("6.99.0")}
	module := archivetest.Entry{Name: "fs/xfs.ko", Data: archivetest.Module("6.99.0", "xfs", 'x')}
	in := inFolder(t, map[string][]byte{"first": archivetest.Deb("xz", kernel, module), "last": archivetest.Deb("xz", module, kernel), "vmlinux": kernel.Data,
		"cut": archivetest.Tar(kernel, module)[:len(kernel.Data)+2000], "nothing": archivetest.Tar(archivetest.Entry{Name: "x"})})
	const both = "debian/12/x86_64/6.99.0.btf: 1 type of 6.99.0 encoded\ndebian/12/x86_64/6.99.0/: 1 module of 6.99.0\n1 kernel archived, 1 module\n"
	const alone = "debian/12/x86_64/6.99.0.btf: 1 type of 6.99.0 encoded\n1 kernel archived\n"
	const order = "btflite: stdin: 6.99.0: its modules are left out, as 1 module came before it and a pipe cannot be read twice; give the file by its name, or leave out --modules\n"
	const cut = "btflite: stdin: tar: after entry 2: it is cut short\n"
	for _, c := range []struct {
		file, words    string
		pipe           bool
		status         int
		stdout, stderr string
	}{
		{"first", "", false, exitOK, alone, ""},
		{"first", "", true, exitOK, alone, ""},
		{"last", "", true, exitOK, alone, ""},
		{"first", "--modules", true, exitOK, both, ""},
		{"first", "--modules", false, exitOK, both, ""},
		{"last", "--modules", false, exitOK, both, ""},
		{"last", "--modules", true, exitUsage, strings.Replace(alone, "archived", "archived, modules of 1 kernel not done", 1), order},
		{"last", "--modules -q", true, exitUsage, "", order},
		{"vmlinux", "", false, exitOK, strings.ReplaceAll(alone, "debian/12", "debian/12"), ""},
		{"cut", "", true, exitTemporary, strings.Replace(alone, "archived", "archived, 1 package not done", 1), cut},
		{"cut", "--modules", true, exitTemporary, strings.Replace(alone, "archived", "archived, 1 package not done", 1), strings.Replace(cut, "after", "in", 1)},
		{"nothing", "", true, exitOK, "0 kernels archived, 1 package without kernels\n", "btflite: stdin: no kernel with DWARF or BTF in it (1 file looked at)\n"},
		{"vmlinux", "", true, exitUsage, "0 kernels archived, 1 package not done\n", "btflite: stdin: a stream has no size, which an ELF file needs; give the file by its name\n"},
		{"first", "-", false, exitTemporary, "debian/12/x86_64/6.99.0.btf: 1 type of 6.99.0 encoded\n1 kernel archived, 1 package not done\n", "btflite: -: standard input can be read only once\n"},
	} {
		dir := filepath.Join(t.TempDir(), "btf")
		cmd := command(t.TempDir(), "", append([]string{"archive", "--distro=debian/12", "-o", dir, "-"}, strings.Fields(c.words)...)...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		f, err := os.Open(filepath.Join(in, c.file))
		if err != nil {
			t.Fatal(err)
		}
		if cmd.Stdin = f; c.pipe {
			cmd.Stdin = io.MultiReader(f)
		}
		_ = cmd.Run()
		f.Close()
		if got := cmd.ProcessState.ExitCode(); got != c.status || out.String() != c.stdout || errs.String() != c.stderr {
			t.Errorf("%s %s, pipe %v: status %d, want %d: %q, %q, want %q, %q", c.file, c.words, c.pipe, got, c.status, out.String(), errs.String(), c.stdout, c.stderr)
		}
		if _, err := os.Stat(filepath.Join(dir, "packages")); err == nil {
			t.Errorf("%s: the standard input has a record", c.file)
		}
	}
}

// TestArchiveGone: BTF that somebody has deleted is made again by the same command, and until then index names it.
func TestArchiveGone(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	testfile.Write(t, filepath.Join(in, "a.tar"), archivetest.Tar(archivetest.Entry{Name: "vmlinux", Data: archivetest.Kernel("6.99.0")}))
	words := []string{"--distro=debian/12", "-o", out, filepath.Join(in, "a.tar")}
	first, _ := runArchive(t, exitOK, words...)
	const name = "debian/12/x86_64/6.99.0.btf"
	gone := filepath.Join(out, name)
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	if got, errs := runArchive(t, exitOK, "-o", out, "index"); got != "1 kernel in the index\n" || errs != "btflite: "+gone+": it is gone, and the index has it; archive its package again\n" {
		t.Errorf("%q, %q", got, errs)
	}
	if again, errs := runArchive(t, exitOK, words...); again != first || errs != "" {
		t.Errorf("%q, %q, first %q", again, errs, first)
	}
	if _, err := os.Stat(gone); err != nil {
		t.Error(err)
	}
	if last, errs := runArchive(t, exitOK, words...); last != "0 kernels archived, 1 done before\n" || errs != "" {
		t.Errorf("%q, %q", last, errs)
	}
}

// TestArchiveManyGone: of many files of BTF that are gone, or that cannot be opened, index names the first and counts the
// others.
func TestArchiveManyGone(t *testing.T) {
	const kernels = 25
	in, out := t.TempDir(), t.TempDir()
	words := []string{"-q", "--distro=debian/12", "-o", out}
	for i := range kernels {
		file := filepath.Join(in, fmt.Sprint(i, ".tar"))
		testfile.Write(t, file, archivetest.Tar(archivetest.Entry{Name: "vmlinux", Data: archivetest.Kernel(fmt.Sprint("6.", i, ".0"))}))
		words = append(words, file)
	}
	runArchive(t, exitOK, words...)
	for _, c := range []struct {
		spoil  func(name string) error
		status int
		last   string
	}{
		{func(string) error { return nil }, exitOK, "gone too: 15 files more of the index\n"},
		{func(name string) error { return os.Symlink(filepath.Base(name), name) }, exitTemporary, "not to be used either: 15 files more of the index\n"},
	} {
		for i := range kernels {
			name := filepath.Join(out, fmt.Sprintf("debian/12/x86_64/6.%d.0.btf", i))
			if err := errors.Join(os.Remove(name), c.spoil(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		got, errs := runArchive(t, c.status, "-o", out, "index")
		if got != "25 kernels in the index\n" || strings.Count(errs, "\n") != toldLost+1 || !strings.HasSuffix(errs, ": "+c.last) {
			t.Errorf("%q, %q", got, errs)
		}
	}
}

// TestIndexOfNoArchive: index and find refuse a folder that was never an archive, and leave an index.json there as it
// is. An archive without kernels, and a folder without anything, are fine.
func TestIndexOfNoArchive(t *testing.T) {
	const theirs = `{"of": "another program"}`
	tree(t, map[string]string{"web/index.json": theirs, "web/page": "", "new/packages/a.deb.json": "{}"})
	if err := os.Mkdir("empty", 0o700); err != nil {
		t.Fatal(err)
	}
	const want = "btflite: web: it is not an archive: it has neither records of kernels nor the folder packages\n"
	for _, words := range [][]string{{"index", "-o", "web"}, {"find", "-o", "web", "0123456789"}} {
		if out, errs := runArchive(t, exitFailure, words...); out != "" || errs != want {
			t.Errorf("%q: %q, %q", words, out, errs)
		}
	}
	if data := testfile.Read(t, "web/index.json"); string(data) != theirs {
		t.Errorf("the other program's file is %q", data)
	}
	for _, name := range []string{"new", "empty"} {
		if out, errs := runArchive(t, exitOK, "index", "-o", name); out != "0 kernels in the index\n" || errs != "" {
			t.Errorf("%s: %q, %q", name, out, errs)
		}
	}
}
