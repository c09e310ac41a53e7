package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/internal/elfwrite"
)

// slipFiles makes the files of the slips in dir.
func slipFiles(t *testing.T, dir string) {
	t.Helper()
	for name, from := range map[string]string{
		"vmlinux": "../../testdata/small/small", "vmlinux.btf": "../../testdata/small/small.btf",
		"split.btf": splitFiles + "x86.module.btf", "m.ko": splitFiles + "x86.module.o",
		"nodebug.o": splitFiles + "x86.base-btf.o", "nodebug.ko": splitFiles + "x86.base-btf.o", "packed.xz": splitFiles + "x86.base-btf.o.xz",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), mustRead(t, from), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := elfwrite.Set(filepath.Join(dir, "nodebug.ko"), bytesSection(".modinfo", []byte("license=GPL"))); err != nil {
		t.Fatal(err)
	}
	bzImage := make([]byte, 0x400)
	copy(bzImage, "MZ")
	copy(bzImage[0x202:], "HdrS")
	uImage := append([]byte("\x27\x05\x19\x56"), make([]byte, 60)...)
	for name, data := range map[string][]byte{
		"bzImage": bzImage, "uImage": uImage, "lib.a": []byte("!<arch>\n"), "empty": nil, "text": []byte("no ELF file, just text"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestSlips: the mistakes that people make most, and what they are told: an
// error of one line that names the cure, and where to look for more. No input
// changes.
func TestSlips(t *testing.T) {
	dir := t.TempDir()
	slipFiles(t, dir)
	before := contents(t, dir)
	t.Chdir(dir)
	t.Setenv("PATH", dir)
	for _, tt := range []struct {
		line, want string
		status     int
	}{
		{"btflite verfy vmlinux.btf", `unknown command "verfy"; did you mean "verify"?
Try 'btflite --help' for more information.`, 64},
		{"btflite dif vmlinux vmlinux.btf", `unknown command "dif"; did you mean "diff"?
Try 'btflite --help' for more information.`, 64},
		{"btflite encode vmlinux", `unknown command "encode"; to add BTF to vmlinux, run btflite -J vmlinux
Try 'btflite --help' for more information.`, 64},
		{"btflite print vmlinux.btf", `unknown command "print"; to print the types of vmlinux.btf, run btflite show vmlinux.btf or btflite dump vmlinux.btf
Try 'btflite --help' for more information.`, 64},
		{"btflite merge vmlinux.btf", `unknown command "merge"; did you mean "dedup"?
Try 'btflite --help' for more information.`, 64},
		{"btflite -J verfy", `verfy: cannot open: no such file or directory`, 1},
		{"btflite help verfy", `unknown command "verfy"; did you mean "verify"?
Try 'btflite --help' for more information.`, 64},
		{"btflite vmlinux", `nothing to do with vmlinux: -J adds BTF to it, --btf_encode_detached=OUT writes its BTF to OUT
Try 'btflite --help' for more information.`, 64},
		{"btflite -J", `no input file
Try 'btflite --help' for more information.`, 64},
		{"btflite -J -j 4 vmlinux", `4: no such file, and '-j 4' has a space too many; did you mean -j4?
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --jobs 4 vmlinux", `4: no such file, and '--jobs 4' has a space too many; did you mean --jobs=4?
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --stats json vmlinux", `json: no such file, and '--stats json' has a space too many; did you mean --stats=json?
Try 'btflite --help' for more information.`, 64},
		{"btflite -J -o out vmlinux", `invalid option -- 'o'; did you mean --btf_encode_detached=OUT?
Try 'btflite --help' for more information.`, 64},
		{"btflite -J -v vmlinux", `invalid option -- 'v'; did you mean -V?
Try 'btflite --help' for more information.`, 64},
		{"btflite -btf_encode vmlinux", `invalid option -- 'b'; did you mean --btf_encode?
Try 'btflite --help' for more information.`, 64},
		{"btflite --btf_encode_detatched=out vmlinux", `unrecognized option '--btf_encode_detatched=out'; did you mean --btf_encode_detached?
Try 'btflite --help' for more information.`, 64},
		{"btflite --btf-encode-detached=out vmlinux", `unrecognized option '--btf-encode-detached=out'; did you mean --btf_encode_detached?
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --btf_enc vmlinux", `option '--btf_enc' is ambiguous; possibilities: '--btf_encode' '--btf_encode_detached' '--btf_encode_force'
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --lang_exlude=rust vmlinux", `unrecognized option '--lang_exlude=rust'; did you mean --lang_exclude?
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --lang=rsut vmlinux", `unknown language "rsut"; did you mean "rust"?`, 1},
		{"btflite -J --dedup=fast vmlinux", `option '--dedup': unknown value 'fast'; use stream or exact
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --memory_limit=lots vmlinux", `option '--memory_limit': 'lots' is not a size such as 64M or 1.5G
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --btf_encode_detached=out --btf_features=flaot,dec_tag,layout,inline,nonsense vmlinux", `warning: unknown in --btf_features, left out: "flaot" (did you mean "float"?), "dec_tag" (did you mean "decl_tag"?), "nonsense"`, 0},
		{"btflite -J --btf_encode_detached=out --expand_types -C task_struct vmlinux", `warning: only for printing types, without effect here: --expand_types, --class_name`, 0},
		{"btflite --extra_vars --btf_encode_detached=out vmlinux", `option '--extra_vars' requires an argument, and what follows is an option; if it is the argument, write --extra_vars=./--btf_encode_detached=out
Try 'btflite --help' for more information.`, 64},
		{"btflite --btf_encode_detached --verbose vmlinux", `option '--btf_encode_detached' requires an argument, and what follows is an option; if it is the argument, write --btf_encode_detached=./--verbose
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --btf_base", `option '--btf_base' requires an argument
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --btf_features=+distilled_base --extra_vars=out m.ko", `--extra_vars: with distilled_base the module's types have other ids in each kernel
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --btf_features=distilled_base m.ko", `the feature distilled_base needs a base; give --btf_base=BASE`, 1},
		{"btflite -J vmlinx", `vmlinx: cannot open: no such file or directory`, 1},
		{"btflite -J vmlinux.btf", `vmlinux.btf: already BTF; use btflite verify, diff, sort or dedup`, 1},
		{"btflite -J bzImage", `bzImage: a boot image; the vmlinux that it was made of has DWARF; it is beside the image in a build, else in a debug package`, 1},
		{"btflite -J uImage", `uImage: a boot image; the vmlinux that it was made of has DWARF; it is beside the image in a build, else in a debug package`, 1},
		{"btflite -J lib.a", `lib.a: an archive; give its members (ar x lib.a unpacks them) or the linked file`, 1},
		{"btflite -J empty", `empty: an empty file; what was to write it may have failed`, 1},
		{"btflite -J text", `text: ELF header+0x0: not an ELF file`, 1},
		{"btflite -J folder", `folder: a folder; give files, or for a folder of modules run btflite modules`, 1},
		{"btflite -J packed.xz", `packed.xz: is compressed by xz; unpack it first`, 1},
		{"btflite -J --btf_encode_detached=out nodebug.o", `nodebug.o: no DWARF debug information (.debug_info): nothing written; compile with -g, or take the file from before it was stripped, or from its debug package`, 0},
		{"btflite -J --btf_encode_detached=out nodebug.ko", `nodebug.ko: no DWARF debug information (.debug_info): nothing written; it was stripped, and the package linux-image-VERSION-dbg or kernel-debuginfo has the whole file, or it was built with CONFIG_DEBUG_INFO_NONE`, 0},
		{"btflite -J --strict --btf_encode_detached=out nodebug.ko", `nodebug.ko: no DWARF debug information (.debug_info): nothing written; it was stripped, and the package linux-image-VERSION-dbg or kernel-debuginfo has the whole file, or it was built with CONFIG_DEBUG_INFO_NONE`, 1},
		{"btflite -J --lang=rust --btf_encode_detached=out vmlinux", `vmlinux: all compile units are left out by their language or name: nothing written`, 0},
		{"btflite -q verfy", `verfy: cannot open: no such file or directory`, 1},
		{"btflite -q verify vmlinux.btf", `a command is the first word: btflite verify OPTIONS
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --btf_encode_detached=vmlinux vmlinux", `vmlinux: the output is the input file vmlinux`, 1},
		{"btflite -J --btf_encode_detached=none/out vmlinux", `none/out: cannot write: no such file or directory`, 1},
		{"btflite -J --btf_encode_detached=folder vmlinux", `folder: cannot write: is a directory`, 1},
		{"btflite verify --hepl", `unrecognized option '--hepl'; did you mean --help?
Try 'btflite verify --help' for more information.`, 64},
		{"btflite verify", `no input file
Try 'btflite verify --help' for more information.`, 64},
		{"btflite verify bzImage", `bzImage: a boot image; extract-vmlinux of the kernel's scripts gets the vmlinux with .BTF out of it`, 2},
		{"btflite verify vmlinux", `vmlinux: no section .BTF`, 2},
		{"btflite verify empty", `empty: an empty file; what was to write it may have failed`, 2},
		{"btflite verify --kernel=linux vmlinux.btf", `option '--kernel': 'linux' is no release such as 6.12 or 5.10.223
Try 'btflite verify --help' for more information.`, 64},
		{"btflite diff vmlinux.btf", `diff takes two files
Try 'btflite diff --help' for more information.`, 2},
		{"btflite diff split.btf split.btf", `split.btf: btf: strings: offset 0 is not the empty string, as in BTF split from a base that is missing here; BTF of a module needs --btf_base`, 2},
		{"btflite diff lib.a vmlinux.btf", `lib.a: an archive; give its members (ar x lib.a unpacks them) or the linked file`, 2},
		{"btflite dedup vmlinux.btf", `no output file; give -o OUT
Try 'btflite dedup --help' for more information.`, 64},
		{"btflite dedup -o out split.btf", `split.btf: btf: strings: offset 0 is not the empty string, as in BTF split from a base that is missing here; BTF of a module needs --btf_base`, 1},
		{"btflite dedup -o vmlinux.btf vmlinux.btf", `vmlinux.btf: the output is the input file vmlinux.btf`, 1},
		{"btflite sort vmlinux.btf", `sort takes the names of an input and an output file
Try 'btflite sort --help' for more information.`, 64},
		{"btflite sort split.btf out", `split.btf: btf: strings: offset 0 is not the empty string, as in BTF split from a base that is missing here; BTF of a module needs --btf_base`, 1},
		{"btflite sort --btf_sort=size vmlinux.btf out", `option '--btf_sort': unknown value 'size'; use canonical or name
Try 'btflite sort --help' for more information.`, 64},
		{"btflite modules m.ko", `no base; give --btf_base=BASE
Try 'btflite modules --help' for more information.`, 64},
		{"btflite modules --btf_base=vmlinux.btf", `no input file
Try 'btflite modules --help' for more information.`, 64},
		{"btflite modules --btf_base=split.btf m.ko", `split.btf: btf: strings: offset 0 is not the empty string, as in BTF split from a base that is missing here; BTF of a module needs --btf_base`, 1},
		{"btflite completion tcsh", `completion takes the name of a shell: bash, zsh, fish, powershell
Try 'btflite completion --help' for more information.`, 64},
		{"btflite manual verfy", `unknown command "verfy"; did you mean "verify"?
Try 'btflite --help' for more information.`, 64},
		{"btflite version --all", `unrecognized option '--all'
Try 'btflite version --help' for more information.`, 64},
		{"btflite -J -F btf vmlinux", `option '--format_path': 'btf' has no 'dwarf' in it; BTF is encoded from DWARF; to merge BTF use btflite dedup
Try 'btflite --help' for more information.`, 64},
		{"btflite show lits_head vmlinux.btf", `vmlinux.btf: no type lits_head; did you mean list_head?`, 1},
		{"pahole -C nothing,list_head vmlinux", `vmlinux: no type nothing`, 1},
		{"pahole -C list_head --prettify=nosuch vmlinux", `nosuch: cannot read: no such file or directory`, 1},
		{"pahole -C list_head(sizeof --prettify=vmlinux vmlinux", `--class_name: list_head(sizeof lacks a closing parenthesis
Try 'btflite --help' for more information.`, 64},
		{"pahole -C list_head --range=data --prettify=vmlinux vmlinux", `--range needs --header_type
Try 'btflite --help' for more information.`, 64},
		{"pahole -c many vmlinux", `option '--cacheline_size': 'many' is no number of bytes from 1 to 1048576
Try 'btflite --help' for more information.`, 64},
	} {
		var stdout, stderr bytes.Buffer
		args := strings.Fields(tt.line)
		c := newCLI(&stdout, &stderr, func(string) (string, bool) { return "", false })
		c.calledAs = args[0]
		if got := c.run(args[1:]); got != tt.status {
			t.Errorf("%s: status %d, want %d", tt.line, got, tt.status)
		}
		want := ""
		for line := range strings.Lines(tt.want) {
			want += strings.Replace("btflite: "+line, "btflite: Try ", "Try ", 1)
		}
		if got := stderr.String(); got != want+"\n" {
			t.Errorf("%s: (-want +got)\n%s", tt.line, cmp.Diff(want, got))
		}
		os.Remove("out")
		if after := contents(t, dir); after != before {
			t.Fatalf("%s has changed a file", tt.line)
		}
	}
}

// contents is all that is in the files of dir.
func contents(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.Name() + "\n")
		if !e.IsDir() {
			b.Write(mustRead(t, filepath.Join(dir, e.Name())))
		}
	}
	return b.String()
}
