// Command btflite turns the DWARF of an ELF file into BTF, with the options and
// the bytes of pahole -J.
//
// This package parses the command line, reports, and replaces files. Package job, which the
// library uses too, holds the options of an encoding, says which go together, and does the
// work: package encode and those below it decide what BTF is made of, and package finish
// sorts, verifies and distils it. The commands that print types encode an input without BTF
// by package btflite, the library.
//
// The parts of this package:
//
//	cli.go       one run: error line, exit status, panics
//	commands.go  the table of commands, and which one a command line means
//	argp.go      pahole's command line, translated for pflag
//	habits.go    command lines of pfunct and bpftool, as ours
//	advice.go    what people are told whose command line is nearly right
//	options.go   how a command says what options it has
//	encodecmd.go, modulescmd.go, dedupcmd.go, ...  one command each, with its options
//	encoding.go  the options of encodecmd.go and modulescmd.go
//	compat.go    options that only stand for pahole's
//	help.go, manual.go, completion.go  what is printed of commands and options
//	features.go  --btf_features and its relatives
//	language.go  --lang, --lang_exclude
//	streams_linux.go, limits_linux.go  closed streams, and limits below which a run cannot work
//	ccmarks.go   what btflite cc has said already
//	memory.go    the memory limit, and what a run gives back
//	finish.go    the work below this package, and what is said of its outcome
//	outputs.go, replace.go, target.go, signals.go  output that is whole or not there
//	readtypes.go  the inputs of commands that print types
//	screen.go, pager.go, color.go  text that may be long, on a terminal
//	stats.go, report.go, progress.go  reports
package main

import (
	"os"
	"path/filepath"
)

func main() {
	c := newCLI(standardOutput(), os.Stderr, os.LookupEnv)
	c.heap.growFirst()
	c.calledAs = filepath.Base(os.Args[0])
	if err := checkLimits(); err != nil {
		c.complain(err.Error())
		os.Exit(exitFailure)
	}
	os.Exit(c.run(os.Args[1:]))
}
