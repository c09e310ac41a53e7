// Package cachegrind counts the instructions of a program with the tool of valgrind of this name: a cost that
// does not depend on the machine's load. Cachegrind without its cache model is the fastest of
// valgrind's tools that count by function.
package cachegrind

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Missing returns why instructions cannot be counted here, "" if they can.
func Missing() string {
	if _, err := exec.LookPath("valgrind"); err != nil {
		return "valgrind is not installed"
	}
	return ""
}

// runtimeNames are how the names of the Go runtime's functions begin. How often they run depends on
// when goroutines meet, so they are not counted.
var runtimeNames = []string{"runtime.", "runtime/", "internal/runtime/", "gcWriteBarrier", "gogo", "_rt0_"}

// Count runs a program with arguments in a folder, and returns how many instructions it takes
// outside of the Go runtime. The program must have its symbols. GOMAXPROCS is 1, because with
// more goroutines at a time the program does more or less work in a different order; the garbage
// collector is as the program sets it. An error has what the program printed.
func Count(dir, program string, args ...string) (uint64, error) {
	counts, err := os.CreateTemp("", "cachegrind-")
	if err != nil {
		return 0, err
	}
	defer os.Remove(counts.Name())
	if err := counts.Close(); err != nil {
		return 0, err
	}
	if program, err = filepath.Abs(program); err != nil {
		return 0, err
	}
	words := []string{"--quiet", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=" + counts.Name(), program}
	cmd := exec.Command("valgrind", append(words, args...)...)
	cmd.Dir = dir
	// Without preemption by signals, and with the same routines on every processor.
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1,cpu.all=off")
	var printed bytes.Buffer
	cmd.Stderr = &printed
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, bytes.TrimSpace(printed.Bytes()))
	}
	data, err := os.ReadFile(counts.Name())
	if err != nil {
		return 0, err
	}
	return sum(data)
}

// sum adds up what a file of cachegrind says about functions outside of the runtime: a line with
// fn= and the name begins a function, and a line with the number of a source line has its count.
func sum(data []byte) (total uint64, err error) {
	counted := false
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if name, ok := strings.CutPrefix(line, "fn="); ok {
			counted = true
			for _, prefix := range runtimeNames {
				counted = counted && !strings.HasPrefix(name, prefix)
			}
			continue
		}
		if line == "" || line[0] < '0' || line[0] > '9' || !counted {
			continue
		}
		_, count, _ := strings.Cut(line, " ")
		n, err := strconv.ParseUint(count, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("cachegrind: line %q: %w", line, err)
		}
		total += n
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	if total == 0 {
		return 0, errors.New("cachegrind counted nothing outside of the runtime: the program has no symbols")
	}
	return total, nil
}
