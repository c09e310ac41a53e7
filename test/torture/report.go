//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// marker is the line of the report behind which the figures begin.
const marker = "<!-- What follows is written by make torture. -->\n"

// writeReport puts the figures into a file: behind the marker, or all of it.
func (c *campaign) writeReport(path string) error {
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	head, _, found := strings.Cut(string(text), marker)
	if !found {
		head = ""
	}
	return os.WriteFile(path, []byte(head+marker+c.report()), 0o644)
}

func (c *campaign) report() string {
	var b strings.Builder
	var u unix.Utsname
	unix.Uname(&u)
	release := append(strings.SplitN(unix.ByteSliceToString(u.Release[:]), ".", 3), "") // 6.18 of 6.18.44
	fmt.Fprintf(&b, "\n%d seeds, %d mutants each (`make torture%s`), Linux %s.%s, %s", len(c.seeds), *mutants, flagsUsed(),
		release[0], release[1], unix.ByteSliceToString(u.Machine[:]))
	for _, p := range c.programs {
		if out, err := exec.Command(p.path, "--version").Output(); err == nil && p.name == theirs {
			fmt.Fprintf(&b, ", pahole %s", strings.TrimPrefix(strings.TrimSpace(string(out)), "v"))
		}
	}
	refused := 0
	for _, why := range c.judged {
		if why != "" {
			refused++
		}
	}
	fmt.Fprintf(&b, ".\n%d different outputs were judged by package verify", len(c.judged))
	if c.kernel > 0 {
		fmt.Fprintf(&b, ", %d of them by the running kernel too", c.kernel)
	}
	fmt.Fprintf(&b, "; %d were refused, ", refused)
	if n := c.disagreements; n > 0 {
		fmt.Fprintf(&b, "and the two judges disagreed on %d.\n", n)
	} else {
		b.WriteString("and the two judges disagreed on none.\n")
	}
	for _, p := range c.programs {
		fmt.Fprintf(&b, "\n### %s\n\n", p.name)
		if p.most < *mutants {
			fmt.Fprintf(&b, "The first %d of the same mutants of each seed. ", p.most)
		}
		b.WriteString(c.worst(p.name) + "\n")
		c.table(&b, p.name, "seed", func(r *result) string { return r.seed })
		if !p.inPlace {
			c.table(&b, p.name, "mutation", func(r *result) string { return r.kind })
		}
	}
	c.compare(&b)
	return b.String()
}

// flagsUsed are the flags that change the figures, as make takes them.
func flagsUsed() string {
	var used []string
	flag.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "n", "seeds", "pahole_n", "in_place_n":
			used = append(used, "-"+f.Name+"="+f.Value.String())
		}
	})
	if len(used) == 0 {
		return ""
	}
	return " TORTUREFLAGS='" + strings.Join(used, " ") + "'"
}

// worst tells what the most expensive run of a program took.
func (c *campaign) worst(program string) string {
	var cpu time.Duration
	var rss int64
	for i := range c.results {
		if r := &c.results[i]; r.program == program {
			cpu, rss = max(cpu, r.cpu), max(rss, r.rss)
		}
	}
	return fmt.Sprintf("Most expensive run: %.2f s of CPU; highest peak: %d MiB.", cpu.Seconds(), rss>>10)
}

// compare tells what btflite makes of the mutants for which pahole writes valid
// BTF.
func (c *campaign) compare(b *strings.Builder) {
	type key struct {
		seed   string
		number int
	}
	mine := map[key]*result{}
	for i := range c.results {
		if r := &c.results[i]; r.program == ours {
			mine[key{r.seed, r.number}] = r
		}
	}
	var n [2][3]int // by pahole's outcome: equal bytes, other bytes, an error
	for i := range c.results {
		r := &c.results[i]
		if r.program != theirs || r.outcome > otherOutput {
			continue
		}
		switch m := mine[key{r.seed, r.number}]; {
		case m.outcome > otherOutput:
			n[r.outcome][2]++
		case m.hash == r.hash:
			n[r.outcome][0]++
		default:
			n[r.outcome][1]++
			if r.outcome == sameOutput {
				fmt.Fprintf(os.Stderr, "%s:%d %s: pahole gives the seed's bytes, btflite others\n", r.seed, r.number, r.kind)
			}
		}
	}
	if n == [2][3]int{} {
		return
	}
	b.WriteString("\n### Where pahole writes valid BTF\n\n| pahole | btflite: the same bytes | other bytes | error |\n|---|--:|--:|--:|\n")
	for o, row := range n {
		fmt.Fprintf(b, "| %s | %d | %d | %d |\n", outcomeNames[o], row[0], row[1], row[2])
	}
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
