package hostile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// costCommands are command lines of every command that reads BTF, in each of their forms. FILE
// is the input, HALF a file of the same kind with half of it, PROG a BPF object with relocations
// of all kinds, and OUT and MORE are files to write.
var costCommands = []string{
	"dump FILE", "dump --format=c FILE", "dump --format=c --unsorted FILE", "dump --strict-c FILE", "dump -j FILE", "dump --json-lines FILE",
	"funcs -P FILE", "funcs --params --json FILE", "funcs --takes=s FILE", "stats FILE", "stats --json FILE", "stats --format=svg FILE",
	"show FILE", "show -E FILE", "show --sort FILE", "show -s FILE", "show -i s0 FILE", "show -f s0 FILE", "show --format=html FILE", "show --reorganize * FILE",
	"show --compile FILE", "sort FILE OUT", "sort --btf_sort=name FILE OUT", "dedup -o OUT FILE", "dedup -o OUT FILE FILE",
	"dedup --dedup=exact -o OUT FILE", "dedup --dedup=exact -o OUT FILE FILE", "diff FILE FILE", "diff --summary HALF FILE", "diff --json HALF FILE", "diff --format=html HALF FILE",
	"verify FILE", "verify --boot FILE", "verify --no-dups FILE", "why f FILE", "doctor FILE",
	"lower --kernel=5.10 FILE OUT", "lower --for=reader --kernel=4.18 --verify=warn FILE OUT", "flatten -o OUT FILE", "flatten --origin=OUT -o MORE FILE",
	"min --btf=FILE --report=MORE -o OUT PROG",
}

// noCost are the commands that read no BTF of a user, or whose work is an encode, with why.
var noCost = map[string]string{
	"cc": "compiles", "completion": "prints a script", "help": "prints help", "manual": "prints a page", "version": "prints a line",
	"archive": "encodes DWARF; internal/pack limits what packages cost",
	"modules": "encodes DWARF, see memory_linux_test.go", "fullcircle": "encodes DWARF", "inline": "reads sites that an encode has made",
}

// Bounds of the cost of a command line, in bytes of memory and in CPU time, by the bytes
// of all that it reads and prints. The first are for any run; half of the time is for a
// machine that is busy.
const (
	costMemory, memoryPerByte = 96 << 20, 128
	costTime, timePerMiB      = 4 * time.Second, 4 * time.Second
)

// costSize is how many parts the inputs have: a few hundred kilobytes.
const costSize = 8000

// TestCostFollowsSize runs every command on BTF that is small and would cost far more than
// its size if something went over it again and again. A run ends with an answer or with
// one error, and takes no more than a multiple of what it reads and prints. BTFLITE_COSTS is
// a regular expression for the names of the inputs; without it a few are tried.
func TestCostFollowsSize(t *testing.T) {
	few := regexp.MustCompile("^(unnamed structs in each other|names that are ends of one name|unnamed unions twice in each other|arrays twice in each other|members of one name|structs of one name)$")
	if all, ok := os.LookupEnv("BTFLITE_COSTS"); ok {
		few = regexp.MustCompile(all)
	}
	answered, refused := 0, 0
	var worst [2]costShare // of memory, of time
	for _, in := range btftest.Costs {
		if !few.MatchString(in.Name) {
			continue
		}
		dir := t.TempDir()
		whole, half := btftest.New(), btftest.New()
		in.Build(whole, costSize)
		in.Build(half, costSize/2)
		testfile.Write(t, filepath.Join(dir, "FILE"), whole.Encode(false))
		testfile.Write(t, filepath.Join(dir, "HALF"), half.Encode(false))
		testfile.Write(t, filepath.Join(dir, "PROG"), testfile.Read(t, "../../testdata/min/kernel.bpf.o"))
		for _, line := range costCommands {
			r, printed := printing(t, dir, strings.Fields(line)...)
			size := printed
			for _, word := range strings.Fields(line) {
				if word == "FILE" || word == "HALF" {
					size += int64(len(testfile.Read(t, filepath.Join(dir, word))))
				}
			}
			for _, name := range []string{"OUT", "MORE"} {
				if out, err := os.Stat(filepath.Join(dir, name)); err == nil {
					size += out.Size()
					os.Remove(filepath.Join(dir, name))
				}
			}
			memory, cpu := costMemory+memoryPerByte*size, costTime+timePerMiB*time.Duration(size>>10)/1024
			if r.status < 0 || r.status == 2 && !answers(line) || r.rss<<10 > memory || r.cpu > cpu {
				t.Errorf("%s: %s: status %d, %v of CPU (%v may be), %d MiB of memory (%d), %d KiB read and printed: %.200s",
					in.Name, line, r.status, r.cpu, cpu, r.rss>>10, memory>>20, size>>10, r.stderr)
			}
			what := fmt.Sprintf("%s: %s: %v of CPU, %d MiB, for %d KiB", in.Name, line, r.cpu, r.rss>>10, size>>10)
			worst[0].raise(float64(r.rss<<10)/float64(memory), what)
			worst[1].raise(r.cpu.Seconds()/cpu.Seconds(), what)
			if r.status == 0 {
				answered++
			} else {
				refused++
			}
		}
	}
	t.Logf("%d answers, %d errors or differences", answered, refused)
	t.Logf("at most %v of the memory, and %v of the time, that may be", worst[0], worst[1])
	if answered == 0 {
		t.Error("nothing is answered")
	}
}

// costShare is the largest share of a bound that a run has taken, and the run.
type costShare struct {
	share float64
	what  string
}

func (c *costShare) raise(share float64, what string) {
	if share > c.share {
		*c = costShare{share, what}
	}
}

func (c costShare) String() string { return fmt.Sprintf("%.0f %% (%s)", 100*c.share, c.what) }

// answers reports whether the command is one for which status 2 means an error.
func answers(line string) bool {
	return strings.HasPrefix(line, "diff ") || strings.HasPrefix(line, "verify ")
}

// printing is run with the number of bytes that are printed.
func printing(t *testing.T, dir string, args ...string) (r done, bytes int64) {
	t.Helper()
	out, err := os.Create(filepath.Join(dir, "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := command(dir, args...)
	cmd.Stdout = out
	r = finish(t, cmd)
	info, err := out.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return r, info.Size()
}

// TestEveryCommandHasACost: a new command is in one of the two tables above.
func TestEveryCommandHasACost(t *testing.T) {
	var help bytes.Buffer
	cmd := command(t.TempDir(), "--help")
	cmd.Stdout = &help
	if r := finish(t, cmd); r.status != 0 {
		t.Fatal(r.stderr)
	}
	_, list, ok := strings.Cut(help.String(), "COMMAND --help")
	list, _, ends := strings.Cut(list, "\nOutput:")
	names := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
	if !ok || !ends || len(names) < 10 {
		t.Fatalf("no commands in the help: %q", names)
	}
	for _, name := range names {
		tested := slices.ContainsFunc(costCommands, func(line string) bool { return strings.HasPrefix(line, name+" ") })
		if _, exempt := noCost[name]; tested == exempt {
			t.Errorf("command %s is to be in costCommands or, with a reason, in noCost", name)
		}
	}
}

// betweenLooks is how much more memory than its limit, in MiB, a command may take that does not ask at
// each step. The scheduler decides when the goroutine that watches runs: 38 was measured while
// another test and a compiler ran on the same two CPUs.
const betweenLooks = 64

// TestMemoryLimitOfReaders: below --memory_limit every command that reads BTF ends with an
// answer or with an error that says so, and its peak (VmHWM) is not above the limit.
func TestMemoryLimitOfReaders(t *testing.T) {
	dir := t.TempDir()
	b := btftest.New()
	for i := range 3 {
		n := 40000 + i
		x := b.Int(fmt.Sprint("int", i), 4)
		for j := range n {
			b.Struct(fmt.Sprintf("a_struct_%d_%d", i, j), 8, b.Member(fmt.Sprintf("member_%d_%d", i, j), x, 0), b.Member("b", x, 32))
		}
	}
	testfile.Write(t, filepath.Join(dir, "FILE"), b.Encode(false))
	testfile.Write(t, filepath.Join(dir, "HALF"), b.Encode(false))
	answered, refused := 0, 0
	for _, line := range []string{"dump --strict-c FILE", "stats FILE", "show --format=html FILE", "sort FILE OUT", "dedup -o OUT FILE FILE",
		"dedup --dedup=exact -o OUT FILE", "diff HALF FILE", "verify FILE", "funcs FILE"} {
		for _, mib := range []int{20, 40, 400} {
			cmd := command(dir, append(strings.Fields(line), fmt.Sprintf("--memory_limit=%dM", mib))...)
			r, peak := peakOf(t, cmd)
			// A command that is watched may take more between two looks.
			if peak > (mib+betweenLooks)<<10 {
				t.Errorf("%s: a peak of %d KiB below %d MiB", line, peak, mib)
			}
			switch {
			case strings.Contains(r.stderr, "memory limit"):
				refused++
				if strings.Count(r.stderr, "\n") != 1 || r.status == 0 {
					t.Errorf("%s: status %d: %q", line, r.status, r.stderr)
				}
			case r.status > 1 || r.status < 0:
				t.Errorf("%s below %d MiB: status %d: %s", line, mib, r.status, r.stderr)
			default:
				answered++
			}
			left, _ := filepath.Glob(filepath.Join(dir, ".btflite-*"))
			if len(left) > 0 {
				t.Errorf("%s: %q was left", line, left)
			}
			os.Remove(filepath.Join(dir, "OUT"))
		}
	}
	t.Logf("%d answers, %d errors", answered, refused)
	if answered == 0 || refused == 0 {
		t.Error("this tests one outcome only")
	}
}
