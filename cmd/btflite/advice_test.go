package main

import (
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
)

// TestNearType: a misspelt name leads to one that differs in few letters, and a long one to none. A letter
// counts once, however many bytes it has.
func TestNearType(t *testing.T) {
	long, umlauts := strings.Repeat("n", 64), strings.Repeat("ü", 64)
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		i := b.Int("task_strict", 4)
		b.Struct("task_struct", 4, b.Member("task_stract", i, 0))
		b.Typedef("ab", i)
		b.Enum(long, b.Value("one", 1))
		b.Enum(umlauts, b.Value("two", 2))
		b.Typedef("äyz", i)
		b.Struct("", 0)
	}))
	for name, want := range map[string]string{
		"task_struct": "task_struct", "task_strikt": "task_struct", "tusk_strukt": "task_struct", "tusk_strukd": "", "task_stru": "task_struct", "task_st": "",
		"a": "", "abc": "ab", "aB": "ab", "ABC": "ab", "c": "", "": "", long: long, long[1:]: long, long + "n": "",
		umlauts: umlauts, "u" + umlauts[2:]: umlauts, umlauts + "ü": "", "äöz": "äyz", "äöü": "", "äyz€": "äyz",
	} {
		if got := nearType(v, name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
