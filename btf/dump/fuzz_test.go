package dump_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/dump"
)

// FuzzDump prints BTF of any content: text or one clear error, and nothing that a
// terminal obeys.
func FuzzDump(f *testing.F) {
	for _, name := range []string{"small/small.btf", "inputs/c11.btf", "split/x86.base.btf", "split/s390x.base.btf"} {
		if data, err := os.ReadFile("../../testdata/" + name); err == nil {
			f.Add(data)
		}
	}
	f.Add(odd(f).Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := btf.Parse(data, nil)
		if err != nil {
			return
		}
		print := map[string]func(*bytes.Buffer) error{
			"raw":      func(w *bytes.Buffer) error { return dump.Raw(w, b, nil) },
			"json":     func(w *bytes.Buffer) error { return dump.JSON(w, b, nil, dump.Compact) },
			"c":        func(w *bytes.Buffer) error { return dump.C(w, b, dump.COptions{}) },
			"unsorted": func(w *bytes.Buffer) error { return dump.C(w, b, dump.COptions{Unsorted: true, PointerSize: 4}) },
			"strict":   func(w *bytes.Buffer) error { return dump.C(w, b, dump.COptions{Strict: true}) },
		}
		for name, fn := range print {
			var text bytes.Buffer
			err := fn(&text)
			if err != nil && (err.Error() == "" || strings.ContainsFunc(err.Error(), unicode.IsControl)) {
				t.Errorf("%s: error %q", name, err)
			}
			for _, c := range text.Bytes() {
				if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
					t.Fatalf("%s: control character %#x", name, c)
				}
			}
			if name == "json" && (err != nil || !json.Valid(text.Bytes())) {
				t.Fatalf("no JSON: %v", err)
			}
		}
		ids, _, err := dump.Select(b, []string{"*"}, false)
		if err != nil {
			t.Fatal(err)
		}
		dump.Needed(b, ids)
		dump.Named(b, ids)
	})
}
