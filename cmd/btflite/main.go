// Command btflite turns the DWARF of an ELF file into BTF, with the options and
// the bytes of pahole -J.
//
// This package parses the command line, reports, and replaces files. Package
// encode and those below it decide what BTF is made of; package finish sorts,
// checks and distils it. Package btflite, the library, is a facade of the same
// packages. The commands that print types use it to encode an input without BTF. The
// commands that encode go round it, because they need what a library should not
// offer: the lines of -V, a limit on resident memory, sessions that encode one module
// after the other, BTF that goes to a file without a copy of it in memory, and advice
// about options in errors.
//
// The parts of this package:
//
//	cli.go       one run: error line, exit status, panics
//	commands.go  the table of commands, and which one a command line means
//	argp.go      pahole's command line, translated for pflag
//	options.go   how a command says what options it has
//	encodecmd.go, modulescmd.go, dedupcmd.go, ...  one command each, with its options
//	encoding.go  the options of encodecmd.go and modulescmd.go
//	compat.go    options that only stand for pahole's
//	help.go, manual.go, completion.go  what is printed of commands and options
//	features.go  --btf_features and its relatives
//	language.go  --lang, --lang_exclude
//	memory.go    the memory limit
//	finish.go    what the options say of the work in encode and finish
//	outputs.go, replace.go, target.go, signals.go  output that is whole or not there
//	readtypes.go  the inputs of commands that print types
//	stats.go, report.go, progress.go  reports
package main

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
)

// gcPercent is how much garbage the heap may hold beside what is live. Almost
// all memory of a run is outside the heap, and what is in it holds hardly any
// pointers: collecting often costs nothing and keeps the peak down.
const gcPercent = 20

// firstPercent makes the heap grow to 8 MiB, twice what Go starts from, before it
// is collected for the first time. With gcPercent a run would collect ten times
// on the way there, a twentieth of all time for a small module.
const firstPercent = 200

func main() {
	debug.SetGCPercent(firstPercent)
	runtime.AddCleanup(&struct{ p *byte }{}, func(percent int) { debug.SetGCPercent(percent) }, gcPercent)
	c := newCLI(os.Stdout, os.Stderr, os.LookupEnv)
	c.calledAs = filepath.Base(os.Args[0])
	os.Exit(c.run(os.Args[1:]))
}
