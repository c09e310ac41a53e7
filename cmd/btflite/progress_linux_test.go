package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openPTY returns the two ends of a pseudo-terminal.
func openPTY(t *testing.T) (master, slave *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("no pseudo-terminals:", err)
	}
	master = os.NewFile(uintptr(fd), "ptmx")
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

func TestProgressOnATerminal(t *testing.T) {
	for _, tt := range []struct {
		name, makeflags, fake string
		want                  bool
	}{
		{"long work", "", "long", true},
		{"short work", "", "", false},
		{"make -s", "s", "long", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			master, slave := openPTY(t)
			dir := t.TempDir()
			os.WriteFile(filepath.Join(dir, "in"), nil, 0o600)
			cmd := command(dir, tt.fake, "-J", "in", "--btf_encode_detached=out")
			cmd.Env = append(cmd.Env, "MAKEFLAGS="+tt.makeflags, "TERM=xterm")
			cmd.Stderr = slave
			const line = "in:  50%  1 of 2 MiB"
			unseen := filepath.Join(dir, "unseen")
			if tt.want {
				os.WriteFile(unseen, nil, 0o600)
			}
			ended := make(chan error)
			go func() {
				err := cmd.Run()
				slave.WriteString("end")
				ended <- err
			}()
			var got strings.Builder
			buf := make([]byte, 4096)
			for !strings.HasSuffix(got.String(), "end") {
				n, err := master.Read(buf)
				if err != nil {
					t.Fatal(err)
				}
				got.Write(buf[:n])
				if strings.Contains(got.String(), line) {
					os.Remove(unseen)
				}
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			shown := strings.Contains(got.String(), line)
			if shown != tt.want || (!tt.want && got.String() != "end") {
				t.Errorf("terminal shows %q", &got)
			}
			if tt.want && !strings.HasSuffix(got.String(), "\r\x1b[Kend") {
				t.Errorf("not cleared at the end: %q", &got)
			}
		})
	}
}
