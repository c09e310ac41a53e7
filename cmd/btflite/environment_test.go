package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// TestEnvironment: the table has the variables that the program asks for, and so have the
// manual pages and the help.
func TestEnvironment(t *testing.T) {
	constants := map[string]string{"kernelBTFEnv": kernelBTFEnv, "keepVariable": keepVariable, "nestedVariable": nestedVariable, "kernelVariable": kernelVariable, "moduleVariable": moduleVariable,
		"serversVariable": serversVariable}
	asked := map[string]bool{"LESS": true, "LV": true, "PAGER": true, "MANPAGER": true, "GOMEMLIMIT": true, "TMPDIR": true} // by loops, Go's runtime, and package os
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`(?:ookupEnv|Getenv)\((?:"(\w+)"|(\w+))\)`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range call.FindAllStringSubmatch(string(testfile.Read(t, file)), -1) {
			name := m[1] + constants[m[2]]
			if name == "" && m[2] != "name" && m[2] != "variable" {
				t.Errorf("%s asks for %s, which this test does not know", file, m[2])
			}
			asked[name] = true
		}
	}
	delete(asked, "")
	page := string(testfile.Read(t, filepath.Join(manFolder, "btflite.1")))
	for _, v := range environment() {
		if !asked[v.name] {
			t.Errorf("%s: nothing asks for it", v.name)
		}
		delete(asked, v.name)
		if !strings.Contains(page, `\fB`+v.name+`\fP`) {
			t.Errorf("btflite(1) has no %s", v.name)
		}
		for command := range strings.FieldsSeq(v.commands) {
			own := string(testfile.Read(t, filepath.Join(manFolder, "btflite-"+command+".1")))
			help, _ := btfliteRun(t, exitOK, command, "--help")
			if !strings.Contains(own, `\fB`+v.name+`\fP`) || !regexp.MustCompile(`(?m)^Environment: [^.]*\b`+v.name+`\b`).MatchString(help) {
				t.Errorf("%s: not on the page of %s, or not in its help", v.name, command)
			}
		}
	}
	for name := range asked {
		t.Errorf("%s is in no list", name)
	}
}

// TestStatusesAreDocumented: the pages have the statuses of their commands, and docs/usage.md
// has all of them.
func TestStatusesAreDocumented(t *testing.T) {
	usage := string(testfile.Read(t, "../../docs/usage.md"))
	section := regexp.MustCompile(`(?s)\.SH EXIT STATUS\n(.*?)\n\.SH `)
	for _, entry := range append(commands(), subcommand{}) {
		name := "btflite-" + entry.name
		if entry.name == "" {
			name = programName
		}
		m := section.FindStringSubmatch(string(testfile.Read(t, filepath.Join(manFolder, name+".1"))))
		if m == nil {
			t.Errorf("%s: no exit status", name)
			continue
		}
		want := []string{"0", "1", "64"}
		switch entry.name {
		case compilerName:
			continue // has the compiler's
		case "", "diff", "doctor", "fullcircle", "modules", "verify":
			want = []string{"0", "1", "2", "64"}
		case "archive":
			want = []string{"0", "1", "2", "64", "75"}
		}
		var got []string
		for line := range strings.Lines(m[1]) {
			if line = strings.TrimSpace(line); isDigits(line) {
				got = append(got, line)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: statuses %q, want %q", name, got, want)
		}
	}
	for _, status := range []string{"0", "1", "2", "64", "75"} {
		if !strings.Contains(usage, "\n| "+status+" | ") {
			t.Errorf("docs/usage.md has no status %s", status)
		}
	}
}
