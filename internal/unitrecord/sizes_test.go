package unitrecord

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btflite/btflite/internal/debuginfo"
)

// TestSizes: sizes are read as they were written, except for small sections and for sections that
// records do not know. A list that is cut short is damage.
func TestSizes(t *testing.T) {
	for _, tt := range []struct{ in, want []Size }{
		{nil, nil},
		{[]Size{{".debug_info", 800}}, []Size{{".debug_info", 800}}},
		{[]Size{{".debug_str", 100}, {".debug_info", 800}, {".debug_line", 99}, {".debug_frame", 1 << 40}},
			[]Size{{".debug_str", 100}, {".debug_info", 800}, {".debug_frame", 1 << 40}}},
		{[]Size{{".debug_other", 7000}, {".debug_macro", 0}, {".debug_addr", 1}}, []Size{{".debug_addr", 1}}},
	} {
		b := appendSizes([]byte("before"), tt.in)[len("before"):]
		sizes, rest, ok := cutSizes(append(slices.Clone(b), "behind"...))
		if !ok || !bytes.Equal(sizes, b) || string(rest) != "behind" {
			t.Errorf("%v: %x of %x, %q behind them, %v", tt.in, sizes, b, rest, ok)
		}
		record, _ := appendFrame(nil, "test", 0, 8, nil, place{20, 300}, b)
		var c debuginfo.Cursor
		c.Record.Bytes, c.Hdr.AddrSize, c.Hdr.Off, c.Hdr.Data = record, 8, 1000, make([]byte, 70)
		old, now, err := Replaced(&c)
		if err != nil || !slices.Equal(old, tt.want) || !slices.Equal(now, []Size{{".debug_info", 70}, {".debug_abbrev", 320}}) {
			t.Errorf("%v: replaced %v by %v, %v", tt.in, old, now, err)
		}
		for n := range b {
			if _, _, ok := cutSizes(b[:n]); ok {
				t.Errorf("%v: the first %d of %d bytes are taken", tt.in, n, len(b))
			}
		}
	}
	record, _ := appendFrame(nil, "test", 0, 8, nil, place{20, 300}, []byte{1, byte(len(sizedSections)), 7})
	var c debuginfo.Cursor
	c.Record.Bytes, c.Hdr.AddrSize = record, 8
	if old, _, err := Replaced(&c); err != nil || len(old) != 0 {
		t.Errorf("a section without a name: %v, %v", old, err)
	}
}

// FuzzSizes: sizes are cut off in one way, or not at all.
func FuzzSizes(f *testing.F) {
	f.Add([]byte{2, 0, 0x80, 1, 3, 7, 9})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		sizes, rest, ok := cutSizes(b)
		if ok && !bytes.Equal(slices.Concat(sizes, rest), b) {
			t.Fatalf("%x and %x of %x", sizes, rest, b)
		}
	})
}
