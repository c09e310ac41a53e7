package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// readerCommands are the commands that read types, in each of their formats. FILE
// stands for the input.
var readerCommands = []string{
	"dump FILE", "dump --format=c FILE", "dump --format=c --unsorted FILE", "dump --strict-c FILE", "dump -j FILE", "dump -p FILE",
	"dump --json-lines FILE", "dump --name=* --strict-c FILE", "funcs FILE", "funcs -P FILE", "funcs --params --json FILE", "funcs --takes=list_head FILE",
	"stats FILE", "stats --json FILE", "stats --format=svg FILE", "show FILE", "show -E FILE", "show --format=html FILE", "show -p FILE",
	"show --compile FILE", "show --prettify=FILE --class_name=list_head,unsigned FILE", "show --reorganize * FILE", "sort --order=name FILE",
}

// mutantSeeds are the files that are damaged: of both byte orders, alone and over a base.
var mutantSeeds = []struct{ file, base string }{
	{"../../encode/testdata/golden/x86-gcc5.default.btf", ""},
	{splitDir + "s390x.base.btf", ""},
	{splitDir + "x86.module.btf", splitDir + "x86.base.btf"},
}

// mutate damages a copy of data: bytes, words, pieces, and names that a terminal would
// obey.
func mutate(r *rand.Rand, data []byte) []byte {
	b := bytes.Clone(data)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(b))
		switch r.IntN(8) {
		case 0:
			b[at] = byte(r.Uint32())
		case 1:
			b[at] ^= 1 << r.IntN(8)
		case 2, 3: // a word, as ids, names and sizes are
			at &^= 3
			v := []uint32{0, 1, 2, r.Uint32N(300), r.Uint32N(5000), r.Uint32(), 1<<31 - 1, 1<<32 - 1}[r.IntN(8)]
			for i := 0; i < 4 && at+i < len(b); i++ {
				b[at+i] = byte(v >> (8 * i))
			}
		case 4: // a word from elsewhere
			from := r.IntN(len(b)) &^ 3
			copy(b[at&^3:min(len(b), at&^3+4)], b[from:])
		case 5:
			n := min(r.IntN(64), len(b)-at)
			copy(b[at:at+n], b[r.IntN(len(b)):])
		case 6: // in the strings, which are at the end
			at = len(b) - 1 - r.IntN(len(b)/4)
			copy(b[at:], []string{"\x1b[2J", "\x1b]0;x\a", "\xc2\x9b1m", "\"\\", "\r", "\xff\xfe", "*/"}[r.IntN(7)])
		default:
			if r.IntN(4) == 0 {
				b = b[:max(1, at)]
			}
		}
	}
	return b
}

// TestReadersOfMutants has every reader read damaged files: text or one clear error, in
// bounded time, and nothing that a terminal obeys. BTFLITE_READER_MUTANTS is how many
// of each file.
func TestReadersOfMutants(t *testing.T) {
	count := 40
	if n, err := strconv.Atoi(os.Getenv("BTFLITE_READER_MUTANTS")); err == nil {
		count = n
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	dir := t.TempDir()
	file := filepath.Join(dir, "m.btf")
	taken, refused := 0, 0
	var slowest time.Duration
	for s, seed := range mutantSeeds {
		data, err := os.ReadFile(seed.file)
		if err != nil {
			t.Fatal(err)
		}
		for n := range count {
			if err := os.WriteFile(file, mutate(rand.New(rand.NewPCG(uint64(s), uint64(n))), data), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, command := range readerCommands {
				words := strings.Fields(strings.ReplaceAll(command, "FILE", file))
				if seed.base != "" {
					words = append(words, "--btf_base="+seed.base)
				}
				begin := time.Now()
				status, why := judgeReader(t, words)
				slowest = max(slowest, time.Since(begin))
				if why != "" {
					t.Errorf("mutant %d of %s: %s: %s", n, seed.file, command, why)
				}
				if status == exitOK {
					taken++
				} else {
					refused++
				}
			}
			if t.Failed() {
				t.FailNow()
			}
		}
	}
	t.Logf("%d mutants of %d files: %d readings, %d errors, the slowest %v", count*len(mutantSeeds), len(mutantSeeds), taken, refused, slowest)
	if taken == 0 || refused == 0 {
		t.Error("all are taken or all refused")
	}
}

// maxReading is how long reading of a file of some kilobytes may take.
const maxReading = 20 * time.Second

// maxMemory is how many bytes all that is allocated for a file of some kilobytes may have,
// beside perOutput for each byte of text, which the test collects.
const (
	maxMemory = 64 << 20
	perOutput = 8
)

// judgeReader runs a reader and says what is wrong with what it does, "" for nothing.
func judgeReader(t *testing.T, words []string) (status int, why string) {
	c, out, errs := testCLI(t)
	if words[0] == "sort" {
		words = append(words, "--output="+os.DevNull)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	status = c.run(words)
	d := time.Since(begin)
	runtime.ReadMemStats(&after)
	memory := after.TotalAlloc - before.TotalAlloc // which is more than there is at a time
	switch {
	case d > maxReading:
		return status, fmt.Sprintf("it takes %v", d)
	case memory > maxMemory+perOutput*uint64(out.Len()):
		return status, fmt.Sprintf("it takes %d bytes of memory, for %d bytes of output", memory, out.Len())
	case out.Len() > 512<<20:
		return status, fmt.Sprintf("%d bytes of output", out.Len())
	case status == exitInternal && words[0] != "diff":
		return status, "internal error: " + errs.String()
	}
	texts := map[string][]byte{"error": errs.Bytes(), "output": out.Bytes()}
	for name, text := range texts {
		if at := obeyed(text); at >= 0 {
			return status, fmt.Sprintf("%s has a control character: %q", name, text[max(0, at-20):min(len(text), at+20)])
		}
	}
	if lines := strings.Count(errs.String(), "\n"); status != exitOK && !oneError(errs.String()) {
		return status, fmt.Sprintf("status %d, %d lines of errors: %s", status, lines, errs)
	}
	return status, ""
}

// oneError tells whether text has one error, beside notes and the hint at --help.
func oneError(text string) bool {
	n := 0
	for line := range strings.Lines(text) {
		if !strings.Contains(line, ": note: ") && !strings.HasPrefix(line, "Try '") && !strings.HasPrefix(line, "btflite: note: ") {
			n++
		}
	}
	return n == 1
}

// obeyed is where text has a character that a terminal obeys, or -1.
func obeyed(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n <= 1 || unicode.IsControl(r) && r != '\n' && r != '\t' {
			return i
		}
		i += n
	}
	return -1
}
