package btf_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	. "github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

func TestPadStrings(t *testing.T) {
	for _, big := range []bool{false, true} {
		b := NewBuilder(big, nil)
		b.Add("int", Info(KindInt, 0, false), 4, 1<<24|32)
		blob := MustBlob(t, b)
		data := blob.Encode()
		for _, more := range []int64{0, 1, 5000} {
			for chunk, write := range map[string]func(io.Writer) error{
				"all":  func(w io.Writer) error { _, err := w.Write(data); return err },
				"byte": func(w io.Writer) error { _, err := io.Copy(w, iotest.OneByteReader(bytes.NewReader(data))); return err },
			} {
				var out bytes.Buffer
				if err := PadStrings(write, more)(&out); err != nil {
					t.Fatal(err)
				}
				if int64(out.Len()) != int64(len(data))+more {
					t.Errorf("%s: %d bytes and %d more became %d", chunk, len(data), more, out.Len())
				}
				padded := MustParse(t, out.Bytes(), nil)
				if more == 0 && !bytes.Equal(out.Bytes(), data) {
					t.Error("changed without padding")
				}
				if was, is := btftest.Text(blob), btftest.Text(padded); was != is {
					t.Errorf("%s\nbecame\n%s", was, is)
				}
			}
		}
		for name, write := range map[string]func(io.Writer) error{
			"the strings are not at the end": func(w io.Writer) error { _, err := w.Write(append(bytes.Clone(data), 0)); return err },
			"not at the end":                 func(w io.Writer) error { _, err := w.Write(data[:20]); return err },
		} {
			if err := PadStrings(write, 8)(io.Discard); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("error %v, want %q", err, name)
			}
		}
		all := func(w io.Writer) error { _, err := w.Write(data); return err }
		if err := PadStrings(all, 1<<24)(io.Discard); err == nil || !strings.Contains(err.Error(), "too many for a kernel") {
			t.Errorf("error %v", err)
		}
	}
}
