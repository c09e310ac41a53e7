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

// TestProofs reads each unit that leaves out types a second time as a whole, looks its types up
// in the set, and compares each id with the one that was proved while the unit was read. Then it
// compares the output with that of other numbers of workers.
func TestProofs(t *testing.T) {
	for _, kernel := range []string{"v612-amd64", "v72-amd64", "v72-arm64"} {
		path := filepath.Join(corpus.Dir(), kernel)
		if _, err := os.Stat(path); err != nil {
			t.Log("left out:", err)
			continue
		}
		left, different := 0, 0
		checkProofs = func(f *input, u *workspace) {
			n, d := compareProofs(t, f, u)
			left, different = left+n, different+d
		}
		opt := Options{Features: DefaultFeatures, Jobs: 1, CULimit: 300}
		want := encoded(t, path, opt)
		checkProofs = nil
		t.Logf("%s: %d types left out, %d with an id that is equivalent only", kernel, left, different)
		if left < 100_000 {
			t.Errorf("%s: only %d types were left out", kernel, left)
		}
		for _, opt.Jobs = range []int{1, 4} {
			if !bytes.Equal(encoded(t, path, opt), want) {
				t.Errorf("%s: other bytes with %d workers", kernel, opt.Jobs)
			}
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

// compareProofs returns how many types u leaves out, and how many of them Resolve finds as
// another type that is equivalent. It fails for one that is not.
func compareProofs(t *testing.T, f *input, u *workspace) (left, different int) {
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
		left++
		want := whole.Unit.Types.ID.S[i]
		if id := r &^ dedup.Extern; id == want {
			continue
		} else if (want >= dedup.MaxIDs || !dedup.Same(f.run.set, id, want)) && !refused(f, u) {
			t.Errorf("unit at %#x: type %d is %v (id %d), but Resolve finds id %d", u.reader.Cursor.Hdr.Off, i, f.run.set.Record(id).Kind(), id, want)
		}
		different++
	}
	return left, different
}
