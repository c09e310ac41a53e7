package main

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/draft"
	"github.com/btflite/btflite/internal/elfwrite"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/job"
	"github.com/btflite/btflite/test/testfile"
)

// The test binary is the command itself if fakeEncoder is set in its environment. The
// value says what the encoder below does. If a script calls it btflite, it has the real
// encoder.
const fakeEncoder = "BTFLITE_TEST_ENCODER"

func TestMain(m *testing.M) {
	if fake, ok := os.LookupEnv(fakeEncoder); ok {
		setFake(fake)
		main()
	}
	testscript.Main(m, map[string]func(){programName: main})
}

// splitFiles are the files of split BTF.
const splitFiles = "../../testdata/split/"

const fakeBTF = "the bytes of the BTF"

// fakeKind is the value of fakeEncoder.
var fakeKind string

// named before a kind of fake makes outputs have a temporary name while they are written, as on NFS.
const named = "named "

// setFake replaces the encoder and the ELF writer.
func setFake(kind string) {
	kind, named := strings.CutPrefix(kind, named)
	draft.Nameless = !named
	fakeKind = kind
	if kind == "slowModules" {
		real := newSession
		newSession = func(o *job.Options) session { return slowSession{real(o)} }
		return
	}
	runEncode = fakeRun
	if kind != "realELF" {
		setSections = fakeSet
	}
}

func fakeRun(paths []string, o *job.Options) (*finish.Encoded, error) {
	enc := &finish.Encoded{Size: int64(len(fakeBTF)), Write: writeText(fakeBTF)}
	enc.Stats.CUs = 1
	switch fakeKind {
	case "panic":
		var s []int
		_ = s[len(paths)]
	case "panicValue":
		panic("two\nlines")
	case "fail":
		return nil, errors.New(paths[0] + ": .debug_info+0x1f: unknown form 0x99")
	case "noDwarf":
		return nil, fmt.Errorf("%s: %w", paths[0], encode.ErrNoDwarf)
	case "empty":
		enc.Size = 0
	case "long":
		if o.Encode.Progress != nil {
			o.Encode.Progress(1<<20, 2<<20)
		}
		time.Sleep(progressDelay + 2*progressStep)
		for range 300 { // on a busy machine, until the test has seen the line
			if _, err := os.Stat("unseen"); err != nil {
				break
			}
			time.Sleep(progressStep / 2)
		}
	case "writeFails":
		enc.Write = func(w io.Writer) error {
			w.Write(make([]byte, 2*outputBuffer))
			return errors.New("certificate failed")
		}
	case "slow":
		enc.Write = func(w io.Writer) error {
			w.Write(make([]byte, 2*outputBuffer))
			os.Stdout.WriteString("writing\n")
			time.Sleep(time.Minute)
			return nil
		}
	}
	if o.Encode.Verbose != nil {
		o.Encode.Verbose("[1] INT int")
	}
	if o.Encode.FuncSkipped != nil {
		o.Encode.FuncSkipped("f", "ambiguous address")
	}
	return enc, nil
}

// fakeSet appends the section names and the bytes to the file.
func fakeSet(path string, _ os.FileInfo, first func(string) error, sections ...elfwrite.Section) error {
	if err := first(""); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, s := range sections {
		io.WriteString(f, s.Name+" ")
		err = errors.Join(err, s.Write(f))
	}
	return err
}

// command is btflite with a fake encoder in the folder dir.
func command(dir, fake string, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), fakeEncoder+"="+fake)
	return cmd
}

func TestExitStatusAndMessages(t *testing.T) {
	const try = "Try 'btflite --help' for more information.\n"
	const noDebugInfo = "compile with -g, or take the file from before it was stripped, or from its debug package"
	tests := []struct {
		name, fake, args string
		status           int
		stdout, stderr   string
		out              string // content of the file out afterwards
		old              bool   // there is a file old before and, the same, afterwards
		in               string // content of the file in, if not the same as before
	}{
		{name: "version", args: "--version", stdout: "v1.32\n"},
		{name: "numeric version", args: "--numeric_version", stdout: "132\n"},
		{name: "features", args: "--supported_btf_features", stdout: supportedFeatures + "\n"},
		{name: "detached", args: "-J --btf_encode_detached=out in", out: fakeBTF},
		{name: "in place", args: "-J in", in: "input.BTF " + fakeBTF},
		{name: "verbose", args: "-JV --btf_encode_detached=out in", stdout: "[1] INT int\n", out: fakeBTF},
		{name: "to stdout", args: "-V --btf_encode_detached=/dev/stdout in", stdout: fakeBTF, stderr: "[1] INT int\n"},
		{name: "empty", fake: "empty", args: "-J in --btf_encode_detached=out", stderr: "btflite: in: no compile unit has types to encode: nothing written\n"},
		{name: "empty over old output", fake: "empty", args: "-J in --btf_encode_detached=old", status: 1, old: true,
			stderr: "btflite: in: no compile unit has types to encode: nothing written, and old of an earlier run is still there; remove it\n"},
		{name: "no DWARF", fake: "noDwarf", args: "-J in", stderr: "btflite: in: no DWARF debug information (.debug_info): nothing written; " + noDebugInfo + "\n"},
		{name: "no DWARF, detached", fake: "noDwarf", args: "-J in --btf_encode_detached=out", stderr: "btflite: in: no DWARF debug information (.debug_info): nothing written; " + noDebugInfo + "\n"},
		{name: "no DWARF over old output", fake: "noDwarf", args: "-J in --btf_encode_detached=old", status: 1, old: true,
			stderr: "btflite: in: no DWARF debug information (.debug_info): nothing written, and old of an earlier run is still there; remove it\n"},
		{name: "no DWARF in one of two", fake: "noDwarf", args: "-J in in", status: 1, stderr: "btflite: in: no DWARF debug information (.debug_info)\n"},
		{name: "failure", fake: "fail", args: "-J in --btf_encode_detached=out", status: 1, stderr: "btflite: in: .debug_info+0x1f: unknown form 0x99\n"},
		{name: "failing write", fake: "writeFails", args: "-J in --btf_encode_detached=out", status: 1, stderr: "btflite: out: cannot write: certificate failed\n"},
		{name: "panic with a value", fake: "panicValue", args: "-J in --btf_encode_detached=out", status: 2,
			stderr: "btflite: internal error: two; lines at cmd/btflite.fakeRun:LINE; please report it\n"},
		{name: "panic of the runtime", fake: "panic", args: "-J in --btf_encode_detached=out", status: 2,
			stderr: "btflite: internal error: runtime error: index out of range [1] with length 0 at cmd/btflite.fakeRun:LINE; please report it\n"},
		{name: "no -J", args: "in", status: 64, stderr: "btflite: nothing to do with in: -J adds BTF to it, --btf_encode_detached=OUT writes its BTF to OUT, btflite show in prints its types\n" + try},
		{name: "no input", args: "-J", status: 64, stderr: "btflite: no input file\n" + try},
		{name: "empty input name", args: "-J EMPTY", status: 64, stderr: "btflite: empty input file name\n" + try},
		{name: "empty output name", args: "-J in --btf_encode_detached=", status: 64, stderr: "btflite: empty output file name\n" + try},
		{name: "missing input", args: "-J in none --btf_encode_detached=out", status: 1, stderr: "btflite: none: cannot open: no such file or directory\n"},
		{name: "misspelt", args: "--btf_encode_detach=out --lang_exlude=rust in", status: 64, stderr: "btflite: unrecognized option '--lang_exlude=rust'; did you mean --lang_exclude?\n" + try},
		{name: "slip of -j", args: "-J -j 4 in", status: 64, stderr: "btflite: 4: no such file, and '-j 4' has a space too many; did you mean -j4?\n" + try},
		{name: "slip of --jobs", args: "-J --jobs 4 in", status: 64, stderr: "btflite: 4: no such file, and '--jobs 4' has a space too many; did you mean --jobs=4?\n" + try},
		{name: "number that is no slip", args: "-J -j4 4", status: 1, stderr: "btflite: 4: cannot open: no such file or directory\n"},
		{name: "output is input", args: "-J --btf_encode_detached=./in in", status: 1, stderr: "btflite: ./in: the output is the input file in\n"},
		{name: "strict feature", args: "-J --btf_features_strict=nope in", status: 64,
			stderr: "Feature 'nope' in 'nope' is not supported.  Supported BTF features are:\n" + supportedFeatures + "\n"},
		{name: "unknown language", args: "-J --lang=klingon in", status: 64, stderr: "btflite: option '--lang': unknown language \"klingon\"\n" + try},
		{name: "missing base", args: "-J --btf_base=b in", status: 1, stderr: "btflite: b: cannot open: no such file or directory\n"},
		{name: "distilled base without a base", args: "-J --btf_features=distilled_base in", status: 64, stderr: "btflite: the feature distilled_base needs a base; give --btf_base=BASE\n" + try},
		{name: "distilled base detached has no effect", args: "--btf_features=distilled_base --btf_encode_detached=out in", out: fakeBTF},
		{name: "dedup without output", args: "dedup in", status: 64, stderr: "btflite: no output; give -o OUT\nTry 'btflite dedup --help' for more information.\n"},
		{name: "dedup of no BTF", args: "dedup -o out in", status: 1, stderr: "btflite: in: it is neither an ELF file nor BTF, and begins with 69 6e\n"},
		{name: "dedup onto its input", args: "dedup -o in in", status: 1, stderr: "btflite: in: the output is the input file in\n"},
		{name: "file called dedup", args: "-J ./dedup --btf_encode_detached=out", status: 1, stderr: "btflite: ./dedup: cannot open: no such file or directory\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			in := filepath.Join(dir, "in")
			testfile.Write(t, in, "input")
			want := []string{"in"}
			if tt.old {
				want = append(want, "old")
				testfile.Write(t, filepath.Join(dir, "old"), "old")
			}
			args := strings.Fields(tt.args)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "EMPTY", "")
			}
			var stdout, stderr bytes.Buffer
			cmd := command(dir, tt.fake, args...)
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			cmd.Run()
			if got := cmd.ProcessState.ExitCode(); got != tt.status {
				t.Errorf("status %d, want %d", got, tt.status)
			}
			if stdout.String() != tt.stdout {
				t.Errorf("stdout %q, want %q", &stdout, tt.stdout)
			}
			if !sameMessage(stderr.String(), tt.stderr) {
				t.Errorf("stderr %q, want %q", &stderr, tt.stderr)
			}
			if tt.old {
				wantFile(t, filepath.Join(dir, "old"), "old", 0o600)
			}
			if tt.out != "" {
				want = append(want, "out")
				if b, _ := os.ReadFile(filepath.Join(dir, "out")); string(b) != tt.out {
					t.Errorf("out is %q", b)
				}
			}
			onlyFiles(t, dir, want...)
			if tt.in == "" {
				tt.in = "input"
			}
			if b, _ := os.ReadFile(in); string(b) != tt.in {
				t.Errorf("in is %q", b)
			}
		})
	}
}

// sameMessage compares a message with the expected one, in which LINE stands
// for any number and a missing line end for any rest of the line.
func sameMessage(got, want string) bool {
	if want != "" && !strings.HasSuffix(want, "\n") {
		return strings.HasPrefix(got, want) && strings.Count(got, "\n") == 1
	}
	before, after, ok := strings.Cut(want, "LINE")
	if !ok {
		return got == want
	}
	number, found := strings.CutPrefix(got, before)
	number, found2 := strings.CutSuffix(number, after)
	return found && found2 && isDigits(number)
}

func TestReport(t *testing.T) {
	for _, tt := range []struct {
		fake, args string
		status     int
		want       map[string]any // fields of the report; nil: none is written
	}{
		{args: "--btf_encode_detached=out", want: map[string]any{"output": "out", "btf_bytes": 20.0, "error": nil, "nothing_written": nil,
			"left_out_functions": []any{map[string]any{"name": "f", "reason": "ambiguous address"}}}},
		{args: "", want: map[string]any{"output": "in", "cus": 1.0}},
		{fake: "fail", status: 1, want: map[string]any{"error": "in: .debug_info+0x1f: unknown form 0x99", "output": nil, "left_out_functions": []any{}}},
		{fake: "writeFails", args: "--btf_encode_detached=out", status: 1, want: map[string]any{"error": "out: cannot write: certificate failed", "output": nil}},
		{fake: "noDwarf", want: map[string]any{"nothing_written": "in: no DWARF debug information (.debug_info)", "error": nil}},
		{fake: "empty", want: map[string]any{"nothing_written": "in: no compile unit has types to encode"}},
		{args: "--btf_encode_detached=./report", status: 1},
		{args: "--report=in", status: 1},
		{args: "--report=none/report", status: 1},
	} {
		dir := t.TempDir()
		os.WriteFile(filepath.Join(dir, "in"), []byte("input"), 0o600)
		cmd := command(dir, tt.fake, strings.Fields("-J in --report=report "+tt.args)...)
		cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != tt.status {
			t.Errorf("%s %s: status %d, want %d", tt.fake, tt.args, got, tt.status)
		}
		b, err := os.ReadFile(filepath.Join(dir, "report"))
		if tt.want == nil {
			if err == nil {
				t.Errorf("%s: report written: %s", tt.args, b)
			}
			continue
		}
		var got map[string]any
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s %s: %v in %q", tt.fake, tt.args, err, b)
		}
		for k, v := range tt.want {
			if !reflect.DeepEqual(got[k], v) {
				t.Errorf("%s %s: %s is %v, want %v", tt.fake, tt.args, k, got[k], v)
			}
		}
	}
}

func TestLanguageFromEnvironment(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "in"), nil, 0o600)
	var stderr bytes.Buffer
	cmd := command(dir, "", "-J", "in", "--btf_encode_detached=out")
	cmd.Env = append(cmd.Env, "PAHOLE_LANG_EXCLUDE=")
	cmd.Stderr = &stderr
	cmd.Run()
	if want := "btflite: PAHOLE_LANG_EXCLUDE: unknown language \"\"\n"; stderr.String() != want || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%q", &stderr)
	}
}

// startSlow starts a command that waits for a signal as soon as it has said word.
func startSlow(t *testing.T, cmd *exec.Cmd, word string) {
	t.Helper()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stdout, make([]byte, len(word)+1)); err != nil {
		t.Error(err)
	}
}

// endBy ends a command by a signal, which must be what it ends by.
func endBy(t *testing.T, cmd *exec.Cmd, sig os.Signal) {
	t.Helper()
	cmd.Process.Signal(sig)
	cmd.Wait()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !ws.Signaled() || ws.Signal() != sig {
		t.Errorf("%v: ended by %v", sig, cmd.ProcessState)
	}
}

// TestKilledWhileWriting: a signal leaves the old file, and nothing else. While an output is written it has a name only
// where it must; so even SIGKILL leaves nothing.
func TestKilledWhileWriting(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
		if signal.Ignored(sig) {
			continue // nohup and background jobs; the command keeps it ignored
		}
		for _, prefix := range []string{"", named} {
			dir := t.TempDir()
			os.WriteFile(filepath.Join(dir, "in"), nil, 0o600)
			os.WriteFile(filepath.Join(dir, "out"), []byte("old"), 0o600)
			cmd := command(dir, prefix+"slow", "-J", "in", "--btf_encode_detached=out")
			startSlow(t, cmd, "writing")
			entries, _ := os.ReadDir(dir)
			if prefix == named && len(entries) != 3 {
				t.Errorf("%d files while writing, want the temporary one too", len(entries))
			}
			endBy(t, cmd, sig)
			if sig == syscall.SIGKILL && len(entries) == 3 {
				continue
			}
			onlyFiles(t, dir, "in", "out")
			wantFile(t, filepath.Join(dir, "out"), "old", 0o600)
		}
	}
}

func TestFullStandardOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range []string{"--version", "--help", "-V in --btf_encode_detached=out", "--btf_encode_detached=/dev/stdout in"} {
		dir := t.TempDir()
		os.WriteFile(filepath.Join(dir, "in"), nil, 0o600)
		var stderr bytes.Buffer
		cmd := command(dir, "", strings.Fields(args)...)
		cmd.Stdout, cmd.Stderr = full, &stderr
		cmd.Run()
		if cmd.ProcessState.ExitCode() != 1 || !strings.HasSuffix(stderr.String(), ": no space left on device\n") {
			t.Errorf("%s: status %d, %q", args, cmd.ProcessState.ExitCode(), &stderr)
		}
	}
}

func TestInPlaceOnARealELFFile(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	image := testfile.Read(t, self)
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, image, 0o700); err != nil {
		t.Fatal(err)
	}
	var first []byte
	for i := range 2 {
		if out, err := command(dir, "realELF", "-J", "in").CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %s", err, out)
		}
		f, err := elf.Open(in)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := f.Section(".BTF").Data(); err != nil || string(b) != fakeBTF {
			t.Errorf("run %d: .BTF is %q, %v", i, b, err)
		}
		f.Close()
		b := testfile.Read(t, in)
		if i == 0 {
			first = b
		} else if !bytes.Equal(b, first) {
			t.Error("a second run changed the file")
		}
	}
	onlyFiles(t, dir, "in")
}

// TestFileSizeLimit: a file that may not grow, as on a full disk, is a clean error. The
// old file stays, and no temporary file is left.
func TestFileSizeLimit(t *testing.T) {
	image := testfile.Read(t, "../../testdata/small/small")
	for _, c := range []struct{ args, stderr string }{
		{"-J in", "btflite: in: cannot write a new file in its folder: file too large\n"},
		{"-J --btf_encode_detached=old in", "btflite: old: cannot write: file too large\n"},
	} {
		dir := t.TempDir()
		for name, data := range map[string][]byte{"in": image, "old": []byte("old")} {
			testfile.Write(t, filepath.Join(dir, name), data)
		}
		cmd := command(dir, "realELF", strings.Fields(c.args)...)
		cmd.Args = append([]string{"sh", "-c", `ulimit -f 0; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
		var err error
		if cmd.Path, err = exec.LookPath("sh"); err != nil {
			t.Skip(err)
		}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != exitFailure || stderr.String() != c.stderr {
			t.Errorf("%s: %v, %q", c.args, err, &stderr)
		}
		onlyFiles(t, dir, "in", "old")
		wantFile(t, filepath.Join(dir, "in"), string(image), 0o600)
		wantFile(t, filepath.Join(dir, "old"), "old", 0o600)
	}
}
