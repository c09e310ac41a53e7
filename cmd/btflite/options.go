package main

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/btflite/btflite/btfsort"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/memlimit"
	"github.com/btflite/btflite/verify"
)

// config is what a command line asks for.
type config struct {
	action   action
	encode   bool     // -J
	detached string   // --btf_encode_detached, "" for in place
	hasOut   bool     // an output option was given
	output   string   // dedup -o
	bases    []string // --btf_base, the first stands alone
	// typedefBug is --btf_compat=libbpf-1.7.
	typedefBug bool
	jobs       int
	bareJobs   bool   // -j without a number: jobs may be lowered
	memory     uint64 // --memory_limit in bytes, 0: none
	cuLimit    int    // --cu_limit, 0: none
	debugDir   string // --debug_dir
	exact      bool
	order      sorter // --btf_sort, nil: as encoded
	verbose    bool
	stats      statsFormat
	report     string // --report
	hasReport  bool
	extraVars  string // --extra_vars: the file, for modules the end of its name
	outDir     string // modules --btf_encode_detached_dir
	fullToo    bool   // modules --full_sizes
	lang       langFilter
	exclude    string // --cu_exclude
	prefix     string // --kabi_prefix
	plain      bool   // --fixup_silly_bitfields

	rules  verify.Rules // verify --kernel, --boot
	noDups bool         // verify --no-dups
	alone  bool         // verify has one file

	basesB    []string // diff --btf_base_b
	json      bool     // diff --json
	summary   bool     // diff --summary
	functions bool     // diff --functions

	features      encode.Features
	featuresGiven bool
	warnings      []string // lines for stderr
}

// action is what to do instead of the command's work.
type action uint8

const (
	doWork action = iota
	showHelp
	showVersion
	showNumericVersion
	showDevelVersion
	showFeatures
)

// statsFormat is the argument of --stats.
type statsFormat uint8

const (
	statsNone statsFormat = iota
	statsText
	statsJSON
)

// newConfig is the configuration without any option.
func newConfig() *config {
	return &config{jobs: 1, features: encode.PlainFeatures}
}

// Headings of the help, in its order.
const (
	groupOutput   = "Output"
	groupFeatures = "What to encode"
	groupUnits    = "Which compile units (LIST: names as c99, rust, asm; comma-separated)"
	groupRules    = "Rules"
	groupReport   = "Reports"
	groupCompat   = "Compatibility" // of options that are all rare
)

// encodeOptions are the options of the main command. A row is all that an
// option needs.
var encodeOptions = append([]option{
	{long: []string{"btf_encode"}, short: 'J', group: groupOutput,
		help:  "encode; alone it adds .BTF to FILE itself",
		apply: func(c *config, _ string) error { c.encode = true; return nil }},
	{long: []string{"btf_encode_detached"}, arg: requiredArg, argName: "OUT", group: groupOutput,
		help: "write the BTF to the file OUT (implies -J)",
		apply: func(c *config, v string) error {
			c.encode, c.hasOut, c.detached = true, true, v
			return nil
		}},
	{long: []string{"extra_vars"}, arg: requiredArg, argName: "FILE", group: groupOutput,
		help:  "other variables, as split BTF, to FILE (or .o)",
		apply: (*config).setExtraVars},
	jobsOption,
	memoryOption,
	rarely(dedupMode),
	sortOption,
	rarely(debugDirOption),
	baseOption,
	libbpfMode,
	// For measurements of how cost grows with input; not in the help.
	{long: []string{"cu_limit"}, arg: requiredArg, argName: "N", apply: (*config).setCULimit},

	{long: []string{"btf_features", "features"}, arg: requiredArg, argName: "LIST", group: groupFeatures,
		help:  "just these; 'default', 'all', '+LIST' adds",
		apply: func(c *config, v string) error { return c.addFeatures(v, false) }},
	{long: []string{"btf_features_strict"}, arg: requiredArg, argName: "LIST", group: groupFeatures, rare: true,
		help:  "the same, unknown names are errors",
		apply: func(c *config, v string) error { return c.addFeatures(v, true) }},
	{long: []string{"supported_btf_features"}, group: groupFeatures, rare: true,
		help:  "print the names that LIST may have",
		apply: setAction(showFeatures)},
	{long: []string{"kabi_prefix"}, arg: requiredArg, argName: "STRING", group: groupFeatures, rare: true,
		help:  "names that begin with STRING become STRING",
		apply: (*config).setPrefix},
	{long: []string{"fixup_silly_bitfields"}, group: groupFeatures, rare: true,
		help:  "bit-fields as wide as their type become members",
		apply: func(c *config, _ string) error { c.plain = true; return nil }},

	{long: []string{"lang"}, arg: requiredArg, argName: "LIST", group: groupUnits,
		help:  "only units in these languages",
		apply: func(c *config, v string) error { return c.lang.set(v, false) }},
	{long: []string{"lang_exclude"}, arg: requiredArg, argName: "LIST", group: groupUnits,
		help:  "no units in these (or $PAHOLE_LANG_EXCLUDE)",
		apply: func(c *config, v string) error { return c.lang.set(v, true) }},
	{long: []string{"cu_exclude"}, short: 'X', arg: requiredArg, argName: "PREFIX", group: groupUnits, rare: true,
		help:  "no units whose name begins with PREFIX",
		apply: func(c *config, v string) error { c.exclude = v; return nil }},

	{long: []string{"verbose"}, short: 'V', group: groupReport,
		help:  "print what is encoded and what is left out",
		apply: func(c *config, _ string) error { c.verbose = true; return nil }},
	statsOption,
	{long: []string{"report"}, arg: requiredArg, argName: "FILE", group: groupReport,
		help:  "counts and functions left out, as JSON",
		apply: func(c *config, v string) error { c.hasReport, c.report = true, v; return nil }},
	{long: []string{"version"}, group: groupReport,
		help:  "print the pahole version stood in for",
		apply: setAction(showVersion)},
	{long: []string{"numeric_version"}, group: groupReport, rare: true,
		help:  "the same as a number",
		apply: setAction(showNumericVersion)},
	helpOption,
}, compatOptions()...)

// debugDirOption is where separate debug files may be.
var debugDirOption = option{long: []string{"debug_dir"}, arg: requiredArg, argName: "DIR", group: groupOutput,
	help:  "look for separate debug files in DIR as well",
	apply: func(c *config, v string) error { c.debugDir = v; return nil }}

// modulesOptions are the options of btflite modules: its own, and those of the
// main command that say what to encode.
var modulesOptions = append([]option{
	baseOption,
	{long: []string{"btf_encode_detached_dir"}, arg: requiredArg, argName: "DIR", group: groupOutput,
		help:  "write below DIR, not into the modules",
		apply: (*config).setOutDir},
	{long: []string{"extra_vars"}, arg: optionalArg, argName: "SUFFIX", group: groupOutput,
		help:  "other variables, to MODULE.vars.btf or SUFFIX",
		apply: (*config).setExtraSuffix},
	jobsOption,
	memoryOption,
	debugDirOption,
	dedupMode,
	sortOption,
	libbpfMode,
	{long: []string{"full_sizes"}, group: groupReport,
		help:  "encode without BASE too and compare the sizes",
		apply: func(c *config, _ string) error { c.fullToo = true; return nil }},
	statsOption,
	helpOption,
}, slices.Concat(optionsOf(groupFeatures, groupUnits), compatOptions())...)

// optionsOf are the options of the main command under the given headings.
func optionsOf(groups ...string) []option {
	return slices.DeleteFunc(slices.Clone(encodeOptions), func(o option) bool { return !slices.Contains(groups, o.group) })
}

// dedupOptions are the options of btflite dedup.
var dedupOptions = []option{
	{long: []string{"output"}, short: 'o', arg: requiredArg, argName: "OUT", group: groupOutput,
		help:  "write the deduplicated BTF to the file OUT",
		apply: func(c *config, v string) error { c.hasOut, c.output = true, v; return nil }},
	{long: []string{"btf_base"}, arg: requiredArg, argName: "BASE", group: groupOutput,
		help:  "the inputs are split over BASE, or a chain",
		apply: (*config).setBase},
	dedupMode,
	helpOption,
}

// sortOptions are the options of btflite sort.
var sortOptions = []option{
	sortOption,
	{long: []string{"btf_base"}, arg: requiredArg, argName: "BASE", group: groupOutput,
		help:  "IN is split over BASE, or a chain",
		apply: (*config).setBase},
	helpOption,
}

// verifyOptions are the options of btflite verify.
var verifyOptions = []option{
	{long: []string{"btf_base"}, arg: requiredArg, argName: "BASE", group: groupRules,
		help:  "the files are split over BASE, or a chain",
		apply: (*config).setBase},
	{long: []string{"kernel"}, arg: requiredArg, argName: "RELEASE", group: groupRules,
		help:  "rules of that Linux release; without, of 7.2",
		apply: (*config).setKernel},
	{long: []string{"boot"}, group: groupRules,
		help:  "only what holds for vmlinux and modules as well",
		apply: func(c *config, _ string) error { c.rules.Level = verify.Boot; return nil }},
	{long: []string{"no-dups", "no_dups"}, group: groupRules,
		help:  "refuse and list names with more definitions",
		apply: func(c *config, _ string) error { c.noDups = true; return nil }},
	{long: []string{"verbose"}, short: 'V', group: groupReport,
		help:  "a line for files that are fine, too",
		apply: func(c *config, _ string) error { c.verbose = true; return nil }},
	helpOption,
}

// diffOptions are the options of btflite diff.
var diffOptions = []option{
	{long: []string{"btf_base"}, arg: requiredArg, argName: "BASE", group: groupOutput,
		help:  "A and B are split over BASE, or a chain",
		apply: (*config).setBase},
	{long: []string{"btf_base_b"}, arg: requiredArg, argName: "BASE", group: groupOutput,
		help:  "B is split over this BASE, or chain, instead",
		apply: (*config).setBaseB},
	{long: []string{"functions"}, group: groupOutput,
		help:  "compare functions only",
		apply: func(c *config, _ string) error { c.functions = true; return nil }},
	{long: []string{"summary"}, group: groupReport,
		help:  "print how many there are of each kind",
		apply: func(c *config, _ string) error { c.summary = true; return nil }},
	{long: []string{"json"}, group: groupReport,
		help:  "print JSON",
		apply: func(c *config, _ string) error { c.json = true; return nil }},
	helpOption,
}

var jobsOption = option{long: []string{"jobs"}, short: 'j', arg: optionalArg, argName: "N", group: groupOutput,
	help:  "use N workers; without N one for each CPU",
	apply: (*config).setJobs, misplaced: isDigits}

var memoryOption = option{long: []string{"memory_limit"}, arg: requiredArg, argName: "SIZE", group: groupOutput,
	help:  "take no more memory than SIZE, as 64M",
	apply: (*config).setMemory}

var libbpfMode = option{long: []string{"btf_compat"}, arg: requiredArg, argName: "libbpf-1.7", group: groupOutput, rare: true,
	help:  "repeat typedefs of BASE, as that version does",
	apply: (*config).setCompat}

var statsOption = option{long: []string{"stats"}, arg: optionalArg, argName: "json", group: groupReport,
	help:  "print counts, sizes, times and peak memory",
	apply: (*config).setStats, misplaced: func(w string) bool { return w == "json" }}

var baseOption = option{long: []string{"btf_base"}, arg: requiredArg, argName: "BASE", group: groupOutput,
	help:  "leave out what BASE has; several are a chain",
	apply: (*config).setBase}

var dedupMode = option{long: []string{"dedup"}, arg: requiredArg, argName: "MODE", group: groupOutput,
	help:  "deduplication: stream (default) or exact",
	apply: (*config).setDedup}

var sortOption = option{long: []string{"btf_sort"}, arg: optionalArg, argName: "ORDER", group: groupOutput,
	help:  "sort types: canonical (default) or name",
	apply: (*config).setSort, misplaced: func(w string) bool { return w == "canonical" || w == "name" }}

var helpOption = option{long: []string{"help"}, short: '?', group: groupReport,
	help:  "print this list",
	apply: setAction(showHelp)}

// rarely is o for a command whose help leaves it out.
func rarely(o option) option {
	o.rare = true
	return o
}

// setAction returns a handler for an option that replaces the work. The first
// such option counts.
func setAction(a action) func(*config, string) error {
	return func(c *config, _ string) error {
		if c.action == doWork {
			c.action = a
		}
		return nil
	}
}

// maxJobs bounds -j: more workers than this cannot be meant.
const maxJobs = 1024

func (c *config) setJobs(v string) error {
	c.bareJobs = v == ""
	if c.bareJobs {
		c.jobs = runtime.GOMAXPROCS(0) // knows the control group's CPU limit
		return nil
	}
	n, err := strconv.Atoi(v)
	if err != nil && isDigits(v) {
		n, err = maxJobs, nil // too large for an int
	}
	if err != nil {
		return usagef("option '--jobs': '%s' is not a number", oneLine(v))
	}
	c.jobs = min(max(n, 1), maxJobs)
	return nil
}

func (c *config) setMemory(v string) error {
	n, err := memlimit.Parse(v)
	if err != nil {
		return usagef("option '--memory_limit': %s", oneLine(err.Error()))
	}
	c.memory = n
	return nil
}

func (c *config) setCULimit(v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		return usagef("option '--cu_limit': '%s' is not a number of units", oneLine(v))
	}
	c.cuLimit = n
	return nil
}

func (c *config) setBase(v string) error {
	if v == "" {
		return usagef("option '--btf_base': empty file name")
	}
	c.bases = append(c.bases, v)
	return nil
}

func (c *config) setBaseB(v string) error {
	if v == "" {
		return usagef("option '--btf_base_b': empty file name")
	}
	c.basesB = append(c.basesB, v)
	return nil
}

func (c *config) setPrefix(v string) error {
	if v == "" {
		return usagef("option '--kabi_prefix': empty prefix")
	}
	c.prefix = v
	return nil
}

func (c *config) setExtraVars(v string) error {
	if v == "" {
		return usagef("option '--extra_vars': empty file name")
	}
	c.extraVars = v
	return nil
}

// extraSuffix is how files of extra variables of modules end.
const extraSuffix = ".vars.btf"

func (c *config) setExtraSuffix(v string) error {
	if strings.ContainsRune(v, '/') {
		return usagef("option '--extra_vars': '%s' is no end of a file name", oneLine(v))
	}
	c.extraVars = cmp.Or(v, extraSuffix)
	return nil
}

func (c *config) setOutDir(v string) error {
	if v == "" {
		return usagef("option '--btf_encode_detached_dir': empty folder name")
	}
	c.outDir = v
	return nil
}

func (c *config) setCompat(v string) error {
	if v != "libbpf-1.7" {
		return badChoice("btf_compat", v, "libbpf-1.7")
	}
	c.typedefBug = true
	return nil
}

func (c *config) setDedup(v string) error {
	switch v {
	case "stream":
		c.exact = false
	case "exact":
		c.exact = true
	default:
		return badChoice("dedup", v, "stream", "exact")
	}
	return nil
}

func (c *config) setSort(v string) error {
	switch v {
	case "", "canonical":
		c.order = btfsort.CanonicalWithMap
	case "name":
		c.order = btfsort.ByNameWithMap
	default:
		return badChoice("btf_sort", v, "canonical", "name")
	}
	return nil
}

func (c *config) setStats(v string) error {
	switch v {
	case "":
		c.stats = statsText
	case "json":
		c.stats = statsJSON
	default:
		return badChoice("stats", v, "json")
	}
	return nil
}

// badChoice is the error for an argument that is none of the choices.
func badChoice(name, value string, choices ...string) error {
	e := &usageError{what: fmt.Sprintf("option '--%s': unknown value '%s'", name, oneLine(value))}
	list := choices[0]
	for _, c := range choices[1:] {
		list += " or " + c
	}
	e.hint = "use " + list
	return e
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
