// Command btflite turns the DWARF of an ELF file into BTF, with the options and
// the bytes of pahole -J.
//
// This package parses the command line, reports, and replaces files; what BTF
// is made of is decided in package encode and below. Its parts:
//
//	cli.go       one run: dispatch, error line, exit status, panics
//	parse.go     getopt_long's rules over a table of options
//	options.go   the tables: one row is one option, for parser, help and hints
//	compat.go    options that only stand for pahole's
//	help.go, manual.go, completion.go  what is printed of the tables
//	features.go  --btf_features and its relatives
//	language.go  --lang, --lang_exclude
//	encodecmd.go, dedupcmd.go, verifycmd.go, diffcmd.go, version.go  what the commands do
//	check.go     what is to be written is what kernels take
//	replace.go, target.go, signals.go  output that is whole or not there
//	stats.go, report.go, progress.go  reports
package main

import (
	"os"
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
	os.Exit(newCLI(os.Stdout, os.Stderr, os.LookupEnv).run(os.Args[1:]))
}
