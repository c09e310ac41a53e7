package faults

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// TestList: README.md names each test of this folder, and each test that it names exists,
// here or in the package that it names.
func TestList(t *testing.T) {
	testsIn := func(dir string) string {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		var all strings.Builder
		for _, path := range files {
			all.Write(testfile.Read(t, path))
		}
		return all.String()
	}
	own := testsIn(".")
	text := string(testfile.Read(t, "README.md"))
	for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(t `).FindAllStringSubmatch(own, -1) {
		if m[1] != "TestList" && !strings.Contains(text, "`"+m[1]+"`") {
			t.Errorf("README.md lacks %s", m[1])
		}
	}
	rows := 0
	for _, line := range strings.Split(text, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(line, "`Test") {
			continue
		}
		rows++
		for _, part := range strings.Split(cells[2], ";") {
			tests := own
			if dir, _, ok := strings.Cut(part, "`: "); ok {
				tests = testsIn(filepath.Join("../..", strings.Trim(dir, " `")))
			}
			for _, name := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(part, -1) {
				if !strings.Contains(tests, "\nfunc "+name[1]+"(t ") {
					t.Errorf("README.md names %s, which is not there", name[1])
				}
			}
		}
	}
	if rows < 20 {
		t.Errorf("only %d rows", rows)
	}
}
