package memlimit

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// TestDropCode: the code of the program is hardly resident behind it, and works.
func TestDropCode(t *testing.T) {
	before := residentCode(t)
	DropCode()
	after := residentCode(t)
	if before == 0 || after >= before {
		t.Errorf("%d KiB of code are resident, before it were %d", after, before)
	}
	LimitReadAhead()
	if again := residentCode(t); again == 0 {
		t.Error("no code is resident, and yet it runs")
	}
}

// TestLimitReadAhead: all code lies in small mappings, also after a second call. The system
// reads ahead in code up to the end of a mapping, whatever MADV_RANDOM says.
func TestLimitReadAhead(t *testing.T) {
	before := program()
	if len(before) == 0 {
		t.Skip("the system does not tell the mappings of the program")
	}
	most := uintptr(max(codePiece, os.Getpagesize()))
	for call := range 2 {
		LimitReadAhead()
		maps := testfile.Read(t, "/proc/self/maps")
		pieces := 0
		for line := range strings.Lines(string(maps)) {
			f := strings.Fields(line)
			from, to, _ := strings.Cut(f[0], "-")
			if at, end := address([]byte(from)), address([]byte(to)); f[1] == "r-xp" && before[0].from <= at && end <= before[len(before)-1].to {
				pieces++
				if end-at > most {
					t.Errorf("call %d: a mapping has %d bytes of code, at most %d are right", call, end-at, most)
				}
			}
		}
		if after := program(); pieces < 2 || !slices.Equal(after, before) {
			t.Errorf("call %d: %d mappings of code; together they are %v, before there were %v", call, pieces, after, before)
		}
	}
}

// TestDropCodeKeepsProbes: code that was written to, as a debugger does for a
// breakpoint, stays.
func TestDropCodeKeepsProbes(t *testing.T) {
	mem, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer mem.Close()
	pages, err := os.Open("/proc/self/pagemap")
	if err != nil {
		t.Skip(err)
	}
	defer pages.Close()
	kept := func() (list []mapping) {
		for _, m := range program() {
			if !m.writable && changed(pages, m) {
				list = append(list, m)
			}
		}
		return list
	}
	all := program()
	if len(all) == 0 {
		t.Skip("the system does not tell the mappings of the program")
	}
	var b [1]byte
	if _, err := mem.ReadAt(b[:], int64(all[0].from)); err != nil {
		t.Skip(err)
	}
	if _, err := mem.WriteAt(b[:], int64(all[0].from)); err != nil {
		t.Skip(err)
	}
	before := kept()
	DropCode()
	if after := kept(); len(before) == 0 || !slices.Equal(after, before) {
		t.Errorf("changed before: %v, and after: %v", before, after)
	}
}

// residentCode is how much of the program's code is resident, in KiB (proc_pid_smaps(5)).
func residentCode(t *testing.T) (kib int) {
	t.Helper()
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Skip(err)
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	code := false
	for line := range strings.Lines(string(smaps)) {
		f := strings.Fields(line)
		switch {
		case len(f) > 1 && !strings.HasSuffix(f[0], ":"):
			code = f[1] == "r-xp" && f[len(f)-1] == program
		case code && len(f) == 3 && f[0] == "Rss:":
			n, err := strconv.Atoi(f[1])
			if err != nil {
				t.Fatal(err)
			}
			kib += n
		}
	}
	return kib
}
