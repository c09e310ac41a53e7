package dwarf

import (
	"bytes"
	"slices"
	"testing"
)

// TestSurvey: one abbreviation among many is noticed, wherever the bytes are cut.
func TestSurvey(t *testing.T) {
	record := at{attr: AtUnitRecord, form: FormBlock4}
	for _, c := range []struct {
		name string
		tag  Tag
		at   at
		want Survey
	}{
		{"plain", TagTypedef, at{attr: atType, form: FormRef4}, Survey{}},
		{"reference to a unit", TagTypedef, at{attr: atType, form: FormRefAddr}, Survey{Cross: true}},
		{"in the alternate file", TagTypedef, at{attr: 0x8a, form: FormGNURefAlt}, Survey{Cross: true}},
		{"name in the alternate file", TagTypedef, at{attr: atName, form: FormGNUStrpAlt}, Survey{Cross: true}},
		{"name in the supplementary file", TagTypedef, at{attr: atName, form: FormStrpSup}, Survey{Cross: true}},
		{"import", TagImportedUnit, at{attr: atImport, form: FormRef4}, Survey{Cross: true}},
		{"partial unit", TagPartialUnit, at{attr: atName, form: FormStrp}, Survey{Cross: true}},
		{"record", TagCompileUnit, record, Survey{Records: true}},
		{"attribute of a record elsewhere", TagTypedef, record, Survey{Records: true}},
		{"attribute that begins like it", TagCompileUnit, at{attr: 0x2b73, form: FormRef4}, Survey{}},
		{"long attribute", TagCompileUnit, at{attr: 0xab74, form: FormRef4}, Survey{}},
		{"base class", TagInheritance, at{attr: atType, form: FormRef4}, Survey{Unencodable: true}},
		{"constant that looks like a reference", TagTypedef, at{atType, FormImplicitConst, []byte{0x90, 0x10}}, Survey{}},
	} {
		b := slices.Concat(declare(1, TagCompileUnit, true, many(3, FormData1)...), []byte{0, 0},
			declare(1000, c.tag, true, many(200, FormStrp)...), declare(2, c.tag, true, c.at), []byte{0})
		var whole Survey
		if ok := whole.Read(b); !ok || whole != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, whole, ok, c.want)
		}
		for cut := range b {
			var s Survey
			if !s.Read(b[:cut]) || !s.Read(b[cut:]) || s != c.want {
				t.Errorf("%s, cut at %d: %+v; want %+v", c.name, cut, s, c.want)
			}
		}
	}
	good := append(declare(1, TagTypedef, false), 0)
	for name, bad := range map[string][]byte{
		"code": {0x80, 0, 1, 0, 0, 0}, "tag 0": {1, 0, 0, 0, 0}, "large tag": {1, 0x80, 0x80, 0x04, 0, 0, 0}, "children": {1, 1, 2, 0, 0},
		"padded tag": {1, 0x80 | byte(TagPartialUnit), 0, 0, 0, 0}, "padded attribute": {1, 1, 0, 0x80 | atType, 0, byte(FormRef4), 0, 0},
		"padded form": {1, 1, 0, atType, 0x80 | byte(FormRefAddr), 0, 0, 0},
	} {
		if b := slices.Concat(good, bad, bytes.Repeat(good, 10)); new(Survey).Read(b) {
			t.Errorf("%s: taken for abbreviations", name)
		}
	}
	for cut := 1; cut < len(good)-1; cut++ {
		if s := new(Survey); !s.Read(good[:cut]) || s.Whole() {
			t.Errorf("cut at %d: taken for whole", cut)
		}
	}
}

// TestSurveyLanes: many tables are read as they are byte by byte, with one special abbreviation, or one
// damaged byte, anywhere among them.
func TestSurveyLanes(t *testing.T) {
	table := slices.Concat(declare(1, TagCompileUnit, true, many(3, FormData1)...), declare(200, TagTypedef, false, at{atType, FormImplicitConst, []byte{0x90, 0x10}}), []byte{0})
	tables := bytes.Repeat(table, 3*leastLanes/len(table))
	check := func(what string, b []byte) (s Survey) {
		t.Helper()
		want := Survey{}
		for i := range b {
			want.run(b[i : i+1])
		}
		for _, first := range []int{0, 1, 7} {
			var got Survey
			got.Read(b[:first])
			if ok := got.Read(b[first:]); got != want || ok != (want.state != damagedAbbrev) {
				t.Errorf("%s, cut at %d: %+v, %v; want %+v", what, first, got, ok, want)
			}
		}
		return want
	}
	if s := check("plain", tables); s != (Survey{}) {
		t.Errorf("plain: %+v", s)
	}
	for _, special := range []at{{attr: atType, form: FormRefAddr}, {attr: AtUnitRecord, form: FormBlock4}} {
		for k := range 24 {
			i := k * len(tables) / 24 / len(table) * len(table)
			if s := check("special", slices.Concat(tables[:i], declare(9, TagTypedef, false, special), []byte{0}, tables[i:])); !s.Cross && !s.Records {
				t.Errorf("special at %d: %+v", i, s)
			}
		}
	}
	for k := range 200 {
		b := bytes.Clone(tables)
		b[k*len(b)/200] ^= byte(1 << (k % 8))
		check("damaged", b)
		check("cut", tables[:len(tables)-k])
	}
	check("without places to begin", bytes.Repeat([]byte{0x81}, 2*leastLanes))
	check("without places in the last part", slices.Concat(tables, declare(1, TagTypedef, false, many(leastLanes, FormData1)...)))
}
