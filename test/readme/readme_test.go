// Package readme runs the code blocks of README.md and of the documents in docs
// as a reader would: in order, by a shell, each document in a folder of its own
// with small files in the place of kernels.
package readme

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/archive/archivetest"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/sourcetree"
	"github.com/btflite/btflite/test/testfile"
)

// block is a fenced block of a document that a shell can run.
type block struct {
	line   int
	text   string
	dir    string // of the stage, where it is run
	status string // that it must end with
	output string // that it must print, if it says so
	notRun string // why it is not run; empty if it is
}

// mark is the comment before a block: <!-- run in: DIR --> or <!-- run in: DIR;
// status N -->, or <!-- not run: WHY -->.
var mark = regexp.MustCompile(`^<!-- (?:run in: (\w+)(?:; status (\d+))?|not run: (.+)) -->$`)

// command is a line that a reader would take for a command.
var command = regexp.MustCompile(`(?m)^\$? *(btflite|pahole|bpftool|make|go|sudo|find|git|cd|scripts/\w+\.sh) `)

// parse finds the blocks of a document. A block with language "sh" must have a
// mark, and one with language "console", which is a session: commands behind "$ "
// with what they print. A block without language that follows a block that is run is what that one
// prints; anywhere else it needs a mark if it has commands in it. Other languages
// are not for a shell.
func parse(text string) ([]block, error) {
	var blocks []block
	var before [2]string // the last lines that are not empty
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if !strings.HasPrefix(line, "```") {
			if line != "" {
				before[0], before[1] = before[1], line
			}
			continue
		}
		begin, end := i+1, i+1
		for end < len(lines) && lines[end] != "```" {
			end++
		}
		if end == len(lines) {
			return nil, fmt.Errorf("line %d: the block has no end", begin)
		}
		content := strings.Join(lines[begin:end], "\n") + "\n"
		m := mark.FindStringSubmatch(before[1])
		switch {
		case m != nil && m[3] != "":
			blocks = append(blocks, block{line: begin, notRun: m[3]})
		case m != nil && line == "```sh":
			b := block{line: begin, text: content, dir: m[1], status: m[2]}
			if b.status == "" {
				b.status = "0"
			}
			blocks = append(blocks, b)
		case m != nil && line == "```console":
			blocks = append(blocks, block{line: begin, text: session(content), dir: m[1], status: "0", output: content})
		case line != "```sh" && line != "```console" && line != "```":
		case line == "```" && before[1] == "```" && len(blocks) > 0 && blocks[len(blocks)-1].notRun == "":
			blocks[len(blocks)-1].output = content
		case line == "```" && !command.MatchString(content):
		default:
			return nil, fmt.Errorf("line %d: a block without a comment before it that says where it is run, or why not", begin)
		}
		i, before[1] = end, "```"
	}
	return blocks, nil
}

// session is a script that prints a session: each command, and what it prints.
func session(text string) string {
	var script strings.Builder
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			fmt.Fprintf(&script, "cat <<'END'\n%sEND\n{ %s; } 2>&1 || true\n", line, strings.TrimSuffix(command, "\n"))
		}
	}
	return script.String()
}

// A stage is the folder in which the blocks of a document are run. Beside the
// folders that marks name it has "bin", which is first in PATH.
type stage struct {
	dir string
	t   *testing.T
}

// newStage makes a stage with btflite in its PATH.
func newStage(t *testing.T, program string) *stage {
	s := &stage{t.TempDir(), t}
	s.link("bin/btflite", program)
	return s
}

// write makes a file of the stage.
func (s *stage) write(name, text string, mode os.FileMode) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}
}

// copy makes files of the stage that have the content of another file.
func (s *stage) copy(from string, names ...string) {
	s.t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range names {
		s.write(name, string(data), 0o644)
	}
}

func (s *stage) link(name, target string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		s.t.Fatal(err)
	}
}

// enter returns the path of a folder of the stage and fills it when it is
// entered for the first time.
func (s *stage) enter(name string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	const data = "../../testdata/"
	vmlinux, module := data+"split/x86.base.o", data+"split/x86.module.o"
	switch name {
	case "work":
		s.copy(vmlinux, "work/vmlinux")
		s.copy(module, "work/fs/xfs/xfs.ko", "work/lib/modules/7.2.0/kernel/fs/xfs/xfs.ko", "work/lib/modules/7.2.0/kernel/fs/ext4/ext4.ko")
		s.copy("testdata/6.12.btf", "work/vmlinux-6.12", "work/before.btf")
		s.copy("testdata/7.2.btf", "work/vmlinux-7.2", "work/after.btf")
		s.copy(data+"min/kernel.bpf.o", "work/tool.bpf.o")
		s.copy(data+"split/x86.base.btf", "work/vmlinux-a", "work/vmlinux-b")
		s.copy(data+"split/x86.module.btf", "work/a.ko", "work/b.ko")
	case "archive":
		kernel := archivetest.Entry{Name: "./usr/lib/debug/boot/vmlinux-6.99", Data: archivetest.Kernel("6.99.0")}
		module := archivetest.Entry{Name: "./usr/lib/debug/lib/modules/6.99.0/kernel/nf_nat.ko", Data: archivetest.Module("6.99.0", "nf_nat", 'n')}
		s.write("archive/linux-image-6.99-dbg_6.99-1_amd64.deb", string(archivetest.Deb("xz", kernel, module)), 0o644)
		kernel.Data = archivetest.Kernel("6.98.0")
		s.write("archive/kernels.tar.xz", string(archivetest.Compress("xz", archivetest.Tar(kernel))), 0o644)
	case "linux":
		s.write("linux/Makefile", kernelMakefile, 0o644)
		s.copy(vmlinux, "linux/vmlinux.o")
		s.copy(module, "linux/xfs.o")
	case "btflite":
		s.link("btflite", sourcetree.Copy(s.t))
		s.copy(data+"small/small", "btflite/path/to/vmlinux")
		// The tests are not run by themselves: of "make test" only what it would do
		// is asked for. And nothing is installed into this machine.
		s.write("bin/make", fmt.Sprintf("#!/bin/sh\n[ \"$1\" = test ] && set -- -n \"$@\"\nexec %s \"$@\"\n", s.realMake()), 0o755)
		s.write("bin/sudo", fmt.Sprintf("#!/bin/sh\nexec \"$@\" DESTDIR='%s/root'\n", s.dir), 0o755)
	default:
		s.t.Fatalf("no folder %q to run a block in", name)
	}
	return path
}

func (s *stage) realMake() string {
	corpus.Installed(s.t, "make")
	path, err := exec.LookPath("make")
	if err != nil {
		s.t.Fatal(err)
	}
	return path
}

// kernelMakefile calls PAHOLE as the makefiles of Linux 6.12 and 7.2 do.
const kernelMakefile = `PAHOLE = pahole
FEATURES = --btf_features=encode_force,var,float,enum64,decl_tag,type_tag,optimized_func,consistent_func,decl_tag_kfuncs \
	--btf_features=attributes --lang_exclude=rust
.PHONY: olddefconfig vmlinux modules
olddefconfig:
	test "$$($(PAHOLE) --version | sed -E 's/v([0-9]+)\.([0-9]+)/\1\2/')" -ge 126
	echo CONFIG_DEBUG_INFO_BTF=y > .config
vmlinux:
	grep -q BTF=y .config
	cp vmlinux.o vmlinux
	LLVM_OBJCOPY=objcopy $(PAHOLE) -J -j4 $(FEATURES) vmlinux
	$(PAHOLE) -J -j4 $(FEATURES) --btf_encode_detached=vmlinux.btf vmlinux
	test -s vmlinux.btf
modules: vmlinux
	cp xfs.o xfs.ko
	LLVM_OBJCOPY=objcopy $(PAHOLE) -J $(FEATURES) --btf_base vmlinux xfs.ko
`

// run runs a block and compares its end with what is expected.
func (s *stage) run(b block) error {
	s.t.Helper()
	cmd := exec.Command("sh", "-euc", b.text)
	cmd.Dir = s.enter(b.dir)
	cmd.Env = append(sourcetree.Environment(), "PATH="+filepath.Join(s.dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return err
	}
	if got := fmt.Sprint(cmd.ProcessState.ExitCode()); got != b.status {
		return fmt.Errorf("status %s, want %s\n%s%s%s", got, b.status, b.text, stdout.String(), stderr.String())
	}
	if b.output != "" && stdout.String() != b.output {
		return fmt.Errorf("it prints\n%swant\n%s", stdout.String(), b.output)
	}
	return nil
}

// build compiles btflite.
func build(t *testing.T) string {
	t.Helper()
	corpus.Installed(t, "sh")
	program := filepath.Join(t.TempDir(), "btflite")
	sourcetree.Run(t, ".", "go", "build", "-o", program, "../../cmd/btflite")
	return program
}

func TestDocuments(t *testing.T) {
	program := build(t)
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range append([]string{"../../README.md"}, docs...) {
		t.Run(filepath.Base(doc), func(t *testing.T) {
			blocks, err := parse(string(testfile.Read(t, doc)))
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Base(doc) == "README.md" && len(blocks) < 5 {
				t.Errorf("only %d blocks", len(blocks))
			}
			s := newStage(t, program)
			for _, b := range blocks {
				if b.notRun != "" {
					t.Logf("line %d: not run: %s", b.line, b.notRun)
				} else if err := s.run(b); err != nil {
					t.Errorf("line %d: %v", b.line, err)
				}
			}
		})
	}
}

// TestBadDocuments: the test of the documents can fail.
func TestBadDocuments(t *testing.T) {
	const fence = "```"
	for name, text := range map[string]string{
		"no mark":              "text\n\n" + fence + "sh\ntrue\n" + fence + "\n",
		"no language":          "text\n" + fence + "\nbtflite -J vmlinux\n" + fence + "\n",
		"no mark of a session": "text\n\n" + fence + "console\n$ true\n" + fence + "\n",
		"mark far above":       "<!-- run in: work -->\ntext\n" + fence + "sh\ntrue\n" + fence + "\n",
		"no end":               "<!-- run in: work -->\n" + fence + "sh\ntrue\n",
	} {
		if _, err := parse(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	s := newStage(t, build(t))
	for name, text := range map[string]string{
		"first command fails":  "<!-- run in: work -->\n" + fence + "sh\nbtflite -J --btf_features_strict=nonsense vmlinux\ntrue\n" + fence + "\n",
		"unknown option":       "<!-- run in: work -->\n" + fence + "sh\nbtflite -J --no_such_option vmlinux\n" + fence + "\n",
		"wrong status":         "<!-- run in: work; status 1 -->\n" + fence + "sh\ntrue\n" + fence + "\n",
		"wrong output":         "<!-- run in: work -->\n" + fence + "sh\necho a\n" + fence + "\n\n" + fence + "\nb\n" + fence + "\n",
		"session prints other": "<!-- run in: work -->\n" + fence + "console\n$ echo a\nb\n" + fence + "\n",
		"build fails":          "<!-- run in: linux -->\n" + fence + "sh\nmake PAHOLE=false olddefconfig\n" + fence + "\n",
	} {
		blocks, err := parse(text)
		if err != nil || len(blocks) != 1 {
			t.Fatalf("%s: %d blocks, %v", name, len(blocks), err)
		}
		if s.run(blocks[0]) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
