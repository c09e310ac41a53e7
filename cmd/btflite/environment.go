package main

import (
	"slices"
	"strings"
)

// variable is an environment variable that affects a run.
type variable struct {
	name, text string
	commands   string // names of the commands that it affects, separated by blanks; "" for all
}

// environment returns all of them. The manual pages list the same.
func environment() []variable {
	const paged = "show dump diff funcs inline stats manual"
	return []variable{
		{"PAHOLE_LANG_EXCLUDE", "Counts as --lang_exclude if no option names languages.", ""},
		{kernelBTFEnv, "The base of BTF below /sys/kernel/btf, in place of vmlinux there, and the file that is read without FILE.", ""},
		{serversVariable, "Servers that debuginfod-find asks for the debug file of a file without DWARF, with -J and when types are read.", ""},
		{"GOMEMLIMIT", "A limit for the Go heap. Without it, the memory limit decides.", ""},
		{"MAKEFLAGS", "Under make -s no progress is shown.", ""},
		{"TERM", "On a dumb terminal there are no colours, no pager and no progress.", ""},
		{"NO_COLOR", "If it is not empty, there are no colours unless --color=always is given.", "show dump diff manual"},
		{"PAGER", "The program that shows long text on a terminal; less if it is not set. There is none if it is empty or cat.", paged},
		{"MANPAGER", "Counts in place of PAGER, as for man.", "manual"},
		{"LESS", "Options of less; FRX if it is not set.", paged},
		{"LV", "Options of lv; -c if it is not set.", paged},
		{keepVariable, "Counts as --keep-dwarf, for links and for make CC=\"btflite cc gcc\".", compilerName},
		{nestedVariable, "How many runs of btflite cc are around this one; it sets the variable itself.", compilerName},
		{kernelVariable, "Where the configuration of a kernel is that is built: a message is about that, if unit records are not enough for it. What has been said once is noted there.", compilerName},
		{moduleVariable, "Where the external module is that is built: what has been said once is noted there.", compilerName},
		{"PAHOLE", "The pahole that doctor asks for its version, as kernel builds have it.", "doctor"},
		{"PATH", "Where compilers, the pager and, below a link with the name of a compiler, the next one of that name are.", ""},
		{"TMPDIR", "Where temporary files go.", "fullcircle"},
	}
}

// environmentOf returns the variables that affect only this command; for "", the
// variables that affect all commands.
func environmentOf(command string) (list []variable) {
	for _, v := range environment() {
		if command == "" || slices.Contains(strings.Fields(v.commands), command) {
			list = append(list, v)
		}
	}
	return list
}
