package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// suite is what is known of a run.
type suite struct {
	out     io.Writer
	slowest int // how many tests summary lists

	output  map[string][]string  // by package and test, until it has ended
	began   map[string]time.Time // what runs, by package and test
	counts  map[string]*[3]int   // by package: tests that passed, were skipped, failed
	skipped map[string][]string  // tests by reason
	slow    []took               // tests that are not parts of others
	told    time.Time            // when a line was printed last
	failed  []string             // packages
	quiet   time.Duration        // after which a line says what runs
	builds  map[string][]string  // what the compiler says, by what it compiles
}

type took struct {
	seconds float64
	test    string
}

func newSuite(out io.Writer, slowest int) *suite {
	return &suite{out: out, slowest: slowest, output: map[string][]string{}, began: map[string]time.Time{}, counts: map[string]*[3]int{},
		skipped: map[string][]string{}, builds: map[string][]string{}, quiet: 20 * time.Second}
}

func (s *suite) printf(format string, args ...any) { fmt.Fprintf(s.out, format, args...) }

// module is what all packages begin with. Lines are shorter without it.
const module = "github.com/btflite/btflite"

func short(pkg string) string {
	return cmp.Or(strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/"), "btflite")
}

// take takes an event.
func (s *suite) take(e *event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		s.builds[e.ImportPath] = append(s.builds[e.ImportPath], e.Output)
	case "build-fail":
		s.printf("%s", strings.Join(s.builds[e.ImportPath], ""))
	case "start", "run":
		s.began[key] = e.Time
	case "output":
		s.output[key] = append(s.output[key], e.Output)
	case "pass", "skip", "fail":
		s.end(e, key)
	}
	s.tellRunning(e.Time)
}

// end takes the event that ends a test or a package.
func (s *suite) end(e *event, key string) {
	output := s.output[key]
	delete(s.began, key)
	delete(s.output, key)
	if e.Test == "" {
		s.endPackage(e, output)
		return
	}
	n := s.counts[e.Package]
	if n == nil {
		n = new([3]int)
		s.counts[e.Package] = n
	}
	name := short(e.Package) + "." + e.Test
	if !strings.Contains(e.Test, "/") {
		s.slow = append(s.slow, took{e.Elapsed, name})
	}
	switch e.Action {
	case "pass":
		n[0]++
	case "skip":
		n[1]++
		why := reason(output)
		s.skipped[why] = append(s.skipped[why], name)
	case "fail":
		n[2]++
		s.printf("%s", strings.Join(output, ""))
	}
}

// endPackage prints the line of a package.
func (s *suite) endPackage(e *event, output []string) {
	n := s.counts[e.Package]
	if e.Action == "fail" {
		s.failed = append(s.failed, short(e.Package))
		s.printf("%s", strings.Join(output, ""))
	}
	if n == nil {
		return // without tests, or not built
	}
	word := map[string]string{"pass": "ok", "skip": "ok", "fail": "FAIL"}[e.Action]
	line := fmt.Sprintf("%-4s %-28s %7.1fs %5d tests", word, short(e.Package), e.Elapsed, n[0]+n[2])
	if n[1] > 0 {
		line += fmt.Sprintf(", %d skipped", n[1])
	}
	if slices.ContainsFunc(output, func(l string) bool { return strings.Contains(l, "\t(cached)") }) {
		line += " (as before)"
	}
	s.printf("%s\n", line)
	s.told = e.Time
}

// tellRunning says what runs if nothing was printed for a while.
func (s *suite) tellRunning(now time.Time) {
	if s.told.IsZero() {
		s.told = now
	}
	if now.Sub(s.told) < s.quiet {
		return
	}
	var running []string
	for _, key := range slices.SortedFunc(maps.Keys(s.began), func(a, b string) int { return s.began[a].Compare(s.began[b]) }) {
		pkg, test, _ := strings.Cut(key, " ")
		if test != "" && !strings.Contains(test, "/") {
			running = append(running, fmt.Sprintf("%s.%s %.0fs", short(pkg), test, now.Sub(s.began[key]).Seconds()))
		}
	}
	if len(running) > 0 {
		s.printf("     … %s\n", strings.Join(running[:min(3, len(running))], ", "))
	}
	s.told = now
}

// summary prints what was skipped, and which packages failed.
func (s *suite) summary() {
	if s.slowest > 0 {
		slices.SortFunc(s.slow, func(a, b took) int { return cmp.Compare(b.seconds, a.seconds) })
		s.printf("\nslowest:\n")
		for _, x := range s.slow[:min(s.slowest, len(s.slow))] {
			s.printf("%7.1fs %s\n", x.seconds, x.test)
		}
	}
	if len(s.skipped) > 0 {
		s.printf("\nskipped:\n")
		for _, why := range slices.SortedFunc(maps.Keys(s.skipped), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(s.skipped[b]), len(s.skipped[a])), cmp.Compare(a, b))
		}) {
			tests := s.skipped[why]
			s.printf("%5d  %s: %s", len(tests), why, tests[0])
			if len(tests) > 1 {
				s.printf(", …")
			}
			s.printf("\n")
		}
	}
	if len(s.failed) > 0 {
		s.printf("\nfailed: %s\n", strings.Join(s.failed, ", "))
	}
}

var (
	place    = regexp.MustCompile(`^\s*[\w.-]+\.go:\d+: `)
	notFound = regexp.MustCompile(`exec: "([^"]+)": executable file not found in \$PATH`)
	noTool   = regexp.MustCompile(`^(?:no ([a-z][\w+.-]*)(?: in PATH)?|([a-z][\w+.-]*) is not there)$`)
)

// reason is why a test was skipped, as its output says. A program that is missing is named in
// the same words by all.
func reason(output []string) string {
	text := ""
	for _, line := range output {
		if !place.MatchString(line) {
			continue
		}
		text = strings.TrimSpace(place.ReplaceAllString(line, ""))
	}
	switch {
	case text == "":
		return "without a reason"
	case notFound.MatchString(text):
		return notFound.FindStringSubmatch(text)[1] + " is not installed"
	}
	if m := noTool.FindStringSubmatch(text); m != nil {
		return cmp.Or(m[1], m[2]) + " is not installed"
	}
	return text
}
