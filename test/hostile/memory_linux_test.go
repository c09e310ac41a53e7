package hostile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/memgroup"
	"github.com/btflite/btflite/test/testfile"
)

// TestSmallGroups: in memory control groups of any size a run ends with its
// output or with an error, before the kernel ends it.
func TestSmallGroups(t *testing.T) {
	group := memoryGroup(t)
	belowLimits(t, 8, 48, 2, func(mib int, dir string, args ...string) done {
		return inGroup(t, group, mib, command(dir, args...))
	})
}

// TestColdProgram: in small groups, a run does not read the program from disk again and again,
// although the system reads ahead in its code.
func TestColdProgram(t *testing.T) {
	group := memoryGroup(t)
	largest := int64(0)
	belowLimits(t, 16, 48, 4, func(mib int, dir string, args ...string) done {
		if err := memgroup.Evict(program); err != nil {
			t.Skip(err)
		}
		r := inGroup(t, group, mib, command(dir, args...))
		largest = max(largest, r.read)
		if r.read > coldReads {
			t.Errorf("%d MiB, %q: read %d KiB", mib, args, r.read)
		}
		return r
	})
	t.Logf("at most %d KiB were read", largest)
	if largest == 0 {
		t.Skip("the program does not lie on a disk")
	}
}

// coldReads is how many KiB a run may read from disk in TestColdProgram. The program has 17 MiB, and
// some of its pages are read more than once. With read-ahead in its code, ten of the 18 runs read
// 100 MiB to 11 GiB.
const coldReads = 96 << 10

// TestMemoryLimitHolds: below --memory_limit a run ends with an error or with its
// output, and its peak of resident memory (VmHWM) is not above the limit.
func TestMemoryLimitHolds(t *testing.T) {
	belowLimits(t, 16, 72, 4, func(mib int, dir string, args ...string) done {
		r, peak := peakOf(t, command(dir, append(args, fmt.Sprintf("--memory_limit=%dM", mib))...))
		if peak > mib<<10 {
			t.Errorf("%d MiB, %q: peak of %d KiB, status %d", mib, args, peak, r.status)
		}
		return r
	})
}

// belowLimits runs the program below limits from some MiB to others. Each run ends
// with the output that there is without a limit, or with an error and no output; there
// are several of either.
func belowLimits(t *testing.T, from, to, step int, run func(mib int, dir string, args ...string) done) {
	t.Helper()
	t.Setenv("GOMAXPROCS", "3") // else there are at most as many workers as processors here
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "f.o"), manyTypes())
	succeeds(t, dir, encodeTo("out", "f.o")...)
	want := testfile.Read(t, filepath.Join(dir, "out"))
	errors, outputs := 0, 0
	for _, jobs := range []string{"-j1", "-j3"} {
		for mib := from; mib <= to; mib += step {
			os.Remove(filepath.Join(dir, "out"))
			r := run(mib, dir, append(encodeTo("out", "f.o"), jobs)...)
			r.clean(t)
			left := "f.o"
			switch {
			case r.status == 0:
				outputs++
				left = "f.o out"
				if got := testfile.Read(t, filepath.Join(dir, "out")); string(got) != string(want) {
					t.Errorf("%d MiB, %s: another output", mib, jobs)
				}
			case !strings.Contains(r.stderr, "memory limit"):
				t.Errorf("%d MiB, %s: status %d: %s", mib, jobs, r.status, r.stderr)
			default:
				errors++
			}
			wantNames(t, dir, left)
		}
	}
	t.Logf("%d outputs, %d errors", outputs, errors)
	if errors < 4 || outputs < 4 {
		t.Error("this tests one outcome only")
	}
}

// peakOf runs a command and returns its peak of resident memory in KiB, as it was
// last seen. (ru_maxrss would have that of this process, which it is forked from.)
func peakOf(t *testing.T, cmd *exec.Cmd) (r done, kib int) {
	t.Helper()
	stop, peak := make(chan bool), make(chan int)
	look := func(file string) {
		last := 0
		for {
			select {
			case <-stop:
				peak <- last
				return
			case <-time.After(200 * time.Microsecond):
			}
			status, _ := os.ReadFile(file)
			if _, hwm, ok := strings.Cut(string(status), "VmHWM:"); ok && strings.HasPrefix(string(status), "Name:\tbtflite\n") {
				fmt.Sscan(hwm, &last)
			}
		}
	}
	r = watched(t, cmd, func(pid int) { go look(fmt.Sprintf("/proc/%d/status", pid)) })
	stop <- true
	return r, <-peak
}

// manyTypes is an ELF file with some 10 MiB of types.
func manyTypes() []byte {
	f := &dt.File{}
	for i := range 60 {
		var root []any
		for j := range 1500 {
			name := fmt.Sprintf("type_%d_of_unit_%d", j, i)
			root = append(root, dt.N(dt.TagStructureType, dt.Name(name), dt.Size(4)), dt.N(dt.TagTypedef, dt.Name(name+"_t")))
		}
		f.Units = append(f.Units, dt.CU(root...))
	}
	return f.Bytes()
}

// TestGroupAndMemoryFiles: what is written to tmpfs is memory of the group, so a
// batch fills it; that is an error too, and so is one output too many.
func TestGroupAndMemoryFiles(t *testing.T) {
	group := memoryGroup(t)
	mnt := t.TempDir()
	if err := unix.Mount("none", mnt, "tmpfs", 0, "size=1g"); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(mnt, 0) })
	dir := t.TempDir()
	data := manyTypes()
	for i := range 12 {
		testfile.Write(t, filepath.Join(dir, fmt.Sprintf("m%d.ko", i)), data)
	}
	base := filepath.Join(t.TempDir(), "base")
	testfile.Write(t, filepath.Join(filepath.Dir(base), "f.o"), testfile.Read(t, compiled))
	succeeds(t, filepath.Dir(base), encodeTo(base, "f.o")...)
	r := inGroup(t, group, 96, command(dir, "modules", "-j2", "--btf_base="+base, "--btf_features=default", "--btf_encode_detached_dir="+mnt, dir))
	out, _ := filepath.Glob(filepath.Join(mnt, "*"))
	t.Logf("status %d with %s: %.300s", r.status, names(t, mnt), r.stderr)
	if r.status != 1 || len(out) == 0 || len(out) == 12 || !strings.Contains(r.stderr, "memory") {
		t.Errorf("status %d, %d of 12 outputs", r.status, len(out))
	}
	for _, name := range out {
		if !strings.HasSuffix(name, ".btf") {
			t.Errorf("left: %s", name)
		}
	}
	// In place, the whole file is written anew.
	small := filepath.Join(mnt, "in")
	if err := os.Mkdir(small, 0o755); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(small, "f.o"), append(data, make([]byte, 90<<20)...))
	r = inGroup(t, group, 80, command(small, inPlace("f.o")...))
	r.clean(t)
	if r.status != 1 || !strings.Contains(r.stderr, "tmpfs") {
		t.Errorf("in place: status %d: %s", r.status, r.stderr)
	}
	wantNames(t, small, "f.o")
}

// memoryGroup makes a group, if that is permitted.
func memoryGroup(t *testing.T) *memgroup.Group {
	group, err := memgroup.New(1024)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := group.Remove(); err != nil {
			t.Error(err)
		}
	})
	return group
}

// inGroup runs a command in the group with a limit.
func inGroup(t *testing.T, g *memgroup.Group, mib int, cmd *exec.Cmd) done {
	t.Helper()
	if err := g.Limit(mib); err != nil {
		t.Fatal(err)
	}
	cmd.Args = g.Command(append([]string{cmd.Path}, cmd.Args[1:]...)...)
	cmd.Path = cmd.Args[0]
	return finish(t, cmd)
}
