package elfwrite

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/btflite/btflite/internal/elftest"
)

func TestSetKeepsExtendedAttributes(t *testing.T) {
	path := file(t, build(elftest.Little64, elftest.Image{}, plain...))
	if err := unix.Setxattr(path, "user.origin", []byte("builder 7"), 0); err != nil {
		t.Skipf("no extended attributes here: %v", err)
	}
	// Those that sign the old contents go; only root may set them.
	for _, name := range []string{"security.ima", "security.evm"} {
		_ = unix.Setxattr(path, name, []byte{1}, 0)
	}
	if err := setText(path, ".BTF", "contents"); err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 100)
	n, err := unix.Getxattr(path, "user.origin", value)
	if err != nil || string(value[:n]) != "builder 7" {
		t.Errorf("%q, %v", value[:max(n, 0)], err)
	}
	for _, name := range []string{"security.ima", "security.evm"} {
		if n, err := unix.Getxattr(path, name, value); err == nil {
			t.Errorf("%s is still there, %d bytes", name, n)
		}
	}
}
