package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnATerminal: the output on a terminal, with and without a pager and colours.
func TestOnATerminal(t *testing.T) {
	file, _ := filepath.Abs(shownFiles + "plain.btf")
	plain, _ := btfliteRun(t, exitOK, "show", "s1", file)
	painted, _ := btfliteRun(t, exitOK, "show", "--color=always", "s1", file)
	for _, x := range []struct{ name, env, option, want string }{
		{"colours", "TERM=xterm PAGER=cat", "--color=auto", painted},
		{"a pager", "TERM=xterm PAGER=/bin/cat", "--color=auto", painted},
		{"an empty pager", "TERM=xterm PAGER=", "--color=auto", painted},
		{"NO_COLOR", "TERM=xterm PAGER=cat NO_COLOR=1", "--color=auto", plain},
		{"an empty NO_COLOR", "TERM=xterm PAGER=cat NO_COLOR=", "--color=auto", painted},
		{"a dumb terminal", "TERM=dumb PAGER=cat", "--color=auto", plain},
		{"no terminal known", "TERM= PAGER=cat", "--color=auto", plain},
		{"always", "TERM=dumb NO_COLOR=1 PAGER=cat", "--color=always", painted},
		{"never", "TERM=xterm PAGER=cat", "--color=never", plain},
		{"a pager that is left", "TERM=xterm PAGER=true", "--color=never", ""},
		{"a pager that adds a line", "TERM=xterm PAGER=cat;echo+end+of+it", "--color=never", plain + "end of it\n"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			master, slave := openPTY(t)
			cmd := command(t.TempDir(), "", "show", x.option, "s1", file)
			cmd.Env = append(cmd.Env, strings.Fields(x.env)...)
			for i, e := range cmd.Env {
				if strings.HasPrefix(e, "PAGER=") {
					cmd.Env[i] = strings.ReplaceAll(e, "+", " ")
				}
			}
			var errs strings.Builder
			cmd.Stdout, cmd.Stderr = slave, &errs
			if err := cmd.Run(); err != nil || errs.Len() > 0 {
				t.Errorf("%v, %q", err, errs.String())
			}
			if got := readAll(t, master, slave); got != x.want {
				t.Errorf("%q, want %q", got, x.want)
			}
		})
	}
}

// readAll returns all that a terminal has received, with the newlines as they were
// written.
func readAll(t *testing.T, master, slave *os.File) string {
	t.Helper()
	const end = "\x00end"
	slave.WriteString(end)
	var got strings.Builder
	buf := make([]byte, 4096)
	for !strings.HasSuffix(got.String(), end) {
		n, err := master.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(buf[:n])
	}
	return strings.ReplaceAll(strings.TrimSuffix(got.String(), end), "\r\n", "\n")
}
