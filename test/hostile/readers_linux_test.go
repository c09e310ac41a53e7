package hostile

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// readerLimits are the limits of TestReadersInSmallGroups, in MiB: in the least little more than
// the program fits, in the largest most commands do.
var readerLimits = []int{10, 14, 18, 24, 32}

// TestReadersInSmallGroups runs every command that reads BTF in small memory control groups, on BTF that
// is nearly as large as a kernel's. A run ends as without a limit, or with one error that names memory
// as the reason, and without an output. The kernel never ends it.
func TestReadersInSmallGroups(t *testing.T) {
	group := memoryGroup(t)
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "FILE"), btftest.Large(14000))
	testfile.Write(t, filepath.Join(dir, "HALF"), btftest.Large(7000))
	testfile.Write(t, filepath.Join(dir, "PROG"), testfile.Read(t, "../../testdata/min/kernel.bpf.o"))
	same, errors := 0, 0
	for _, line := range costCommands {
		want := readerRun(t, dir, line, func(cmd *exec.Cmd) done { return finish(t, cmd) })
		for _, mib := range readerLimits {
			got := readerRun(t, dir, line, func(cmd *exec.Cmd) done { return inGroup(t, group, mib, cmd) })
			switch {
			case got.status == want.status && got.printed == want.printed && got.files == want.files:
				same++
			case (got.status == 1 || got.status == 2 && answers(line)) && strings.Count(got.stderr, "memory limit") == 1 && got.files == "":
				errors++
			default:
				t.Errorf("%d MiB, %s: status %d, without a limit %d; files: %q; %.300s", mib, line, got.status, want.status, got.files, got.stderr)
			}
		}
	}
	t.Logf("%d runs as without a limit, %d errors", same, errors)
	if same < 2*len(costCommands) || errors < len(costCommands)/2 {
		t.Error("this tests one outcome only")
	}
}

// readerEnd is how the run of a reader ended.
type readerEnd struct {
	done
	printed string // a hash of what it printed
	files   string // names and hashes of the files that it wrote
}

// readerRun runs a command line in a folder, and removes the files that it writes.
func readerRun(t *testing.T, dir, line string, run func(*exec.Cmd) done) (r readerEnd) {
	t.Helper()
	cmd := command(dir, strings.Fields(line)...)
	printed := sha256.New()
	cmd.Stdout = printed
	r.done = run(cmd)
	r.printed = string(printed.Sum(nil))
	for _, name := range strings.Fields(names(t, dir)) {
		if path := filepath.Join(dir, name); name != "FILE" && name != "HALF" && name != "PROG" {
			r.files += fmt.Sprintf("%s %x ", name, sha256.Sum256(testfile.Read(t, path)))
			os.Remove(path)
		}
	}
	return r
}
