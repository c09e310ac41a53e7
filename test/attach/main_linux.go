// Attach compares what "btflite why" advises with what kernels accept; see
// scripts/attach-kernels.sh.
//
//	attach MODULE < WHY > LINES
//
// turns the text of "btflite why" into lines of what to try. MODULE is "-" for the kernel
// itself. A line has "yes" or "no" for what is advised, what to try, a module, a
// name, and the kind of advice. "absent" in place of "no" is for functions that btflite
// leaves out of BTF. If the kernel's own BTF has such a function, because another program
// wrote it, the line cannot be compared.
//
//	yes fentry - schedule all
//	no kprobe - finish_task_switch other
//	yes kprobe - finish_task_switch.isra.0 other
//
// As the first process of a guest it loads the modules of /modules and tries the lines of
// /lines. Lines of results begin with RESULT.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	switch {
	case os.Getpid() == 1:
		guest()
	case len(os.Args) == 2:
		out := bufio.NewWriter(os.Stdout)
		err := lines(os.Stdin, out, os.Args[1])
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "attach:", err)
			os.Exit(1)
		}
	default:
		fmt.Fprintln(os.Stderr, "usage: attach MODULE < WHY > LINES")
		os.Exit(2)
	}
}

// told is the answer of "btflite why" about one function.
type told struct {
	name    string
	inBTF   bool
	points  []string // "fentry:NAME" and the like, without the module
	symbols []string
}

// point finds in a line of advice the places that a tracer can attach to.
var point = regexp.MustCompile(`\b(?:fentry|fexit|kprobe):[^ ,;]+`)

// lines turns the text of "btflite why" into lines of what to try.
func lines(in io.Reader, out io.Writer, module string) error {
	var one *told
	for s := bufio.NewScanner(in); ; {
		more := s.Scan()
		line := s.Text()
		if !more || !strings.HasPrefix(line, " ") {
			if one != nil {
				one.write(out, module)
			}
			if !more {
				return s.Err()
			}
			name, _, _ := strings.Cut(line, ":")
			one = &told{name: name, inBTF: strings.HasPrefix(line, name+": in BTF,")}
			continue
		}
		words := strings.Fields(line)
		switch {
		case len(words) > 1 && words[0] == "symbol" && strings.HasPrefix(line, "    symbol"):
			one.symbols = append(one.symbols, words[1])
		case strings.HasPrefix(line, "    attach to"):
			for _, p := range point.FindAllString(line, -1) {
				if module != "-" {
					p = strings.Replace(p, ":"+module+":", ":", 1)
				}
				one.points = append(one.points, p)
			}
		}
	}
}

// kind is the kind of advice: by all ways, by fentry without a kprobe of the name, by a
// kprobe of the name, by another name only, or not at all.
func (t *told) kind() string {
	entry, probe := slices.Contains(t.points, "fentry:"+t.name), slices.Contains(t.points, "kprobe:"+t.name)
	switch {
	case entry && probe:
		return "all"
	case entry:
		return "entry"
	case probe:
		return "probe"
	case len(t.points) > 0:
		return "other"
	}
	return "nothing"
}

// write writes lines of all that is advised, and of what might be and is not.
func (t *told) write(out io.Writer, module string) {
	try := []string{"fentry:" + t.name, "fexit:" + t.name, "kprobe:" + t.name}
	for _, s := range t.symbols {
		// A part that is jumped to could be probed, but sees no call.
		if !strings.Contains(s, ".cold") && !strings.Contains(s, ".part.") {
			try = append(try, "kprobe:"+s)
		}
	}
	slices.Sort(try)
	for _, p := range slices.Compact(append(try, t.points...)) {
		want := "no"
		if slices.Contains(t.points, p) {
			want = "yes"
		}
		how, name, _ := strings.Cut(p, ":")
		if want == "no" && how != "kprobe" && !t.inBTF {
			want = "absent"
		}
		fmt.Fprintln(out, want, how, module, name, t.kind())
	}
}
