package unit

import (
	"testing"

	"github.com/btflite/btflite/btf"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// TestContainingClass: a pointer to a member has the name of the class, also if the class has it from its
// declaration.
func TestContainingClass(t *testing.T) {
	i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	inner := dt.N(dt.TagClassType, dt.Name("inner"), dt.Declaration())
	outer := dt.N(dt.TagClassType, dt.Name("outer"), dt.Size(4), inner, dt.N(dt.TagMember, dt.Name("m"), dt.Type(i), dt.MemberAt(0)))
	defined := dt.N(dt.TagClassType, dt.Specification(inner), dt.Size(4))
	nameless := dt.N(dt.TagClassType, dt.Name(""), dt.Specification(inner), dt.Size(4))
	for want, class := range map[string]*dt.DIE{"outer": outer, "inner": defined, "": nameless} {
		const containing = 0x1d
		f := dt.File{Units: []*dt.Unit{dt.CU(i, outer, defined, nameless, dt.N(0x1f, dt.Type(i), dt.Attr{At: containing, Val: class}))}}
		r, _, err := readUnit(t, &f, Options{Marks: true})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for k := range r.Unit.Types.Nodes.S {
			if n := &r.Unit.Types.Nodes.S[k]; btf.InfoKind(n.Info) == btf.KindTypeTag {
				kind, text := btf.Mark(r.Cursor.File.Names.Text(n.Name))
				found = found || kind == btf.MarkMember && string(text) == want
			}
		}
		if !found {
			t.Errorf("no pointer to a member of %q", want)
		}
	}
}

// TestAddresses: a function has the same address in every form, whatever number the file has at an index.
func TestAddresses(t *testing.T) {
	for _, addr := range []uint64{1, 2, dt.TextAddr} { // 1 is the number 0 at the index, and the offset 1
		for _, form := range []int{0, dt.FormAddrx, dt.FormAddrx1, dt.FormLLVMAddrxOff} {
			fn := dt.N(dt.TagSubprogram, dt.Name("f"), dt.Attr{At: dt.AtLowPC, Form: form, Val: dt.Addr(addr)})
			r, _, err := readUnit(t, &dt.File{Units: []*dt.Unit{dt.CU(fn)}}, all)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Unit.Funcs.S[0].LowPC; got != addr {
				t.Errorf("form %#x: address %#x, want %#x", form, got, addr)
			}
		}
	}
}
