package main

import (
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/btflite/btflite/btf/order"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/job"
	"github.com/btflite/btflite/internal/message"
	"github.com/spf13/cobra"
)

// encoding has the options that all encoding commands share.
type encoding struct {
	// opt has the settings of the command line. Three fields are filled in later: the
	// languages, which depend on the environment, the base, and whether it is distilled.
	opt       job.Options
	bases     []string // --btf_base; the first one stands alone
	bareJobs  bool     // -j without a number: the number of workers may be lowered
	sideFiles          // --extra_vars, --inline
	verbose   bool
	strict    bool // --strict: nothing written is an error
	stats     statsFormat
	lang      langFilter

	featuresGiven bool
	unsupported   []string    // unknown names of features; -V prints them, as pahole does
	unknown       []string    // names that no release of pahole knows
	formats       string      // --format_path
	printed       [][2]string // names and arguments of options that shape the printing of types
	printing      []string    // the names, for a warning
}

// newEncoding returns an encoding without any option.
func newEncoding() encoding {
	return encoding{opt: job.Options{Encode: encode.Options{Jobs: 1, Features: encode.BasicFeatures}}}
}

// resourceOptions adds the options for workers and memory.
func (e *encoding) resourceOptions(c *cli, cmd *cobra.Command) {
	s := under(cmd, groupOutput)
	s.value(e.setJobs, "jobs", "j", "up to `N` workers; without N one for each CPU", bare(allJobs), numbers)
	s.value(c.setMemory, memoryOption, "", memoryHelp)
}

// resultOptions adds the options for the result. few is a setting for options that few
// people need: a command with many options hides them from the help.
func (e *encoding) resultOptions(cmd *cobra.Command, few setting) {
	s := under(cmd, groupOutput)
	s.file(&e.opt.Encode.DebugFiles.Dir, "debug_dir", "", "look for separate debug files in `DIR` as well", folder, few)
	s.value(e.setDedup, "dedup", "", "deduplication `MODE`: auto, stream or exact", words("auto", "stream", "exact"), few)
	addOrder(cmd, &e.opt.Order)
	addVerify(cmd, &e.opt.Lenient, few)
	s.release(&e.opt.Target, "target_kernel", "lower the BTF to Linux `RELEASE`, as btflite lower does", rare)
	releases := map[string]encode.Libbpf{"libbpf-1.7": encode.Libbpf17, "libbpf-1.8": encode.Libbpf18}
	s.value(func(v string) error { e.opt.Encode.Libbpf = releases[v]; return nil }, "btf_compat", "",
		"the bytes of pahole over `LIBBPF`: libbpf-1.7, libbpf-1.8", words("libbpf-1.7", "libbpf-1.8"), rare)
}

// addOrder adds --btf_sort.
func addOrder(cmd *cobra.Command, chosen *finish.Sorter) {
	orders := map[string]finish.Sorter{"canonical": order.Canonical, "name": order.ByName}
	under(cmd, groupOutput).value(func(v string) error { *chosen = orders[v]; return nil },
		"btf_sort", "", "sort types by `ORDER`: canonical (default), name", bare("canonical"), words("canonical", "name"))
}

func (e *encoding) featureOptions(cmd *cobra.Command) {
	s := under(cmd, groupFeatures)
	s.value(func(v string) error { return e.addFeatures(v, false) }, "btf_features", "",
		"just those in `LIST`; 'default', 'all', '+' adds", alias("features"), listOf(featureWords))
	s.value(func(v string) error { return e.addFeatures(v, true) }, "btf_features_strict", "",
		"the same `LIST`, but unknown names are errors", rare, listOf(featureWords))
	s.value(e.setPrefix, "kabi_prefix", "", "names that begin with `STRING` become STRING", rare)
	s.toggle(&e.opt.Encode.WholeBitfields, "fixup_silly_bitfields", "", "bit-fields as wide as their type become members", rare)
}

// unitOptions adds the options that filter compile units.
func (e *encoding) unitOptions(cmd *cobra.Command) {
	s := under(cmd, groupUnits)
	s.value(func(v string) error { return e.lang.set(v, false) }, "lang", "",
		"only units in languages of `LIST`", listOf(languageNames))
	s.value(func(v string) error { return e.lang.set(v, true) }, "lang_exclude", "",
		"no language of `LIST`, or $PAHOLE_LANG_EXCLUDE", listOf(languageNames))
	s.text(&e.opt.Encode.CUExclude, "cu_exclude", "X", "no units whose name begins with `PREFIX`", rare)
}

func (e *encoding) strictOption(cmd *cobra.Command) {
	under(cmd, groupReport).toggle(&e.strict, "strict", "", "status 1 if there is nothing to encode", rare)
}

func (e *encoding) statsOption(cmd *cobra.Command) {
	formats := map[string]statsFormat{"text": statsText, "json": statsJSON}
	under(cmd, groupReport).value(func(v string) error { e.stats = formats[v]; return nil },
		"stats", "", "print counts, sizes, times, memory; or as `json`", bare("text"), words("text", "json"))
}

// allJobs stands for one worker for each CPU.
const allJobs = "all"

// setJobs parses the argument of -j. There are at most as many workers as threads that run at once,
// which Go limits to the CPUs of the control group: "make -j64" asks for 64 on a board with four
// processors, and each of the others would take a mebibyte and no work off them. A page fault
// keeps its thread, so more workers do not read more of a file at once either.
func (e *encoding) setJobs(v string) error {
	most := runtime.GOMAXPROCS(0)
	e.bareJobs = v == "" || v == allJobs
	if e.bareJobs {
		e.opt.Encode.Jobs = most
		return nil
	}
	n, err := strconv.Atoi(v)
	if err == nil && n < 0 {
		return usagef("'%s' is not a number of workers", v)
	}
	if err != nil && isDigits(v) {
		n, err = most, nil // too large for an int
	}
	e.opt.Encode.Jobs = min(max(n, 1), most)
	return err
}

func (e *encoding) setPrefix(v string) error {
	if v == "" {
		return usagef("empty prefix")
	}
	e.opt.Encode.NamePrefix = v
	return nil
}

func (e *encoding) setDedup(v string) error {
	e.opt.Encode.Dedup = map[string]encode.Dedup{"stream": encode.DedupStream, "exact": encode.DedupExact}[v]
	return nil
}

// jobsFor returns how many workers to use under a memory limit: the number that was
// asked for or, for a bare -j, as many as the memory allows.
func (e *encoding) jobsFor(limit uint64, paths []string) int {
	if limit == 0 || !e.bareJobs {
		return e.opt.Encode.Jobs
	}
	one := encode.UsualMemory(sizeOf(paths))
	if limit <= one {
		return 1
	}
	return int(min(uint64(e.opt.Encode.Jobs), 1+(limit-one)/memoryOfWorker))
}

// checkFormats checks --format_path: an encoding needs DWARF.
func checkFormats(v string) error {
	if v != "" && !slices.Contains(strings.Split(v, ","), "dwarf") {
		return &usageError{what: "option '--format_path': '" + message.OneLine(v) + "' has no 'dwarf' in it",
			hint: "BTF is encoded from DWARF; to merge BTF use btflite dedup"}
	}
	return nil
}

// complete fills in the settings that depend on the environment and the system, and warns about options
// that have no effect.
func (e *encoding) complete(c *cli) (err error) {
	if err := checkFormats(e.formats); err != nil {
		return err
	}
	e.warn(c)
	o := &e.opt.Encode
	o.Lang, o.LangExclude, err = e.lang.resolve(c.lookupEnv)
	o.MemoryLimit, o.LimitResident = c.limitMemory(c.memory)
	o.ExtraVars, o.Inline = e.extraVars != "", e.inlineTo != ""
	return err
}

// check refuses options that exclude each other. inputs is the number of files that
// become one BTF over bases. As in pahole, the feature distilled_base has no effect on a
// detached file.
func (e *encoding) check(inPlace bool, bases []string, inputs int) error {
	e.opt.Distil = inPlace && e.opt.Encode.Features&encode.DistilledBase != 0
	conflict := new(job.Conflict)
	if err := e.opt.Check(len(bases) > 0, inputs); errors.As(err, &conflict) {
		return &usageError{what: conflict.In(optionWords), hint: conflictHints[conflict.With]}
	}
	return nil
}

// optionWords has the command line's names for the options of package job. conflictHints
// says what to do about conflicts.
var (
	optionWords = map[job.Word]string{
		job.ExtraVars: "--extra_vars", job.Inline: "--inline", job.Distil: "the feature distilled_base", job.BaseBTF: "a base",
		job.Several: "several files", job.Target: "--target_kernel",
	}
	conflictHints = map[job.Word]string{
		job.BaseBTF: "give --btf_base=BASE", job.Several: "give one FILE, or leave inline out",
	}
)
