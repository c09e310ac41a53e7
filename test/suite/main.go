// Command suite runs "go test" with the arguments given, and tells how it goes:
//
//	go run ./test/suite [-slow=N] [ARGUMENT...]
//
// It prints a line for each package when its tests are done, what runs for long in the
// meantime, the whole output of what fails, and at the end what was skipped, for which reason,
// so that nobody takes a missing compiler for a passed test. -slow lists the tests that took
// longest. Its status is that of go test.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

func main() {
	args, slow := os.Args[1:], 0
	if len(args) > 0 { // the only option of our own
		if n, err := fmt.Sscanf(args[0], "-slow=%d", &slow); n == 1 && err == nil {
			args = args[1:]
		}
	}
	s := newSuite(os.Stdout, slow)
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		os.Exit(2)
	}
	err = s.read(out)
	s.summary()
	if failed := new(exec.ExitError); errors.As(cmd.Wait(), &failed) {
		os.Exit(failed.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		os.Exit(2)
	}
}

// event is a line of "go test -json".
type event struct {
	Time       time.Time
	Action     string
	Package    string
	ImportPath string // of what does not build
	Test       string
	Elapsed    float64
	Output     string
}

// read takes the events until there are no more. A line that is none is printed.
func (s *suite) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				s.printf("%s", line)
			} else {
				s.take(&e)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
