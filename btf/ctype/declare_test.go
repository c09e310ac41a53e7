package ctype

import (
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

func TestDeclarer(t *testing.T) {
	b := types(t).Blob()
	short := Declarer{Blob: b, Name: b.Name, Cut: "…"}
	long := Declarer{Blob: b, Name: b.Name, Tags: true, ParamNames: true, Members: 3}
	for _, tt := range []struct {
		id          uint32
		name        string
		short, long string
	}{
		{0, "", "void", "void"},
		{tInt, "x", "int x", "int x"},
		{tFloat, "", "float", "float"},
		{tStruct, "x", "struct s x", "struct s x"},
		{tFwd, "", "union u", "union u"},
		{tConstPtr, "p", "int *const p", "int *const p"},
		{tPtrConstPtr, "", "int *const *", "int *const *"},
		{tRestrict, "", "int *restrict", "int *restrict"},
		{tProto, "f", "int f(int *const, ...)", "int f(int *const a, ...)"},
		{tProtoPtr, "f", "int (*f)(int *const, ...)", "int (*f)(int *const a, ...)"},
		{tArray, "a", "struct s a[3]", "struct s a[3]"},
		{tArrayPtr, "", "struct s (*)[3]", "struct s (*)[3]"},
		{tTaker, "f", "void f(int (*)(int *const, ...), float)", "void f(int (*cb)(int *const a, ...), float f)"},
		{tNameless, "", "struct (anonymous)", "struct { int x; int (*y)(int *const a, ...); float z; ... }"},
		{tVolatile, "v", "volatile int v", `volatile btf_type_tag("user") int v`},
	} {
		if got := short.Declare(tt.id, tt.name); got != tt.short {
			t.Errorf("[%d]: %s, want %s", tt.id, got, tt.short)
		}
		if got := long.Declare(tt.id, tt.name); got != tt.long {
			t.Errorf("[%d]: %s, want %s", tt.id, got, tt.long)
		}
	}
	if got := long.Param(b.Record(tTaker), 1); got != "float" {
		t.Errorf("parameter 1: %s", got)
	}
	if got := short.Declare(tLoop, "p"); got != "… "+strings.Repeat("*", MaxTypes)+"p" {
		t.Errorf("a loop: %s", got)
	}
}

// FuzzDeclarer: types of any blob have a bounded text.
func FuzzDeclarer(f *testing.F) {
	f.Add(types(f).Blob().Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := btf.Parse(data, nil)
		if err != nil || len(data) > 1<<12 {
			return
		}
		name := func(off uint32) string { return b.Name(off)[:min(len(b.Name(off)), 100)] }
		for x := range view.New(b).All() {
			for _, d := range []Declarer{{Blob: b, Name: name}, {Blob: b, Name: name, Tags: true, ParamNames: true, Members: 3}} {
				if text := d.Declare(x.ID, "x"); len(text) > 20*MaxBytes {
					t.Fatalf("%d bytes", len(text))
				}
			}
		}
	})
}
