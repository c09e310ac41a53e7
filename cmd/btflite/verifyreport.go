package main

import (
	"fmt"

	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/internal/message"
)

// verifyReport prints and counts the outcomes of "btflite verify".
type verifyReport struct {
	c        *cli
	out      *lineWriter
	json     bool
	tellFine bool
	quiet    bool // print only faults; --json is complete even so
	files    int  // in all

	n        [outcomes]int
	warnings int
	baseless int
	told     int
}

// begin opens the object of --json.
func (r *verifyReport) begin(rules verify.Rules) {
	if !r.json {
		return
	}
	level := "load"
	if rules.Level == verify.Boot {
		level = "boot"
	}
	r.out.line(fmt.Sprintf(`{"version":1,"kernel":%s,"level":%s,"files":[`, jsonText(rules.Kernel.String()), jsonText(level)))
}

// add prints and counts the outcome for one file.
func (r *verifyReport) add(v *verified) {
	r.n[v.outcome]++
	if v.Warning != "" {
		r.warnings++
	}
	if v.baseless && v.outcome == refused {
		r.baseless++
	}
	r.told++
	if r.json {
		comma := ","
		if r.told == r.files {
			comma = ""
		}
		r.out.line(jsonText(v) + comma)
		return
	}
	name := message.OneLine(v.File)
	for _, d := range v.Duplicates {
		r.out.line(name + ": " + d)
	}
	switch v.outcome {
	case unreadable:
		r.c.complain(v.Reason)
	case refused:
		if v.baseless && r.baseless > 1 && !r.tellFine && !r.quiet {
			break // the sums and the first file tell it
		}
		section := v.section
		if len(v.Duplicates) > 0 {
			section = ""
		}
		if section == "" {
			r.out.line(name + ": " + v.Reason)
		} else {
			r.out.line(name + ":" + section + " " + v.Reason)
		}
	case fine:
		if r.tellFine {
			note := ""
			if v.guessed {
				note = ", over " + message.OneLine(v.Base)
			}
			if v.Needs != "" {
				note += "; " + v.Needs
			}
			r.out.line(fmt.Sprintf("%s: fine: %s types, %s%s", name, grouped(uint64(v.Types)), message.ByteSize(uint64(v.Bytes)), note))
		}
	}
	if v.Skipped != "" && !r.quiet {
		r.out.line(name + ": note: " + v.Skipped + "; they are not checked")
	}
	if v.Warning != "" && !r.quiet {
		r.out.line(name + ": warning: " + v.Warning)
	}
}

// end prints the sums.
func (r *verifyReport) end() {
	if r.json {
		r.out.line(fmt.Sprintf(`],"fine":%d,"refused":%d,"unreadable":%d,"without_btf":%d,"warnings":%d}`,
			r.n[fine], r.n[refused], r.n[unreadable], r.n[withoutBTF], r.warnings))
		return
	}
	if r.files == 1 || r.quiet {
		return
	}
	text := fmt.Sprintf("%s: %s fine, %s refused, %s not readable", countOf(r.files, "file"),
		grouped(uint64(r.n[fine])), grouped(uint64(r.n[refused])), grouped(uint64(r.n[unreadable])))
	if n := r.n[withoutBTF]; n > 0 {
		text += fmt.Sprintf(", %s without BTF", grouped(uint64(n)))
	}
	if r.baseless > 1 {
		text += fmt.Sprintf("; no base was found for %s: %s", grouped(uint64(r.baseless)), giveBase)
	}
	if r.warnings > 0 {
		text += fmt.Sprintf("; %s over a base of another kernel", grouped(uint64(r.warnings)))
	}
	r.out.line(text)
}
