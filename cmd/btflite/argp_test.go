package main

import (
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/btflite/btflite/encode"
)

// parsed holds the options of a command line: of the encode command, and the memory limit.
type parsed struct {
	*encodeCommand
	memory uint64
}

// parse takes the options of a command line.
func parse(args ...string) (p parsed, files []string, err error) {
	c := newCLI(io.Discard, io.Discard, os.LookupEnv)
	e := newEncodeCommand()
	root := newMain(c, e)
	root.RunE = func(_ *cobra.Command, words []string) error { files = words; return nil }
	words, err := argp(root, args)
	if err == nil {
		root.SetArgs(words)
		err = root.Execute()
	}
	return parsed{e, c.memory}, files, err
}

func TestCommandLine(t *testing.T) {
	const cpus = 8
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cpus))
	tests := []struct {
		name  string
		args  string
		check func(parsed) bool
		files []string
	}{
		{"short", "-J f", func(c parsed) bool { return c.encode && !c.hasOut }, []string{"f"}},
		{"long", "--btf_encode f", func(c parsed) bool { return c.encode }, []string{"f"}},
		{"cluster", "-JV f", func(c parsed) bool { return c.encode && c.verbose }, []string{"f"}},
		{"cluster with argument", "-JVj4 f", func(c parsed) bool { return c.opt.Encode.Jobs == 4 && c.verbose }, []string{"f"}},
		{"options after files", "f -J g -V", func(c parsed) bool { return c.encode && c.verbose }, []string{"f", "g"}},
		{"double dash", "-J -- -V --help", func(c parsed) bool { return !c.verbose }, []string{"-V", "--help"}},
		{"single dash is a file", "-J -", func(c parsed) bool { return c.encode }, []string{"-"}},
		{"detached implies encode", "--btf_encode_detached=o f", func(c parsed) bool { return c.encode && c.detached == "o" }, []string{"f"}},
		{"required argument in next word", "--btf_encode_detached o f", func(c parsed) bool { return c.detached == "o" }, []string{"f"}},
		{"attached argument may look like an option", "--btf_encode_detached=-J f", func(c parsed) bool { return c.detached == "-J" }, []string{"f"}},
		{"argument with a dash that is no option", "--kabi_prefix -9 f", func(c parsed) bool { return c.opt.Encode.NamePrefix == "-9" }, []string{"f"}},
		{"standard output as an argument", "--btf_encode_detached - f", func(c parsed) bool { return c.detached == "-" }, []string{"f"}},
		{"no -j is one worker", "-J f", func(c parsed) bool { return c.opt.Encode.Jobs == 1 }, []string{"f"}},
		{"bare -j", "-j -J f", func(c parsed) bool { return c.opt.Encode.Jobs == cpus && c.bareJobs }, []string{"f"}},
		{"the last -j counts", "-j -J -j3 f", func(c parsed) bool { return c.opt.Encode.Jobs == 3 && !c.bareJobs }, []string{"f"}},
		{"memory limit", "--memory_limit=64M f", func(c parsed) bool { return c.memory == 64<<20 }, []string{"f"}},
		{"bare --jobs", "--jobs -J f", func(c parsed) bool { return c.opt.Encode.Jobs == cpus }, []string{"f"}},
		{"optional argument is attached only", "-J -j x", func(c parsed) bool { return c.opt.Encode.Jobs == cpus }, []string{"x"}},
		{"--jobs=4", "--jobs=4", func(c parsed) bool { return c.opt.Encode.Jobs == 4 }, nil},
		{"-j0 is one worker", "-j0", func(c parsed) bool { return c.opt.Encode.Jobs == 1 }, nil},
		{"-j of one for each CPU", "-j8", func(c parsed) bool { return c.opt.Encode.Jobs == cpus && !c.bareJobs }, nil},
		{"-j of more", "-j9", func(c parsed) bool { return c.opt.Encode.Jobs == cpus && !c.bareJobs }, nil},
		{"huge -j", "-j99999999999999999999", func(c parsed) bool { return c.opt.Encode.Jobs == cpus }, nil},
		{"abbreviation", "--verb", func(c parsed) bool { return c.verbose }, nil},
		{"abbreviation with value", "--jo=3", func(c parsed) bool { return c.opt.Encode.Jobs == 3 }, nil},
		{"exact name that begins others", "--btf_features=var", func(c parsed) bool { return c.opt.Encode.Features == encode.Var }, nil},
		{"alias", "--features=var", func(c parsed) bool { return c.opt.Encode.Features == encode.Var }, nil},
		{"stats", "--stats", func(c parsed) bool { return c.stats == statsText }, nil},
		{"stats as json", "--stats=json", func(c parsed) bool { return c.stats == statsJSON }, nil},
		{"exact dedup", "--dedup=exact", func(c parsed) bool { return c.opt.Encode.Dedup == encode.DedupExact }, nil},
		{"last dedup counts", "--dedup=exact --dedup=stream", func(c parsed) bool { return c.opt.Encode.Dedup != encode.DedupExact }, nil},
		{"unit limit", "--cu_limit=7", func(c parsed) bool { return c.opt.Encode.CULimit == 7 }, nil},
		{"version", "--version", func(c parsed) bool { return c.show == paholeVersion }, nil},
		{"-V is not version", "-V", func(c parsed) bool { return c.show == "" && c.verbose }, nil},
		{"units by name", "-Xkernel/", func(c parsed) bool { return c.opt.Encode.CUExclude == "kernel/" }, nil},
		{"prefix", "--kabi_prefix rh", func(c parsed) bool { return c.opt.Encode.NamePrefix == "rh" }, nil},
		{"whole bit-fields", "--fixup", func(c parsed) bool { return c.opt.Encode.WholeBitfields }, nil},
		{"formats", "-F btf,dwarf", func(c parsed) bool { return len(c.printing) == 0 }, nil},
		{"of printing", "-E --class_name foo -c 32", func(c parsed) bool { return len(c.printing) == 3 }, nil},
		{"devel version", "--devel_version", func(c parsed) bool { return c.show != "" }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, files, err := parse(strings.Fields(tt.args)...)
			if err != nil {
				t.Fatal(err)
			}
			if !tt.check(c) {
				t.Errorf("%s: unexpected configuration %+v", tt.args, c)
			}
			if !slices.Equal(files, tt.files) {
				t.Errorf("files %q, want %q", files, tt.files)
			}
		})
	}
}

func TestCommandLineErrors(t *testing.T) {
	tests := []struct{ args, want string }{
		{"--bogus", "unrecognized option '--bogus'"},
		{"--btf_feature=var,x", "option '--btf_feature=var,x' is ambiguous; possibilities: '--btf_features' '--btf_features_strict'"},
		{"--btf-encode", "unrecognized option '--btf-encode'; did you mean --btf_encode?"},
		{"--btf_encode_detatched=x", "unrecognized option '--btf_encode_detatched=x'; did you mean --btf_encode_detached?"},
		{"--lang_exlude=rust", "unrecognized option '--lang_exlude=rust'; did you mean --lang_exclude?"},
		{"--btf_enc", "option '--btf_enc' is ambiguous; possibilities: '--btf_encode' '--btf_encode_detached' '--btf_encode_force'"},
		{"--lang", "option '--lang' requires an argument"},
		{"--version=3", "option '--version' doesn't allow an argument"},
		{"-Z", "invalid option -- 'Z'"},
		{"-JZ", "invalid option -- 'Z'"},
		{"-lang_exclude=rust", "invalid option -- 'g'; did you mean --lang_exclude?"},
		{"--memory_limit=much", "option '--memory_limit': 'much' is not a size such as 64M or 1.5G"},
		{"--memory_limit=15.9M", "option '--memory_limit': '15.9M' is too little; give 16M or more, which the program itself takes"},
		{"--memory_limit=512", "option '--memory_limit': '512' bytes? write 512M, or 512B"},
		{"--kabi_prefix=", "option '--kabi_prefix': empty prefix"},
		{"--hashbits=32", "option '--hashbits': '32' is not a number from 0 to 31"},
		{"--extra_vars --btf_encode_detached=x f", "option '--extra_vars' requires an argument, but an option follows; if it is the argument, write --extra_vars=./--btf_encode_detached=x"},
		{"--btf_base --verb f", "option '--btf_base' requires an argument, but an option follows; if it is the argument, write --btf_base=./--verb"},
		{"--btf_encode_detached -J f", "option '--btf_encode_detached' requires an argument, but an option follows; if it is the argument, write --btf_encode_detached=./-J"},
		{"-X -j4 f", "option '-X' requires an argument, but an option follows; if it is the argument, write --cu_exclude=-j4"},
		{"--lang -- f", "option '--lang' requires an argument, but an option follows; if it is the argument, write --lang=--"},
		{"-j 4", "4: no such file, and '-j 4' has a space too many; did you mean -j4?"},
		{"-Jj 4", "4: no such file, and '-j 4' has a space too many; did you mean -j4?"},
		{"--jobs 4", "4: no such file, and '--jobs 4' has a space too many; did you mean --jobs=4?"},
		{"--stats json", "json: no such file, and '--stats json' has a space too many; did you mean --stats=json?"},
		{"-jx", "option '--jobs': 'x' is not a number"},
		{"-j4V", "option '--jobs': '4V' is not a number"},
		{"--stats=xml", "option '--stats': unknown value 'xml'; use text or json"},
		{"--dedup=fast", "option '--dedup': unknown value 'fast'; use auto or stream or exact"},
		{"--btf_base=", "option '--btf_base': empty file name"},
		{"--cu_limit=0", "option '--cu_limit': '0' is not a number of units"},
	}
	for _, tt := range tests {
		_, _, err := parse(strings.Fields(tt.args)...)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v\nwant %s", tt.args, err, tt.want)
		}
		if _, ok := err.(*usageError); !ok {
			t.Errorf("%s: not a usage error", tt.args)
		}
	}
}

// TestOptionsAreComplete: each option has all its facts.
func TestOptionsAreComplete(t *testing.T) {
	root := wholeTree(newCLI(io.Discard, io.Discard, os.LookupEnv))
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Short == "" || cmd.HasParent() && cmd.Long == "" || cmd.Example == "" {
			t.Errorf("%s: something is missing of Short, Long and Example", cmd.Name())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			arg, help := pflag.UnquoteUsage(f)
			switch {
			case optionOf(f).heading == "":
				t.Errorf("%s --%s has no heading", cmd.Name(), f.Name)
			case !f.Hidden && help == "":
				t.Errorf("%s --%s is not explained", cmd.Name(), f.Name)
			case !f.Hidden && !isToggle(f) && !strings.Contains(f.Usage, "`"+arg+"`"):
				t.Errorf("%s --%s: the argument has no name in back quotes", cmd.Name(), f.Name)
			}
		})
	}
}

// TestClosest: a letter counts once, however many bytes it has.
func TestClosest(t *testing.T) {
	umlauts := strings.Repeat("ü", 64)
	names := []string{"lang", "lang_exclude", "verify", "jobs", "äyz", "grüü€", umlauts}
	for word, want := range map[string]string{"lnag": "lang", "vrefy": "verify", "lang-exlude": "lang_exclude", "VERFY": "verify", "job": "jobs", "x": "", "": "", "diff": "", strings.Repeat("jobs", 100): "",
		"äöz": "äyz", "äöü": "", "grüü": "grüü€", "u" + umlauts[2:]: umlauts, umlauts + "ü": ""} {
		if got := closest(names, word); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
		all := func(yield func([]byte) bool) {
			for _, name := range names {
				if !yield([]byte(name)) {
					return
				}
			}
		}
		if got := nearest(word, all); got != want {
			t.Errorf("%q: nearest is %q, want %q", word, got, want)
		}
	}
}
