package ccobject

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// TestRandomPrograms: objects of random programs give the same BTF as from DWARF. It
// needs csmith; BTFLITE_PROGRAMS asks for more programs than ten.
func TestRandomPrograms(t *testing.T) {
	n := 10
	if s := os.Getenv("BTFLITE_PROGRAMS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for seed := range n {
		run(t, dir, "csmith", "--seed", strconv.Itoa(seed+1), "--output", "program.c", "--max-funcs", "6", "--max-block-depth", "3")
		compiler := []string{"gcc", "clang"}[seed%2]
		level := "-O" + strconv.Itoa(seed%3)
		run(t, dir, compiler, level, "-g", "-gdwarf-"+strconv.Itoa(4+seed/2%2), "-w", "-I/usr/include/csmith", "-c", "-o", "program.o", "program.c")
		object := filepath.Join(dir, "program.o")
		record, err := convert(object)
		if err != nil {
			t.Errorf("seed %d, %s %s: %v", seed+1, compiler, level, err)
			continue
		}
		sameBTF(t, "seed "+strconv.Itoa(seed+1)+", "+compiler+" "+level, object, record)
	}
}
