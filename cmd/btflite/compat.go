package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/message"
)

// Options of pahole 1.32 that --help leaves out: older spellings of features, settings of
// pahole's own tables, and options for printing types, which do not change the encoding.
// The manual page lists all.

func (e *encoding) compatOptions(c *cli, cmd *cobra.Command) {
	s := under(cmd, groupCompat)
	s.call(func() { e.addFeatures("all", false) }, "btf_gen_all", "", "as --btf_features=all", rare)
	for _, o := range []struct {
		name    string
		on, off encode.Features
		help    string
	}{
		{"btf_encode_force", encode.EncodeForce, 0, "leave out variables that cannot be encoded"},
		{"btf_gen_floats", encode.Float, 0, "encode floating-point types as FLOAT"},
		{"btf_gen_optimized", encode.OptimizedFunc, 0, "no effect"},
		{"btf_attributes", encode.Attributes, 0, "encode attributes of arena pointers"},
		{"reproducible_build", encode.ReproducibleBuild, 0, "no effect: output always is"},
		{"skip_encoding_btf_vars", 0, encode.Var, "no variables"},
		{"skip_encoding_btf_decl_tag", 0, encode.DeclTag, "no declaration tags"},
		{"skip_encoding_btf_type_tag", 0, encode.TypeTag, "no type tags"},
		{"skip_encoding_btf_enum64", 0, encode.Enum64, "cut 64-bit enum values to 32 bits"},
		{"skip_encoding_btf_inconsistent_proto", encode.ConsistentFunc, 0, "leave out functions with several prototypes or unexpected registers"},
	} {
		s.call(func() { e.opt.Encode.Features = e.opt.Encode.Features&^o.off | o.on }, o.name, "", o.help, rare)
	}
	s.text(&e.formats, "format_path", "F", "formats to read; `LIST` must have 'dwarf' in it", rare)
	s.value(between(new(int), 0, maxHashBits, fmt.Sprintf("a number from 0 to %d", maxHashBits)), "hashbits", "", "no effect; an error if `N` is 32 or more", rare)
	s.call(func() {}, "ptr_table_stats", "", "no effect: there are no such tables", rare)
	s.call(func() {}, "running_kernel_vmlinux", "", "no effect: give the file", rare)
	e.printingOptions(c, cmd)
}

// printingOptions adds show's options to cmd, unless cmd has options of those names: pahole -J accepts them, and
// encodes the same.
func (e *encoding) printingOptions(c *cli, cmd *cobra.Command) {
	newShow(c).command().Flags().VisitAll(func(f *pflag.Flag) {
		if cmd.Flags().Lookup(f.Name) != nil || f.Name == "verbose" {
			return
		}
		note := func(value string) error {
			if e.verbose { // in pahole, -V before -z changes the effect of -z
				e.printed = append(e.printed, [2]string{"verbose", "true"})
			}
			e.printed = append(e.printed, [2]string{f.Name, value})
			if option := "--" + f.Name; !slices.Contains(e.printing, option) {
				e.printing = append(e.printing, option)
			}
			return nil
		}
		under(cmd, groupCompat).add(&option{set: note, toggle: isToggle(f)}, f.Name, f.Shorthand, "", []setting{hidden})
	})
}

// printTypes prints types, as pahole does without -J, with the options of btflite show.
func (e *encodeCommand) printTypes(c *cli, paths []string) error {
	if option := firstGiven(c.running, func(name string) bool { return slices.Contains(onlyEncoding, name) }); option != "" {
		return &usageError{what: option + " is for encoding, and types are printed", hint: "give -J too, or leave it out"}
	}
	s := newShow(c)
	s.filter.Bases = true // as in pahole
	flags := s.command().Flags()
	if e.formats != "" {
		e.printed = append(e.printed, [2]string{"format_path", e.formats})
	}
	for _, o := range e.printed {
		if err := flags.Set(o[0], o[1]); err != nil {
			return optionError(nil, err)
		}
	}
	s.opt.Counts = e.verbose
	s.in.bases, s.in.lang, s.in.cuExclude = e.bases, e.lang, e.opt.Encode.CUExclude
	if slices.Contains(paths, "") {
		return usagef("empty name")
	}
	if len(paths) == 1 && len(s.names) > 0 { // pahole -C NAME FILE, where FILE may be omitted
		return s.run(c, paths[0])
	}
	names, file := s.split(paths) // pahole NAME... [FILE]
	if file == "" {
		if err := fileLast("show", paths); err != nil {
			return err
		}
	}
	for _, name := range names {
		if holdsTypes(name) {
			return usagef("%s and %s: types of one file are printed at a time", message.OneLine(name), message.OneLine(file))
		}
	}
	if err := s.addNames(names); err != nil {
		return err
	}
	return s.run(c, file)
}

// onlyEncoding are btflite's own options that printing types would ignore. It ignores pahole's, as pahole does.
var onlyEncoding = []string{"extra_vars", "inline", "debug_dir", "dedup", "btf_sort", "verify", "target_kernel", "btf_compat", "strict", "stats", "report"}

// hasCompat reports whether cmd has these options.
func hasCompat(cmd *cobra.Command) bool { return cmd.Flags().Lookup("hashbits") != nil }

// maxHashBits is the largest --hashbits of pahole.
const maxHashBits = 31
