package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// TestVerifyCommand: verdicts, their lines and the status.
func TestVerifyCommand(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, data []byte) {
		testfile.Write(t, filepath.Join(dir, name), data)
	}
	raw := func(base *btf.Blob, build func(b *btftest.Builder)) []byte {
		return btftest.Build(t, base, build).Encode()
	}
	num := btf.Info(btf.KindInt, 0, false)
	st := func(vlen uint32) uint32 { return btf.Info(btf.KindStruct, vlen, false) }
	put("good", raw(nil, func(b *btftest.Builder) { b.Add("int", num, 4, 1<<24|32) }))
	put("blank", raw(nil, func(b *btftest.Builder) { b.Add("a b", st(0), 0) }))
	put("past", raw(nil, func(b *btftest.Builder) {
		b.Add("int", num, 4, 1<<24|32)
		b.Add("s", st(1), 4, b.Str("m"), 1, 8)
	}))
	put("tag", raw(nil, func(b *btftest.Builder) {
		b.Const(2)
		b.TypeTag("t", 0)
	}))
	put("enum64", raw(nil, func(b *btftest.Builder) { b.Enum64("x") }))
	put("twice", raw(nil, func(b *btftest.Builder) {
		b.Add("int", num, 4, 1<<24|32)
		b.Add("s", st(1), 8, b.Str("m"), 3, 0)
		b.Ptr(1)
		b.Add("s", st(1), 8, b.Str("m"), 5, 0)
		b.Ptr(6)
		b.Typedef("t", 0)
		b.Typedef("t", 0)
	}))
	base, err := btfFiles.Load(filepath.Join(dir, "good"), nil)
	if err != nil {
		t.Fatal(err)
	}
	put("split", raw(base, func(b *btftest.Builder) { b.Ptr(1) }))
	put("text", []byte("text, no BTF"))
	put("empty", nil)
	put("cut", raw(nil, func(b *btftest.Builder) { b.Add("int", num, 4, 1<<24|32) })[:30])

	for _, c := range []struct {
		args           string
		status         int
		stdout, stderr string
	}{
		{"good", 0, "good: fine: 1 type, 45 bytes\n", ""},
		{"good good", 0, "2 files: 2 fine, 0 refused, 0 not readable\n", ""},
		{"-V good blank", 1, "good: fine: 1 type, 45 bytes\n" + `blank: refused: type [1] STRUCT "a b": name is not a C identifier` + "\n2 files: 1 fine, 1 refused, 0 not readable\n", ""},
		{"past", 1, `past: refused by BPF_BTF_LOAD, though not at boot: type [2] STRUCT "s": member 0 "m": ends at bit 40, behind its 4 bytes` + "\n", ""},
		{"--boot past", 0, "past: fine: 2 types, 73 bytes\n", ""},
		{"tag", 0, "tag: fine: 2 types, 51 bytes; type [1] CONST (anon): a TYPE_TAG behind another modifier needs Linux 7.2\n", ""},
		{"--kernel=6.12.1 tag", 1, "tag: refused for 6.12.1: type [1] CONST (anon): a TYPE_TAG behind another modifier needs Linux 7.2\n", ""},
		{"--kernel=6.12.1 blank", 1, `blank: refused for 6.12.1: type [1] STRUCT "a b": name is not a C identifier` + "\n", ""},
		{"--kernel=5.10.0-32-amd64 enum64", 1, `enum64: refused for 5.10: type [1] ENUM64 "x" needs Linux 6.0` + "\n", ""},
		{"--kernel=6.0 enum64", 0, "enum64: fine: 1 type, 39 bytes\n", ""},
		{"--kernel=7.2 tag", 0, "tag: fine: 2 types, 51 bytes\n", ""},
		{"--kernel=new tag", 64, "", "btflite: option '--kernel': 'new' is not a release such as 6.12 or 5.10.223\nTry 'btflite verify --help' for more information.\n"},
		{"--kernel=4.4 tag", 64, "", "btflite: option '--kernel': '4.4' is not a release that is known; known are 5.2 to 7.2\nTry 'btflite verify --help' for more information.\n"},
		{"twice", 0, "twice: fine: 7 types, 147 bytes\n", ""},
		{"--no-dups twice", 1, `twice: STRUCT "s" has 2 definitions: [2 4]
    [2], [4]: "m": refers to: INT "int", TYPEDEF "t"
twice: TYPEDEF "t" has 2 definitions: [6 7]
twice: 2 names with several definitions
`, ""},
		{"split", 1, "split: refused: strings: empty section; its base was not found: give --btf_base=VMLINUX or --image=/lib/modules/RELEASE\n", ""},
		{"--btf_base=good split", 0, "split: fine: 1 type, 36 bytes; split BTF needs Linux 5.11\n", ""},
		{"--btf_base=none split", 2, "", "btflite: none: cannot open: no such file or directory\n"},
		{"text", 2, "", "btflite: text: it is neither an ELF file nor BTF, and begins with 74 65\n"},
		{"empty good none", 2, "3 files: 1 fine, 0 refused, 2 not readable\n",
			"btflite: empty: an empty file; the program that writes it may have failed\nbtflite: none: cannot open: no such file or directory\n"},
		{"cut", 1, "cut: refused: header: string section 16+5 does not end with the data, at 6\n", ""},
		{"", 64, "", "btflite: no input file\nTry 'btflite verify --help' for more information.\n"},
	} {
		t.Chdir(dir)
		var stdout, stderr bytes.Buffer
		status := newCLI(&stdout, &stderr, os.LookupEnv).run(append([]string{"verify"}, strings.Fields(c.args)...))
		if status != c.status || stdout.String() != c.stdout || stderr.String() != c.stderr {
			t.Errorf("%q: status %d, want %d\nstdout %q\nwant   %q\nstderr %q\nwant   %q", c.args,
				status, c.status, &stdout, c.stdout, &stderr, c.stderr)
		}
	}
}

// TestVerifyELF: the section of an ELF file, alone and with its own base, as
// it is and compressed; and distilled split BTF whose base is cut off.
func TestVerifyELF(t *testing.T) {
	const split = "../../testdata/split/"
	for _, c := range []struct {
		args   []string
		status int
		stdout string
	}{
		{[]string{split + "x86.base-btf.o"}, 0, "fine: "},
		{[]string{split + "s390x.base-btf.o"}, 0, "fine: "},
		{[]string{split + "x86.base-btf.o.xz"}, 0, "fine: "},
		{[]string{"--btf_base=" + split + "x86.base.btf", split + "x86.module.btf"}, 0, "fine: "},
		{[]string{"--btf_base=" + split + "s390x.distilled.base.btf", split + "s390x.distilled.btf"}, 0, "fine: "},
		{[]string{"--btf_base=" + split + "s390x.base.btf", split + "x86.module.btf"}, 1, "byte order differs from the base's"},
		{[]string{split + "x86.module.btf"}, 1, "refused: strings: the first is not empty"},
		{[]string{"--btf_base=" + split + "x86.base.btf", "--btf_base=" + split + "x86.module.btf", split + "x86.upper.btf"}, 0, "fine: "},
		{[]string{"--btf_base=" + split + "x86.base.btf", split + "x86.upper.btf"}, 1, "goes beyond"},
		{[]string{"--btf_base=" + split + "x86.base.btf", split + "x86.base.btf"}, 1, "refused: btf: it is whole by itself"},
		{[]string{"--btf_base=" + split + "x86.base.btf", "--btf_base=" + split + "s390x.module.btf", split + "x86.upper.btf"}, 2, ""},
	} {
		var stdout, stderr bytes.Buffer
		status := newCLI(&stdout, &stderr, os.LookupEnv).run(append([]string{"verify"}, c.args...))
		if status != c.status || !strings.Contains(stdout.String(), c.stdout) {
			t.Errorf("%q: status %d, %q, %q", c.args, status, &stdout, &stderr)
		}
	}
}
