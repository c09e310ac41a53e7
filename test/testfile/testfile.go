// Package testfile reads and writes files for tests. What fails ends the test.
package testfile

import (
	"os"
	"path/filepath"
	"testing"
)

// Read returns the contents of a file.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Write writes a file with mode 0600, which no output of the program has by default, and makes the
// folders above it.
func Write[T []byte | string](t testing.TB, path string, data T) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

// New writes a file of that name into a temporary folder of its own and returns the path.
func New[T []byte | string](t testing.TB, name string, data T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	Write(t, path, data)
	return path
}

// Abs returns the absolute path of a file, for programs that run in another folder.
func Abs(t testing.TB, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
