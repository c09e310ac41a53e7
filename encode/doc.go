// Package encode turns the DWARF of ELF files into BTF.
//
// openInput opens an input (package debuginfo) and reads its symbols. Package unit reads
// the DIEs of a unit once, into the flat tables of a workspace, and links them. functions
// checks the subprograms. dedup.Set.Resolve looks the types up among the known ones. Any
// number of workers do this side by side. commit then merges one unit after another, in
// file order, into the state of the run: the set of distinct types, and the compact
// records of functions and variables. After the last unit, tail adds functions and
// DATASECs, and the set is numbered and written.
//
// # Why the output does not depend on the number of workers
//
// Workers write only to their workspace, to the pool of names and to the cache of
// abbreviation tables. The worker that finishes the next unit in file order commits it,
// and the units after it that are ready; one worker commits at a time. Commit repeats the
// look-ups in which Resolve found nothing, and resolves the unit again if a name has got
// another definition since. Ids follow the raw order (unit, then Unit.Order), so nothing
// is sorted later. Units are read one by one until the int that indexes arrays is known.
// If two tokens turn out to be one name, the unit is read again with the alias in force.
// An error counts when its unit is committed, so the first error in the file is reported.
// In the tail, one goroutine adds the strings of functions and another one their types,
// both in the order of functions.
//
// # Units that refer to each other
//
// Link-time optimization leaves such units, and pahole merges all units of the file. The
// deduplication depends on the end of a unit only because references stay inside it. So it
// is enough to read neighbouring units in one workspace if references to types lead from
// one to the other: a group. A first look at the units finds the groups (mergeplan.go); it
// reads DIEs only where abbreviations have DW_FORM_ref_addr. GCC's types stay in their
// units. clang's units share types, so a group has most of them once. Either way, memory
// follows the output (Linux 6.12 with force_cu_merging: 49 MiB; pahole: 3,367). Some parts
// wait for the end of the file: those that merging puts after all types (tags, names of
// parameters, variables), and GCC's functions, which refer to other units: about 60 bytes
// for each, and 50 for a parameter. Files without such units pay nothing.
//
// dwz moves what units share into partial units, which pahole reads twice. Here each is
// read once, and its first reading is a copy that refers to the same types
// (unit/imports.go). An alternate file (dwz -m, debuginfo/alternate.go) comes before the
// file; of its units, btflite reads only those that something refers to.
//
// A unit is read together with the type units that it refers to (unit/typeunits.go). The
// DIEs of a split unit come from its .dwo file (debuginfo/split.go), which is open only
// while the unit is read.
//
// # Memory
//
// The mapping of the input is read-only and lives until the types are numbered.
// .debug_info, .debug_abbrev and .debug_loclists pass through windows: readers ask for
// 512 KiB at a time, ahead of themselves, and pages before the last committed unit are
// released. .debug_str is read at random, so the system decides about its pages.
//
// A goroutine expands each compressed section of this kind, 1 MiB ahead of the readers,
// into an address range as long as the section, and releases what was committed. If a
// reader goes back, the section is expanded again and kept. Sections that are read at
// random are expanded as a whole, outside the Go heap, because streams of zlib and zstd
// cannot start in the middle. So are all compressed sections of files whose units refer to
// each other.
//
// A workspace holds the tables of one unit. A single worker has one workspace; N workers
// share 2N+2. The most recently used free one is taken first. A table above 1 MiB is
// released, so that one huge unit does not keep its memory. For a relocatable file, one of
// the tables is the relocated copy of the unit.
//
// The base's file stays mapped, and its types and strings are read there. In addition
// there is a table of the strings by text and, in each set, the base's types with tokens
// for names. FUNCs of the base are indexed on the first look-up. compactstate keeps 28
// bytes for each variable of Options.ExtraVars. The rest of the Go heap is names that are
// not in .debug_str, aliases, shared abbreviation tables and log lines.
//
// The limit is the control group's or Options.MemoryLimit. It is checked against the size
// of a file that is opened, every 512 KiB of .debug_info and every 256 KiB of new types,
// and before a large table or the output is made. Before a check fails, the garbage
// collector runs and returns free memory to the system.
//
// The stable API is package btflite. What it does not use of this package may change.
package encode
