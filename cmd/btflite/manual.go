package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// subcommand is a subcommand for the manual page and the completions; the one
// without a name is the encoder.
type subcommand struct {
	name    string
	intro   []string // as in the help
	options []option
}

// commands are all that have options.
var commands = []subcommand{
	{"", encodeIntro, encodeOptions},
	{"modules", modulesIntro, modulesOptions},
	{"dedup", dedupIntro, dedupOptions},
	{"sort", sortIntro, sortOptions},
	{"verify", verifyIntro, verifyOptions},
	{"diff", diffIntro, diffOptions},
}

// manualHead and manualTail surround the options in the manual page. The rest
// of it comes from the tables, so that page, help and parser agree.
const manualHead = `.\" Written by "btflite manual"; do not edit.
.TH BTFLITE 1 "" "btflite" "User Commands"
.SH NAME
btflite \- turn DWARF debug information into BTF, as pahole \-J does
.SH SYNOPSIS
.B btflite
.RI \-J\ [ OPTION .\|.\|.]\  FILE .\|.\|.
.br
.B btflite
.RI COMMAND\ [ OPTION .\|.\|.]\  FILE .\|.\|.
.SH DESCRIPTION
btflite reads the DWARF of ELF files, such as a Linux kernel or its modules, and
writes the BTF that pahole 1.32 writes, byte for byte. Several
.I FILE\fRs
give one BTF. It goes into the section .BTF of the first with a unit to encode,
which is replaced as a whole or left as it was, or into a file of its own
.RB ( \-\-btf_encode_detached ).
.PP
Long options may be cut short as long as they stay unambiguous, and options may
follow file names. An optional argument must be attached:
.BR \-j4 ,
.BR \-\-jobs=4 .
A link to btflite that is called pahole does the same.
.PP
.B \-\-btf_base
may be given several times: the first BASE stands alone, and each further one is
BTF that was split from those before it, as vmlinux, then a module. (pahole takes
the last one only.) A BASE that was split from something else is refused, where
that shows.
`

const manualTail = `.SH FUNCTIONS THAT ARE LEFT OUT
.B \-V
prints, for each,
.RI \(dq NAME " : skipping BTF encoding of function due to " REASON \(dq.
.B \-\-report
has the same as JSON. Reasons: a parameter is not where the calling convention
puts it (unexpected register usage for parameter), definitions differ
(inconsistet prototype), parameters lie behind a packed struct on the stack
(uncertain parameter location), parameters were reordered (reordered
parameters) or lost (optimized parameters), the name stands at several addresses
(ambiguous address).
.SH EXIT STATUS
.TP
0
Done. Also for a single file without DWARF or without types, with a line on
standard error, if no output of an earlier run is in the way.
.TP
1
It could not be done, and nothing was written.
.TP
2
A fault of btflite.
.TP
64
The command line is wrong.
.PP
The statuses of verify and diff are told with them.
.SH ENVIRONMENT
.TP
.B PAHOLE_LANG_EXCLUDE
Counts as
.B \-\-lang_exclude
if no option names languages.
.TP
.B LLVM_OBJCOPY
Is what pahole calls to add a section; not needed here.
.TP
.B GOMEMLIMIT
A limit of one's own for the Go heap; otherwise it follows the memory limit.
.SH SEE ALSO
.BR pahole (1),
.BR bpftool-btf (8)
`

// runManual is "btflite manual": the page btflite.1.
func (c *cli) runManual(args []string) error {
	if len(args) > 0 {
		return usagef("manual takes no arguments")
	}
	_, err := io.WriteString(c.stdout, manualPage())
	return stdoutError(err)
}

func manualPage() string {
	var b strings.Builder
	b.WriteString(manualHead)
	for _, cmd := range commands {
		title := "OPTIONS"
		if cmd.name != "" {
			title = strings.ToUpper(cmd.name)
		}
		fmt.Fprintf(&b, ".SH %s\n", title)
		if cmd.name != "" {
			fmt.Fprintf(&b, "%s\n", roff(strings.TrimPrefix(cmd.intro[0], "Usage: ")))
			fmt.Fprintf(&b, ".PP\n%s\n", roff(strings.Join(cmd.intro[1:], "\n")))
		}
		for _, group := range append(slices.Clone(helpGroups), groupCompat) {
			heading := ".SS " + roff(group) + "\n"
			for i := range cmd.options {
				if o := &cmd.options[i]; o.group == group {
					b.WriteString(heading)
					heading = ""
					fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(optionColumn(o))), roff(o.help))
				}
			}
		}
		if cmd.name == "" {
			b.WriteString(".PP\nThe options of pahole that shape the printing of types change nothing here:\n")
			var names []string
			for name := range strings.FieldsSeq(printingOptions) {
				o := printingOption(name)
				names = append(names, roff(o.name()))
			}
			fmt.Fprintf(&b, "%s.\n", strings.Join(names, ",\n"))
		}
	}
	b.WriteString(manualTail)
	return b.String()
}

// roff escapes text for a line of a manual page.
func roff(s string) string {
	s = strings.ReplaceAll(s, `\`, `\e`)
	s = strings.ReplaceAll(s, "-", `\-`)
	var lines []string
	for l := range strings.SplitSeq(s, "\n") {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			l = `\&` + l
		}
		lines = append(lines, l)
	}
	return strings.Join(lines, "\n")
}
