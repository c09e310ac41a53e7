package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// readerLine is a command line that reads BTF of others. Of its words, FILE stands for that
// BTF, GOOD for what it was before the damage, OUT and MORE for files to be written, ELF for
// an object with DWARF, COPY for one that is written into, IMAGE for a folder with FILE as
// vmlinux and a module, and MODULES for a folder with COPY. Where FILE is split, its base is
// added.
type readerLine struct {
	words  string
	writes written
	silent bool // status 0 may be all that it says
}

// written says what a command line writes.
type written int

const (
	noBTF    written = iota
	sameBase         // OUT has BTF over the base of FILE
	overFile         // OUT has BTF over FILE, and MORE what is over that
	intoCopy         // COPY has sections
)

func reads(words string) readerLine { return readerLine{words: words} }

// readerLines are the command lines of the campaign of readers. TestReaderLines says which
// are missing.
var readerLines = []readerLine{
	reads("dump FILE"), {"dump -q FILE", noBTF, true}, reads("dump --color=always FILE"), reads("dump --color=always --format=c FILE"), reads("dump --color=never FILE"), reads("dump --color=auto FILE"), reads("dump --format=raw FILE"), reads("dump --format=c FILE GOOD"), reads("dump --format=c FILE"), reads("dump --format=c --unsorted FILE"),
	reads("dump --strict-c FILE"), reads("dump --strict-c --unsorted FILE"), reads("dump -j FILE"), reads("dump -p FILE"), reads("dump --format=json FILE"), reads("dump --json-lines FILE"),
	reads("dump --name=* --strict-c FILE"), reads("dump --name=* FILE"), reads("dump --name=user --format=c FILE"), reads("dump --id=2 FILE"),
	reads("dump --id=2 --format=c FILE"), reads("dump --for=PROG FILE"), reads("dump --for=FILE GOOD"), reads("dump --for=PROG --strict-c FILE"),

	{"funcs FILE", noBTF, true}, {"funcs -f * FILE", noBTF, true}, {"funcs -P FILE", noBTF, true}, {"funcs --all FILE", noBTF, true}, {"funcs --all --no_parm_names FILE", noBTF, true},
	{"funcs --params FILE", noBTF, true}, {"funcs --params --json FILE", noBTF, true}, {"funcs --takes=list_head FILE", noBTF, true}, {"funcs --takes=user FILE", noBTF, true},
	{"funcs --class=list_head -E FILE", noBTF, true}, {"funcs --addr=0x1000 FILE", noBTF, true}, {"funcs --with_base FILE", noBTF, true}, {"funcs --nr_parms FILE", noBTF, true},
	{"funcs --sizes FILE", noBTF, true}, {"funcs --function_name_len FILE", noBTF, true}, {"funcs --verbose FILE", noBTF, true}, {"funcs --compile FILE", noBTF, true},
	{"funcs --expand_types -f * FILE", noBTF, true}, {"funcs --json --with_base FILE", noBTF, true}, {"funcs --format_path=btf,dwarf FILE", noBTF, true},

	reads("stats FILE"), reads("stats --json FILE"), reads("stats --format=json FILE"), reads("stats --format=svg FILE"), reads("stats --format=text --top=3 FILE"),

	{"show FILE", noBTF, true}, {"show -E FILE", noBTF, true}, {"show -p FILE", noBTF, true}, {"show --format=html FILE", noBTF, true}, {"show --format=text --hex --sort FILE", noBTF, true},
	{"show --format=svg user FILE", noBTF, true}, {"show --format=html * FILE", noBTF, true}, {"show --compile FILE", noBTF, true}, {"show --compile * FILE", noBTF, true},
	{"show --reorganize * FILE", noBTF, true}, {"show --reorganize --show_reorg_steps -C * FILE", noBTF, true}, {"show --packable FILE", noBTF, true}, {"show -s FILE", noBTF, true},
	{"show -n FILE", noBTF, true}, {"show -N FILE", noBTF, true}, {"show -T FILE", noBTF, true}, {"show -m FILE", noBTF, true}, {"show -u FILE", noBTF, true}, {"show -I FILE", noBTF, true},
	{"show -i list_head FILE", noBTF, true}, {"show -d -i list_head FILE", noBTF, true}, {"show -V -i list_head FILE", noBTF, true}, {"show -f user FILE", noBTF, true}, {"show -f list_head FILE", noBTF, true},
	{"show --contains_enumerator=V FILE", noBTF, true}, {"show -a FILE", noBTF, true}, {"show -a -A -s FILE", noBTF, true}, {"show -l FILE", noBTF, true}, {"show -r -E FILE", noBTF, true},
	{"show --with_base -s -t , FILE", noBTF, true}, {"show --structs -H 1 FILE", noBTF, true}, {"show --unions -B 1 FILE", noBTF, true}, {"show -z 1 FILE", noBTF, true},
	{"show --padding_ge=1 --packed FILE", noBTF, true}, {"show --with_flexible_array FILE", noBTF, true}, {"show --with_embedded_flexible_array FILE", noBTF, true},
	{"show -y u -x n FILE", noBTF, true}, {"show --word_size=8 FILE", noBTF, true}, {"show --decl_exclude=/usr FILE", noBTF, true}, {"show --skip_missing -C nosuch,int FILE", noBTF, true},
	{"show -F btf,dwarf FILE", noBTF, true}, {"show -c 32 FILE", noBTF, true}, {"show --flat_arrays FILE", noBTF, true}, {"show --suppress_aligned_attribute --suppress_packed FILE", noBTF, true},
	{"show --show_only_data_members FILE", noBTF, true}, {"show --show_private_classes FILE", noBTF, true}, {"show --first_obj_only FILE", noBTF, true}, {"show --classes_as_structs FILE", noBTF, true},
	{"show --suppress_force_paddings --compile FILE", noBTF, true}, {"show --skip_emitting_atomic_typedefs --compile FILE", noBTF, true}, {"show --kabi_prefix=n FILE", noBTF, true},
	{"show --color=always FILE", noBTF, true}, {"show --color=never -E * FILE", noBTF, true}, {"show --color=auto user FILE", noBTF, true},
	{"show --lang=c FILE", noBTF, true}, {"show --lang_exclude=rust --cu_exclude=x FILE", noBTF, true},
	{"show --prettify=FILE --class_name=user FILE", noBTF, true}, {"show --prettify=GOOD -C user --header_type=user --range=m FILE", noBTF, true},
	{"show --prettify=GOOD -C user --seek_bytes=4 --size_bytes=200 --skip=1 --count=2 FILE", noBTF, true},

	reads("inline called FILE"), reads("inline --json inlined FILE"), reads("inline called inlined FILE"), reads("inline --at=.text+16 FILE"), reads("inline --elf=ELF called FILE"),

	{"diff FILE GOOD", noBTF, true}, {"diff GOOD FILE", noBTF, true}, {"diff FILE FILE", noBTF, true}, {"diff --color=always FILE GOOD", noBTF, true}, {"diff --color=never GOOD FILE", noBTF, true}, {"diff --color=auto GOOD FILE", noBTF, true}, {"diff --format=text --summary FILE GOOD", noBTF, true}, {"diff --no-summary GOOD FILE", noBTF, true},
	reads("diff --format=json FILE GOOD"), reads("diff --json GOOD FILE"), {"diff --format=markdown FILE GOOD", noBTF, true}, reads("diff --format=html FILE GOOD"), {"diff --abi FILE GOOD", noBTF, true},
	{"diff --name=*r* FILE GOOD", noBTF, true}, {"diff --structs --unions --enums FILE GOOD", noBTF, true}, {"diff --typedefs --ints --floats FILE GOOD", noBTF, true},
	{"diff --functions --variables --sections FILE GOOD", noBTF, true}, {"diff --btf_base_b=FILE GOOD GOOD", noBTF, true},

	reads("verify FILE"), reads("verify -V --boot FILE"), reads("verify --kernel=5.15 FILE"), reads("verify --no-dups --json FILE"), reads("verify --jobs=2 FILE"), reads("verify --image=IMAGE FILE"),
	reads("verify --image=IMAGE"), reads("verify --btf_base=FILE GOOD"),

	reads("doctor FILE"), reads("doctor --json FILE"), reads("doctor --btf_base=FILE GOOD"),

	reads("why main FILE"), reads("why use FILE"), reads("fullcircle --cc=CC FILE"), reads("fullcircle --cc=CC --keep=OUT FILE"),

	{"sort FILE OUT", sameBase, true}, {"sort --btf_sort=name FILE OUT", sameBase, true}, {"sort --btf_sort=canonical --verify=refuse FILE OUT", sameBase, true}, {"sort --verify=warn FILE OUT", sameBase, true},
	{"lower --kernel=5.15 FILE OUT", sameBase, true}, {"lower --for=reader --enum64=union --kernel=5.12 FILE OUT", sameBase, true}, {"lower --for=kernel --enum64=cut --verify=refuse --kernel=6.1 FILE OUT", sameBase, true},
	{"lower --kernel=7.1 --verify=warn FILE OUT", sameBase, true},
	{"dedup -o OUT FILE", sameBase, true}, {"dedup --dedup=exact -o OUT FILE", sameBase, true}, {"dedup --dedup=stream --verify=refuse -o OUT FILE GOOD", sameBase, true}, {"dedup -o OUT GOOD FILE FILE", sameBase, true},
	{"dedup --dedup=exact -o OUT GOOD FILE", sameBase, true}, {"dedup --verify=warn -o OUT FILE GOOD", sameBase, true},

	{"flatten -o OUT FILE", noBTF, true}, {"flatten -o OUT GOOD FILE", noBTF, true}, {"flatten --origin=MORE -o OUT FILE", noBTF, true},
	{"min --btf=FILE -o OUT PROG", noBTF, true}, {"min --btf=GOOD -o OUT FILE", noBTF, true}, {"min --btf=FILE --per_program --report=MORE -o IMAGE PROG", noBTF, true},

	{"-C user FILE", noBTF, true}, {"--sizes FILE", noBTF, true}, {"--expand_types FILE", noBTF, true}, // as pahole
	{"-J --btf_encode_detached=OUT FILE", sameBase, true}, {"-J --btf_base=FILE --btf_encode_detached=OUT ELF", overFile, true}, {"-J --btf_base=FILE --verify=warn --btf_encode_detached=OUT ELF", overFile, true},
	{"-J --btf_base=FILE --dedup=exact --btf_encode_detached=OUT ELF", overFile, true}, {"-J --btf_base=FILE --btf_sort=name --btf_encode_detached=OUT ELF", overFile, true},
	{"-J --btf_base=FILE --btf_sort=canonical --btf_encode_detached=OUT ELF", overFile, true}, {"-J --btf_base=FILE --extra_vars=MORE --btf_encode_detached=OUT ELF", overFile, true},
	{"-J --btf_base=FILE --inline=MORE --btf_encode_detached=OUT ELF", overFile, true}, {"-J --btf_base=FILE --btf_features=all --btf_encode_detached=OUT ELF", overFile, true},
	{"-J --btf_base=FILE --dedup=stream --verify=refuse COPY", intoCopy, true}, {"-J --btf_base=FILE --dedup=auto COPY", intoCopy, true}, {"-J --btf_base=FILE --btf_features=default,distilled_base --btf_sort COPY", intoCopy, true},
	{"modules --btf_base=FILE --dedup=stream --verify=refuse MODULES", intoCopy, true}, {"modules --btf_base=FILE --dedup=auto --btf_sort=name MODULES", intoCopy, true},
	{"modules --btf_base=FILE --verify=warn --dedup=exact --btf_sort=canonical --full_sizes MODULES", intoCopy, true},
	{"modules --btf_base=FILE --btf_features=default,distilled_base MODULES", intoCopy, true},
	{"modules --btf_base=FILE --extra_vars --inline MODULES", intoCopy, true},
	{"-J --btf_base=FILE --target_kernel=6.1 --btf_encode_detached=OUT ELF", overFile, true}, {"modules --btf_base=FILE --target_kernel=6.1 MODULES", intoCopy, true},
}

// notRead are commands and options that the lines need not have, and why.
var notRead = map[string]string{
	"archive": "reads packages", "cc": "compiles", "completion": "reads no file", "help": "reads no file", "manual": "reads no file", "version": "reads no file",
	"--help": "reads no file", "--quiet": "leaves out lines on standard error", "--btf_base": "given where FILE is split",
	"--memory_limit":    "another limit than the campaign's",
	"btflite --version": "reads no file", "btflite --numeric_version": "reads no file", "btflite --devel_version": "reads no file", "btflite --supported_btf_features": "reads no file",
	"btflite --jobs": "reads DWARF", "modules --jobs": "reads DWARF", "btflite --debug_dir": "reads DWARF", "modules --debug_dir": "reads DWARF",
	"btflite --verbose": "prints DWARF", "btflite --stats": "counts", "modules --stats": "counts", "btflite --report": "counts", "btflite --strict": "judges files with DWARF",
	"modules --strict": "judges files with DWARF", "btflite --running_kernel_vmlinux": "reads the running kernel's", "modules --running_kernel_vmlinux": "reads the running kernel's",
	"modules --btf_encode_detached_dir": "the same BTF in other files",
}

// encodes are options of the main command and of modules that say what becomes of DWARF.
var encodes = []string{"btf_compat", "btf_features_strict", "kabi_prefix", "fixup_silly_bitfields", "lang", "lang_exclude", "cu_exclude", "btf_gen_all", "btf_encode_force",
	"btf_gen_floats", "btf_gen_optimized", "btf_attributes", "reproducible_build", "skip_encoding_btf_vars", "skip_encoding_btf_decl_tag", "skip_encoding_btf_type_tag",
	"skip_encoding_btf_enum64", "skip_encoding_btf_inconsistent_proto", "format_path", "hashbits", "ptr_table_stats"}

// TestReaderLines: the campaign of readers has each command that reads BTF, with each of its
// options, and with each word that an option takes.
func TestReaderLines(t *testing.T) {
	used := map[string]bool{}
	for _, line := range readerLines {
		words := strings.Fields(line.words)
		c, _, _ := testCLI(t)
		cmd := newMain(c, newEncodeCommand())
		if entry, ok := commandCalled(words[0]); ok {
			cmd, words = entry.under(newRoot(c), c), words[1:]
		}
		words, err := argp(cmd, words)
		if err != nil {
			t.Errorf("%s: %v", line.words, err)
		}
		for _, word := range words {
			if word == "--" {
				break
			}
			name, _, _ := strings.Cut(word, "=")
			used[cmd.Name()+" "+name], used[cmd.Name()+" "+word] = true, true
		}
		used[cmd.Name()] = true
	}
	spared := map[string]bool{}
	need := func(what, short string) {
		switch {
		case notRead[what] != "" || notRead[short] != "":
			spared[what], spared[short] = true, true
			if used[what] && notRead[short] == "" {
				t.Errorf("%s is in a line and in notRead", what)
			}
		case !used[what]:
			t.Errorf("no line of readerLines has %s", what)
		}
	}
	c, _, _ := testCLI(t)
	root := wholeTree(c)
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		need(cmd.Name(), "")
		if notRead[cmd.Name()] != "" {
			continue
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			name := cmd.Name() + " --" + f.Name
			if f.Hidden || (cmd == root || cmd.Name() == "modules") && slices.Contains(encodes, f.Name) {
				return
			}
			need(name, "--"+f.Name)
			for _, word := range optionOf(f).words {
				if notRead[name] == "" {
					need(name+"="+word, "")
				}
			}
		})
	}
	for what := range notRead {
		if !spared[what] {
			t.Errorf("notRead has %s, which is not there", what)
		}
	}
}
