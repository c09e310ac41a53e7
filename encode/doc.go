// Package encode turns the DWARF of ELF files into BTF.
//
// The path of the data: openInput opens an input (package debuginfo) and reads its
// symbols; package unit reads a unit's DIEs once into the flat tables of an arena
// workspace and links them; functions judges subprograms; dedup.Set.Resolve looks the
// types up among those known. All of that runs in any number of workers. commit
// then merges one unit after the other, in file order, into the run's global
// state: the set of distinct types and the compact function and variable
// records. When all units are gone, tail adds functions and DATASECs, and the
// set is numbered and written.
//
// # Memory
//
// The mapping of the input is read-only and lives until the types are
// numbered. .debug_info, .debug_abbrev and .debug_loclists go by in windows:
// the readers ask for 512 KiB at a time ahead of themselves, and what lies
// behind the last committed unit is given back. .debug_str is read at random,
// so its pages are left to the system.
//
// Compressed sections that go by in windows are expanded on a goroutine of
// their own, 1 MiB ahead of the readers, into an address range as long as the
// section, and dropped behind the last committed unit. A file that goes back
// has the section expanded again and kept. Sections that are read at random are
// expanded whole, outside the Go heap: streams of zlib and zstd have no points
// to restart at. So are all compressed sections of files whose units refer to
// each other.
//
// A workspace is the arena tables of one unit. One worker has one, more workers have
// two each and two in common; the workspace that was used last is used first. A table
// above 1 MiB is given back, so that one huge unit does not pin its memory. For a
// relocatable file, one of the tables is the relocated copy of the unit.
//
// The base's file stays mapped, and its types and strings are read there. Beside
// them are a table of the strings by text, and in each set the base's types with
// tokens for names. FUNCs of the base are indexed when the first one is looked
// up. Of variables beside the BTF (Options.ExtraVars), compactstate keeps 28 bytes
// each; all their types are in the main BTF, which stays as it is. The rest of the
// Go heap is names that are not in .debug_str, aliases, shared abbreviation tables
// and log lines.
//
// The limit is the control group's or Options.MemoryLimit. It is checked against
// the size of a file that is opened, every 512 KiB of .debug_info and every
// 256 KiB of new types, and before a large table or the output is made. Too much
// is an error only after the garbage of the Go heap has been given back.
//
// # Why the output does not depend on the number of workers
//
// Workers write to their workspace, to the pool of names and to the cache of
// abbreviation tables, and to nothing else. Whoever finishes the unit that is
// next in file order commits it, and those behind it that are ready; one
// worker commits at a time. Commit looks up again what Resolve did not find, and
// resolves anew if a name has got another definition since. Ids follow the raw
// order (unit, then Unit.Order), so nothing is sorted later. Until the int that
// indexes arrays is known, units go one by one. If two tokens turn out to be one
// name, the unit is read again with the alias in force. An error counts when
// its unit is committed, so the first one in the file is reported. In the tail, one
// goroutine adds the strings of functions and another their types, each in the
// order of functions.
//
// # Units that refer to each other
//
// Link-time optimization leaves such units, and pahole merges all units of the
// file. Where a unit ends matters to the deduplication only because references
// stay inside it. So only neighbours between which references to types lead
// share a workspace: a group. A first look at the units finds the groups
// (mergeplan.go); it reads DIEs only where abbreviations have
// DW_FORM_ref_addr. GCC's types stay in their units; clang's units share types,
// so that a group has most of them once. Memory follows the output either
// way (Linux 6.12 with force_cu_merging: 49 MiB; pahole: 3,367). What merging puts behind all types (tags, names of parameters,
// variables) waits for the end, and so do GCC's functions, which refer to other
// units: about 60 bytes each and 50 for a parameter. That a file needs this is
// noticed at its first unit with such an abbreviation, and the run starts
// again. Files without such units pay nothing.
//
// dwz moves what units share into partial units, which pahole reads twice.
// Here each is read once, and the first reading is a copy that refers to the
// same types (unit/imports.go). An alternate file (dwz -m, debuginfo/alternate.go) counts as
// standing before the file; of its units, those are read that something refers
// to.
//
// A unit is read together with the type units that it leads to (unit/typeunits.go), and
// a split unit from its .dwo file (debuginfo/split.go), which is open only while the
// unit is read.
//
// The stable API is package btflite. What it does not use of this package may change.
package encode
