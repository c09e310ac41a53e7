package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/btflite/btflite/encode"
)

// Options that pahole 1.32 has and that --help leaves out: older spellings of
// features, settings of pahole's own tables, and what shapes the printing of
// types, which has no part in encoding. All are in the manual page.

// compatOptions are these options.
func compatOptions() []option {
	table := []option{
		{long: []string{"btf_gen_all"}, help: "as --btf_features=all",
			apply: func(c *config, _ string) error { return c.addFeatures("all", false) }},
		featureOn("btf_encode_force", encode.EncodeForce, "leave out variables that cannot be encoded"),
		featureOn("btf_gen_floats", encode.Float, "encode floating-point types as FLOAT"),
		featureOn("btf_gen_optimized", encode.OptimizedFunc, "no effect"),
		featureOn("btf_attributes", encode.Attributes, "encode attributes of arena pointers"),
		featureOn("reproducible_build", encode.ReproducibleBuild, "no effect: output always is"),
		featureOff("skip_encoding_btf_vars", encode.Var, "no variables"),
		featureOff("skip_encoding_btf_decl_tag", encode.DeclTag, "no declaration tags"),
		featureOff("skip_encoding_btf_type_tag", encode.TypeTag, "no type tags"),
		featureOff("skip_encoding_btf_enum64", encode.Enum64, "cut 64-bit enum values to 32 bits"),
		featureOn("skip_encoding_btf_inconsistent_proto", encode.ConsistentFunc,
			"leave out functions with several prototypes or unexpected registers"),
		{long: []string{"format_path"}, short: 'F', arg: requiredArg, argName: "LIST",
			help: "formats to read; must have 'dwarf' in it", apply: checkFormats},
		{long: []string{"hashbits"}, arg: requiredArg, argName: "N",
			help: "no effect; an error from 32 on", apply: checkHashBits},
		{long: []string{"ptr_table_stats"}, help: "no effect: there are no such tables",
			apply: func(*config, string) error { return nil }},
		{long: []string{"quiet"}, short: 'q', help: "no effect: btflite is",
			apply: func(*config, string) error { return nil }},
		{long: []string{"devel_version"}, help: "print the pahole version stood in for, and that this is btflite",
			apply: setAction(showDevelVersion)},
		{long: []string{"usage"}, help: "as --help", apply: setAction(showHelp)},
	}
	for i := range table {
		table[i].group, table[i].rare = groupCompat, true
	}
	for name := range strings.FieldsSeq(printingOptions) {
		table = append(table, printingOption(name))
	}
	return table
}

// featureOn is an option that turns one feature on.
func featureOn(name string, bit encode.Features, help string) option {
	return option{long: []string{name}, help: help,
		apply: func(c *config, _ string) error { c.features |= bit; return nil }}
}

// featureOff is an option that turns one feature off.
func featureOff(name string, bit encode.Features, help string) option {
	return option{long: []string{name}, help: help,
		apply: func(c *config, _ string) error { c.features &^= bit; return nil }}
}

func checkFormats(_ *config, v string) error {
	if !slices.Contains(strings.Split(v, ","), "dwarf") {
		return &usageError{what: fmt.Sprintf("option '--format_path': '%s' has no 'dwarf' in it", oneLine(v)),
			hint: "BTF is encoded from DWARF; to merge BTF use btflite dedup"}
	}
	return nil
}

// maxHashBits is the greatest --hashbits that pahole takes.
const maxHashBits = 31

func checkHashBits(_ *config, v string) error {
	if n, err := strconv.Atoi(v); err != nil || n < 0 || n > maxHashBits {
		return usagef("option '--hashbits': '%s' is not a number from 0 to %d", oneLine(v), maxHashBits)
	}
	return nil
}

// printingOptions have a part only in printing types: "name", "name,x" with
// the short option -x, "name=" with an argument. pahole -J takes them and
// encodes the same.
const printingOptions = `
	anon_include,a nested_anon_include,A bit_holes,B= cacheline_size,c= class_name,C= classes_as_structs
	class_name_len,N compile contains,i= contains_enumerator= count= decl_exclude,D= defined_in,u exclude,x=
	expand_pointers,p expand_types,E find_pointers_to,f= first_obj_only flat_arrays header_type= hex holes,H=
	hole_size_ge,z= nr_definitions,T nr_members,n nr_methods,m packable,P packed padding_ge= prefix_filter,y=
	prettify= range= recursive,d rel_offset,r reorganize,R seek_bytes= separator,t=
	show_decl_info,I show_first_biggest_size_base_type_member,l show_only_data_members,M show_private_classes
	show_reorg_steps,S size_bytes= sizes,s skip= skip_emitting_atomic_typedefs skip_missing sort structs
	suppress_aligned_attribute suppress_force_paddings suppress_packed unions with_embedded_flexible_array
	with_flexible_array word_size,w=`

// printingOption is the table row for a word of printingOptions.
func printingOption(word string) option {
	word, hasArg := strings.CutSuffix(word, "=")
	name, short, _ := strings.Cut(word, ",")
	o := option{long: []string{name}}
	if short != "" {
		o.short = short[0]
	}
	if hasArg {
		o.arg, o.argName = requiredArg, "ARG"
	}
	o.apply = func(c *config, _ string) error {
		c.warnings = append(c.warnings, "btflite: --"+name+" is for printing types and changes nothing here")
		return nil
	}
	return o
}
