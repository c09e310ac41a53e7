//go:build linux

package hostile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/test/testfile"
)

// want is what a good encoder does with a file.
type want string

const (
	mustWork want = "ok"     // a legal file
	mustFail want = "error"  // the damage changes the result
	either   want = "either" // one of the two, never anything else
	mayEmpty want = "none"   // status 0 without output, or an error
)

// Outcomes that are no errors.
const (
	same    = "same"    // the bytes of control-good
	valid   = "valid"   // other BTF
	nothing = "nothing" // status 0 and no output
)

// hostileFile is a file and what comes of it.
type hostileFile struct {
	name    string
	want    want
	outcome string // same, valid, nothing, or part of the error
	file    func() []byte
	// big files take a second or so; -short leaves them out.
	big bool
	// disagree is why the outcome is not what want says.
	disagree string
}

func hostileFiles() []hostileFile {
	var all []hostileFile
	for _, f := range [][]hostileFile{elfFiles(), compressedFiles(), unitFiles(), abbrevFiles(), formFiles(), deepFiles(), treeFiles(), refFiles(),
		cycleFiles(), crossFiles(), bigFiles(), valueFiles(), nameFiles(), lastFiles()} {
		all = append(all, f...)
	}
	return all
}

// TestHostileFiles encodes each file into another and into itself.
func TestHostileFiles(t *testing.T) {
	control := encodeControl(t)
	seen := map[string]bool{}
	for _, c := range hostileFiles() {
		if seen[c.name] {
			t.Errorf("two cases %s", c.name)
		}
		seen[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			if c.big && testing.Short() {
				t.Skip("big")
			}
			c.check(t, control)
		})
	}
	if len(seen) != 181 {
		t.Errorf("%d cases, not 181", len(seen))
	}
}

func encodeControl(t *testing.T) []byte {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "in"), control())
	if r := run(t, dir, "-J", "--btf_features=default", "--btf_encode_detached=out", "in"); r.status != 0 {
		t.Fatal(r.stderr)
	}
	return testfile.Read(t, filepath.Join(dir, "out"))
}

func (c *hostileFile) check(t *testing.T, control []byte) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	image := c.file()
	testfile.Write(t, in, image)
	r := run(t, dir, "-J", "--btf_features=default", "--btf_encode_detached=out", "in")
	r.clean(t)
	if !bytes.Equal(testfile.Read(t, in), image) {
		t.Error("the input was changed")
	}
	data, _ := os.ReadFile(out)
	if (r.status != 0 || c.outcome == nothing) && names(t, dir) != "in" {
		t.Errorf("status %d, in the folder: %s", r.status, names(t, dir))
	}
	switch got := outcome(r, data, control); {
	case c.outcome == same || c.outcome == valid || c.outcome == nothing:
		if got != c.outcome {
			t.Fatalf("outcome %q, want %q", got, c.outcome)
		}
	case r.status == 0 || !strings.Contains(r.stderr, c.outcome):
		t.Fatalf("outcome %q, want an error with %q", got, c.outcome)
	case !strings.HasPrefix(r.stderr, "btflite: in: ") || strings.HasPrefix(r.stderr, "btflite: in: in:"):
		t.Errorf("the error does not begin with the name of the file: %s", r.stderr)
	}
	if len(data) > 0 {
		takes(t, data)
	}
	c.checkWant(t, r.status, data)

	os.Remove(out)
	testfile.Write(t, in, image)
	q := run(t, dir, "-J", "--btf_features=default", "in")
	q.clean(t)
	switch {
	case names(t, dir) != "in":
		t.Errorf("in place: in the folder: %s", names(t, dir))
	case q.status != 0 || c.outcome == nothing:
		if !bytes.Equal(testfile.Read(t, in), image) {
			t.Error("in place: an error, but the input was changed")
		}
		if r.status == 0 && c.want == mustWork {
			t.Errorf("in place: %s", q.stderr)
		}
	case !bytes.Equal(elftest.Contents(t, in, ".BTF"), data):
		t.Error("in place: other BTF")
	}
}

// outcome is a short description of what came of a file.
func outcome(r done, data, control []byte) string {
	switch {
	case r.status != 0:
		return r.stderr
	case len(data) == 0:
		return nothing
	case bytes.Equal(data, control):
		return same
	}
	return valid
}

// checkWant compares the outcome with what a good encoder does.
func (c *hostileFile) checkWant(t *testing.T, status int, data []byte) {
	ok := false
	switch c.want {
	case mustWork:
		ok = status == 0 && len(data) > 0
	case mustFail:
		ok = status != 0
	case either:
		ok = status != 0 || len(data) > 0
	case mayEmpty:
		ok = status != 0 || len(data) == 0
	}
	if ok == (c.disagree != "") {
		t.Errorf("status %d, %d bytes: a good encoder: %s (why not: %q)", status, len(data), c.want, c.disagree)
	}
}
