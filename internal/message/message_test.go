package message

import (
	"errors"
	"fmt"
	"os"
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
