package verify

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/dump"
	"github.com/btflite/btflite/btf/funcs"
	"github.com/btflite/btflite/btf/show"
	"github.com/btflite/btflite/btf/stats"
	"github.com/btflite/btflite/btf/view"
)

// TestReadersOfRefused: every reader reads BTF that kernels refuse, as far as it can be
// parsed. It ends soon, with text or one error.
func TestReadersOfRefused(t *testing.T) {
	blobs := map[string][]byte{}
	for _, c := range selftestCases {
		blobs["selftest: "+c.name] = selftestBlob(c.add, false)
		blobs["selftest, big-endian: "+c.name] = selftestBlob(c.add, true)
	}
	for _, c := range invalidCases {
		blobs["invalid: "+c.what] = invalidBlob(c.add, false)
	}
	for _, c := range invalidHeaders {
		blobs["header: "+c.what] = c.change(bytes.Clone(invalidBlob(nil, false)))
	}
	parsed, failed := 0, 0
	for name, data := range blobs {
		b, err := btf.Parse(data, nil)
		if err != nil {
			if err.Error() == "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: error %q", name, err)
			}
			continue
		}
		parsed++
		begin := time.Now()
		for _, err := range readAll(b) {
			if err != nil {
				failed++
				if err.Error() == "" || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: error %q", name, err)
				}
			}
		}
		if d := time.Since(begin); d > 10*time.Second {
			t.Errorf("%s: %v", name, d)
		}
	}
	t.Logf("%d of %d blobs can be parsed; %d readings give an error", parsed, len(blobs), failed)
	if parsed < 100 {
		t.Errorf("%d of %d blobs can be parsed", parsed, len(blobs))
	}
}

// readAll reads b in every way, and returns an error for each.
func readAll(b *btf.Blob) (errs []error) {
	var w bytes.Buffer
	for _, read := range []func() error{
		func() error { return dump.Raw(&w, b, nil) },
		func() error { return dump.JSON(&w, b, nil, dump.Pretty) },
		func() error { return dump.C(&w, b, dump.COptions{}) },
		func() error { return dump.C(&w, b, dump.COptions{Unsorted: true}) },
		func() error { return dump.C(&w, b, dump.COptions{Strict: true}) },
		func() error {
			set := funcs.New(view.New(b))
			for f := range set.All() {
				w.Write(funcs.Style{}.AppendPrototype(nil, f))
			}
			return nil
		},
		func() error { stats.Of(view.New(b), 20); return nil },
		func() error {
			return show.New(&w, view.New(b), show.Options{Expand: true}).List(&show.Filter{}, show.Text, "")
		},
	} {
		errs = append(errs, read())
		w.Reset()
	}
	return errs
}
