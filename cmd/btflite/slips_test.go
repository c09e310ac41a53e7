package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/internal/elfwrite"
	"github.com/btflite/btflite/test/testfile"
)

// slipFiles makes the files of the slips in dir.
func slipFiles(t *testing.T, dir string) {
	t.Helper()
	for name, from := range map[string]string{
		"vmlinux": "../../testdata/small/small", "vmlinux.btf": "../../testdata/small/small.btf",
		"-dash.btf": "../../testdata/small/small.btf", "--dash.btf": "../../testdata/small/small.btf",
		"split.btf": splitFiles + "x86.module.btf", "m.ko": splitFiles + "x86.module.o",
		"nodebug.o": splitFiles + "x86.base-btf.o", "nodebug.ko": splitFiles + "x86.base-btf.o", "packed.xz": splitFiles + "x86.base-btf.o.xz",
	} {
		testfile.Write(t, filepath.Join(dir, name), testfile.Read(t, from))
	}
	if err := elfwrite.Set(filepath.Join(dir, "nodebug.ko"), nil, nil, bytesSection(".modinfo", []byte("license=GPL"))); err != nil {
		t.Fatal(err)
	}
	bzImage := make([]byte, 0x400)
	copy(bzImage, "MZ")
	copy(bzImage[0x202:], "HdrS")
	uImage := append([]byte("\x27\x05\x19\x56"), make([]byte, 60)...)
	for name, data := range map[string][]byte{
		"bzImage": bzImage, "uImage": uImage, "lib.a": []byte("!<arch>\n"), "lto.o": []byte("BC\xc0\xde5"), "empty": nil, "text": []byte("no ELF file, just text"),
	} {
		testfile.Write(t, filepath.Join(dir, name), data)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "folder"), 0o755), os.Symlink("gone", filepath.Join(dir, "nowhere"))); err != nil {
		t.Fatal(err)
	}
}

// TestSlips: the most frequent mistakes, and the message for each: an error of one line
// that names the cure, and where to look for more. No input changes.
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
		{"btflite vmlinux", `nothing to do with vmlinux: -J adds BTF to it, --btf_encode_detached=OUT writes its BTF to OUT, btflite show vmlinux prints its types
Try 'btflite --help' for more information.`, 64},
		{"btflite vmlinux.btf", `nothing to do with vmlinux.btf, which is BTF; btflite show vmlinux.btf prints its types
Try 'btflite --help' for more information.`, 64},
		{"btflite btf", `unknown command "btf"; ` + onlyDump + `
Try 'btflite --help' for more information.`, 64},
		{"btflite manual list_head", `unknown command "list_head"
Try 'btflite --help' for more information.`, 64},
		{"btflite manual show dump", `manual takes the name of one command; 'dump' is too many
Try 'btflite manual --help' for more information.`, 64},
		{"btflite help show dump", `help takes the name of one command; 'dump' is too many
Try 'btflite help --help' for more information.`, 64},
		{"btflite show list_head, vmlinux.btf", `empty name
Try 'btflite show --help' for more information.`, 64},
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
		{"btflite -J --lang=rsut vmlinux", `option '--lang': unknown language "rsut"; did you mean "rust"?
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --dedup=fast vmlinux", `option '--dedup': unknown value 'fast'; use auto or stream or exact
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --memory_limit=lots vmlinux", `option '--memory_limit': 'lots' is not a size such as 64M or 1.5G
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --btf_encode_detached=out --btf_features=flaot,dec_tag,layout,inline,nonsense vmlinux", `warning: unknown names in --btf_features, ignored: "flaot" (did you mean "float"?), "dec_tag" (did you mean "decl_tag"?), "nonsense"`, 0},
		{"btflite -J --btf_encode_detached=out --expand_types -C task_struct vmlinux", `warning: no effect here, only for printing types: --expand_types, --class_name`, 0},
		{"btflite --extra_vars --btf_encode_detached=out vmlinux", `option '--extra_vars' requires an argument, but an option follows; if it is the argument, write --extra_vars=./--btf_encode_detached=out
Try 'btflite --help' for more information.`, 64},
		{"btflite --btf_encode_detached --verbose vmlinux", `option '--btf_encode_detached' requires an argument, but an option follows; if it is the argument, write --btf_encode_detached=./--verbose
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --btf_base", `option '--btf_base' requires an argument
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --btf_features=+distilled_base --extra_vars=out m.ko", `--extra_vars with the feature distilled_base: the types that it refers to have other ids in each kernel
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --btf_features=distilled_base m.ko", `the feature distilled_base needs a base; give --btf_base=BASE
Try 'btflite --help' for more information.`, 64},
		{"btflite -J vmlinx", `vmlinx: cannot open: no such file or directory`, 1},
		{"btflite -J vmlinux.btf", `vmlinux.btf: already BTF; give the file with DWARF that it was made from; btflite show, dump, funcs and verify read BTF`, 1},
		{"btflite -J bzImage", `bzImage: a boot image; the vmlinux that it was made of has DWARF; a build has it next to the image, a distribution in a debug package`, 1},
		{"btflite -J uImage", `uImage: a boot image; the vmlinux that it was made of has DWARF; a build has it next to the image, a distribution in a debug package`, 1},
		{"btflite -J lto.o", `lto.o: bitcode of LLVM, as clang -flto writes it; link it first: the linked file has DWARF`, 1},
		{"btflite -J lib.a", `lib.a: an archive; give its members (ar x lib.a unpacks them) or the linked file`, 1},
		{"btflite doctor empty", `empty: an empty file; the program that writes it may have failed`, 2},
		{"btflite dump -dash.btf", `invalid option -- 'd'; the file of that name is ./-dash.btf
Try 'btflite dump --help' for more information.`, 64},
		{"btflite diff vmlinux.btf --dash.btf", `unrecognized option '--dash.btf'; the file of that name is ./--dash.btf
Try 'btflite diff --help' for more information.`, 64},
		{"btflite -J -dash.btf", `invalid option -- '.'; the file of that name is ./-dash.btf
Try 'btflite --help' for more information.`, 64},
		{"btflite -- -dash.btf", `nothing to do with -dash.btf, which is BTF; btflite show ./-dash.btf prints its types
Try 'btflite --help' for more information.`, 64},
		{"btflite -C file:// vmlinux.btf", `option '--class_name': empty file name
Try 'btflite --help' for more information.`, 64},
		{"btflite show nowhere", `nowhere: cannot open: no such file or directory`, 1},
		{"btflite dump nowhere", `nowhere: cannot open: no such file or directory`, 1},
		{"btflite inline --at=0x401000 vmlinux", `vmlinux: its DWARF has no sites of inlined functions`, 1},
		{"btflite -J empty", `empty: an empty file; the program that writes it may have failed`, 1},
		{"btflite -J text", `text: ELF header+0x0: not an ELF file`, 1},
		{"btflite -J folder", `folder: a folder; give files, or for a folder of modules run btflite modules`, 1},
		{"btflite -J packed.xz", `packed.xz: is compressed by xz; unpack it first`, 1},
		{"btflite -J --btf_encode_detached=out nodebug.o", `nodebug.o: no DWARF debug information (.debug_info): nothing written; compile with -g, or take the file from before it was stripped, or from its debug package`, 0},
		{"btflite -J --btf_encode_detached=out nodebug.ko", `nodebug.ko: no DWARF debug information (.debug_info): nothing written; it was stripped, and the package linux-image-VERSION-dbg or kernel-debuginfo has the whole file, or it was built with CONFIG_DEBUG_INFO_NONE`, 0},
		{"btflite -J --strict --btf_encode_detached=out nodebug.ko", `nodebug.ko: no DWARF debug information (.debug_info): nothing written; it was stripped, and the package linux-image-VERSION-dbg or kernel-debuginfo has the whole file, or it was built with CONFIG_DEBUG_INFO_NONE`, 1},
		{"btflite -J --lang=rust --btf_encode_detached=out vmlinux", `vmlinux: all compile units are left out by their language or name: nothing written`, 0},
		{"btflite -q verfy", `verfy: cannot open: no such file or directory`, 1},
		{"btflite -q verify vmlinux.btf", `a command must be the first word: btflite verify OPTIONS
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --btf_encode_detached=vmlinux vmlinux", `vmlinux: the output is the input file vmlinux`, 1},
		{"btflite -J --btf_encode_detached=none/out vmlinux", `none/out: cannot write: no such file or directory`, 1},
		{"btflite -J --btf_encode_detached=folder vmlinux", `folder: cannot write: is a directory`, 1},
		{"btflite verify --hepl", `unrecognized option '--hepl'; did you mean --help?
Try 'btflite verify --help' for more information.`, 64},
		{"btflite verify", `no input file
Try 'btflite verify --help' for more information.`, 64},
		{"btflite verify bzImage", `bzImage: a boot image; extract-vmlinux of the kernel's scripts gets the vmlinux with .BTF out of it`, 2},
		{"btflite verify vmlinux", `vmlinux: no section .BTF; btflite -J --btf_encode_detached=OUT vmlinux makes it from the DWARF`, 2},
		{"btflite diff vmlinux.btf vmlinux", `vmlinux: no section .BTF; btflite -J --btf_encode_detached=OUT vmlinux makes it from the DWARF`, 2},
		{"btflite sort vmlinux out", `vmlinux: no section .BTF; btflite -J --btf_encode_detached=OUT vmlinux makes it from the DWARF`, 1},
		{"btflite lower --kernel=5.4 vmlinux out", `vmlinux: no section .BTF; btflite -J --btf_encode_detached=OUT vmlinux makes it from the DWARF`, 1},
		{"btflite dedup -o out vmlinux", `vmlinux: no section .BTF; btflite -J --btf_encode_detached=OUT vmlinux makes it from the DWARF`, 1},
		{"btflite flatten -o out vmlinux", `vmlinux: no section .BTF; btflite -J --btf_encode_detached=OUT vmlinux makes it from the DWARF`, 1},
		{"btflite -J --btf_base=vmlinux nodebug.ko", `vmlinux: no section .BTF; btflite -J --btf_encode_detached=OUT vmlinux makes it from the DWARF`, 1},
		{"btflite min --btf=vmlinux.btf -o out vmlinux", `vmlinux: no section .BTF; clang -g -target bpf writes it`, 1},
		{"btflite verify empty", `empty: an empty file; the program that writes it may have failed`, 2},
		{"btflite verify --kernel=linux vmlinux.btf", `option '--kernel': 'linux' is not a release such as 6.12 or 5.10.223
Try 'btflite verify --help' for more information.`, 64},
		{"btflite diff vmlinux.btf", `diff takes two files
Try 'btflite diff --help' for more information.`, 64},
		{"btflite diff split.btf split.btf", `split.btf: btf: strings: offset 0 is not the empty string, as in BTF split from a base that is missing here; BTF of a module needs --btf_base`, 2},
		{"btflite diff lib.a vmlinux.btf", `lib.a: an archive; give its members (ar x lib.a unpacks them) or the linked file`, 2},
		{"btflite dedup vmlinux.btf", `no output; give -o OUT
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
		{"btflite why main vmlinux.btf", `vmlinux.btf: already BTF; give the file with DWARF that it was made from; btflite show, dump, funcs and verify read BTF`, 1},
		{"btflite show --json list_head vmlinux.btf", `unrecognized option '--json'; btflite dump --json prints types as JSON
Try 'btflite show --help' for more information.`, 64},
		{"btflite show lits_head vmlinux.btf", `vmlinux.btf: no type lits_head; did you mean list_head?`, 1},
		{"pahole -C nothing,list_head vmlinux", `vmlinux: no type nothing`, 1},
		{"pahole -C list_head --prettify=nosuch vmlinux", `nosuch: cannot read: no such file or directory`, 1},
		{"pahole -C list_head(sizeof --prettify=vmlinux vmlinux", `--class_name: list_head(sizeof lacks a closing parenthesis
Try 'btflite --help' for more information.`, 64},
		{"pahole -C list_head --range=data --prettify=vmlinux vmlinux", `--range needs --header_type
Try 'btflite --help' for more information.`, 64},
		{"btflite list_head vmlinux", `unknown command "list_head"; to print a type of that name, run btflite show list_head vmlinux
Try 'btflite --help' for more information.`, 64},
		{"btflite lits_* vmlinux", `unknown command "lits_*"; to print a type of that name, run btflite show 'lits_*' vmlinux
Try 'btflite --help' for more information.`, 64},
		{"btflite merge a b -o out", `unknown command "merge"; did you mean "dedup"?
Try 'btflite --help' for more information.`, 64},
		{"btflite gen min_core_btf k.btf out prog.o", `unknown command "gen"; btflite min does what bpftool gen min_core_btf does; gen is a command of bpftool; btflite dump --format=c --for=PROG FILE prints the types that the BPF object PROG needs
Try 'btflite --help' for more information.`, 64},
		{"btflite minimize prog.o", `unknown command "minimize"; did you mean "min"?
Try 'btflite --help' for more information.`, 64},
		{"btflite info vmlinux", `unknown command "info"; btflite stats vmlinux says what is in its BTF, btflite verify vmlinux whether kernels take it, and btflite why NAME vmlinux why a function is or is not there
Try 'btflite --help' for more information.`, 64},
		{"btflite estimate vmlinux", `unknown command "estimate"; to measure an encoding of vmlinux and keep nothing, run btflite -J --stats --btf_encode_detached=/dev/null vmlinux
Try 'btflite --help' for more information.`, 64},
		{"btflite show vmlinux.btf list_head", `list_head: no such file; FILE must be the last word: btflite show list_head vmlinux.btf
Try 'btflite show --help' for more information.`, 64},
		{"btflite why vmlinux print walk", `walk: no such file; FILE must be the last word: btflite why print walk vmlinux
Try 'btflite why --help' for more information.`, 64},
		{"btflite inline vmlinux print", `print: no such file; FILE must be the last word: btflite inline print vmlinux
Try 'btflite inline --help' for more information.`, 64},
		{"btflite funcs print vmlinux", `print: no such file; a name is the argument of --function: btflite funcs --function=print vmlinux
Try 'btflite funcs --help' for more information.`, 64},
		{"btflite funcs vmlinux print", `print: no such file; a name is the argument of --function: btflite funcs --function=print vmlinux
Try 'btflite funcs --help' for more information.`, 64},
		{"btflite funcs print", `print: cannot open: no such file or directory; if it is a name, run btflite funcs --function=print`, 1},
		{"btflite dump list_head vmlinux", `list_head: no such file; a name is the argument of --name: btflite dump --name=list_head vmlinux
Try 'btflite dump --help' for more information.`, 64},
		{"btflite dump --format=c list_* vmlinux", `list_*: no such file; a name is the argument of --name: btflite dump '--name=list_*' vmlinux
Try 'btflite dump --help' for more information.`, 64},
		{"btflite diff list_head vmlinux vmlinux.btf", `list_head: no such file; a name is the argument of --name: btflite diff --name=list_head vmlinux vmlinux.btf
Try 'btflite diff --help' for more information.`, 64},
		{"btflite diff folder vmlinux.btf", `folder: a folder; diff compares two files, so give one of each folder at a time`, 2},
		{"btflite stats list_head vmlinux", `stats takes one file; to print types by their names, use btflite show NAME FILE
Try 'btflite stats --help' for more information.`, 64},
		{"btflite dump vmlinux format c", `format: no such file; write btflite dump --format=c vmlinux, or bpftool's words after btf dump
Try 'btflite dump --help' for more information.`, 64},
		{"btflite dump file vmlinux", `file: no such file; write btflite dump vmlinux, or bpftool's words after btf dump
Try 'btflite dump --help' for more information.`, 64},
		{"btflite btf dump id 3", `bpftool btf dump id reads BTF that is loaded in the kernel, which btflite does not; ` + onlyDump + `
Try 'btflite dump --help' for more information.`, 64},
		{"btflite btf dump vmlinux", `'vmlinux' is not a word of bpftool btf dump; ` + onlyDump + `
Try 'btflite dump --help' for more information.`, 64},
		{"btflite btf show", `bpftool btf show is not btflite's; ` + onlyDump + `
Try 'btflite dump --help' for more information.`, 64},
		{"btflite btf dump file", `'file' lacks what should follow it
Try 'btflite dump --help' for more information.`, 64},
		{"btflite btf dump file vmlinux format d", `option '--format': unknown value 'd'; use raw or c or json
Try 'btflite dump --help' for more information.`, 64},
		{"btflite -B vmlinux btf dump file", `'file' lacks what should follow it
Try 'btflite dump --help' for more information.`, 64},
		{"bpftool gen min_core_btf k.btf out prog.o", `gen min_core_btf is a command of bpftool; btflite min does the same: btflite min --btf=KERNEL -o OUT PROGRAM...
Try 'btflite dump --help' for more information.`, 64},
		{"pahole -F ctf vmlinux.btf", `option '--format_path': 'ctf': btflite reads no CTF: use btf or dwarf
Try 'btflite --help' for more information.`, 64},
		{"btflite funcs -F ctf vmlinux.btf", `option '--format_path': 'ctf': btflite reads no CTF: use btf or dwarf
Try 'btflite funcs --help' for more information.`, 64},
		{"bpftool prog list", `bpftool prog list is not btflite's; ` + onlyDump + `
Try 'btflite dump --help' for more information.`, 64},
		{"bpftool", `bpftool is not btflite's; ` + onlyDump + `
Try 'btflite dump --help' for more information.`, 64},
		{"bpftool -d btf dump file vmlinux", `option '-d' is not an option of bpftool that btflite has; ` + onlyDump + `
Try 'btflite dump --help' for more information.`, 64},
		{"bpftool btf dump file vmlinux -B", `option '-B' requires an argument
Try 'btflite dump --help' for more information.`, 64},
		{"pfunct -l vmlinux", `option '--decl_info': only pfunct has this option: BTF lacks what it prints; btflite why NAME FILE says where a function is defined
Try 'btflite funcs --help' for more information.`, 64},
		{"pfunct -PT vmlinux", `option '--variables': only pfunct has this option: BTF lacks what it prints
Try 'btflite funcs --help' for more information.`, 64},
		{"pfunct -f prnit vmlinux", `vmlinux: no function "prnit"; did you mean print?`, 1},
		{"pahole vmlinux list_head", `list_head: no such file; FILE must be the last word: btflite show list_head vmlinux
Try 'btflite --help' for more information.`, 64},
		{"pahole vmlinux vmlinux.btf", `vmlinux and vmlinux.btf: types of one file are printed at a time
Try 'btflite --help' for more information.`, 64},
		{"btflite -J --btf_encode_detached s5", `no input file; 's5' was taken as the argument of '--btf_encode_detached'
Try 'btflite --help' for more information.`, 64},
		{"btflite modules --btf_base vmlinux.btf", `no input file; 'vmlinux.btf' was taken as the argument of '--btf_base'
Try 'btflite modules --help' for more information.`, 64},
		{"btflite diff --btf_base vmlinux.btf split.btf", `diff takes two files; 'vmlinux.btf' was taken as the argument of '--btf_base'
Try 'btflite diff --help' for more information.`, 64},
		{"btflite -B vmlinux dump m.ko", `option '--bit_holes': 'vmlinux' is not a number; the base of split BTF is --btf_base=vmlinux
Try 'btflite --help' for more information.`, 64},
		{"btflite dump -B vmlinux m.ko", `invalid option -- 'B'; did you mean --btf_base=BASE?
Try 'btflite dump --help' for more information.`, 64},
		{"btflite verify --base vmlinux m.ko", `unrecognized option '--base'; did you mean --btf_base=BASE?
Try 'btflite verify --help' for more information.`, 64},
		{"btflite verify --base-btf=vmlinux m.ko", `unrecognized option '--base-btf=vmlinux'; did you mean --btf_base=BASE?
Try 'btflite verify --help' for more information.`, 64},
		{"btflite dump -C list_head vmlinux", `invalid option -- 'C'; did you mean --name=GLOB?
Try 'btflite dump --help' for more information.`, 64},
		{"btflite show --name=list_head vmlinux", `unrecognized option '--name=list_head'; did you mean --class_name=LIST?
Try 'btflite show --help' for more information.`, 64},
		{"btflite -J --output=out vmlinux", `unrecognized option '--output=out'; did you mean --btf_encode_detached=OUT?
Try 'btflite --help' for more information.`, 64},
		{"btflite dump --name=lits_head vmlinux.btf", `vmlinux.btf: no type has a name that fits lits_head; did you mean list_head?`, 1},
		{"btflite show --contains_enumerator=GREENE vmlinux.btf", `vmlinux.btf: no enumerator GREENE; did you mean GREEN?`, 1},
		{"btflite funcs --class=lits_head vmlinux", `vmlinux: no struct lits_head; did you mean list_head?`, 1},
		{"btflite funcs --takes=nosuchtype vmlinux", `vmlinux: no type nosuchtype`, 1},
		{"btflite -J -j-1 vmlinux", `option '--jobs': '-1' is not a number of workers
Try 'btflite --help' for more information.`, 64},
		{"btflite verify -j-1 vmlinux.btf", `option '--jobs': '-1' is not a number of workers
Try 'btflite verify --help' for more information.`, 64},
		{"pahole -c many vmlinux", `option '--cacheline_size': 'many' is not a number of bytes from 1 to 1048576
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
		if e.Type().IsRegular() {
			b.Write(testfile.Read(t, filepath.Join(dir, e.Name())))
		}
	}
	return b.String()
}

// TestNothingIsIgnored: an option that a command line would ignore is an error.
func TestNothingIsIgnored(t *testing.T) {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, ".config"), "CONFIG_BPF=y\n")
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{[]string{"modules", "--btf_base=x", "-F", "ctf", "x.ko"}, "option '--format_path': 'ctf' has no 'dwarf' in it"},
		{[]string{"-J", "-F", "btf", "x"}, "option '--format_path': 'btf' has no 'dwarf' in it"},
		{[]string{"archive", "index", "-o", dir, "--modules"}, "--modules is not for archive index"},
		{[]string{"archive", "find", "--existing=copy", "-o", dir}, "--existing is not for archive find"},
		{[]string{"archive", "index", "-q", "--shard=0/2", "-o", dir}, "--shard is not for archive index"},
		{[]string{"cc", ""}, "which compiler?"},
		{[]string{"-C", "node", "--debug_dir=" + dir, smallFile}, "--debug_dir is for encoding"},
		{[]string{"--stats=json", "--holes=1", smallFile}, "--stats is for encoding"},
		{[]string{"-C", "node", "--extra_vars=x", "--sort", smallFile}, "--extra_vars is for encoding"},
		{[]string{"funcs", "--json", "--sizes", smallFile}, "--json and --params exclude the options that print a number"},
		{[]string{"funcs", "-N", "--params", smallFile}, "--json and --params exclude the options that print a number"},
		{[]string{"funcs", "--compile", "--json", smallFile}, "print C, and exclude --json and --params"},
		{[]string{"doctor", "--btf_base=" + smallFile + ".btf", dir}, "--btf_base is for a file with split BTF, and " + dir + " is a kernel tree"},
		{[]string{"show", "--format=html", "--prettify=" + smallFile, "node", smallFile}, "leave out the options for lists, enums and data"},
	} {
		stdout, stderr := btfliteRun(t, exitUsage, tt.words...)
		if stdout != "" || !strings.Contains(stderr, tt.want) || !strings.Contains(stderr, "\nTry 'btflite") {
			t.Errorf("%q: %q", tt.words, stderr)
		}
	}
	c, _, _ := testCLI(t)
	main := newMain(c, newEncodeCommand())
	for _, name := range onlyEncoding {
		if f := main.Flags().Lookup(name); f == nil || optionOf(f).heading == groupCompat {
			t.Errorf("--%s is not an option of btflite's own", name)
		}
	}
}
