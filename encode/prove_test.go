package encode

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/unit"
	"github.com/btflite/btflite/test/corpus"
)

// WithoutProofs returns options to read all units as a whole.
func (o Options) WithoutProofs() Options {
	o.proofs.off = true
	return o
}

// Proofs counts the types that were left out because they were proved.
type Proofs struct {
	Left       int // all
	Equivalent int // Resolve finds another id, but an equivalent type
}

// CheckProofs returns options to read each unit that leaves out types a second time as a
// whole, to look its types up in the set, and to compare each id with the one that was proved.
// It is for one worker.
func (o Options) CheckProofs(t *testing.T) (Options, *Proofs) {
	n := new(Proofs)
	o.proofs.check = func(f *input, u *workspace) { n.compare(t, f, u) }
	return o, n
}

// TestProofs checks the proofs of real kernels, and compares the output with the one of units
// that are read as a whole.
func TestProofs(t *testing.T) {
	for _, kernel := range []string{"v612-amd64", "v72-amd64", "v72-arm64"} {
		path := filepath.Join(corpus.Dir(), kernel)
		if _, err := os.Stat(path); err != nil {
			t.Log("left out:", err)
			continue
		}
		opt := Options{Features: DefaultFeatures, Jobs: 1, CULimit: 300}
		checked, n := opt.CheckProofs(t)
		want := encoded(t, path, checked)
		t.Logf("%s: %+v", kernel, *n)
		if n.Left < 100_000 {
			t.Errorf("%s: only %d types were left out", kernel, n.Left)
		}
		if !bytes.Equal(encoded(t, path, opt.WithoutProofs()), want) {
			t.Errorf("%s: other bytes without proofs", kernel)
		}
		if opt.Jobs = 4; !bytes.Equal(encoded(t, path, opt), want) {
			t.Errorf("%s: other bytes with four workers", kernel)
		}
	}
}

func encoded(t *testing.T, path string, opt Options) []byte {
	t.Helper()
	out, err := Run([]string{path}, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	return bytes.Clone(out.Bytes())
}

// refused reports whether Commit will ask for the whole unit u.
func refused(f *input, u *workspace) bool {
	f.run.set.Resolve(&u.unit.Types)
	return dedup.Incomplete(f.run.set, &u.unit.Types)
}

// compare fails for a type that u leaves out and Resolve finds as another one, unless the two
// are equivalent, or Commit will ask for the whole unit.
func (n *Proofs) compare(t *testing.T, f *input, u *workspace) {
	whole := unit.Reader{In: &f.Input}
	whole.Init(f.run.limit)
	defer whole.Free()
	whole.Reset()
	if err := f.File.Header(u.reader.Cursor.Hdr.Off, &whole.Cursor); err != nil {
		t.Fatal(err)
	}
	p, _, err := whole.Start()
	if err == nil {
		err = whole.Read(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.run.set.Resolve(&whole.Unit.Types)
	for i, r := range unit.Proved(&u.reader) {
		if r&dedup.Extern == 0 {
			continue
		}
		n.Left++
		want := whole.Unit.Types.ID.S[i]
		if id := r &^ dedup.Extern; id == want {
			continue
		} else if (want >= dedup.MaxIDs || !dedup.Same(f.run.set, id, want)) && !refused(f, u) {
			t.Errorf("unit at %#x: type %d is %v (id %d), but Resolve finds id %d", u.reader.Cursor.Hdr.Off, i, f.run.set.Record(id).Kind(), id, want)
		}
		n.Equivalent++
	}
}
