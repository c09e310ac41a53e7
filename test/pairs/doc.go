// Package pairs holds a random test of whole runs: kinds of input files, one to
// three of them in a command, and options of pahole and of btflite's own.
//
// What btflite makes of each case is compared with what pahole 1.32 makes of it,
// if that is there, and judged by what must hold without a reference: in place
// equals detached, a batch equals single runs, twice equals once, verify accepts
// the output, other variables leave the main BTF alone, statistics are those of
// the file. Where btflite differs from pahole on purpose, a row of the table
// known says why and which words of the documents tell a user so.
//
//	go test ./test/pairs                         a hundred cases, always the same
//	make pairs PAIRS=5000                        more of them, of a new seed
//	go test ./test/pairs -v -case='FILE… -- OPTION…'   one, as a failure prints it
package pairs
