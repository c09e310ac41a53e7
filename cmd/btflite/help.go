package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// helpColumn is where the explanation of an option begins. A longer option
// pushes its own explanation to the right.
const helpColumn = 34

var encodeIntro = []string{
	"Usage: btflite -J [OPTION...] FILE...    DWARF to BTF, as pahole -J does",
	"       btflite COMMAND --help            modules, dedup, sort, verify or diff",
	"       btflite version | manual | completion SHELL",
}

var modulesIntro = []string{
	"Usage: btflite modules [OPTION...] --btf_base=BASE MODULES...",
	"Encode kernel modules, each by itself, over one base. MODULES is a module, a",
	"folder for all .ko files below it, or a text file that names one a line.",
}

var dedupIntro = []string{
	"Usage: btflite dedup [OPTION...] -o OUT IN...",
	"Merge the BTF of raw BTF files or of ELF files with .BTF and deduplicate it.",
}

var sortIntro = []string{
	"Usage: btflite sort [OPTION...] IN OUT",
	"Write the BTF of IN, raw BTF or an ELF file with .BTF, to OUT as raw BTF with",
	"its types in another order: canonical, which depends on the types alone, so",
	"that what two builds have in common is in the same order in both; or by name,",
	"as Linux 7.x and resolve_btfids have them. Split BTF keeps to the ids of BASE.",
}

var verifyIntro = []string{
	"Usage: btflite verify [OPTION...] FILE...",
	"Check the BTF of raw BTF files or of ELF files with .BTF by the rules of the",
	"kernel's verifier. Status 0: all fine, 1: refused, 2: a file cannot be read.",
}

var diffIntro = []string{
	"Usage: btflite diff [OPTION...] A B",
	"Say what differs between the BTF of two files, raw BTF files or ELF files with",
	".BTF: types, functions and variables by name, not ids, order or duplicates.",
	"Status 0: nothing, 1: something, 2: there is no answer.",
}

// helpGroups are the headings of the help in its order.
var helpGroups = []string{groupOutput, groupFeatures, groupUnits, groupRules, groupReport}

// writeHelp prints the introduction and the table, one line per option under
// the heading of its group. The help of the encoder fits a screen of 24 lines.
func writeHelp(w io.Writer, intro []string, table []option) error {
	var b strings.Builder
	for _, line := range intro {
		b.WriteString(line + "\n")
	}
	for _, group := range helpGroups {
		heading := group + ":\n"
		for i := range table {
			if o := &table[i]; o.group == group && !o.rare {
				b.WriteString(heading)
				heading = ""
				fmt.Fprintf(&b, "%-*s%s\n", helpColumn-1, optionColumn(o)+" ", o.help)
			}
		}
	}
	if slices.ContainsFunc(table, func(o option) bool { return o.rare }) {
		b.WriteString("All other options of pahole are taken too: \"btflite manual\", btflite(1).\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// optionColumn is "  -j, --jobs[=N]" and the like.
func optionColumn(o *option) string {
	s := "      --"
	if o.short != 0 {
		s = fmt.Sprintf("  -%c, --", o.short)
	}
	s += o.long[0]
	switch o.arg {
	case optionalArg:
		s += "[=" + o.argName + "]"
	case requiredArg:
		s += "=" + o.argName
	}
	return s + " "
}
