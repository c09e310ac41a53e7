package memlimit

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestDropCode: the code of the program is hardly resident behind it, and works.
func TestDropCode(t *testing.T) {
	before := residentCode(t)
	DropCode()
	after := residentCode(t)
	if before == 0 || after >= before {
		t.Errorf("%d KiB of code are resident, before it were %d", after, before)
	}
	ReadProgramSingly()
	if again := residentCode(t); again == 0 {
		t.Error("no code is resident, and yet it runs")
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
