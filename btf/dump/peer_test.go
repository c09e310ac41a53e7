package dump_test

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/btflite/btflite"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/dump"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// form is a way to print types, by bpftool and by this package.
type form struct {
	name  string
	args  []string // after "btf dump file FILE"
	flags []string // before it
	print func(*bytes.Buffer, *btf.Blob) error
}

var forms = []form{
	{"raw", []string{"format", "raw"}, nil, func(w *bytes.Buffer, b *btf.Blob) error { return dump.Raw(w, b, nil) }},
	{"c", []string{"format", "c"}, nil, func(w *bytes.Buffer, b *btf.Blob) error {
		var o dump.COptions
		o.LoseFirst()
		return dump.C(w, b, o)
	}},
	{"c unsorted", []string{"format", "c", "unsorted"}, nil, func(w *bytes.Buffer, b *btf.Blob) error {
		return dump.C(w, b, dump.COptions{Unsorted: true})
	}},
	{"-j", nil, []string{"-j"}, func(w *bytes.Buffer, b *btf.Blob) error { return dump.JSON(w, b, nil, dump.Compact) }},
	{"-p", nil, []string{"-p"}, func(w *bytes.Buffer, b *btf.Blob) error { return dump.JSON(w, b, nil, dump.Pretty) }},
}

// wide finds enumerators of 32 bits without a sign that bpftool's JSON extends by
// their highest bit.
var wide = regexp.MustCompile(`"val": ?1844674407\d{10}`)

// mended is bpftool's output with 32-bit enumerators corrected.
func mended(text []byte) []byte {
	if !bytes.Contains(text, []byte("1844674407")) {
		return text
	}
	return wide.ReplaceAllFunc(text, func(m []byte) []byte {
		key, number, _ := bytes.Cut(m, []byte("1844674407"))
		n, err := strconv.ParseUint("1844674407"+string(number), 10, 64)
		if err != nil || n < 1<<64-1<<31 {
			return m
		}
		return strconv.AppendUint(key, n&0xffffffff, 10)
	})
}

// compare compares the output of bpftool and of f for a file. b was read from it.
func compare(bpftool, path, basePath string, b *btf.Blob, f form) error {
	args := append([]string{}, f.flags...)
	if basePath != "" {
		args = append(args, "-B", basePath)
	}
	args = append(append(args, "btf", "dump", "file", path), f.args...)
	want, err := exec.Command(bpftool, args...).Output()
	if err != nil {
		return fmt.Errorf("bpftool: %w", err)
	}
	var got bytes.Buffer
	if err := f.print(&got, b); err != nil {
		return err
	}
	ours := got.Bytes()
	if len(f.flags) > 0 {
		want, ours = mended(want), mended(ours)
	}
	if bytes.Equal(ours, want) {
		return nil
	}
	i := 0
	for i < len(ours) && i < len(want) && ours[i] == want[i] {
		i++
	}
	from := max(0, i-200)
	return fmt.Errorf("from byte %d of %d and %d:\n%s\n----- bpftool:\n%s", i, len(ours), len(want),
		ours[from:min(i+200, len(ours))], want[from:min(i+200, len(want))])
}

// TestSmallAgainstBpftool: the files of testdata come out as bpftool prints them.
func TestSmallAgainstBpftool(t *testing.T) {
	tool := corpus.Need(t, "bpftool")
	dir := "../../testdata/"
	for _, tt := range []struct{ file, base string }{{"small/small.btf", ""}, {"inputs/c11.btf", ""}, {"split/x86.base.btf", ""}, {"split/s390x.base.btf", ""},
		{"split/x86.module.btf", "split/x86.base.btf"}, {"split/s390x.module.btf", "split/s390x.base.btf"},
		{"split/x86.distilled.btf", "split/x86.distilled.base.btf"}} {
		var base *btf.Blob
		basePath := ""
		if tt.base != "" {
			base, basePath = btftest.Read(t, dir+tt.base, nil), dir+tt.base
		}
		b := btftest.Read(t, dir+tt.file, base)
		for _, f := range forms {
			if err := compare(tool, dir+tt.file, basePath, b, f); err != nil {
				t.Errorf("%s %s: %v", tt.file, f.name, err)
			}
		}
	}
}

// TestLargeGapsAgainstBpftool: gaps of megabytes come out as bpftool prints them.
func TestLargeGapsAgainstBpftool(t *testing.T) {
	tool := corpus.Need(t, "bpftool")
	for _, size := range []uint32{1, 64, 4 << 10, 12<<20 + 3} {
		b := withGap(t, size)
		path := testfile.New(t, "gap", b.Encode())
		for _, f := range forms[1:3] {
			if err := compare(tool, path, "", b, f); err != nil {
				t.Errorf("gap of %d bytes, %s: %v", size, f.name, err)
			}
		}
	}
}

// TestGoldenAgainstBpftool: the output of compilers for machines of all kinds, with DWARF
// 4 and 5, is printed as bpftool prints it.
func TestGoldenAgainstBpftool(t *testing.T) {
	tool := corpus.Need(t, "bpftool")
	files, err := filepath.Glob("../../encode/testdata/golden/*.default.btf")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		b := btftest.Read(t, path, nil)
		for _, f := range forms {
			if err := compare(tool, path, "", b, f); err != nil {
				t.Errorf("%s %s: %v", filepath.Base(path), f.name, err)
			}
		}
	}
}

// TestCompiledAgainstBpftool does the same for C with odd layouts and declarations, for
// machines of both byte orders and pointer sizes.
func TestCompiledAgainstBpftool(t *testing.T) {
	tool := corpus.Need(t, "bpftool")
	for _, cc := range []string{"gcc", "gcc -m32", "clang", "clang -m32", "clang --target=mips", "clang --target=bpf",
		"clang --target=armv6-linux-gnueabi", "clang --target=powerpc64le-linux-gnu", "clang --target=riscv64", "aarch64-linux-gnu-gcc", "s390x-linux-gnu-gcc", "arm-linux-gnueabihf-gcc"} {
		words := strings.Fields(cc)
		if _, err := exec.LookPath(words[0]); err != nil {
			t.Logf("left out: no %s", cc)
			continue
		}
		object := filepath.Join(t.TempDir(), "o")
		args := append(words[1:], "-g", "-gdwarf-4", "-O1", "-std=gnu11", "-ffreestanding", "-w", "-c", "-o", object+".o", "testdata/types.c")
		if out, err := exec.Command(words[0], args...).CombinedOutput(); err != nil {
			t.Logf("left out: %s: %v: %.200s", cc, err, out)
			continue
		}
		r, err := btflite.Encode(context.Background(), btflite.Paths(object+".o"), btflite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		testfile.Write(t, object, r.BTF)
		r.Close()
		b := btftest.Read(t, object, nil)
		if !strings.HasSuffix(cc, "mips") && !strings.HasSuffix(cc, "bpf") { // which have no such size of long here
			compileStrict(t, cc, b, object)
		}
		for _, f := range forms {
			if err := compare(tool, object, "", b, f); err != nil {
				t.Errorf("%s %s: %v", cc, f.name, err)
			}
		}
	}
}

// compilersFor are the compilers for the machine of a kernel of the corpus.
func compilersFor(kernel string) []string {
	_, machine, _ := strings.Cut(kernel, "-")
	return map[string][]string{
		"amd64":    {"gcc", "clang", "gcc-16"},
		"arm64":    {"aarch64-linux-gnu-gcc", "clang --target=aarch64"},
		"armel":    {"clang --target=armv6-linux-gnueabi"},
		"armmp":    {"arm-linux-gnueabihf-gcc", "clang --target=armv7-linux-gnueabihf"},
		"i386":     {"gcc -m32", "clang -m32"},
		"loong64":  {"loongarch64-linux-gnu-gcc", "clang-19 --target=loongarch64"},
		"mips64el": {"mips64el-linux-gnuabi64-gcc", "clang --target=mips64el-linux-gnuabi64"},
		"mipsel":   {"mipsel-linux-gnu-gcc", "clang --target=mipsel-linux-gnu"},
		"ppc64el":  {"powerpc64le-linux-gnu-gcc", "clang --target=powerpc64le-linux-gnu"},
		"riscv64":  {"riscv64-linux-gnu-gcc", "clang --target=riscv64"},
		"s390x":    {"s390x-linux-gnu-gcc", "clang --target=s390x"},
	}[machine]
}

// compileStrict compiles the strict header of types, with an assertion for the size
// of each struct and the offset of each member.
func compileStrict(t *testing.T, cc string, b *btf.Blob, name string) {
	t.Helper()
	words := strings.Fields(cc)
	if _, err := exec.LookPath(words[0]); err != nil {
		t.Logf("left out: no %s", cc)
		return
	}
	o := dump.COptions{Strict: true}
	o.Asserts()
	var text bytes.Buffer
	if err := dump.C(&text, b, o); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	lost, err := dump.Lost(b)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	asserts := bytes.Count(text.Bytes(), []byte("_Static_assert"))
	file := name + ".c"
	testfile.Write(t, file, text.Bytes())
	for _, standard := range standards[:3] {
		args := append(slices.Clone(words[1:]), "-std="+standard, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", file)
		if out, err := exec.Command(words[0], args...).CombinedOutput(); err != nil {
			t.Errorf("%s: %s -std=%s: %v: %.2000s", name, cc, standard, err, out)
		}
	}
	t.Logf("%s: %s: %d assertions hold, %d members left out", filepath.Base(name), cc, asserts, lost)
}

// TestKernelsAgainstBpftool compares all types of kernels, if CI is true and the corpus
// is there.
func TestKernelsAgainstBpftool(t *testing.T) {
	if os.Getenv("CI") != "true" {
		t.Skip("CI is not true")
	}
	tool := corpus.Need(t, "bpftool")
	for _, name := range corpus.Names(t) {
		path := filepath.Join(t.TempDir(), name)
		encodeTo(t, filepath.Join(corpus.Dir(), name), path)
		b := btftest.Read(t, path, nil)
		eachAtOnce(forms, func(f form) {
			if err := compare(tool, path, "", b, f); err != nil {
				t.Errorf("%s %s: %v", name, f.name, err)
			}
		})
		for _, cc := range compilersFor(name) {
			compileStrict(t, cc, b, filepath.Join(t.TempDir(), "strict"))
		}
		t.Logf("%s: as bpftool", name)
	}
}

// TestShippedModules compares the types of modules as a distribution installs them, over those
// of their kernel, if CI is true and the corpus has any.
func TestShippedModules(t *testing.T) {
	if os.Getenv("CI") != "true" {
		t.Skip("CI is not true")
	}
	tool := corpus.Need(t, "bpftool")
	for _, name := range corpus.Names(t) {
		modules := modulesOf(filepath.Join(corpus.Dir(), "shipped-modules", name))
		if len(modules) == 0 {
			t.Logf("left out: no shipped-modules/%s", name)
			continue
		}
		path := filepath.Join(t.TempDir(), name)
		base := sectionTo(t, filepath.Join(corpus.Dir(), name), path, nil)
		eachAtOnce(modules, func(m string) {
			split := filepath.Join(t.TempDir(), "m")
			b := sectionTo(t, m, split, base)
			for _, f := range forms {
				// C has all of the base each time: for every fifth module, unless all are wanted.
				if f.args != nil && f.args[1] == "c" && slices.Index(modules, m)%5 != 0 && os.Getenv("BTFLITE_ALL_C") == "" {
					continue
				}
				if err := compare(tool, split, path, b, f); err != nil {
					t.Errorf("%s %s: %v", m, f.name, err)
				}
			}
		})
		t.Logf("%s: %d modules are as bpftool", name, len(modules))
	}
}

// sectionTo writes the .BTF of an ELF file, which is split over base if that is not nil, to
// another file, and reads it.
func sectionTo(t *testing.T, in, out string, base *btf.Blob) *btf.Blob {
	f, err := elf.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := f.Section(".BTF").Data()
	if err == nil {
		err = os.WriteFile(out, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return btftest.Read(t, out, base)
}

// encodeTo encodes a file into another one.
func encodeTo(t *testing.T, in, out string) {
	r, err := btflite.Encode(context.Background(), btflite.Paths(in), btflite.Options{AllowRefused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	testfile.Write(t, out, r.BTF)
}

// modulesOf are the modules in a folder.
func modulesOf(dir string) []string {
	modules, _ := filepath.Glob(filepath.Join(dir, "*.ko"))
	return modules
}

// eachAtOnce calls do for all of list, two at a time.
func eachAtOnce[T any](list []T, do func(T)) {
	var wait sync.WaitGroup
	next := make(chan T)
	for range 2 {
		wait.Go(func() {
			for x := range next {
				do(x)
			}
		})
	}
	for _, x := range list {
		next <- x
	}
	close(next)
	wait.Wait()
}
