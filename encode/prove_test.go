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

// WithoutProofs calls run. All units are read as a whole meanwhile.
func WithoutProofs(run func()) {
	testProofs.off = true
	defer func() { testProofs.off = false }()
	run()
}

// LateCommits calls run. With several workers, as many units as there is room for are read before
// one is committed. So a unit does not know the types of those before it.
func LateCommits(run func()) {
	testProofs.lateCommits = true
	defer func() { testProofs.lateCommits = false }()
	run()
}

// Proofs counts the types that were left out because they were proved.
type Proofs struct {
	Left       int // all
	Equivalent int // Resolve finds another id, but an equivalent type
	Refused    int // units that have to be read as a whole
}

// CheckProofs calls run, which encodes with one worker. Each unit that leaves out types is read
// a second time as a whole, its types are looked up in the set, and each id is compared with
// the one that was proved.
func CheckProofs(t *testing.T, run func()) (n Proofs) {
	testProofs.check = func(f *input, u *workspace) { n.compare(t, f, u) }
	defer func() { testProofs.check = nil }()
	run()
	return n
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
		var want, whole []byte
		n := CheckProofs(t, func() { want = encoded(t, path, opt) })
		t.Logf("%s: %+v", kernel, n)
		if n.Left < 100_000 {
			t.Errorf("%s: only %d types were left out", kernel, n.Left)
		}
		if WithoutProofs(func() { whole = encoded(t, path, opt) }); !bytes.Equal(whole, want) {
			t.Errorf("%s: other bytes without proofs", kernel)
		}
		for _, opt.Jobs = range []int{2, 4} {
			var late []byte
			if LateCommits(func() { late = encoded(t, path, opt) }); !bytes.Equal(late, want) || !bytes.Equal(encoded(t, path, opt), want) {
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
	return dedup.Refuses(f.run.set, &u.unit.Types)
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
	isRefused := refused(f, u)
	if isRefused {
		n.Refused++
	}
	for i, r := range unit.Proved(&u.reader) {
		if r&dedup.Extern == 0 {
			continue
		}
		n.Left++
		want := whole.Unit.Types.ID.S[i]
		if id := r &^ dedup.Extern; id == want {
			continue
		} else if (want >= dedup.MaxIDs || !dedup.Same(f.run.set, id, want)) && !dedup.Undecided(&whole.Unit.Types) && !isRefused {
			t.Errorf("unit at %#x: type %d is %v (id %d), but Resolve finds id %d", u.reader.Cursor.Hdr.Off, i, f.run.set.Record(id).Kind(), id, want)
		}
		n.Equivalent++
	}
}

// TestProofsPay: modules whose units are refused are read as a whole after the first refusal, and others
// do not notice a few refusals.
func TestProofsPay(t *testing.T) {
	for _, c := range []struct {
		name    string
		refused func(seq int) bool
		want    int // tried, of 100 units
	}{
		{"none is refused", func(int) bool { return false }, 99},
		{"all are refused", func(seq int) bool { return seq > 0 }, 1},
		{"the first unit has a name with two definitions", func(seq int) bool { return seq == 0 }, 0},
		{"few are refused", func(seq int) bool { return seq%10 == 9 }, 99},
		{"half are refused from some unit on", func(seq int) bool { return seq > 20 && seq%2 == 0 }, 42},
	} {
		var p proofs
		tried := 0
		for seq := range 100 {
			pays := p.worthTrying(seq)
			if pays {
				tried++
			}
			if (pays || seq == 0) && c.refused(seq) {
				p.refused.Add(1)
			}
		}
		if tried != c.want {
			t.Errorf("%s: %d units were tried, not %d", c.name, tried, c.want)
		}
	}
}
