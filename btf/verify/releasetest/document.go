package releasetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// document has the tables of releases.
const document = "docs/results/kernel-releases.md"

// CheckTable compares a table with what docs/results/kernel-releases.md has between the lines
// begin and end, or writes it there with update. command is the command that does so. The test
// belongs to a package two folders below the root.
func CheckTable(t testing.TB, begin, table, end string, update bool, command string) {
	t.Helper()
	path := filepath.Join("..", "..", document)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", document)
	}
	want := before + begin + table + end + after
	switch {
	case want == string(data):
	case !update:
		t.Fatalf("%s does not have the table of this package; %s", document, command)
	default:
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
