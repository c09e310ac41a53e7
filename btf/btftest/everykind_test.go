package btftest_test

import (
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// TestEveryKind: EveryKind has all kinds, so that tests that go over it miss none.
func TestEveryKind(t *testing.T) {
	b := btftest.Build(t, nil, btftest.EveryKind)
	var has [btf.NumKinds]bool
	for id := b.FirstID; id < b.TypeCount(); id++ {
		has[b.Kind(id)] = true
	}
	for k := btf.KindVoid + 1; int(k) < btf.NumKinds; k++ {
		if !has[k] {
			t.Errorf("it has no %v", k)
		}
	}
}
