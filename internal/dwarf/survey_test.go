package dwarf

import (
	"slices"
	"testing"
)

// TestSurvey: what one abbreviation of many says of all, wherever the bytes are cut.
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
		{"attribute of a record elsewhere", TagTypedef, record, Survey{}},
		{"base class", TagInheritance, at{attr: atType, form: FormRef4}, Survey{Unencodable: true}},
		{"constant that looks like a reference", TagTypedef, at{atType, FormImplicitConst, []byte{0x90, 0x10}}, Survey{}},
	} {
		b := slices.Concat(declare(1, TagCompileUnit, true, many(3, FormData1)...), []byte{0, 0},
			declare(1000, c.tag, true, many(200, FormStrp)...), declare(2, c.tag, true, c.at), []byte{0})
		var whole Survey
		if n, ok := whole.Read(b); n != len(b) || !ok || whole != c.want {
			t.Errorf("%s: %+v, %d of %d bytes, %v; want %+v", c.name, whole, n, len(b), ok, c.want)
		}
		for cut := range b {
			var s Survey
			n, ok := s.Read(b[:cut])
			more, well := s.Read(b[n:])
			if !ok || !well || n+more != len(b) || s != c.want {
				t.Errorf("%s, cut at %d: %+v, %d and %d of %d bytes; want %+v", c.name, cut, s, n, more, len(b), c.want)
			}
		}
	}
	for name, bad := range map[string][]byte{"tag 0": {1, 0, 0, 0, 0}, "large tag": {1, 0x80, 0x80, 0x04, 0, 0, 0}, "children": {1, 1, 2, 0, 0}} {
		good := append(declare(1, TagTypedef, false), 0)
		if n, ok := new(Survey).Read(slices.Concat(good, bad)); ok || n != len(good) {
			t.Errorf("%s: read to %d (%v), want %d", name, n, ok, len(good))
		}
	}
}
