package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/docs/man"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"

	"golang.org/x/sys/unix"
)

// onTerminal runs btflite on a terminal of that width and returns the terminal's text.
func onTerminal(t *testing.T, columns int, env string, args ...string) string {
	t.Helper()
	master, slave := openPTY(t)
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}); err != nil {
		t.Skip(err)
	}
	cmd := command(t.TempDir(), "", args...)
	cmd.Env = append(cmd.Env, strings.Fields(env)...)
	cmd.Stdout = slave
	ended := make(chan error)
	go func() { ended <- cmd.Run() }()
	got := make(chan string)
	go func() { got <- readUntil(master) }()
	<-ended // of diff; its status is not an error here
	slave.WriteString("\x00end")
	return <-got
}

// readUntil reads from a terminal to the end that its writer has marked.
func readUntil(master *os.File) string {
	var got strings.Builder
	buf := make([]byte, 4096)
	for !strings.HasSuffix(got.String(), "\x00end") {
		n, err := master.Read(buf)
		if err != nil {
			break
		}
		got.Write(buf[:n])
	}
	return strings.ReplaceAll(strings.TrimSuffix(got.String(), "\x00end"), "\r\n", "\n")
}

// TestManualOnATerminal: it is text, as wide as the terminal. Elsewhere it is for man.
func TestManualOnATerminal(t *testing.T) {
	source, _ := btfliteRun(t, exitOK, "manual", "show")
	for _, columns := range []int{60, 100} {
		for _, env := range []string{"TERM=xterm PAGER=cat", "TERM=xterm PAGER=cat NO_COLOR=1", "TERM=dumb PAGER="} {
			got := onTerminal(t, columns, env, "manual", "show")
			styled := env == "TERM=xterm PAGER=cat"
			if want := string(man.Plain([]byte(source), columns, styled)); got != want {
				t.Errorf("%d columns, %s: %q, want %q", columns, env, got[:min(len(got), 300)], want[:300])
			}
		}
	}
	for env, want := range map[string]string{
		"TERM=xterm MANPAGER=echo PAGER=cat": "\n", "TERM=xterm PAGER=echo": "\n", "TERM=dumb MANPAGER=echo": string(man.Plain([]byte(source), 80, false)),
	} {
		if got := onTerminal(t, 80, env, "manual", "show"); got != want {
			t.Errorf("%s: %q, want %q", env, got[:min(len(got), 300)], want)
		}
	}
}

// TestDiffAndDumpOnATerminal: they have the pager and the colours that show has.
func TestDiffAndDumpOnATerminal(t *testing.T) {
	file, _ := filepath.Abs(shownFiles + "plain.btf")
	a, _ := filepath.Abs(diffDir + "/tags/a.btf")
	b, _ := filepath.Abs(diffDir + "/tags/b.btf")
	for _, line := range [][]string{{"dump", file}, {"dump", "--format=c", file}, {"diff", a, b}, {"dump", "--json", file}, {"diff", "--json", a, b}, {"funcs", file}, {"stats", file}} {
		plain := onTerminal(t, 80, "TERM=dumb PAGER=cat", line...)
		if plain == "" && line[0] != "funcs" || strings.Contains(plain, "\x1b") {
			t.Errorf("%s: %q", line, plain)
		}
		if got := onTerminal(t, 80, "TERM=xterm NO_COLOR=1 PAGER=cat;echo", line...); got == plain {
			t.Errorf("%s: no pager", line)
		}
		painted := onTerminal(t, 80, "TERM=xterm PAGER=cat", line...)
		colours := regexp.MustCompile("\x1b\\[[0-9]*m")
		if (painted != plain) != (line[0] != "funcs" && line[0] != "stats" && !strings.Contains(strings.Join(line, " "), "json")) || colours.ReplaceAllString(painted, "") != plain {
			t.Errorf("%s: %q", line, painted)
		}
		if line[0] == "funcs" || line[0] == "stats" {
			continue
		}
		var out strings.Builder
		cmd := command(t.TempDir(), "", append(line, "--color=always")...)
		cmd.Stdout = &out
		_ = cmd.Run()
		if out.String() != painted {
			t.Errorf("%s --color=always: %q", line, out.String())
		}
	}
}

// TestHelpOnATerminal: the help of each command fits into narrow terminals, with the same
// words, and stays as it is on wide ones.
func TestHelpOnATerminal(t *testing.T) {
	for _, entry := range append(commands(), subcommand{}) {
		line := append(strings.Fields(entry.name), "--help")
		plain, _ := btfliteRun(t, exitOK, line...)
		for _, columns := range []int{40, 60, 80, 200} {
			got := onTerminal(t, columns, "TERM=xterm", line...)
			if columns >= 80 && got != plain || strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(plain), " ") {
				t.Errorf("%s at %d columns: %q, want %q", line, columns, got, plain)
			}
			for l := range strings.Lines(got) {
				if n := len([]rune(l)) - 1; n > columns {
					t.Errorf("%s: %d columns of %d: %q", line, n, columns, l)
				}
				if columns == 40 && strings.Contains(strings.TrimLeft(l, " "), "   ") {
					t.Errorf("%s: this line still has a column for the explanation: %q", line, l)
				}
			}
		}
	}
}

// TestProgressFits: the line is never as wide as the terminal.
func TestProgressFits(t *testing.T) {
	for _, columns := range []int{60, 30, 20, 10} {
		master, slave := openPTY(t)
		if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}); err != nil {
			t.Skip(err)
		}
		c := newCLI(os.Stdout, slave, func(name string) (string, bool) { return "xterm", name == "TERM" })
		c.guard = newGuard()
		p := c.startProgress(false, fileProgress("a-module-with-a-rather-long-name.ko"))
		p.update(50<<20, 200<<20)
		p.draw()
		p.stop()
		slave.WriteString("\x00end")
		for line := range strings.SplitSeq(readUntil(master), "\r\x1b[K") {
			if n := len([]rune(line)); n >= columns || n == 0 && line != "" {
				t.Errorf("%d columns: %q", columns, line)
			}
		}
	}
}

// TestProgressGivesWay: what is printed meanwhile has lines of its own.
func TestProgressGivesWay(t *testing.T) {
	master, slave := openPTY(t)
	c := newCLI(slave, slave, func(name string) (string, bool) { return "xterm", name == "TERM" })
	c.guard = newGuard()
	c.stdout, c.stderr = c.guard.stream(slave), c.guard.stream(slave)
	p := c.startProgress(false, countProgress("files"))
	p.update(10, 4000)
	p.draw()
	c.complain("said")
	p.draw()
	p.draw()
	fmt.Fprintln(c.stdout, "printed")
	p.stop()
	c.complain("said later")
	slave.WriteString("\x00end")
	const line = "\r\x1b[K  0%  10 of 4,000 files"
	want := line + "\r\x1b[Kbtflite: said\n" + line + line + "\r\x1b[Kprinted\nbtflite: said later\n"
	if got := readUntil(master); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestInterruptedModules: a signal says how many modules are done.
func TestInterruptedModules(t *testing.T) {
	base := testfile.Abs(t, splitFiles+"x86.base.btf")
	dir := t.TempDir()
	copyFile(t, "x86.module.o", dir+"/k/b/slow.ko")
	copyFile(t, "x86.module.o", dir+"/k/a/one.ko")
	cmd := command(dir, "slowModules", "modules", "-q", "-j2", "--btf_base="+base, "--btf_encode_detached_dir=out", "k")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	startSlow(t, cmd, "encoding")
	for range 500 {
		if _, err := os.Stat(dir + "/out/a/one.ko.btf"); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond) // it is counted then
	endBy(t, cmd, os.Interrupt)
	if want := "btflite: interrupted: 1 of 2 modules done, nothing is written for the others\n"; stderr.String() != want {
		t.Errorf("%q, want %q", &stderr, want)
	}
}

// TestShellsComplete: completion in the shells themselves, with commas in words.
func TestShellsComplete(t *testing.T) {
	dir := linkToSelf(t)
	for _, shell := range []struct{ name, options, setup string }{
		{"bash", "--norc --noprofile -i", "COMP_WORDBREAKS=${COMP_WORDBREAKS//[=:]/}; _get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]}; words=(\"${COMP_WORDS[@]}\"); cword=$COMP_CWORD; }; source %s"},
		{"zsh", "-f -i", "autoload -U compinit; compinit -u -D; source %s; compdef _btflite btflite"},
		{"fish", "--no-config -i", "source %s"},
	} {
		t.Run(shell.name, func(t *testing.T) {
			corpus.Installed(t, shell.name)
			script, _ := btfliteRun(t, exitOK, "completion", shell.name)
			file := filepath.Join(dir, shell.name)
			testfile.Write(t, file, script)
			master, slave := openPTY(t)
			if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 200}); err != nil {
				t.Skip(err)
			}
			cmd := exec.Command(shell.name, strings.Fields(shell.options)...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), fakeEncoder+"=", "PATH="+dir+":"+os.Getenv("PATH"), "TERM=dumb", "HOME="+dir, "PS1=$ ")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
			cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Skip(err)
			}
			defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
			read := make(chan string, 100)
			go func() {
				buf := make([]byte, 4096)
				for {
					n, err := master.Read(buf)
					if err != nil {
						close(read)
						return
					}
					read <- string(buf[:n])
				}
			}()
			// What follows is echoed; the last word is put together by the shell.
			await := func(want string) bool {
				var got strings.Builder
				for deadline := time.After(time.Minute); !strings.Contains(got.String(), want); {
					select {
					case text := <-read:
						got.WriteString(text)
					case <-deadline:
						t.Errorf("%s: no %q in %q", shell.name, want, got.String())
						return false
					}
				}
				return true
			}
			fmt.Fprintf(master, shell.setup+"; echo rea''dy\n", file)
			if await("ready") {
				fmt.Fprint(master, "btflite -J --btf_features=default,glob\t")
				await("default,global_var")
			}
		})
	}
}
