package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/internal/loadbtf"
)

// Limits of one command line on one damaged file.
const (
	readerCPU    = 10 * time.Second
	readerMemory = 300 << 10 // resident, KiB
)

// Kinds of what must not be.
const (
	badCrash   = "CRASH"
	badHang    = "HANG"
	badMemory  = "MEMORY"
	badBTF     = "REFUSED BTF"
	badSilent  = "SILENT"
	badMessage = "CONTRADICTION"
	badText    = "CONTROL CHARACTER"
	badLeft    = "LEFT BEHIND"
)

// readerJob tells a worker to read a damaged file by the command lines from one on.
type readerJob struct {
	Big          bool
	Number, From int
}

// reading is the result of one command line on one damaged file.
type reading struct {
	Line, Status int
	Bad, Why     string `json:",omitempty"`
	CPU          time.Duration
	Memory       int64 // peak, KiB
}

// readerEnded is the last message of a worker that ends itself after a reading beyond a
// limit.
const readerEnded = "the worker has ended itself"

// readerWorkerEnv makes the test binary a worker of the campaign of readers: the one of that number.
const readerWorkerEnv = "BTFLITE_READER_WORKER"

// TestReaderWorker is not a test but a process of the campaign: jobs come on its standard
// input, readings go to file descriptor 3. It ends where a command line is beyond a limit.
func TestReaderWorker(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv(readerWorkerEnv))
	if err != nil {
		t.Skip("only as a process of TestReadersOfMutants")
	}
	if err := onOneCPU(n); err != nil {
		t.Log(err)
	}
	seeds := []*readerSeeds{newReaderSeeds(t, false), newReaderSeeds(t, true)}
	w := &readerWorker{dir: t.TempDir(), results: json.NewEncoder(os.NewFile(3, "results"))}
	go w.watch()
	jobs := json.NewDecoder(bufio.NewReader(os.Stdin))
	for {
		var job readerJob
		if jobs.Decode(&job) != nil {
			return
		}
		d := seeds[0].make(job.Number)
		if job.Big {
			d = seeds[1].make(job.Number)
		}
		d.put(t, w.dir)
		for i := job.From; i < len(readerLines); i++ {
			w.results.Encode(w.read(d, i))
		}
	}
}

// cpuSetSize is how many CPUs a unix.CPUSet has room for.
const cpuSetSize = 1024

// onOneCPU keeps this process, number n of its kind, on one CPU. Command lines map files and
// memory and give them back, and for that a kernel interrupts the other threads of a process
// on all other CPUs: on one CPU the campaign takes half of the time. The commands still start as
// many workers as there are CPUs.
func onOneCPU(n int) error {
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0)) // or the runtime follows what is allowed
	var allowed, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return err
	}
	n %= max(1, allowed.Count())
	for cpu := range cpuSetSize {
		if !allowed.IsSet(cpu) {
			continue
		}
		if n--; n < 0 {
			one.Set(cpu)
			break
		}
	}
	threads, err := os.ReadDir("/proc/self/task")
	for _, thread := range threads { // those that start later are where the one is that starts them
		id, _ := strconv.Atoi(thread.Name())
		err = errors.Join(err, unix.SchedSetaffinity(id, &one))
	}
	return err
}

// readerWorker runs command lines, one after the other.
type readerWorker struct {
	dir     string
	results *json.Encoder
	began   atomic.Int64 // CPU time of the process when the line began
	line    atomic.Int64 // 1 more than its index; 0 between lines
}

// usedCPU is the CPU time of this process.
func usedCPU() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// watch ends the process when a command line takes far too much.
func (w *readerWorker) watch() {
	for range time.Tick(100 * time.Millisecond) {
		at := int(w.line.Load()) - 1
		used := usedCPU() - time.Duration(w.began.Load())
		if at < 0 {
			continue
		}
		r := reading{Line: at, CPU: used, Memory: memoryIn("VmHWM:")}
		switch {
		case used > readerCPU:
			r.Bad, r.Why = badHang, fmt.Sprintf("%v of CPU", used.Round(time.Second))
		case r.Memory > 2*readerMemory:
			r.Bad, r.Why = badMemory, fmt.Sprintf("%d MiB and more", r.Memory>>10)
		default:
			continue
		}
		w.results.Encode(r)
		fmt.Fprintln(os.Stderr, readerEnded)
		os.Exit(1)
	}
}

// memoryIn is a line of the process's own figures, KiB.
func memoryIn(name string) (kib int64) {
	status, _ := os.ReadFile("/proc/self/status")
	_, after, _ := bytes.Cut(status, []byte(name))
	fmt.Sscan(string(after[:min(len(after), 32)]), &kib)
	return kib
}

// read reads d, which lies in w.dir, by a command line.
func (w *readerWorker) read(d *damaged, index int) reading {
	line := &readerLines[index]
	words := d.words(w.dir, line)
	if memoryIn("VmRSS:") > readerMemory/4 {
		debug.FreeOSMemory()
	}
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // the peak begins anew, on old kernels not
	out, errs := &readText{colour: strings.Contains(line.words, "--color=always")}, new(bytes.Buffer)
	c := newCLI(out, errs, func(string) (string, bool) { return "", false })
	w.began.Store(int64(usedCPU()))
	w.line.Store(int64(index) + 1)
	status := c.run(words)
	w.line.Store(0)
	r := reading{Line: index, Status: status, CPU: usedCPU() - time.Duration(w.began.Load()), Memory: memoryIn("VmHWM:")}
	switch r.Bad, r.Why = d.judge(w.dir, line, status, out, errs.String()); {
	case r.Bad != "":
	case r.CPU > readerCPU:
		r.Bad, r.Why = badHang, r.CPU.String()
	case r.Memory > readerMemory:
		r.Bad, r.Why = badMemory, fmt.Sprintf("%d MiB", r.Memory>>10)
	}
	return r
}

// put writes the files of d into dir.
func (d *damaged) put(t testing.TB, dir string) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	write := func(name string, data []byte) {
		name = filepath.Join(dir, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, data, 0o644))
	}
	write(d.file, d.data)
	write("good.btf", d.good)
	write("object.o", d.elf)
	write("prog.bpf.o", d.prog)
	write("image/vmlinux", d.data)
	write("image/kernel/m.ko", elftest.Of(true, false).Image(elftest.Section{Name: loadbtf.SectionBTF, Data: d.good}))
	if d.base != nil {
		write("base.btf", d.base)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// words returns the words of the command line, with the names of files in dir. It removes
// outputs of the last line.
func (d *damaged) words(dir string, line *readerLine) []string {
	for _, name := range []string{"out", "more", "modules"} {
		os.RemoveAll(filepath.Join(dir, name))
	}
	if line.writes == intoCopy {
		os.Mkdir(filepath.Join(dir, "modules"), 0o755)
		os.WriteFile(filepath.Join(dir, "modules", "copy.ko"), d.elf, 0o644)
	}
	names := strings.NewReplacer("FILE", filepath.Join(dir, d.file), "GOOD", filepath.Join(dir, "good.btf"), "OUT", filepath.Join(dir, "out"),
		"MORE", filepath.Join(dir, "more"), "ELF", filepath.Join(dir, "object.o"), "PROG", filepath.Join(dir, "prog.bpf.o"), "IMAGE", filepath.Join(dir, "image"),
		"COPY", filepath.Join(dir, "modules", "copy.ko"), "MODULES", filepath.Join(dir, "modules"), "CC", "false")
	words := strings.Fields(line.words)
	for i, word := range words {
		words[i] = names.Replace(word)
	}
	base := "--btf_base=" + filepath.Join(dir, "base.btf")
	switch at := slices.Index(words, "--btf_base="+filepath.Join(dir, d.file)); {
	case d.base == nil || slices.Contains([]string{"why", "fullcircle"}, words[0]):
	case at >= 0:
		words = slices.Insert(words, at, base)
	default:
		words = append(words, base)
	}
	return words
}

// judge returns what is wrong with the messages and outputs of the program; "" for
// nothing.
func (d *damaged) judge(dir string, line *readerLine, status int, out *readText, errs string) (bad, why string) {
	asked := strings.Fields(line.words)[0]
	answers := slices.Contains([]string{"diff", "verify", "fullcircle", "doctor"}, asked)
	told := complaints(errs)
	switch {
	case strings.Contains(errs, "please report it"), strings.Contains(errs, "goroutine "), status == exitInternal && !answers:
		return badCrash, errs
	case out.obeyed != "":
		return badText, "output: " + out.obeyed
	case obeyed([]byte(errs)) >= 0:
		return badText, "error: " + errs
	case status == exitUsage && !strings.Contains(line.words, "--prettify"): // which asks for types of this size
		return badMessage, "a usage error: " + errs
	case status == exitOK && told > 0 && !strings.Contains(errs, "no DWARF debug information"): // which kernel builds rely on
		return badMessage, "status 0 and an error: " + errs
	case status != exitOK && answers && told == 0 && (out.n > 0 || errs != "") && (status == exitFailure || strings.Contains(line.words, "--json")): // an answer
	case status != exitOK && told == 0:
		return badMessage, fmt.Sprintf("status %d without an error: %s", status, errs)
	case status != exitOK && told > 1 && asked != "modules" && asked != "verify":
		return badMessage, fmt.Sprintf("status %d and %d errors: %s", status, told, errs)
	case status == exitOK && !line.silent && out.n == 0 && errs == "":
		return badSilent, "status 0 and nothing printed"
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		return badLeft, strings.Join(left, " ")
	}
	if line.writes == noBTF {
		return "", ""
	}
	return d.judgeWritten(dir, line, status, errs)
}

// judgeWritten judges the BTF of the files that the line names.
func (d *damaged) judgeWritten(dir string, line *readerLine, status int, errs string) (bad, why string) {
	var below []string
	if d.base != nil {
		below = append(below, filepath.Join(dir, "base.btf"))
	}
	if line.writes != sameBase {
		below = append(below, filepath.Join(dir, d.file))
	}
	out, more, sections := filepath.Join(dir, "out"), filepath.Join(dir, "more"), filepath.Join(dir, "modules", "copy.ko")
	if status != exitOK {
		for _, name := range []string{out, more} {
			if _, err := os.Stat(name); err == nil {
				return badLeft, fmt.Sprintf("status %d and an output: %s", status, errs)
			}
		}
		if now, err := os.ReadFile(sections); line.writes == intoCopy && (err != nil || !bytes.Equal(now, d.elf)) {
			return badLeft, fmt.Sprintf("status %d and the module changed: %s", status, errs)
		}
		return "", ""
	}
	data, err := os.ReadFile(out)
	if line.writes == intoCopy {
		data, err = elftest.ReadSection(sections, loadbtf.SectionBTF)
	}
	if (err != nil || len(data) == 0) && errs == "" {
		return badSilent, fmt.Sprint("status 0 and nothing written: ", err)
	}
	if err != nil || strings.Contains(errs, "a kernel refuses") {
		return "", "" // which has been told
	}
	base, err := btfFiles.Chain(below)
	if err != nil {
		return badMessage, "status 0, and the base cannot be read: " + err.Error()
	}
	if distilled, err := elftest.ReadSection(sections, loadbtf.SectionBTFBase); line.writes == intoCopy && len(distilled) > 0 {
		if err != nil {
			return badBTF, err.Error()
		}
		if base, err = btf.Parse(distilled, nil); err != nil {
			return badBTF, "distilled base: " + err.Error()
		}
		if _, err := verify.Check(distilled, nil, verify.Rules{Level: verify.Boot}); err != nil {
			return badBTF, "distilled base: " + err.Error()
		}
	}
	if why := refusedBy(data, base); why != "" {
		return badBTF, why
	}
	if data, err := os.ReadFile(more); err == nil {
		written, _ := os.ReadFile(out) // there may be none
		own, err := btf.Parse(written, base)
		if err != nil {
			own = base
		}
		if why := refusedBy(data, own); why != "" {
			return badBTF, "beside it: " + why
		}
	}
	return "", ""
}

// refusedBy says why "btflite verify" refuses BTF. BTF without a type, which libbpf reads
// and modules have, is fine.
func refusedBy(data []byte, base *btf.Blob) string {
	if b, err := btf.Parse(data, base); err == nil && len(b.Off) == 0 {
		return ""
	}
	if _, err := verify.Check(data, base, verify.Rules{}); err != nil {
		return err.Error()
	}
	return ""
}

// readText takes the output of a command: how long it is, and what a terminal would obey.
type readText struct {
	n      int64
	obeyed string
	colour bool   // escapes for colours are wanted
	rest   []byte // the beginning of a character
}

func (r *readText) Write(p []byte) (int, error) {
	r.n += int64(len(p))
	if r.n > 1<<30 {
		return 0, errors.New("more than a gigabyte")
	}
	if r.colour || r.obeyed != "" {
		return len(p), nil
	}
	text := append(r.rest, p...)
	whole := len(text)
	for back := 1; back <= min(3, len(text)); back++ { // a character may go on in the next piece
		if b := text[len(text)-back]; b >= 0xc0 {
			whole -= back
			break
		} else if b < 0x80 {
			break
		}
	}
	if at := obeyed(text[:whole]); at >= 0 {
		r.obeyed = fmt.Sprintf("%q", text[max(0, at-30):min(len(text), at+30)])
	}
	r.rest = bytes.Clone(text[whole:])
	return len(p), nil
}

// complaints is how many errors a text has, beside notes, warnings and the hint at --help.
func complaints(text string) (n int) {
	for line := range strings.Lines(text) {
		if !strings.Contains(line, ": note: ") && !strings.Contains(line, ": warning: ") && !strings.HasPrefix(line, "Try '") {
			n++
		}
	}
	return n
}

// readAlone reads d by a command line in a process of its own, which is the program as it
// is, and returns what is bad there.
func (d *damaged) readAlone(t testing.TB, index int) reading {
	dir := t.TempDir()
	d.put(t, dir)
	line := &readerLines[index]
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := reading{Line: index}
	errs := new(bytes.Buffer)
	out := &readText{colour: strings.Contains(line.words, "--color=always")}
	cmd := programCommand(exe, d.words(dir, line), out, errs)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for what, limit := range map[int]uint64{unix.RLIMIT_CPU: uint64(readerCPU / time.Second), unix.RLIMIT_DATA: 4 * readerMemory << 10} {
		_ = unix.Prlimit(cmd.Process.Pid, what, &unix.Rlimit{Cur: limit, Max: limit}, nil) // it may have ended already
	}
	timer := time.AfterFunc(10*readerCPU, func() { cmd.Process.Kill() })
	_ = cmd.Wait() // the state has it
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	r.CPU, r.Memory, r.Status = time.Duration(usage.Utime.Nano()+usage.Stime.Nano()), int64(usage.Maxrss), cmd.ProcessState.ExitCode()
	switch status := cmd.ProcessState.Sys().(syscall.WaitStatus); {
	case r.CPU >= readerCPU, !timer.Stop():
		r.Bad, r.Why = badHang, r.CPU.String()
	case r.Memory > readerMemory:
		r.Bad, r.Why = badMemory, fmt.Sprintf("%d MiB", r.Memory>>10)
	case status.Signaled():
		r.Bad, r.Why = badCrash, status.Signal().String()
	default:
		r.Bad, r.Why = d.judge(dir, line, r.Status, out, errs.String())
	}
	return r
}
