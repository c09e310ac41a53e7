package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/test/testfile"
)

var update = flag.Bool("update", false, "rewrite the golden files of testdata")

// golden compares got with the file of testdata; -update rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		testfile.Write(t, path, got)
	}
	want := testfile.Read(t, path)
	if got != string(want) {
		t.Errorf("%s differs (go test -update rewrites it); got:\n%s", name, got)
	}
}

func TestHelp(t *testing.T) {
	for name, args := range map[string][]string{"help.txt": {"--help"}, "help-dedup.txt": {"dedup", "--help"},
		"help-verify.txt": {"verify", "--help"}, "help-modules.txt": {"modules", "--help"}, "help-sort.txt": {"sort", "--help"}, "help-lower.txt": {"lower", "--help"},
		"help-diff.txt": {"diff", "--help"}, "help-dump.txt": {"dump", "--help"}, "help-show.txt": {"show", "--help"}, "help-funcs.txt": {"funcs", "--help"}, "help-stats.txt": {"stats", "--help"}, "help-fullcircle.txt": {"fullcircle", "--help"}, "help-doctor.txt": {"doctor", "--help"}, "help-why.txt": {"why", "--help"}} {
		c, stdout, _ := testCLI(t)
		if status := c.run(args); status != exitOK {
			t.Fatalf("status %d", status)
		}
		golden(t, name, stdout.String())
		lines := strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
		if len(lines) > 24 {
			t.Errorf("%s: %d lines do not fit a screen; some rows may be rare", name, len(lines))
		}
		for _, l := range lines {
			if len(l) > 80 || strings.TrimRight(l, " ") != l {
				t.Errorf("%s: too wide or trailing space: %q", name, l)
			}
		}
	}
}

func TestHelpShowsEveryOptionThatIsNotRare(t *testing.T) {
	help := testfile.Read(t, "testdata/help.txt")
	c, _, _ := testCLI(t)
	for _, g := range groupsOf(newMain(c, newEncodeCommand())) {
		for _, f := range g.options {
			if !optionOf(f).rare && !bytes.Contains(help, []byte("--"+f.Name)) {
				t.Errorf("--%s is missing", f.Name)
			}
		}
	}
}

func sampleReport() *runReport {
	enc := &finish.Encoded{Size: 5_400_000, Stats: encode.Stats{
		CUs: 3456, CUsFiltered: 12, DIEs: 34567890, DebugInfo: 220 << 20, TypesIn: 9876543, TypesOut: 123456,
		SlowCUs: 3, FuncStates: 400123, Funcs: 61234, Vars: 412, TypeBytes: 4_000_000, StrBytes: 1_399_976,
		Skipped: map[string]int{"optimized parameters": 7, "due to multiple inconsistent function prototypes": 1234},
		Phases:  []encode.Phase{{Name: "open", Time: 20 * time.Millisecond}, {Name: "units", Time: 3 * time.Second}},
	}}
	r := newRunReport([]string{"vmlinux"}, outputs{main: &target{path: "vmlinux.btf"}}, enc, 5*time.Millisecond, 3200*time.Millisecond)
	r.PeakRSS = 1 << 50
	return r
}

func TestStatsText(t *testing.T) {
	golden(t, "stats.txt", sampleReport().format(statsText)+"\n")
}

func TestStatsJSONIsOneObject(t *testing.T) {
	text := sampleReport().format(statsJSON)
	golden(t, "stats.json", text+"\n")
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil || strings.Contains(text, "\n") {
		t.Fatalf("%v in %s", err, text)
	}
}

func TestStatsDoNotChangeTheEncodersPhases(t *testing.T) {
	phases := make([]encode.Phase, 1, 4)
	enc := &finish.Encoded{Stats: encode.Stats{Phases: phases}}
	newRunReport([]string{"a"}, outputs{}, enc, 1, 1)
	if phases[:2][1].Name != "" {
		t.Error("written behind the encoder's slice")
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for n, want := range map[uint64]string{0: "0 bytes", 1023: "1023 bytes", 1536: "1.5 KiB", 3 << 20: "3.0 MiB", 1023 << 20: "1023.0 MiB", 16 << 30: "16.0 GiB"} {
		if got := message.ByteSize(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

func TestProgressLine(t *testing.T) {
	var b bytes.Buffer
	c, _, _ := testCLI(t)
	p := newProgress(&b, fileProgress("dir/vmlinux"), c.guard)
	p.draw()
	if b.Len() != 0 {
		t.Errorf("drawn before anything is known: %q", &b)
	}
	p.update(50<<20, 200<<20)
	p.draw()
	if want := "\r\x1b[Kvmlinux:  25%  50 of 200 MiB, 1 s left"; b.String() != want {
		t.Errorf("%q, want %q", &b, want)
	}
	for columns, want := range map[int]string{60: "vmlinux:  25%  50 of 200 MiB, 9 s left", 30: "vmlinux:  25%, 9 s left", 21: " 25%  50 of 200 MiB", 8: " 25%"} {
		if got := fitting(fileProgress("dir/vmlinux")(50<<20, 200<<20, ", 9 s left"), columns); got != want {
			t.Errorf("%d columns: %q", columns, got)
		}
	}
	p.stop()
	if !strings.HasSuffix(b.String(), "\r\x1b[K") {
		t.Errorf("not cleared: %q", &b)
	}
	n := b.Len()
	p.draw()
	p.stop()
	if b.Len() != n {
		t.Error("written after the end")
	}
}

func TestProgressIsLateAndOnlyForTerminals(t *testing.T) {
	c, _, _ := testCLI(t)
	if c.startProgress(false, fileProgress("x")) != nil {
		t.Error("progress into a buffer")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	c.stderr = w
	if c.startProgress(false, fileProgress("x")) != nil {
		t.Error("progress into a pipe")
	}
	var b bytes.Buffer
	p := newProgress(&b, fileProgress("x"), c.guard)
	p.update(1, 2)
	go p.loop(time.Hour, time.Hour)
	p.stop()
	if b.Len() != 0 {
		t.Errorf("drawn at once: %q", &b)
	}
}

func TestSilentMake(t *testing.T) {
	for flags, want := range map[string]bool{
		"": false, "s": true, "rRs -j4 --jobserver-auth=3,4": true, "w": false,
		" -j4 -- CROSS=s": false, "--no-print-directory": false, "-- s=1": false, "CROSS=s": false,
	} {
		if silentMake(flags) != want {
			t.Errorf("MAKEFLAGS=%q", flags)
		}
	}
}
