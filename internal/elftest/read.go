package elftest

import (
	"debug/elf"
	"testing"
)

// ReadSection is a section of the file at path as debug/elf reads it; nil if the
// file has none of that name.
func ReadSection(path, name string) ([]byte, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if s := f.Section(name); s != nil {
		return s.Data()
	}
	return nil, nil
}

// Contents is ReadSection for a file that must be good.
func Contents(t testing.TB, path, name string) []byte {
	t.Helper()
	data, err := ReadSection(path, name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
