package encode_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// tryBytes encodes a file of any content with 1, 2 and 3 workers, and once without proofs. Result
// or error, never both or neither, and the same each time; a result is well-formed BTF, and an
// error names the file. A panic or a hang fails.
func tryBytes(t testing.TB, path string, image []byte, features encode.Features) ([]byte, error) {
	t.Helper()
	testfile.Write(t, path, image)
	data, err := tryJobs(t, path, "1 worker", features, 1)
	same := func(name string, other []byte, otherErr error) {
		if !bytes.Equal(data, other) {
			t.Errorf("%s: %d bytes, with 1 worker %d bytes", name, len(other), len(data))
		}
		if fmt.Sprint(err) != fmt.Sprint(otherErr) {
			t.Errorf("%s: %v, with 1 worker: %v", name, otherErr, err)
		}
	}
	other, otherErr := tryJobs(t, path, "2 workers", features, 2)
	same("2 workers", other, otherErr)
	other, otherErr = tryJobs(t, path, "3 workers", features, 3)
	same("3 workers", other, otherErr)
	encode.WithoutProofs(func() { other, otherErr = tryJobs(t, path, "without proofs", features, 1) })
	same("without proofs", other, otherErr)
	return data, err
}

// tryJobs encodes a file for tryBytes.
func tryJobs(t testing.TB, path, name string, features encode.Features, jobs int) ([]byte, error) {
	t.Helper()
	stop := watch(path + ": " + name)
	data, crash, err := noPanic(func() ([]byte, error) {
		return runFiles([]string{path}, encode.Options{Features: features, Jobs: jobs})
	})
	stop()
	switch {
	case crash != nil && refBug != "" && strings.Contains(fmt.Sprint(crash), "index out of range"):
		t.Skip(refBug)
	case crash != nil:
		t.Errorf("%s: panic: %v", name, crash)
	case err != nil && !strings.Contains(err.Error(), path):
		t.Errorf("%s: error does not name the file: %v", name, err)
	case err == nil && len(data) > 0:
		if _, err := btf.Parse(data, nil); err != nil {
			t.Errorf("%s: result is not BTF: %v", name, err)
		}
	}
	return data, err
}

// sizeField finds the bytes of a section header that hold the size.
func sizeField(t testing.TB, image []byte, name string) (field []byte, order binary.ByteOrder, sec *elf.Section) {
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range f.Sections {
		if s.Name != name {
			continue
		}
		if f.Class == elf.ELFCLASS64 {
			off := f.ByteOrder.Uint64(image[40:]) + uint64(i)*64 + 32
			return image[off : off+8], f.ByteOrder, s
		}
		off := uint64(f.ByteOrder.Uint32(image[32:])) + uint64(i)*40 + 20
		return image[off : off+4], f.ByteOrder, s
	}
	return nil, nil, nil
}

// objects are files to damage: compilers' output and one from literals.
func objects(t testing.TB) map[string][]byte {
	all := map[string][]byte{}
	for _, p := range goldenFiles(t) {
		b := testfile.Read(t, p)
		all[filepath.Base(p)] = b
	}
	for _, r := range allRules() {
		switch r.name {
		case "LLVM tags", "GNU decl tags", "location lists", "aliases that change while units wait", "sample in 32-bit big endian", "kfunc with arena flags":
			all[r.name] = r.files[0].Bytes()
		}
	}
	return all
}

// besideAlternates is a path for an object in a folder with the alternate
// files that some refer to.
func besideAlternates(t *testing.T) string {
	dir := t.TempDir()
	paths, _ := filepath.Glob("testdata/golden/*.alt")
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(p)), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "bad")
}

// TestTruncatedSections shortens one debug section after another.
func TestTruncatedSections(t *testing.T) {
	const steps = 9
	if testing.Short() {
		t.Skip("objects cut at many places")
	}
	for name, image := range objects(t) {
		t.Run(name, func(t *testing.T) {
			path := besideAlternates(t)
			for _, sec := range []string{".debug_info", ".debug_abbrev", ".debug_str", ".debug_loclists", ".debug_str_offsets", ".debug_addr", ".symtab", ".strtab"} {
				image := bytes.Clone(image)
				field, order, s := sizeField(t, image, sec)
				if s == nil || s.Flags&elf.SHF_COMPRESSED != 0 {
					continue
				}
				size := s.Size
				for k := range steps {
					n := size * uint64(k) / uint64(steps)
					if k < 4 {
						n = size - uint64(k) - 1
					}
					if len(field) == 8 {
						order.PutUint64(field, n)
					} else {
						order.PutUint32(field, uint32(n))
					}
					_, err := tryBytes(t, path, image, encode.AllFeatures)
					if sec == ".debug_info" && n > 0 && k < 4 && err == nil {
						t.Errorf("%s cut to %d of %d bytes: no error", sec, n, size)
					}
					if err != nil && (sec == ".debug_info" || sec == ".debug_abbrev") && n > 0 && !strings.Contains(err.Error(), ".debug_") {
						t.Errorf("%s cut to %d of %d bytes: error names no section: %v", sec, n, size, err)
					}
				}
			}
		})
	}
}

// TestTruncatedFiles cuts the whole file.
func TestTruncatedFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("objects cut at many places")
	}
	for name, image := range objects(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bad")
			for n := 0; n < len(image); n += max(len(image)/12, 1) {
				if _, err := tryBytes(t, path, image[:n], encode.DefaultFeatures); err == nil {
					t.Errorf("cut to %d of %d bytes: no error", n, len(image))
				}
			}
		})
	}
}

// TestDamagedBytes overwrites single bytes of the debug sections.
func TestDamagedBytes(t *testing.T) {
	samples := 40 // per section
	if testing.Short() {
		samples = 6
	}
	for _, name := range []string{"LLVM tags", "GNU decl tags", "location lists", "aliases that change while units wait", "sample in 32-bit big endian",
		"x86-gcc4-alt.elf", "x86-gcc5-dwz.elf", "x86-gcc5-lto.elf", "x86-clang5-thin.elf"} {
		image := objects(t)[name]
		t.Run(name, func(t *testing.T) {
			path := besideAlternates(t)
			for _, sec := range []string{".debug_info", ".debug_abbrev"} {
				_, _, s := sizeField(t, image, sec)
				for i := 0; i < int(s.Size); i += int(s.Size)/samples + 1 {
					for _, v := range []byte{0, 0x7f, 0xff} {
						image := bytes.Clone(image)
						image[int(s.Offset)+i] = v
						tryBytes(t, path, image, encode.AllFeatures)
					}
				}
			}
		})
	}
}

// badCase is a damaged file and what its error must say.
type badCase struct {
	name   string
	unit   *dt.Unit
	file   dt.File
	damage func(debug []dt.Section) // of the sections, in place
	says   []string                 // parts of the error; nil: no error is due
}

func info(d []dt.Section) []byte   { return d[0].Data }
func abbrev(d []dt.Section) []byte { return d[1].Data }

// chain returns n qualifiers, each the type of the one before, and the last of them.
func chain(tag, n int, end *dt.DIE) []*dt.DIE {
	out := make([]*dt.DIE, n)
	for i := range out {
		out[i] = dt.N(tag)
	}
	for i, d := range out[:n-1] {
		d.Add(dt.Type(out[i+1]))
	}
	if end != nil {
		out[n-1].Add(dt.Type(end))
	}
	return out
}

// nest puts n DIEs of a tag into each other.
func nest(tag, n int, parts ...any) *dt.DIE {
	d := dt.N(tag, parts...)
	for range n {
		d = dt.N(tag, append([]any{d}, parts...)...)
	}
	return d
}

// within puts d into n DIEs of a tag.
func within(tag, n int, d *dt.DIE) *dt.DIE {
	for range n {
		d = dt.N(tag, d)
	}
	return d
}

func self(tag int, parts ...any) *dt.DIE {
	d := dt.N(tag, parts...)
	return d.Add(dt.Type(d))
}

func badCases() []badCase {
	raw := func(at, form int, b ...byte) dt.Attr { return dt.Attr{At: at, Form: form, Val: dt.Raw(b)} }
	raw4 := func(at, form int, v uint32) dt.Attr {
		return raw(at, form, binary.LittleEndian.AppendUint32(nil, v)...)
	}
	die := []string{".debug_info", `CU "t.c"`, "at 0x0", "DIE 0x"}
	says := func(more ...string) []string { return append(append([]string{}, die...), more...) }
	i := intType()
	// tail are DIEs that keep others from being the last, which are read with
	// more care.
	tail := []*dt.DIE{intType(), intType(), intType()}
	many := structure("s", 4)
	for range 70000 {
		many.Add(dt.N(dt.TagMember, dt.Type(i)))
	}
	cycle := func() *dt.Unit {
		a, b, c := typedef("a", nil), dt.N(dt.TagConstType), ptr(nil)
		a.Add(dt.Type(b))
		b.Add(dt.Type(c))
		c.Add(dt.Type(a))
		return dt.CU(a, b, c)
	}
	ownOrigin := dt.N(dt.TagSubprogram, dt.LowPC(fn1))
	ownParam := dt.N(dt.TagFormalParameter)
	ownParam.Add(dt.Origin(ownParam))
	ownOrigin.Add(dt.Origin(ownOrigin), dt.Name("f"), ownParam)
	ann := dt.N(dt.TagGNUAnnotation, dt.Name("btf_type_tag"), dt.Const("x"))
	ann.Add(dt.Attr{At: dt.AtGNUAnnotation, Val: ann})
	ann2 := dt.N(dt.TagGNUAnnotation, dt.Name("btf_decl_tag"), dt.Const("x"))
	ann2.Add(dt.Attr{At: dt.AtGNUAnnotation, Val: ann2})
	inside := structure("s", 8)
	inside.Add(member("s", inside, 0))
	arr := dt.N(dt.TagArrayType, dt.N(dt.TagSubrangeType, dt.Upper(3)))
	arr.Add(dt.Type(arr))
	proto := dt.N(dt.TagSubroutineType)
	proto.Add(dt.Type(proto), dt.N(dt.TagFormalParameter, dt.Type(proto)))
	percpu := dt.File{Sections: []dt.Section{dt.Percpu()}, Symbols: funcs()}
	loops := func(tag int) *dt.Unit {
		d := self(tag, dt.Name("x"))
		return dt.CU(i, d, variable("v", d, dt.PercpuAddr+8), function("f", fn1, d, ref(dt.TagFormalParameter, "p", d, dt.Location(0x55))))
	}
	return []badCase{
		{name: "unit length beyond the section", unit: dt.CU(i), damage: func(d []dt.Section) { info(d)[1] = 0x7f }, says: []string{".debug_info", "+0x0", "length"}},
		{name: "unit length too short", unit: dt.CU(i), damage: func(d []dt.Section) { info(d)[0] = 3 }, says: []string{".debug_info", "too short"}},
		{name: "unit length one byte short", unit: dt.CU(i, typedef("t", i)), damage: func(d []dt.Section) { info(d)[0] -= 2; d[0].Data = info(d)[:len(info(d))-2] }, says: says("beyond the end of its unit")},
		{name: "reserved unit length", unit: dt.CU(i), damage: func(d []dt.Section) { copy(info(d), "\xf5\xff\xff\xff") }, says: []string{".debug_info", "reserved"}},
		{name: "version 6", unit: dt.CU(i), damage: func(d []dt.Section) { info(d)[4] = 6 }, says: []string{".debug_info", "version 6"}},
		{name: "version 1", unit: dt.CU(i), damage: func(d []dt.Section) { info(d)[4] = 1 }, says: []string{".debug_info", "version 1"}},
		{name: "address size 3", unit: dt.CU(i), damage: func(d []dt.Section) { info(d)[7] = 3 }, says: []string{".debug_info", "address size 3"}},
		{name: "abbreviations beyond the section", unit: dt.CU(i), damage: func(d []dt.Section) { info(d)[9] = 0x70 }, says: []string{".debug_info", ".debug_abbrev", "beyond"}},
		{name: "abbreviations cut off", unit: dt.CU(i), damage: func(d []dt.Section) { d[1].Data = abbrev(d)[:len(abbrev(d))-1] }, says: []string{".debug_abbrev", "cut off"}},
		{name: "unknown form", unit: dt.CU(dt.N(dt.TagTypedef, raw(dt.AtName, 0x7b, 0))), says: []string{".debug_abbrev", "unknown form 123"}},
		{name: "unknown form by DW_FORM_indirect", unit: dt.CU(dt.N(dt.TagTypedef, raw(dt.AtName, dt.FormIndirect, 0x7b))), says: die},
		{name: "code without abbreviation", unit: dt.CU(i, i), damage: func(d []dt.Section) { info(d)[len(info(d))-8] = 99 }, says: says("no abbreviation")},
		{name: "tag 0", unit: dt.CU(i, dt.N(0)), says: []string{".debug_abbrev", "tag 0"}},
		{name: "children flag 2", unit: dt.CU(i), damage: func(d []dt.Section) { abbrev(d)[2] = 2 }, says: []string{".debug_abbrev", "children flag 2"}},
		{name: "type that is a number", unit: dt.CU(dt.N(dt.TagTypedef, dt.Name("t"), raw4(dt.AtType, dt.FormData4, 0xb)), tail), says: says("reference of form 6")},
		{name: "specification that is a number", file: percpu, unit: dt.CU(i, variable("v", i, dt.PercpuAddr+4, raw4(dt.AtSpecification, dt.FormData4, 0xb))),
			says: says("reference of form 6")},
		{name: "reference out of the unit", unit: dt.CU(dt.N(dt.TagTypedef, dt.Name("t"), raw4(dt.AtType, dt.FormRef4, 0xffff)), tail), says: says("out of the unit")},
		{name: "reference out of the unit, last DIE", unit: dt.CU(dt.N(dt.TagTypedef, dt.Name("t"), raw4(dt.AtType, dt.FormRef4, 0xffff))), says: says("out of the unit")},
		{name: "reference out of the unit, inline name", unit: dt.CU(dt.N(dt.TagTypedef, dt.NameInline("t"), raw4(dt.AtType, dt.FormRef4, 0xffff)), tail), says: says("out of the unit")},
		{name: "reference with the top bit", unit: dt.CU(i, array(i, 2, 3), dt.N(dt.TagTypedef, dt.Name("t"), raw4(dt.AtType, dt.FormRef4, 0x80000000)), tail), says: says("out of the unit")},
		{name: "reference with the top bit and more", unit: dt.CU(i, dt.N(dt.TagTypedef, dt.Name("t"), raw4(dt.AtType, dt.FormRef4, 0xfffffff0)), tail), says: says("out of the unit")},
		{name: "reference with the top bit of a member", unit: dt.CU(i, structure("s", 4, dt.N(dt.TagMember, dt.Name("m"), raw4(dt.AtType, dt.FormRef4, 0x80000001))), tail), says: says("out of the unit")},
		{name: "reference with the top bit of a parameter", unit: dt.CU(i, dt.N(dt.TagSubroutineType, dt.N(dt.TagFormalParameter, raw4(dt.AtType, dt.FormRef4, 0x80000010))), tail), says: says("out of the unit")},
		{name: "reference with the top bit of an array", unit: dt.CU(i, dt.N(dt.TagArrayType, raw4(dt.AtType, dt.FormRef4, 0x80000010)), tail), says: says("out of the unit")},
		{name: "reference with the top bit of an enumeration", unit: dt.CU(i, dt.N(dt.TagEnumerationType, dt.Size(8), raw4(dt.AtType, dt.FormRef4, 0x80000010)), tail), says: says("out of the unit")},
		{name: "reference into a DIE", unit: dt.CU(i, dt.N(dt.TagTypedef, dt.Name("t"), raw4(dt.AtType, dt.FormRef4, 20)), tail), says: says("where no DIE begins")},
		{name: "sibling backwards", unit: dt.CU(i, dt.N(dt.TagInlinedSubroutine, raw4(dt.AtSibling, dt.FormRef4, 12), typedef("in", i)), i), says: says("sibling")},
		{name: "sibling beyond the unit", unit: dt.CU(i, dt.N(dt.TagInlinedSubroutine, raw4(dt.AtSibling, dt.FormRef4, 0x7fffffff), typedef("in", i)), i), says: says("sibling")},
		{name: "sibling to itself", unit: func() *dt.Unit {
			d := dt.N(dt.TagInlinedSubroutine, typedef("in", i))
			d.Attrs = append(d.Attrs, dt.Attr{At: dt.AtSibling, Form: dt.FormRef4, Val: d})
			return dt.CU(i, d)
		}(), says: says("sibling")},
		{name: "name beyond .debug_str", unit: dt.CU(i, dt.N(dt.TagTypedef, raw4(dt.AtName, dt.FormStrp, 0xffffff), dt.Type(i)), tail), says: says(".debug_str")},
		{name: "name beyond .debug_str, last DIE", unit: dt.CU(i, dt.N(dt.TagTypedef, raw4(dt.AtName, dt.FormStrp, 0xffffff), dt.Type(i))), says: says(".debug_str")},
		{name: "name of a member beyond .debug_str", unit: dt.CU(i, structure("s", 4, dt.N(dt.TagMember, raw4(dt.AtName, dt.FormStrp, 0xffffff), dt.Type(i))), tail), says: says(".debug_str")},
		{name: "name at the end of the token space", unit: dt.CU(i, dt.N(dt.TagTypedef, raw4(dt.AtName, dt.FormStrp, 0xffffffff), dt.Type(i)), tail), says: says(".debug_str")},
		{name: "name like an inline token", unit: dt.CU(i, dt.N(dt.TagTypedef, raw4(dt.AtName, dt.FormStrp, 0x80000060), dt.Type(i)), tail), says: says(".debug_str")},
		{name: "name like a pool token", unit: dt.CU(i, dt.N(dt.TagTypedef, raw4(dt.AtName, dt.FormStrp, 0xc0000500), dt.Type(i)), tail), says: says(".debug_str")},
		{name: "name of a parameter beyond .debug_str", file: percpu, unit: dt.CU(i, function("f", fn1, i, dt.N(dt.TagFormalParameter, raw4(dt.AtName, dt.FormStrp, 0xffffff), dt.Type(i))), tail), says: says(".debug_str")},
		{name: "last name without end", unit: dt.CU(i, typedef("unended", i)), damage: func(d []dt.Section) { d[2].Data = d[2].Data[:len(d[2].Data)-1] }, says: []string{".debug_info", `CU "t.c"`}},
		{name: "block beyond the unit", unit: dt.CU(i, structure("s", 4, dt.N(dt.TagMember, dt.Type(i), raw(dt.AtMemberLocation, dt.FormExprloc, 0xff, 0xff, 0xff, 0xff, 0x7f)))), says: says("beyond the end")},
		{name: "LEB128 without end", unit: dt.CU(i, structure("s", 4, dt.N(dt.TagMember, dt.Type(i), raw(dt.AtMemberLocation, dt.FormUdata, bytes.Repeat([]byte{0xff}, 40)...)))), says: says("beyond the end")},
		{name: "inline string without end", unit: dt.CU(i, dt.N(dt.TagTypedef, dt.NameInline("unended"))), damage: func(d []dt.Section) {
			info(d)[0] -= 2
			d[0].Data = info(d)[:len(info(d))-2]
		}, says: says("beyond the end")},
		{name: "unit that starts with a type", unit: &dt.Unit{Root: i}, says: []string{".debug_info", "is not a unit DIE"}},

		{name: "pointer to itself", unit: dt.CU(i, self(dt.TagPointerType)), says: []string{".debug_info", `CU "t.c"`, "itself"}},
		{name: "const of itself", unit: dt.CU(i, self(dt.TagConstType)), says: []string{".debug_info", `CU "t.c"`, "itself"}},
		{name: "typedef of itself", file: percpu, unit: loops(dt.TagTypedef)},
		{name: "cycle of typedef, const and pointer", unit: cycle()},
		{name: "array of itself", unit: dt.CU(i, arr), says: []string{".debug_info", `CU "t.c"`, "itself"}},
		{name: "prototype of itself", unit: dt.CU(i, proto), says: []string{".debug_info", `CU "t.c"`, "itself"}},
		{name: "struct inside itself", file: percpu, unit: dt.CU(i, inside, variable("v", inside, dt.PercpuAddr+8), function("f", fn1, inside, ref(dt.TagFormalParameter, "p", inside)))},
		{name: "100000 const in a chain", unit: dt.CU(i, chain(dt.TagConstType, 100000, i)), says: []string{".debug_info", `CU "t.c"`, "deep"}},
		{name: "100000 pointers in a chain, backwards", unit: func() *dt.Unit {
			c := chain(dt.TagPointerType, 100000, nil)
			for l, r := 0, len(c)-1; l < r; l, r = l+1, r-1 {
				c[l], c[r] = c[r], c[l]
			}
			return dt.CU(i, c)
		}()},
		{name: "5000 structs in each other", unit: dt.CU(i, nest(dt.TagStructureType, 5000, dt.Name("s"), dt.Size(4))), says: says("deep")},
		{name: "5000 unions in each other", unit: dt.CU(i, nest(dt.TagUnionType, 5000, dt.Name("s"), dt.Size(4))), says: says("deep")},
		{name: "5000 blocks in each other", unit: dt.CU(i, function("f", fn1, i, nest(dt.TagLexicalBlock, 5000))), says: says("deep")},
		{name: "5000 namespaces in each other", unit: dt.CU(i, nest(dt.TagNamespace, 5000)), says: says("deep")},
		{name: "5000 functions in each other", unit: dt.CU(i, nest(dt.TagSubprogram, 5000, dt.Name("f"))), says: says("deep")},
		{name: "5000 prototypes in each other", unit: dt.CU(i, nest(dt.TagSubroutineType, 5000)), says: says("deep")},
		{name: "5000 arrays in each other", unit: dt.CU(i, nest(dt.TagArrayType, 5000))},
		{name: "5000 enumerations in each other", unit: dt.CU(i, nest(dt.TagEnumerationType, 5000))},
		{name: "5000 pointers in each other", unit: dt.CU(i, nest(dt.TagPointerType, 5000))},
		{name: "1000 namespaces, blocks and structs in each other", unit: dt.CU(i, within(dt.TagNamespace, 1000, function("f", fn1, i,
			within(dt.TagLexicalBlock, 1000, nest(dt.TagStructureType, 1000, dt.Name("s"), dt.Size(4))))), tail), says: says("too deep")},
		{name: "5000 inlined subroutines in each other", unit: dt.CU(i, function("f", fn1, i, nest(dt.TagInlinedSubroutine, 5000)))},
		{name: "70000 members", unit: dt.CU(i, many), says: []string{".debug_info", `CU "t.c"`, "70000 members"}},
		{name: "function that is its own origin", file: percpu, unit: dt.CU(i, ownOrigin)},
		{name: "annotation that follows itself", unit: dt.CU(i, ann, ann2, ptr(i, dt.Attr{At: dt.AtGNUAnnotation, Val: ann}), structure("s", 4, dt.Attr{At: dt.AtGNUAnnotation, Val: ann2})), says: []string{".debug_info", `CU "t.c"`, "chains of annotations are too long"}},
		{name: "location list beyond its section", file: percpu, unit: dt.CU(i, function("f", fn1, i, ref(dt.TagFormalParameter, "a", i, raw4(dt.AtLocation, dt.FormSecOffset, 0x7fffff0))))},
		{name: "location list index beyond its table", file: percpu, unit: dt.CU(i, function("f", fn1, i, ref(dt.TagFormalParameter, "a", i, raw(dt.AtLocation, dt.FormLoclistx, 0xff, 0xff, 0x7f))))},
		{name: "string index beyond its table", unit: dt.CU(i, dt.N(dt.TagStructureType, dt.Size(1), raw(dt.AtName, dt.FormStrx, 0xff, 0xff, 0x7f)))},
		{name: "origins that form a circle", file: percpu, unit: func() *dt.Unit {
			a, b := dt.N(dt.TagSubprogram, dt.LowPC(fn1)), dt.N(dt.TagSubprogram, dt.LowPC(fn1))
			return dt.CU(i, a.Add(dt.Origin(b)), b.Add(dt.Origin(a)))
		}()},
		{name: "partial unit that imports itself", unit: &dt.Unit{Root: dt.N(dt.TagPartialUnit, dt.Name("t.c"), i, dt.N(dt.TagImportedUnit, raw4(dt.AtImport, dt.FormRef4, 0xc)))}},
		{name: "import of something else than a unit", unit: dt.CU(i, dt.N(dt.TagImportedUnit, raw4(dt.AtImport, dt.FormRefAddr, 0x70000)), dt.N(dt.TagImportedUnit, raw4(dt.AtImport, dt.FormRef4, 0x12)))},
		{name: "reference to an alternate file that there is none of", unit: dt.CU(dt.N(dt.TagTypedef, dt.Name("t"), raw4(dt.AtType, 0x1f20, 0x10))), says: says("alternate")},
		{name: "skeleton unit", unit: &dt.Unit{Type: 4, Root: dt.N(dt.TagSkeletonUnit, dt.Name("t.c"))}, says: says("split DWARF")},
		{name: "reference to another unit", unit: dt.CU(dt.N(dt.TagTypedef, dt.Name("t"), raw4(dt.AtType, dt.FormRefAddr, 0x70000))), says: says("out of .debug_info")},
	}
}

func TestBadInput(t *testing.T) {
	for _, c := range badCases() {
		t.Run(c.name, func(t *testing.T) {
			if reason := knownBugs[c.name]; reason != "" {
				t.Skip(reason)
			}
			f := c.file
			f.Units = []*dt.Unit{c.unit}
			debug := f.DebugSections()
			if c.damage != nil {
				c.damage(debug)
			}
			start := cpuTime()
			_, err := tryBytes(t, filepath.Join(t.TempDir(), "bad"), f.Image(debug), encode.AllFeatures)
			if d := cpuTime() - start; d > 5*time.Second {
				t.Errorf("took %v", d)
			}
			if c.says == nil {
				if err != nil {
					t.Errorf("error: %v", err)
				}
				return
			}
			if err == nil {
				t.Fatalf("no error, want %q", c.says)
			}
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("error %q does not say %q", err, s)
				}
			}
		})
	}
}

// refBug is why tests that meet the bug are skipped; "" when it is gone.
const refBug = ""

// knownBugs are the cases of TestBadInput that fail for a known reason.
var knownBugs = map[string]string{}

// TestNotELF: files that are nothing of the kind.
func TestNotELF(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name  string
		image []byte
	}{
		{"empty", nil}, {"text", []byte("int main;\n")}, {"magic only", []byte("\x7fELF")}, {"zeros", make([]byte, 4096)},
		{"no debug information", (&dt.File{}).Image(nil)},
	} {
		if _, err := tryBytes(t, filepath.Join(dir, "x"), c.image, encode.DefaultFeatures); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
	for _, p := range []string{filepath.Join(dir, "missing"), dir} {
		if _, err := runFiles([]string{p}, encode.Options{}); err == nil || !strings.Contains(err.Error(), p) {
			t.Errorf("%s: error %v", p, err)
		}
	}
}

// TestNoDwarf: only a file that was built without debug information, or has
// none left at all, gives ErrNoDwarf.
func TestNoDwarf(t *testing.T) {
	abbrevOnly := (&dt.File{Units: []*dt.Unit{dt.CU()}}).DebugSections()
	abbrevOnly = slices.DeleteFunc(abbrevOnly, func(s dt.Section) bool { return s.Name == ".debug_info" })
	noSections := (&dt.File{}).Image(nil)[:64]
	copy(noSections[40:48], make([]byte, 8)) // e_shoff
	copy(noSections[60:64], make([]byte, 4)) // e_shnum, e_shstrndx
	noNames := (&dt.File{}).Image(nil)
	copy(noNames[62:64], make([]byte, 2)) // e_shstrndx
	for _, c := range []struct {
		name  string
		image []byte
		want  bool
	}{
		{"no section names", noNames, false},
		{"none", (&dt.File{}).Image(nil), true},
		{"lost", (&dt.File{}).Image(abbrevOnly), false},
		{"no sections", noSections, false},
	} {
		_, err := tryBytes(t, filepath.Join(t.TempDir(), "x"), c.image, encode.DefaultFeatures)
		if err == nil || errors.Is(err, encode.ErrNoDwarf) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
