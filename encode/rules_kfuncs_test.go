package encode_test

import (
	"encoding/binary"

	dt "github.com/btflite/btflite/dwarf/dwarftest"
)

// btfIDs is a .BTF_ids section with a set of one function, and its symbols.
func btfIDs(setFlags, flags uint32, name string) (dt.Section, []dt.Symbol) {
	const addr = 0x50000
	b := binary.LittleEndian.AppendUint32(nil, 1)
	b = binary.LittleEndian.AppendUint32(b, setFlags)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint32(b, flags)
	set := dt.Object("__BTF_ID__set8__kfuncs", ".BTF_ids", addr)
	set.Size = 16
	fn := dt.Object("__BTF_ID__func__"+name+"__42", ".BTF_ids", addr+8)
	return dt.Section{Name: ".BTF_ids", Flags: 2, Addr: addr, Data: b}, []dt.Symbol{set, fn}
}

// clangChanged is f(struct two t, int z) of which only t.b is used.
func clangChanged() []dt.File {
	l, i := base("long", 8, ateSigned), intType()
	two := structure("two", 16, member("a", l, 0), member("b", l, 8))
	u := &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name("c.c"), dt.Language(0x1d), dt.Producer("clang version 20"), i, l, two,
		function("f", fn1, i, dt.Attr{At: dt.AtCallingConvention, Val: 3}, ref(dt.TagFormalParameter, "t", two, dt.Location(0x93, 8, 0x55, 0x93, 8)), param("z", i, 4)))}
	return []dt.File{{Symbols: funcs(), Units: []*dt.Unit{u}}}
}
