// Package faults has a test for each fault that somebody has reported and that shows in the
// library or the program: one file each, named after the fault. The comment of a test
// says what was reported, which commit mended it, the input, and what must hold.
//
// README.md lists the faults, also those whose tests stay with a package because they need
// its insides.
package faults
