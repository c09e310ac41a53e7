//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// The report is RELIABILITY.md: what is promised, and the figures of this run.

const introduction = `# Reliability

Written by ` + "`make torture`" + ` (` + "`go run ./torture`" + `); do not edit. The words are in torture/report.go.

## What is promised

- No input crashes btflite or makes it hang, and what it writes a kernel takes. A panic is a bug, whatever the input was.
- Before anything is replaced, the bytes to be written are checked by package verify: all rules of the BTF verifier of
  Linux 7.2 and the narrower limits of kernels before it (65,535 members, no layout section, TYPE_TAG before other modifiers).
  A violation is an error that names the type, status 1, and the old file stays. The check costs about 1 % of an encode.
- Types of Rust, C++ and other languages than C break these rules (names such as Option<u8>, members out of order). pahole
  writes them, so btflite does: if a unit in such a language is in the output, a violation is a warning with the first bad
  type, and an error only where no reader could make sense of the bytes (a missing type, a name beyond the strings).
- Where the damage of a file shows, that is an error: nothing of a unit is left out silently because it could not be read.
  DIEs behind the end of a unit's tree, debug sections without .debug_info and section names that cannot be right are such damage.
- An undamaged object that never had DWARF is no error, as kernel builds hand such objects over: status 0, a line on stderr, no output.

## The verifier and the kernel

Where the running kernel lets the tests load BTF, every verdict of package verify on small blobs is compared with that of
BPF_BTF_LOAD: 10,000 random type graphs, 10,000 damaged blobs, chains around the depth limit (` + "`go test ./verify`" + `;
BTFLITE_VERIFY_MUTANTS asks for more; 200,000 and 300,000 were compared on Linux 6.18). Differences that remain, all in one direction:

| rule | verify | kernel |
|---|---|---|
| a struct that holds itself by value through modifiers that a pointer has led through before | refused | overlooked |
| header with a layout section, vlen over 65,535, a modifier before a TYPE_TAG | by release (` + "`--kernel`" + `) | 7.2 takes them, older kernels do not |
| types of BPF programs (bpf_spin_lock, kptr tags), blobs over 16 MiB | not checked | checked by BPF_BTF_LOAD only |

## Damaged files

Every seed is a file that a compiler wrote (encode/testdata/golden). A mutant is a seed with a few bytes changed; which
ones, its number and the seed's name decide. Each is encoded by a process of its own (` + "`-J --btf_features=default`" + `, detached) with
10 s and 256 MiB (resident, and RLIMIT_DATA). *Refused* are outputs that the strict rules, BPF_BTF_LOAD of the running kernel
(64-bit little-endian) or ` + "`bpftool btf dump`" + ` do not take. *Same* are the bytes that the undamaged seed gives.
The last five columns must be 0. ` + "`go run ./torture -gen SEED:NUMBER`" + ` writes a mutant.
`

func (c *campaign) report() string {
	var b strings.Builder
	b.WriteString(introduction)
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		fmt.Fprintf(&b, "\nMachine: Linux %s, %s.", unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Machine[:]))
	}
	for _, p := range c.programs {
		if out, err := exec.Command(p.path, "--version").Output(); err == nil && p.name == "pahole" {
			fmt.Fprintf(&b, " pahole %s.", strings.TrimSpace(string(out)))
		}
	}
	fmt.Fprintf(&b, " Judges: verify%s%s.\n", map[bool]string{true: ", kernel"}[c.kernel], map[bool]string{true: ", bpftool"}[*bpftool != ""])
	for _, p := range c.programs {
		fmt.Fprintf(&b, "\n### %s\n", p.name)
		if p.name == "pahole" && *paholeN < *mutants {
			fmt.Fprintf(&b, "\nThe first %d of the same mutants of each seed.\n", *paholeN)
		}
		c.table(&b, p.name, "seed", func(r *result) string { return r.seed })
		c.table(&b, p.name, "mutation", func(r *result) string { return r.kind })
	}
	return b.String()
}

// table writes the outcomes of one program by what key gives.
func (c *campaign) table(b *strings.Builder, program, heading string, key func(*result) string) {
	counts := map[string]*[outcomes]int{}
	var total [outcomes]int
	var keys []string
	for i := range c.results {
		r := &c.results[i]
		if r.program != program {
			continue
		}
		k := key(r)
		if counts[k] == nil {
			counts[k] = new([outcomes]int)
			keys = append(keys, k)
		}
		counts[k][r.outcome]++
		total[r.outcome]++
	}
	slices.Sort(keys)
	fmt.Fprintf(b, "\n| %s | runs | %s |\n|---|--:%s|\n", heading, strings.Join(outcomeNames[:], " | "), strings.Repeat("|--:", int(outcomes)))
	row := func(name string, n *[outcomes]int) {
		sum := 0
		for _, x := range n {
			sum += x
		}
		fmt.Fprintf(b, "| %s | %d |", name, sum)
		for _, x := range n {
			fmt.Fprintf(b, " %d |", x)
		}
		b.WriteString("\n")
	}
	for _, k := range keys {
		row(k, counts[k])
	}
	row("**all**", &total)
}
