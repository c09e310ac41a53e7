package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// imageTree makes ROOT/lib/modules/RELEASE with modules as distributions install
// them, and their kernel in one of the places where it may be. It returns both
// folders.
func imageTree(t *testing.T, release, kernel string) (root, image string) {
	t.Helper()
	base := btftest.Build(t, nil, func(b *btftest.Builder) {
		b.Int("int", 4)
		b.Struct("module", 64, b.Member("state", 1, 0))
	})
	split := btftest.Build(t, base, func(b *btftest.Builder) {
		b.Struct("own", 4, b.Member("x", 1, 0))
	})
	root = t.TempDir()
	image = filepath.Join(root, "lib/modules", release)
	put := func(name string, data []byte) string {
		path := filepath.Join(root, name)
		testfile.Write(t, path, data)
		return path
	}
	elf := func(sections ...dt.Section) []byte {
		f := dt.File{Machine: 62, Type: 1, Sections: sections}
		return f.Bytes()
	}
	module := elf(dt.Section{Name: ".BTF", Data: split.Encode()},
		dt.Section{Name: ".modinfo", Data: []byte("license=GPL\x00vermagic=" + release + " SMP \x00")},
		dt.Section{Name: ".gnu.linkonce.this_module", Data: make([]byte, 64)})
	put("lib/modules/"+release+"/kernel/fs/a.ko", module)
	put("lib/modules/"+release+"/kernel/none.ko", elf(dt.Section{Name: ".text", Data: []byte{0x90}}))
	for _, program := range []string{"xz", "gzip", "zstd"} {
		path := put("lib/modules/"+release+"/kernel/fs/"+program+".ko", module)
		if _, err := exec.LookPath(program); err != nil {
			continue // the plain one stays
		}
		if out, err := exec.Command(program, path).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", program, err, out)
		}
		if program == "zstd" {
			os.Remove(path)
		}
	}
	put("lib/modules/"+release+"/detached/b.ko.btf", split.Encode())
	if kernel != "" {
		put(kernel, elf(dt.Section{Name: ".BTF", Data: base.Encode()},
			dt.Section{Name: ".rodata", Flags: 2, Data: []byte("Linux version " + release + " (a@b) 1\x00")}))
	}
	put("wrong", elf(dt.Section{Name: ".BTF", Data: base.Encode()},
		dt.Section{Name: ".rodata", Flags: 2, Data: []byte("Linux version 6.99.0 (a@b) 1\x00")}))
	return root, image
}

// TestVerifyImage: folders and installed modules, with the base in each place
// where it may be.
func TestVerifyImage(t *testing.T) {
	const release = "6.12.99-test"
	const sums = "6 files: 5 fine, 0 refused, 0 not readable, 1 without BTF\n"
	for _, kernel := range []string{
		"lib/modules/" + release + "/vmlinux", "lib/modules/" + release + "/build/vmlinux", "lib/modules/" + release + "/vmlinux.xz",
		"usr/lib/debug/boot/vmlinux-" + release, "usr/lib/debug/lib/modules/" + release + "/vmlinux", "boot/vmlinux-" + release,
	} {
		_, image := imageTree(t, release, kernel)
		for _, args := range [][]string{{"verify", image}, {"verify", "-j1", image + "/"}, {"verify", "--image=" + image}} {
			if stdout, stderr := btfliteRun(t, exitOK, args...); stdout != sums || stderr != "" {
				t.Errorf("%s, %q: %s%s", kernel, args, stdout, stderr)
			}
		}
		stdout, _ := btfliteRun(t, exitOK, "verify", filepath.Join(image, "kernel/fs/a.ko"))
		if !strings.Contains(stdout, "a.ko: fine: 1 type, ") {
			t.Error(stdout)
		}
	}
	// A build folder: vmlinux above the modules; and modules elsewhere, with --image.
	root, image := imageTree(t, release, "lib/vmlinux")
	if stdout, _ := btfliteRun(t, exitOK, "verify", image); stdout != sums {
		t.Error(stdout)
	}
	elsewhere := filepath.Join(t.TempDir(), "a.ko")
	data, err := os.ReadFile(filepath.Join(image, "kernel/fs/a.ko"))
	if err == nil {
		err = os.WriteFile(elsewhere, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	stdout, _ := btfliteRun(t, exitFailure, "verify", elsewhere)
	if !strings.HasSuffix(stdout, "; its base was not found: give --btf_base=VMLINUX or --image=/lib/modules/RELEASE\n") {
		t.Error(stdout)
	}
	if err := os.Rename(filepath.Join(root, "lib/vmlinux"), filepath.Join(image, "vmlinux")); err != nil {
		t.Fatal(err)
	}
	btfliteRun(t, exitOK, "verify", "--image="+image, elsewhere)
}

// TestVerifyFolderMessages: each fault of a folder is reported once.
func TestVerifyFolderMessages(t *testing.T) {
	root, image := imageTree(t, "6.12.99-test", "")
	stdout, stderr := btfliteRun(t, exitFailure, "verify", image)
	if n := strings.Count(stdout, "\n"); n != 2 || stderr != "" || !strings.HasSuffix(stdout,
		"6 files: 0 fine, 5 refused, 0 not readable, 1 without BTF; no base was found for 5: give --btf_base=VMLINUX or --image=/lib/modules/RELEASE\n") {
		t.Errorf("%s%s", stdout, stderr)
	}
	if _, stderr := btfliteRun(t, exitTrouble, "verify", t.TempDir()); !strings.Contains(stderr, ": no modules and no .btf files\n") {
		t.Error(stderr)
	}
	// No file has BTF, which is not a success.
	btfliteRun(t, exitTrouble, "verify", filepath.Join(image, "kernel/none.ko"))
	empty := t.TempDir()
	if err := os.Rename(filepath.Join(image, "kernel/none.ko"), filepath.Join(empty, "none.ko")); err != nil {
		t.Fatal(err)
	}
	if stdout, _ := btfliteRun(t, exitTrouble, "verify", empty, empty); stdout != "2 files: 0 fine, 0 refused, 0 not readable, 2 without BTF\n" {
		t.Error(stdout)
	}
	// A base of another kernel.
	stdout, _ = btfliteRun(t, exitOK, "verify", "--btf_base="+filepath.Join(root, "wrong"), image)
	if !strings.Contains(stdout, "a.ko: warning: built for 6.12.99-test, but the base "+filepath.Join(root, "wrong")+" is of 6.99.0\n") ||
		!strings.HasSuffix(stdout, "0 not readable; 4 over a base of another kernel\n") {
		t.Error(stdout)
	}
}

// TestVerifyJSON: one object, with a line for each file in order, whatever the
// number of workers.
func TestVerifyJSON(t *testing.T) {
	root, image := imageTree(t, "6.12.99-test", "boot/vmlinux-6.12.99-test")
	args := []string{"verify", "--json", "--kernel=5.10", image, filepath.Join(root, "missing")}
	one, _ := btfliteRun(t, exitTrouble, append(args, "-j1")...)
	many, _ := btfliteRun(t, exitTrouble, append(args, "-j7")...)
	if one != many {
		t.Errorf("%s\nand\n%s", one, many)
	}
	var got struct {
		Version       int
		Kernel, Level string
		Fine, Refused int
		Unreadable    int
		WithoutBTF    int `json:"without_btf"`
		Files         []verified
		Warnings      int
	}
	d := json.NewDecoder(bytes.NewReader([]byte(one)))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatalf("%v: %s", err, one)
	}
	if got.Version != 1 || got.Kernel != "5.10" || got.Level != "load" || got.Refused != 5 || got.Unreadable != 1 || got.WithoutBTF != 1 || len(got.Files) != 7 {
		t.Errorf("%+v", got)
	}
	for _, f := range got.Files {
		if f.Outcome == "refused" && (f.Fault == nil || f.Fault.Needs != "5.11" || !f.Fault.Boot || !strings.HasSuffix(f.Reason, "split BTF needs Linux 5.11")) {
			t.Errorf("%+v", f)
		}
		if (f.Outcome == "unreadable") != strings.Contains(f.Reason, "no such file") {
			t.Errorf("%+v", f)
		}
	}
	fine, _ := btfliteRun(t, exitOK, "verify", "--json", filepath.Join(image, "kernel/fs/a.ko"))
	if !strings.Contains(fine, `"verdict":"fine","types":1,`) || !strings.Contains(fine, `"since":"5.11","needs":"split BTF needs Linux 5.11"`) {
		t.Error(fine)
	}
}
