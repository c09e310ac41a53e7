package ctype

import (
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
)

// types has a type of each kind, under the ids that the constants name.
func types(t testing.TB) *view.View {
	b := btftest.New()
	for _, x := range []struct {
		name  string
		kind  btf.Kind
		vlen  uint32
		flag  bool
		third uint32
		extra []uint32
	}{
		{"int", btf.KindInt, 0, false, 4, []uint32{32}},
		{"float", btf.KindFloat, 0, false, 4, nil},
		{"s", btf.KindStruct, 1, false, 4, []uint32{b.Str("m"), 1, 0}},
		{"u", btf.KindFwd, 0, true, 0, nil},
		{"", btf.KindPtr, 0, false, tInt, nil},
		{"", btf.KindConst, 0, false, tPtr, nil},
		{"", btf.KindPtr, 0, false, tConstPtr, nil},
		{"", btf.KindRestrict, 0, false, tPtr, nil},
		{"", btf.KindFuncProto, 2, false, tInt, []uint32{b.Str("a"), tConstPtr, 0, 0}},
		{"", btf.KindPtr, 0, false, tProto, nil},
		{"", btf.KindArray, 0, false, 0, []uint32{tStruct, tInt, 3}},
		{"", btf.KindFuncProto, 2, false, 0, []uint32{b.Str("cb"), tProtoPtr, b.Str("f"), tFloat}},
		{"", btf.KindStruct, 4, false, 8, []uint32{b.Str("x"), tInt, 0, b.Str("y"), tProtoPtr, 0, b.Str("z"), tFloat, 0, b.Str("w"), tInt, 0}},
		{"e\x1b", btf.KindEnum, 1, false, 4, []uint32{b.Str("E"), 1}},
		{"", btf.KindPtr, 0, false, tLoop, nil},
		{"user", btf.KindTypeTag, 0, false, tInt, nil},
		{"", btf.KindVolatile, 0, false, tTag, nil},
		{"", btf.KindPtr, 0, false, tArray, nil},
	} {
		b.Add(x.name, btf.Info(x.kind, x.vlen, x.flag), x.third, x.extra...)
	}
	return view.New(b.Blob(t))
}

const (
	tInt = 1 + iota
	tFloat
	tStruct
	tFwd
	tPtr
	tConstPtr
	tPtrConstPtr
	tRestrict
	tProto
	tProtoPtr
	tArray
	tTaker
	tNameless
	tEnum
	tLoop
	tTag
	tVolatile
	tArrayPtr
)

func TestWriter(t *testing.T) {
	v := types(t)
	for id, want := range map[uint32][3]string{
		0:            {"void", "void", "void"},
		tInt:         {"int", "int", "int"},
		tFloat:       {"single float", "float", "float"},
		tStruct:      {"struct s", "struct s", "struct s"},
		tFwd:         {"union u", "union u", "union u"},
		tConstPtr:    {"const int * ", "const int * ", "const int *"},
		tPtrConstPtr: {"int * const *", "int * const *", "int * const *"},
		tRestrict:    {"int * restrict ", "int * restrict ", "int * restrict"},
		tProto:       {"int ()(const int *  a, ...)", "int ()(const int *  a, ...)", "int ()(const int *, ...)"},
		tProtoPtr:    {"int ()(const int *  a, ...) *", "int ()(const int *  a, ...) *", "int ()(const int *, ...) *"},
		tArray:       {"struct s", "struct s", "struct s"},
		tTaker: {"void ()(int (*cb)(const int *  a, ...), single float f)", "void ()(int (*cb)(const int *  a, ...), float f)",
			"void ()(int (*)(const int *, ...), float)"},
		tEnum:     {"enum e\x1b", "enum e\x1b", "enum e\x1b"},
		tVolatile: {"volatile int ", "volatile int ", "volatile int"},
	} {
		for style := range want {
			w := Writer{Style: Style(style), Limit: 1000}
			if w.Type(v.Type(id)); string(w.Text) != want[style] || w.Cut {
				t.Errorf("[%d] in style %d: %q, want %q", id, style, w.Text, want[style])
			}
		}
	}
	w := Writer{Limit: 1000, Escape: func(dst, name []byte) []byte { return append(dst, "ESCAPED"...) }}
	if w.Type(v.Type(tEnum)); string(w.Text) != "enum ESCAPED" {
		t.Errorf("%s", w.Text)
	}
}

// TestWriterLimit: a text is cut where there is no more room, and types without an end
// have one.
func TestWriterLimit(t *testing.T) {
	v := types(t)
	for limit := range 70 {
		w := Writer{Limit: limit}
		w.Type(v.Type(tTaker))
		text, whole := string(w.Text), "void ()(int (*cb)(const int *  a, ...), single float f)"
		if w.Cut != (limit < len(whole)) || len(text) > limit+len(cut) || !strings.HasPrefix(whole, strings.TrimSuffix(text, cut)) {
			t.Errorf("limit %d: %q", limit, text)
		}
	}
	w := Writer{Limit: 1 << 20}
	if w.Type(v.Type(tLoop)); !strings.HasPrefix(string(w.Text), cut+" * *") || len(w.Text) > 1<<12 {
		t.Errorf("%d bytes: %.40q", len(w.Text), w.Text)
	}
}

// FuzzWriter: types of any blob have a text within the limit.
func FuzzWriter(f *testing.F) {
	f.Add(types(f).Blob().Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := btf.Parse(data, nil)
		if err != nil || len(data) > 1<<12 {
			return
		}
		for x := range view.New(b).All() {
			for style := range PfunctUnnamed + 1 {
				w := Writer{Style: style, Limit: 1 << 12}
				w.Type(x)
				w.Params(x, nil)
				if len(w.Text) > w.Limit+len(cut) {
					t.Fatalf("%d bytes", len(w.Text))
				}
			}
		}
	})
}
