package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/findbase"
	"github.com/btflite/btflite/test/testfile"
)

// manyStructs is a file of some pages.
func manyStructs(t *testing.T) (path string) {
	t.Helper()
	b := btftest.New()
	i := b.Int("int", 4)
	for n := range 2000 {
		b.Struct(fmt.Sprintf("s%05d", n), 4, b.Member("m", i, 0))
	}
	path = filepath.Join(t.TempDir(), "many.btf")
	testfile.Write(t, path, b.Encode(false))
	return path
}

// memoryFault is the panic of Go for a mapped file that has become shorter.
type memoryFault struct{ error }

func (memoryFault) Addr() uintptr { return 0 }

// Write is an output that fails so, for a fault in the middle of a command.
func (f memoryFault) Write([]byte) (int, error) { panic(f) }

// TestCutWhileRead: a file that is cut short while a command reads it is an error that
// names the inputs. Where status 1 is an answer, the status is another.
func TestCutWhileRead(t *testing.T) {
	path, other := manyStructs(t), splitDir+"x86.base.btf"
	for args, want := range map[string]int{"dump " + path: exitFailure, "diff " + path + " " + other: exitTrouble} {
		c, _, stderr := testCLI(t)
		c.stdout = memoryFault{}
		names := path
		if want == exitTrouble {
			names += " and 1 more input"
		}
		if status := c.run(strings.Fields(args)); status != want || stderr.String() != "btflite: "+names+": "+encode.CutShort+"\n" {
			t.Errorf("%s: status %d, %s", args, status, stderr)
		}
	}
}

// overrun is an output that fails as code does that trusts what was checked before.
type overrun []byte

func (o overrun) Write([]byte) (int, error) { return int(o[len(o)]), nil }

// TestChangedWhileRead: if a fault comes from a file that another program has written to meanwhile,
// the message says so, and does not ask for a report.
func TestChangedWhileRead(t *testing.T) {
	path := manyStructs(t)
	for when, want := range map[time.Time]int{began.Add(-time.Hour): exitInternal, began.Add(time.Hour): exitFailure} {
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		c, _, stderr := testCLI(t)
		c.stdout = overrun{}
		status := c.run([]string{"dump", path})
		changed := strings.HasPrefix(stderr.String(), "btflite: "+path+": a file has changed while in use: ")
		if status != want || changed != (want == exitFailure) || strings.Contains(stderr.String(), pleaseReport) == changed {
			t.Errorf("written %v after the start: status %d, %s", when.Sub(began), status, stderr)
		}
	}
}

// TestCutWhileVerified: such a file cannot be read, and is not refused.
func TestCutWhileVerified(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // as the goroutines that call it do
	path := manyStructs(t)
	rules := verify.Rules{Stop: func() error { return os.Truncate(path, 0) }}
	v := verifyFile(verifiedFile{path: path}, false, rules, findbase.New(btfFiles, ""))
	if v.outcome != unreadable || !strings.HasSuffix(v.Reason, ": "+encode.CutShort) {
		t.Errorf("%s: %s", v.Outcome, v.Reason)
	}
}

// TestAnswersHaveTheirStatus: status 1 of a command is either an answer, as its help says, or a failure. Trouble
// with such a command, as with memory, must not look like an answer.
func TestAnswersHaveTheirStatus(t *testing.T) {
	c, _, _ := testCLI(t)
	for _, cmd := range wholeTree(c).Commands() {
		_, answers := cmd.Annotations[troubleKey]
		if told := strings.Contains(cmd.Long, "Status 0: "); told != answers {
			t.Errorf("%s: its help tells of answers: %v, its trouble has a status of its own: %v", cmd.Name(), told, answers)
		}
	}
}
