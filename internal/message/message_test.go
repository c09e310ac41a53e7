package message

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain é": "plain é", "a\nb": `a\nb`, "\x1b[31m": `\x1b[31m`, "\xff": `\xff`, "a\u202eb": `a\u202eb`,
	} {
		if got := OneLine(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestErrorsNameTheFileOnce(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.New("vmlinux: .debug_info+0x10: bad"), "vmlinux: .debug_info+0x10: bad"},
		{errors.New("unit at 0x10: bad"), "vmlinux: unit at 0x10: bad"},
		{fmt.Errorf("vmlinux: file replaced, but: %w", &os.PathError{Op: "sync", Path: ".", Err: errors.New("full")}), "vmlinux: file replaced, but: sync .: full"},
		{FileError("vmlinux/a\nb", "cannot open", errors.New("gone")), `vmlinux/a\nb: cannot open: gone`},
		{&os.PathError{Op: "open", Path: "other", Err: errors.New("gone")}, "other: cannot open: gone"},
	} {
		if got := NamingFile([]string{"vmlinux"}, tt.err); got.Error() != tt.want {
			t.Errorf("%v: %v", tt.err, got)
		}
	}
}

// TestShellWord: shells make of a quoted word what it was.
func TestShellWord(t *testing.T) {
	for _, shell := range []string{"bash", "zsh"} {
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		for _, word := range []string{"", "a", "a b", "it's", `back\slash`, `new` + "\n" + `line`, "tab\tand 'quotes' and \\", "\x01\x7f\xff", "soft\u00adhyphen", "$HOME `x` !1", "\U000e0001"} {
			cmd := exec.Command(shell, "-c", "printf %s "+ShellWord(word))
			cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
			out, err := cmd.Output()
			if err != nil || string(out) != word {
				t.Errorf("%s: %s is %q and not %q: %v", shell, ShellWord(word), out, word, err)
			}
		}
	}
	for path, want := range map[string]string{"-": "-", "-a": "./-a", "-a b": "'./-a b'", "a-b": "a-b"} {
		if got := ShellFile(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}
