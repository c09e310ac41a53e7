package dump_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/dump"
)

// small is BTF of a small program.
func small(t testing.TB) *btf.Blob {
	t.Helper()
	return btftest.Read(t, "../../testdata/small/small.btf", nil)
}

// build returns the blob that add makes.
func build(t testing.TB, add func(b *btftest.Builder)) *btf.Blob {
	t.Helper()
	b := btftest.New()
	add(b)
	return b.Blob(t)
}

// odd has names that terminals and JSON have to be protected from.
func odd(t testing.TB) *btf.Blob {
	return build(t, func(b *btftest.Builder) {
		b.Add("a\"b\\c\x1b[31m\x01\t\xff\u0085é", btf.Info(btf.KindFloat, 0, false), 4)
	})
}

// TestRawOfAll: Raw writes what btftest.Text does, and the types that are asked for.
func TestRawOfAll(t *testing.T) {
	b := small(t)
	var got bytes.Buffer
	if err := dump.Raw(&got, b, nil); err != nil || got.String() != btftest.Text(b) {
		t.Errorf("error %v, text\n%s", err, &got)
	}
	got.Reset()
	if err := dump.Raw(&got, b, []uint32{3, 1}); err != nil || !strings.HasPrefix(got.String(), "[3] ") || strings.Count(got.String(), "\n[") != 1 {
		t.Errorf("error %v, text\n%s", err, &got)
	}
	got.Reset()
	if err := dump.Raw(&got, b, []uint32{1, b.TypeCount()}); err == nil || got.Len() > 0 {
		t.Errorf("an id that does not exist: error %v, text %q", err, &got)
	}
}

// TestJSONStyles: all styles say the same, and are JSON.
func TestJSONStyles(t *testing.T) {
	for _, b := range []*btf.Blob{small(t), odd(t)} {
		var styles [3]string
		for i := range styles {
			var text bytes.Buffer
			if err := dump.JSON(&text, b, nil, dump.Style(i)); err != nil {
				t.Fatal(err)
			}
			styles[i] = text.String()
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(styles[dump.Pretty])); err != nil {
			t.Fatal(err)
		}
		if compact.String() != strings.TrimSpace(styles[dump.Compact]) {
			t.Error("pretty and compact JSON differ")
		}
		lines := strings.Split(strings.TrimSpace(styles[dump.Lines]), "\n")
		if want := `{"types":[` + strings.Join(lines, ",") + "]}\n"; want != styles[dump.Compact] {
			t.Error("lines and compact JSON differ")
		}
	}
}

// TestOddNames: no control character and no broken UTF-8 comes out.
func TestOddNames(t *testing.T) {
	b := odd(t)
	var raw, text bytes.Buffer
	if err := dump.Raw(&raw, b, nil); err != nil {
		t.Fatal(err)
	}
	if want := `[1] FLOAT 'a"b\c\x1b[31m\x01\t\xff\u0085é' size=4` + "\n"; raw.String() != want {
		t.Errorf("%q, want %q", &raw, want)
	}
	if err := dump.JSON(&text, b, nil, dump.Lines); err != nil {
		t.Fatal(err)
	}
	if want := `{"id":1,"kind":"FLOAT","name":"a\"b\\c\u001b[31m\u0001\t\ufffd\u0085é","size":4}` + "\n"; text.String() != want {
		t.Errorf("%q, want %q", &text, want)
	}
}

// TestSelect: the types that patterns select, and the types that these need.
func TestSelect(t *testing.T) {
	var i, inner, outer, far, e, point, rust uint32
	b := build(t, func(b *btftest.Builder) {
		st := btf.Info(btf.KindStruct, 1, false)
		i = b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 1<<24|32)
		far = b.Add("far", st, 4, b.Str("m"), i, 0)
		point = b.Add("", btf.Info(btf.KindPtr, 0, false), far)
		inner = b.Add("in/ner", st, 8, b.Str("p"), point, 0)
		outer = b.Add("outer", st, 8, b.Str("i"), inner, 0)
		e = b.Add("", btf.Info(btf.KindEnum, 1, false), 4, b.Str("VALUE"), 1)
		b.Add("outer", btf.Info(btf.KindDeclTag, 0, false), outer, 0xffffffff)
		rust = b.Add("&[u8]", btf.Info(btf.KindFwd, 0, false), 0)
	})
	for _, tt := range []struct {
		patterns string
		want     []uint32
		missing  int
	}{
		{"outer", []uint32{outer}, 0},
		{"in*r", []uint32{inner}, 0},
		{"in*", []uint32{i, inner}, 0},
		{"VALUE", []uint32{e}, 0},
		{"VAL*", nil, 1},
		{"none outer", []uint32{outer}, 1},
		{"?ar [o]uter", []uint32{far, outer}, 0},
		{"&[u8]", []uint32{rust}, 0},
	} {
		ids, missing, err := dump.Select(b, strings.Fields(tt.patterns), false)
		if err != nil || !slices.Equal(ids, tt.want) || len(missing) != tt.missing {
			t.Errorf("%s: %v, %v, %v", tt.patterns, ids, missing, err)
		}
	}
	for _, bad := range []string{"", "[a", `a\`} {
		if _, _, err := dump.Select(b, []string{bad}, false); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if got := dump.Needed(b, []uint32{outer}); !slices.Equal(got, []uint32{point, inner, outer}) {
		t.Errorf("needed: %v", got)
	}
	if got := dump.Needed(b, []uint32{outer, far}); !slices.Equal(got, []uint32{i, far, point, inner, outer}) {
		t.Errorf("needed with the struct itself: %v", got)
	}
}
