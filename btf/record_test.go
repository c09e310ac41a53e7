package btf

import (
	"slices"
	"testing"
)

// TestRecord: what the accessors give, of records with more words behind them.
func TestRecord(t *testing.T) {
	const more = 99
	s := MakeRecord(7, Info(KindStruct, 2, true), 16, 1, 2, 3, 4, 5, 6, more)
	if s.Name() != 7 || s.Kind() != KindStruct || s.Vlen() != 2 || s.Info() != Info(KindStruct, 2, true) || s.Third() != 16 || s.Len() != 9 {
		t.Errorf("head of %v", s)
	}
	if !slices.Equal(s.Extra(), []uint32{1, 2, 3, 4, 5, 6, more}) {
		t.Errorf("extra words %v", s.Extra())
	}
	if name, typ, offset := s.Member(1); name != 4 || typ != 5 || offset != 6 {
		t.Errorf("member %d %d %d", name, typ, offset)
	}
	p := MakeRecord(0, Info(KindFuncProto, 2, false), 3, 1, 2, 3, 4, more)
	if name, typ := p.Param(1); name != 3 || typ != 4 || p.Len() != 7 {
		t.Errorf("parameter %d %d of %d words", name, typ, p.Len())
	}
	if elem, index, n := MakeRecord(0, Info(KindArray, 0, false), 0, 1, 2, 3).Array(); elem != 1 || index != 2 || n != 3 {
		t.Errorf("array %d %d %d", elem, index, n)
	}
	if d := MakeRecord(1, Info(KindInt, 0, false), 4, 32).Data(); d != 32 {
		t.Errorf("data %d", d)
	}
}
