package dwarf

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// uleb writes an unsigned LEB128 number.
func uleb(v uint64) (b []byte) {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// at is one attribute of an abbreviation; implicit is for DW_FORM_implicit_const.
type at struct {
	attr     uint64
	form     Form
	implicit []byte
}

// declare writes abbreviation code, without the end of the table.
func declare(code uint64, tag Tag, children bool, attrs ...at) []byte {
	b := append(uleb(code), uleb(uint64(tag))...)
	if children {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	for _, a := range attrs {
		b = slices.Concat(b, uleb(a.attr), uleb(uint64(a.form)), a.implicit)
	}
	return append(b, 0, 0)
}

// formCase is a form with bytes of it, and the value that they are.
type formCase struct {
	form Form
	data []byte
	want uint64
}

// block is the value of n bytes at off.
func block(off, n uint64) uint64 { return off<<32 | n }

// formCases lists every form. Data starts at offset 2; a value at is the
// offset in the unit of strings and blocks. u has the number 1 to 8 as bytes.
func formCases(u *Unit) []formCase {
	order := func(n int) uint64 { // the first n bytes of 0x11, 0x22, …
		var v uint64
		for i := range n {
			if u.BigEndian {
				v = v<<8 | uint64(0x11*(i+1))
			} else {
				v |= uint64(0x11*(i+1)) << (8 * i)
			}
		}
		return v
	}
	digits := []byte{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0}
	refAddr := u.OffsetSize()
	if u.Version == 2 {
		refAddr = int(u.AddrSize)
	}
	var cases []formCase
	for _, x := range []struct {
		n     int
		forms []Form
	}{
		{1, []Form{FormData1, FormFlag, FormRef1, FormStrx1, FormAddrx1}},
		{2, []Form{FormData2, FormRef2, FormStrx2, FormAddrx2}},
		{3, []Form{FormStrx3, FormAddrx3}},
		{4, []Form{FormData4, FormRef4, FormStrx4, FormAddrx4, FormRefSup4}},
		{8, []Form{FormData8, FormRef8, FormRefSig8, FormRefSup8}},
		{int(u.AddrSize), []Form{FormAddr}},
		{refAddr, []Form{FormRefAddr}},
		{u.OffsetSize(), []Form{FormStrp, FormSecOffset, FormLineStrp, FormStrpSup, FormGNURefAlt, FormGNUStrpAlt}},
	} {
		for _, f := range x.forms {
			cases = append(cases, formCase{f, digits[:x.n], order(x.n)})
		}
	}
	for _, f := range []Form{FormUdata, FormRefUdata, FormStrx, FormAddrx, FormLoclistx, FormRnglistx, FormGNUAddrIndex, FormGNUStrIndex} {
		cases = append(cases, formCase{f, uleb(300), 300})
	}
	cases = append(cases, formCase{FormLLVMAddrxOff, append(uleb(300), digits[:4]...), order(4)<<32 | 300},
		formCase{FormLLVMAddrxOff, append(uleb(1<<40), digits[:4]...), order(4)<<32 | (1<<32 - 1)})
	body := make([]byte, 300)
	length := func(n int) []byte { return pack(u.BigEndian, field{n, 300}) }
	return append(cases,
		formCase{FormData16, digits, order(8)},
		formCase{FormSdata, []byte{0x7e}, 1<<64 - 2},
		formCase{FormFlagPresent, nil, 1},
		formCase{FormString, []byte("text\x00"), 2},
		formCase{FormString, []byte("\x00"), 2},
		formCase{FormBlock1, []byte{3, 1, 2, 3}, block(3, 3)},
		formCase{FormBlock1, []byte{0}, block(3, 0)},
		formCase{FormBlock2, slices.Concat(length(2), body), block(4, 300)},
		formCase{FormBlock4, slices.Concat(length(4), body), block(6, 300)},
		formCase{FormBlock, slices.Concat(uleb(300), body), block(4, 300)},
		formCase{FormExprloc, []byte{1, 0x55}, block(3, 1)},
	)
}

// shapesOfUnits are the facts that the sizes of forms depend on.
var shapesOfUnits = []Unit{
	{Version: 2, AddrSize: 8},
	{Version: 3, AddrSize: 4, Dwarf64: true},
	{Version: 5, AddrSize: 8, BigEndian: true},
	{Version: 5, AddrSize: 4, Dwarf64: true, BigEndian: true},
	{Version: 2, AddrSize: 2, BigEndian: true},
}

// TestForms reads a value of every form, one that is asked for and one that is
// not, and each of them with its form in the data. Behind it comes a value that
// must be read too; no byte of them may be missing.
func TestForms(t *testing.T) {
	const unknown, beyond = 0x8a, 0x90 // attributes that are not read; the tables of attributes end before 0x90
	for i := range shapesOfUnits {
		u := &shapesOfUnits[i]
		for _, c := range formCases(u) {
			for _, indirect := range []bool{false, true} {
				for _, attr := range []uint64{atLowPC, atName, unknown, beyond} {
					name := fmt.Sprintf("%+v form %#x attribute %#x indirect %v", *u, uint16(c.form), attr, indirect)
					form, data, want := c.form, c.data, c.want
					if indirect {
						lead := uleb(uint64(form))
						data, form = append(lead, data...), FormIndirect
						switch c.form {
						case FormString:
							want += uint64(len(lead))
						case FormBlock, FormBlock1, FormBlock2, FormBlock4, FormExprloc:
							want += block(uint64(len(lead)), 0)
						}
					}
					testForm(t, name, u, at{attr: attr, form: form}, slices.Concat([]byte{9, 9}, data, []byte{7}), want)
				}
			}
		}
	}
}

// testForm decodes a DIE at offset 2 of data: a, then an attribute of one byte, 7.
// Without that byte, a DIE that has only a must be readable too.
func testForm(t *testing.T, name string, u *Unit, a at, data []byte, want uint64) {
	t.Helper()
	value, last, lastValue := VLowPC, uint64(atName), VName
	if a.attr == atName {
		value, last, lastValue = VName, atLowPC, VLowPC
	}
	for _, attrs := range [][]at{{a, {attr: last, form: FormStrx1}}, {a}} {
		if len(attrs) == 1 {
			data = data[:len(data)-1]
		}
		var table Abbrevs
		if err := table.Compile(append(declare(1, TagSubprogram, false, attrs...), 0), u, Types, 0); err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		ab := table.Lookup(1)
		read := func(b []byte) {
			var out Values
			next, present := table.Decode(ab, b, 2, &out)
			bits := uint32(0)
			if a.attr == atName || a.attr == atLowPC {
				bits = bit(value)
			}
			if bits != 0 && out[value].U != want {
				t.Errorf("%s: value %#x, want %#x", name, out[value].U, want)
			}
			if len(attrs) == 2 {
				bits |= bit(lastValue)
				if out[lastValue].U != 7 {
					t.Errorf("%s: the value behind is %d", name, out[lastValue].U)
				}
			}
			if next != len(data) || present != bits {
				t.Errorf("%s: ends at %d of %d, present %#x, want %#x", name, next, len(data), present, bits)
			}
		}
		read(data[:len(data):len(data)])
		read(append(slices.Clone(data), 1, 2, 3))
		if a.form == FormIndirect && len(attrs) == 1 && ab.Present != 0 {
			t.Errorf("%s: present before its form is known", name)
		}
		if ab.Fixed && int(ab.Size) != len(data)-2 {
			t.Errorf("%s: size %d of %d bytes", name, ab.Size, len(data)-2)
		}
		for n := 2; n < len(data); n++ {
			var out Values
			if next, _ := table.Decode(ab, data[:n:n], 2, &out); next != -1 {
				t.Errorf("%s: %d of %d bytes are read up to %d", name, n, len(data), next)
			}
		}
	}
}

// TestImplicitConst: the value is in the table, and none can be in the data.
func TestImplicitConst(t *testing.T) {
	u := &Unit{Version: 5, AddrSize: 8}
	var table Abbrevs
	var out Values
	sec := append(declare(1, TagSubprogram, false, at{atLowPC, FormImplicitConst, []byte{0x7d}}, at{0x8a, FormImplicitConst, []byte{0x80, 1}}), 0)
	if err := table.Compile(sec, u, Types, 0); err != nil {
		t.Fatal(err)
	}
	if next, present := table.Decode(table.Lookup(1), nil, 0, &out); next != 0 || present != bit(VLowPC) || int64(out[VLowPC].U) != -3 {
		t.Errorf("ends at %d, present %#x, value %d", next, present, int64(out[VLowPC].U))
	}
	for _, form := range []uint64{uint64(FormImplicitConst), uint64(FormIndirect), 0, 0x02, 0x30, 0x1f00, 0xffff, 0x10000 + uint64(FormData1)} {
		if err := table.Compile(append(declare(1, TagSubprogram, false, at{attr: atLowPC, form: FormIndirect}), 0), u, Types, 0); err != nil {
			t.Fatal(err)
		}
		if next, _ := table.Decode(table.Lookup(1), append(uleb(form), 0, 0, 0, 0), 0, &out); next != -1 {
			t.Errorf("form %#x in the data: read up to %d", form, next)
		}
		if form == uint64(FormImplicitConst) || form == uint64(FormIndirect) {
			continue
		}
		for _, attr := range []byte{atLowPC, 0x7e} {
			sec := slices.Concat([]byte{1, byte(TagSubprogram), 0, attr}, uleb(form), []byte{0, 0, 0})
			if err := new(Abbrevs).Compile(sec, u, Types, 0); err == nil || !strings.Contains(err.Error(), "form "+utoa(form)) {
				t.Errorf("form %#x in the table: error %v", form, err)
			}
		}
	}
}

// TestNumeric: constants, flags and addresses count as numbers, blocks have bounds.
func TestNumeric(t *testing.T) {
	numbers := []Form{FormAddr, FormData1, FormData2, FormData4, FormData8, FormSdata, FormUdata, FormImplicitConst, FormFlag, FormFlagPresent}
	blocks := []Form{FormBlock, FormBlock1, FormBlock2, FormBlock4, FormExprloc}
	for f := range Form(numForms) {
		v := Value{U: 5<<32 | 7, Form: f}
		want := uint64(0)
		if slices.Contains(numbers, f) {
			want = v.U
		}
		if got := v.Numeric(); got != want {
			t.Errorf("form %#x: number %d, want %d", uint16(f), got, want)
		}
		off, n, ok := v.Block()
		if is := slices.Contains(blocks, f); ok != is || is && (off != 5 || n != 7) {
			t.Errorf("form %#x: block %d+%d, %v", uint16(f), off, n, ok)
		}
	}
}
