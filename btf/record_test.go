package btf

import (
	"slices"
	"testing"
)

// TestRecord: the accessors, for records with more words after them.
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

// TestElements: each accessor gives the words of its own element, and the one
// that sets them sets those.
func TestElements(t *testing.T) {
	const more = 99
	head := func(k Kind) Record { return MakeRecord(7, Info(k, 2, false), 8) }
	triple := func(get func(r Record, j int) (a, b, c uint32)) func(Record, int) [3]uint32 {
		return func(r Record, j int) [3]uint32 {
			a, b, c := get(r, j)
			return [3]uint32{a, b, c}
		}
	}
	pair := func(get func(r Record, j int) (a, b uint32)) func(Record, int) [3]uint32 {
		return func(r Record, j int) [3]uint32 {
			a, b := get(r, j)
			return [3]uint32{a, b, 0}
		}
	}
	for _, tt := range []struct {
		kind Kind
		get  func(r Record, j int) [3]uint32
		wide bool
	}{
		{KindStruct, triple(Record.Member), true}, {KindUnion, triple(Record.Member), true}, {KindEnum64, triple(Record.Value64), true},
		{KindDatasec, triple(Record.Entry), true}, {KindLocsec, triple(Record.Site), true},
		{KindFuncProto, pair(Record.Param), false}, {KindEnum, pair(Record.Value), false},
	} {
		read, set := append(head(tt.kind), 1, 2, 3, 4, more, more), append(head(tt.kind), 0, 0, 0, 0, more, more)
		want := [2][3]uint32{{1, 2, 0}, {3, 4, 0}}
		if tt.wide {
			read, set = append(head(tt.kind), 1, 2, 3, 4, 5, 6, more), append(head(tt.kind), 0, 0, 0, 0, 0, 0, more)
			want = [2][3]uint32{{1, 2, 3}, {4, 5, 6}}
		}
		for j := range want {
			if got := tt.get(read, j); got != want[j] {
				t.Errorf("%s: element %d is %v, want %v", tt.kind, j, got, want[j])
			}
			if tt.wide {
				set.SetTriple(j, want[j][0], want[j][1], want[j][2])
			} else {
				set.SetPair(j, want[j][0], want[j][1])
			}
		}
		if !slices.Equal(set, read) {
			t.Errorf("%s: set %v, want %v", tt.kind, set, read)
		}
	}
	r := MakeRecord(0, 0, 0, 0, 0, 0)
	r.SetHead(1, 2, 3)
	r.SetArray(4, 5, 6)
	if !slices.Equal(r, Record{1, 2, 3, 4, 5, 6}) {
		t.Errorf("head and array: %v", r)
	}
	r.SetData(9)
	if !slices.Equal(r, Record{1, 2, 3, 9, 5, 6}) {
		t.Errorf("data: %v", r)
	}
}

// TestRefsAndNames: which words of a record of each kind with two elements are
// type ids and which are string offsets, beside the first word.
func TestRefsAndNames(t *testing.T) {
	for k, want := range map[Kind]struct{ refs, names []int }{
		KindInt: {nil, nil}, KindPtr: {[]int{2}, nil}, KindArray: {[]int{3, 4}, nil}, KindStruct: {[]int{4, 7}, []int{3, 6}},
		KindUnion: {[]int{4, 7}, []int{3, 6}}, KindEnum: {nil, []int{3, 5}}, KindFwd: {nil, nil}, KindTypedef: {[]int{2}, nil},
		KindVolatile: {[]int{2}, nil}, KindConst: {[]int{2}, nil}, KindRestrict: {[]int{2}, nil}, KindFunc: {[]int{2}, nil},
		KindFuncProto: {[]int{2, 4, 6}, []int{3, 5}}, KindVar: {[]int{2}, nil}, KindDatasec: {[]int{3, 6}, nil}, KindFloat: {nil, nil},
		KindDeclTag: {[]int{2}, nil}, KindTypeTag: {[]int{2}, nil}, KindEnum64: {nil, []int{3, 6}}, KindLocParam: {nil, nil},
		KindLocProto: {[]int{3, 4}, nil}, KindLocsec: {[]int{3, 4, 6, 7}, nil},
	} {
		r := make([]uint32, 20)
		for i := range r {
			r[i] = uint32(i)
		}
		r[1] = Info(k, 2, false)
		var refs, names []int
		EachRef(r, func(id *uint32) { refs = append(refs, int(*id)) })
		EachName(r, func(off *uint32) { names = append(names, int(*off)) })
		if !slices.Equal(refs, want.refs) || !slices.Equal(names, append([]int{0}, want.names...)) {
			t.Errorf("%s: type ids in words %v, names in %v; want %v, 0 and %v", k, refs, names, want.refs, want.names)
		}
	}
}

// TestLocText: places of parameters as bpftool writes them.
func TestLocText(t *testing.T) {
	const minus16 = 0xfffffff0
	for _, tt := range []struct {
		flags  uint32
		size   uint32
		values []uint32
		want   string
	}{
		{LocConst, 4, []uint32{2}, "0x2"},
		{LocConst, 4, []uint32{minus16}, "0xfffffff0"},
		{LocConst | LocSigned, 4, []uint32{minus16}, "-0x10"},
		{LocConst | LocSigned, 4, []uint32{16}, "0x10"},
		{LocConst | LocSigned, 1, []uint32{0x80}, "-0x80"},
		{LocConst | LocSigned, 1, []uint32{0x7f}, "0x7f"},
		{LocConst | LocSigned, 0, []uint32{0xff}, "-0x1"},
		{LocConst, 8, []uint32{1, 2}, "0x200000001"},
		{LocConst | LocSigned, 8, []uint32{minus16, 0xffffffff}, "-0x10"},
		{LocConst | LocSigned, 16, []uint32{minus16, 0xffffffff}, "-0x10"},
		{LocConst | LocAddr, 8, []uint32{0x1000, 1}, "0x100001000 (addr)"},
		{LocConst | LocAddr | LocSigned, 8, []uint32{minus16, 0xffffffff}, "0xfffffffffffffff0 (addr)"},
		{LocConst, 8, []uint32{1, 2, 3}, "[0x1 0x2 0x3]"},
		{LocConst, 8, nil, "[]"},
		{LocReg, 8, []uint32{1}, "reg1"},
		{LocReg, 16, []uint32{1, 2}, "reg1 reg2"},
		{LocReg, 8, []uint32{LocFrameBase}, "fbreg"},
		{LocReg, 8, nil, "[]"},
		{LocReg | LocDeref, 8, []uint32{2}, "*(reg2)"},
		{LocReg | LocOffset, 8, []uint32{2, 16}, "reg2 + 0x10"},
		{LocReg | LocOffset | LocDeref, 8, []uint32{2, 16}, "*(reg2 + 0x10)"},
		{LocReg | LocOffset | LocDeref | LocSigned, 8, []uint32{2, minus16}, "*(reg2 - 0x10)"},
		{LocReg | LocOffset | LocSigned, 8, []uint32{LocFrameBase, minus16}, "fbreg - 0x10"},
		{LocReg | LocOffset | LocSigned, 8, []uint32{2, 0}, "reg2 + 0x0"},
		{LocReg | LocOffset, 8, []uint32{2, minus16}, "reg2 + 0xfffffff0"},
		{LocReg | LocOffset, 8, []uint32{2, 1, 2}, "reg2 + 0x200000001"},
		{LocReg | LocOffset | LocSigned, 8, []uint32{2, 1, 2}, "reg2 + 0x200000001"},
		{LocReg | LocOffset | LocSigned, 8, []uint32{2, minus16, 0xffffffff}, "reg2 - 0x10"},
		{0, 8, []uint32{1, 0x20}, "[0x1 0x20]"},
	} {
		r := append(MakeRecord(0, Info(KindLocParam, uint32(len(tt.values)), false), tt.size, tt.flags), tt.values...)
		if got := LocText(append(r, 99)); got != tt.want {
			t.Errorf("flags %#x, size %d, values %#x: %q, want %q", tt.flags, tt.size, tt.values, got, tt.want)
		}
	}
	if got := LocText(MakeRecord(0, Info(KindInt, 0, false), 4, LocConst)); got != "" {
		t.Errorf("an INT is %q", got)
	}
}
