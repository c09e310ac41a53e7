package main

import (
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
)

func TestCommandLine(t *testing.T) {
	cpus := runtime.GOMAXPROCS(0)
	tests := []struct {
		name  string
		args  string
		check func(*config) bool
		files []string
	}{
		{"short", "-J f", func(c *config) bool { return c.encode && !c.hasOut }, []string{"f"}},
		{"long", "--btf_encode f", func(c *config) bool { return c.encode }, []string{"f"}},
		{"cluster", "-JV f", func(c *config) bool { return c.encode && c.verbose }, []string{"f"}},
		{"cluster with argument", "-JVj4 f", func(c *config) bool { return c.jobs == 4 && c.verbose }, []string{"f"}},
		{"options after files", "f -J g -V", func(c *config) bool { return c.encode && c.verbose }, []string{"f", "g"}},
		{"double dash", "-J -- -V --help", func(c *config) bool { return !c.verbose }, []string{"-V", "--help"}},
		{"single dash is a file", "-J -", func(c *config) bool { return c.encode }, []string{"-"}},
		{"detached implies encode", "--btf_encode_detached=o f", func(c *config) bool { return c.encode && c.detached == "o" }, []string{"f"}},
		{"required argument in next word", "--btf_encode_detached o f", func(c *config) bool { return c.detached == "o" }, []string{"f"}},
		{"required argument may look like an option", "--btf_encode_detached -J f", func(c *config) bool { return c.detached == "-J" }, []string{"f"}},
		{"no -j is one worker", "-J f", func(c *config) bool { return c.jobs == 1 }, []string{"f"}},
		{"bare -j", "-j -J f", func(c *config) bool { return c.jobs == cpus && c.bareJobs }, []string{"f"}},
		{"the last -j counts", "-j -J -j3 f", func(c *config) bool { return c.jobs == 3 && !c.bareJobs }, []string{"f"}},
		{"memory limit", "--memory_limit=64M f", func(c *config) bool { return c.memory == 64<<20 }, []string{"f"}},
		{"bare --jobs", "--jobs -J f", func(c *config) bool { return c.jobs == cpus }, []string{"f"}},
		{"optional argument is attached only", "-J -j 4", func(c *config) bool { return c.jobs == cpus }, []string{"4"}},
		{"--jobs=4", "--jobs=4", func(c *config) bool { return c.jobs == 4 }, nil},
		{"-j0 is one worker", "-j0", func(c *config) bool { return c.jobs == 1 }, nil},
		{"huge -j", "-j99999999999999999999", func(c *config) bool { return c.jobs == maxJobs }, nil},
		{"abbreviation", "--verb", func(c *config) bool { return c.verbose }, nil},
		{"abbreviation with value", "--jo=3", func(c *config) bool { return c.jobs == 3 }, nil},
		{"exact name that begins others", "--btf_features=var", func(c *config) bool { return c.features == encode.Var }, nil},
		{"alias", "--features=var", func(c *config) bool { return c.features == encode.Var }, nil},
		{"stats", "--stats", func(c *config) bool { return c.stats == statsText }, nil},
		{"stats as json", "--stats=json", func(c *config) bool { return c.stats == statsJSON }, nil},
		{"exact dedup", "--dedup=exact", func(c *config) bool { return c.exact }, nil},
		{"last dedup counts", "--dedup=exact --dedup=stream", func(c *config) bool { return !c.exact }, nil},
		{"unit limit", "--cu_limit=7", func(c *config) bool { return c.cuLimit == 7 }, nil},
		{"version", "--version", func(c *config) bool { return c.action == showVersion }, nil},
		{"-V is not version", "-V", func(c *config) bool { return c.action == doWork && c.verbose }, nil},
		{"units by name", "-Xkernel/", func(c *config) bool { return c.exclude == "kernel/" }, nil},
		{"prefix", "--kabi_prefix rh", func(c *config) bool { return c.prefix == "rh" }, nil},
		{"whole bit-fields", "--fixup", func(c *config) bool { return c.plain }, nil},
		{"formats", "-F btf,dwarf", func(c *config) bool { return len(c.warnings) == 0 }, nil},
		{"of printing", "-E --class_name foo -c 32", func(c *config) bool { return len(c.warnings) == 3 }, nil},
		{"devel version", "--devel_version", func(c *config) bool { return c.action == showDevelVersion }, nil},
		{"help", "-?", func(c *config) bool { return c.action == showHelp }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newConfig()
			words, err := parse(encodeOptions, strings.Fields(tt.args), c)
			if err != nil {
				t.Fatal(err)
			}
			if !tt.check(c) {
				t.Errorf("%s: unexpected configuration %+v", tt.args, c)
			}
			var files []string
			for _, w := range words {
				files = append(files, w.text)
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
		{"--btf_feature=var,x", "option '--btf_feature' is ambiguous; possibilities: '--btf_features' '--btf_features_strict'"},
		{"--btf-encode", "unrecognized option '--btf-encode'; did you mean --btf_encode?"},
		{"--btf_encode_detatched=x", "unrecognized option '--btf_encode_detatched'; did you mean --btf_encode_detached?"},
		{"--lang_exlude=rust", "unrecognized option '--lang_exlude'; did you mean --lang_exclude?"},
		{"--btf_enc", "option '--btf_enc' is ambiguous; possibilities: '--btf_encode' '--btf_encode_detached' '--btf_encode_force'"},
		{"--lang", "option '--lang' requires an argument"},
		{"--version=3", "option '--version' doesn't allow an argument"},
		{"-Z", "invalid option -- 'Z'"},
		{"-JZ", "invalid option -- 'Z'"},
		{"-lang_exclude=rust", "invalid option -- 'g'; did you mean --lang_exclude?"},
		{"--memory_limit=much", "option '--memory_limit': 'much' is not a size such as 64M or 1.5G"},
		{"--kabi_prefix=", "option '--kabi_prefix': empty prefix"},
		{"-F btf", "option '--format_path': 'btf' has no 'dwarf' in it; BTF is encoded from DWARF; to merge BTF use btflite dedup"},
		{"--hashbits=32", "option '--hashbits': '32' is not a number from 0 to 31"},
		{"-jx", "option '--jobs': 'x' is not a number"},
		{"-j4V", "option '--jobs': '4V' is not a number"},
		{"--stats=xml", "option '--stats': unknown value 'xml'; use json"},
		{"--dedup=fast", "option '--dedup': unknown value 'fast'; use stream or exact"},
		{"--btf_base=", "option '--btf_base': empty file name"},
		{"--cu_limit=0", "option '--cu_limit': '0' is not a number of units"},
	}
	for _, tt := range tests {
		_, err := parse(encodeOptions, strings.Fields(tt.args), newConfig())
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v\nwant %s", tt.args, err, tt.want)
		}
		if _, ok := err.(*usageError); !ok {
			t.Errorf("%s: not a usage error", tt.args)
		}
	}
}

func TestOperandRemembersBareOption(t *testing.T) {
	tests := []struct {
		args string
		want []string // bareText of each operand
	}{
		{"-j 4 f", []string{"-j", ""}},
		{"-Jj 4", []string{"-j"}},
		{"--jobs 4", []string{"--jobs"}},
		{"-j4 4", []string{""}},
		{"-j -V 4", []string{""}},
		{"-j -- 4", []string{""}},
		{"--stats json", []string{"--stats"}},
	}
	for _, tt := range tests {
		words, err := parse(encodeOptions, strings.Fields(tt.args), newConfig())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range words {
			got = append(got, w.bareText)
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.args, got, tt.want)
		}
	}
}

func TestOptionTablesAreConsistent(t *testing.T) {
	for _, table := range [][]option{encodeOptions, dedupOptions} {
		seen := map[string]bool{}
		for _, o := range table {
			names := slices.Clone(o.long)
			if o.short != 0 {
				names = append(names, string(o.short))
			}
			for _, n := range names {
				if seen[n] {
					t.Errorf("option %s twice", n)
				}
				seen[n] = true
			}
			if o.apply == nil || (o.arg != noArg && o.argName == "") || (o.group != "" && o.help == "") {
				t.Errorf("option %s is incomplete", o.long[0])
			}
			if o.misplaced != nil && o.arg != optionalArg {
				t.Errorf("option %s: misplaced is for optional arguments", o.long[0])
			}
		}
	}
}

func TestEditDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0},
		{"abc", "acb", 1}, {"kitten", "sitting", 3}, {"lang", "langs", 1},
	}
	for _, tt := range tests {
		if got := editDistance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
