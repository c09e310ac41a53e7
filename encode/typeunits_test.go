package encode_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/dwarf"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/testfile"
)

var typeID = regexp.MustCompile(`((?:type_id|index_type_id|ret_type_id)=)(\d+)`)

// typesOf gives each type of formatted BTF as a hash that does not depend on
// ids: two files of equal types have equal hashes, whatever the order.
func typesOf(text string) []string {
	texts := map[string]string{"0": "void"}
	id := ""
	for _, l := range strings.SplitAfter(text, "\n") {
		if rest, ok := strings.CutPrefix(l, "["); ok {
			id, l, _ = strings.Cut(rest, "]")
		}
		texts[id] += l
	}
	delete(texts, "")
	// After n rounds a hash says what can be seen of a type over n references.
	colors := map[string]string{}
	for range 10 {
		next := make(map[string]string, len(texts))
		for id, t := range texts {
			t = typeID.ReplaceAllStringFunc(t, func(s string) string {
				k := strings.IndexByte(s, '=')
				return s[:k+1] + colors[s[k+1:]]
			})
			next[id] = fmt.Sprintf("%x", sha256.Sum256([]byte(t)))[:16]
		}
		colors = next
	}
	var all []string
	for id, c := range colors {
		first, _, _ := strings.Cut(typeID.ReplaceAllString(texts[id], ""), "\n")
		all = append(all, first+" "+c)
	}
	slices.Sort(all)
	return all
}

// TestTypeUnitsFiltered: if all units are left out, nothing is missing.
func TestTypeUnitsFiltered(t *testing.T) {
	opt := encode.Options{Features: encode.DefaultFeatures, Lang: []uint16{0x1c}}
	for _, name := range []string{"x86-gcc4", "x86-clang++4-o", "x86-gcc5-r"} {
		if data, err := runFiles([]string{"testdata/typeunits/" + name + ".elf"}, opt); data != nil || err != nil {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
}

// TestTypeUnits: with type units, a program has the types that it has without.
func TestTypeUnits(t *testing.T) {
	paths, err := filepath.Glob("testdata/typeunits/*.elf")
	if err != nil || len(paths) != 16 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		for set, features := range goldenSets {
			name := strings.TrimSuffix(filepath.Base(path), ".elf")
			golden := "testdata/golden/" + strings.TrimSuffix(strings.TrimSuffix(name, "-zstd"), "-nogroups") + "." + set + ".btf"
			t.Run(name+"."+set, func(t *testing.T) {
				plain, err := os.ReadFile(golden)
				if set == "merge" && os.IsNotExist(err) {
					t.Skip("no such golden file")
				}
				if err != nil {
					t.Fatal(err)
				}
				text, _ := format(t, plain)
				want := typesOf(text)
				text, _ = format(t, sameForJobs(t, path, features))
				if got := typesOf(text); !slices.Equal(got, want) {
					t.Errorf("(-want +got)\n%s", cmp.Diff(want, got))
				}
			})
		}
	}
}

// TestTypeUnitMissing: a signature without its type unit is an error.
func TestTypeUnitMissing(t *testing.T) {
	const path = "testdata/typeunits/x86-gcc5.elf"
	data := testfile.Read(t, path)
	e, err := mmapelf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	sec := e.Section(".debug_info")
	var h dwarf.Unit
	for off := uint64(0); !h.IsType(); off = h.End() {
		if err := dwarf.ReadUnit(data[sec.Offset:][:sec.Size], off, false, &h); err != nil {
			t.Fatal(err)
		}
	}
	data[sec.Offset+h.Off+12] ^= 0x80
	bad := testfile.New(t, "bad", data)
	for _, jobs := range []int{1, 3} {
		want := fmt.Sprintf("no type unit has the signature %#016x", h.Signature)
		if _, err := runFiles([]string{bad}, encode.Options{Jobs: jobs}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("jobs=%d: error %v, want %q", jobs, err, want)
		}
	}
}

// TestTypeUnitSections: sections of type units that cannot be read are errors.
func TestTypeUnitSections(t *testing.T) {
	const path = "testdata/typeunits/x86-gcc5-r.elf"
	e, err := mmapelf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var info []int // section headers
	table := binary.LittleEndian.Uint64(e.Bytes()[40:])
	for i := range e.Sections {
		if e.Sections[i].Name == ".debug_info" {
			info = append(info, int(table)+64*i)
		}
	}
	const flags, size, group = 8, 32, 0x200
	for _, c := range []struct {
		name, want string
		change     func(b []byte)
	}{
		{"compile units in a group", "a second .debug_info section has a unit that is not a type unit", func(b []byte) {
			b[info[0]+flags+1] |= group >> 8
			b[info[1]+flags+1] &^= group >> 8
		}},
		{"overlap", "sections of type units are larger than the file", func(b []byte) {
			for _, at := range info[1:] {
				binary.LittleEndian.PutUint64(b[at+size:], 16<<10)
			}
		}},
		{"cut off", "unit length goes beyond the section", func(b []byte) { b[info[1]+size]-- }},
	} {
		bad := filepath.Join(t.TempDir(), "bad")
		data := append([]byte(nil), e.Bytes()...)
		c.change(data)
		testfile.Write(t, bad, data)
		for _, jobs := range []int{1, 3} {
			if _, err := runFiles([]string{bad}, encode.Options{Jobs: jobs}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, jobs=%d: error %v, want %q", c.name, jobs, err, c.want)
			}
		}
	}
}

// TestTypeUnitCrossReference: a type unit that refers to another unit by the offset in
// the section makes the file one whose units are read together; it has the types that
// it has without type units.
func TestTypeUnitCrossReference(t *testing.T) {
	const typeUnit = 2
	file := func(split bool) []byte {
		i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
		form := 0
		if split {
			form = dt.FormRefAddr
		}
		s := dt.N(dt.TagStructureType, dt.Name("s"), dt.Size(4),
			dt.N(dt.TagMember, dt.Name("m"), dt.Attr{At: dt.AtType, Form: form, Val: i}, dt.MemberAt(0)))
		to := dt.Type(s)
		if split {
			to = dt.Attr{At: dt.AtType, Form: dt.FormRefSig8, Val: dt.Signature}
		}
		t := dt.N(dt.TagTypedef, dt.Name("t"), to)
		f := dt.File{Units: []*dt.Unit{dt.CU(i, t, s)}}
		if split {
			types := &dt.Unit{Type: typeUnit, TypeDIE: s, Root: dt.N(0x41, dt.Language(0x1d), s)}
			f.Units = []*dt.Unit{dt.CU(i), dt.CU(t), types}
		}
		return f.Bytes()
	}
	opt := encode.Options{Features: encode.DefaultFeatures}
	path := filepath.Join(t.TempDir(), "file")
	var got [3][]byte
	for k, data := range [][]byte{file(false), file(true), file(true)} {
		testfile.Write(t, path, data)
		opt.Jobs = max(k, 1)
		var err error
		if got[k], err = runFiles([]string{path}, opt); err != nil {
			t.Fatalf("jobs=%d: %v", opt.Jobs, err)
		}
	}
	text, _ := format(t, got[0])
	want := typesOf(text)
	text, _ = format(t, got[1])
	types := typesOf(text)
	if !slices.Equal(types, want) || !strings.Contains(strings.Join(types, "\n"), "STRUCT 's'") {
		t.Errorf("(-want +got)\n%s", cmp.Diff(want, types))
	}
	if !bytes.Equal(got[1], got[2]) {
		t.Error("two workers make something else of it")
	}
}

// TestTypeUnitDeclaration: a declaration in a type unit stands for the definition
// that names it as its specification, wherever in the unit the two are. Another type
// has the same name, so that the deduplication does not find the definition by it.
func TestTypeUnitDeclaration(t *testing.T) {
	const typeUnit = 2
	opt := encode.Options{Features: encode.DefaultFeatures}
	path := filepath.Join(t.TempDir(), "file")
	types := func(f dt.File) []string {
		testfile.Write(t, path, f.Bytes())
		data := mustRun(t, []string{path}, opt)
		text, _ := format(t, data)
		return typesOf(text)
	}
	for _, tag := range []int{dt.TagStructureType, dt.TagUnionType, dt.TagEnumerationType} {
		for between := range 4 {
			dies := func(split bool) (all []*dt.DIE, definition *dt.DIE) {
				definition = dt.N(tag, dt.Name("s"), dt.Size(8))
				to := definition
				if split {
					to = dt.N(tag, dt.Name("s"), dt.Declaration())
					all = append(all, to)
					definition.Attrs[0] = dt.Specification(to)
					definition.Add(dt.Name("s"))
				}
				for k := range between {
					all = append(all, dt.N(dt.TagBaseType, dt.Name(fmt.Sprintf("filler%d", k)), dt.Size(4), dt.Encoding(5)))
				}
				p := dt.N(dt.TagPointerType, dt.Type(to))
				if tag == dt.TagEnumerationType {
					definition.Add(dt.N(dt.TagEnumerator, dt.Name("A"), dt.Const(1)))
				} else {
					definition.Add(dt.N(dt.TagMember, dt.Name("m"), dt.Type(p), dt.MemberAt(0)))
				}
				return append(all, definition, p), definition
			}
			other := func() *dt.DIE {
				return dt.N(tag, dt.Name("s"), dt.Size(8), dt.N(dt.TagEnumerator, dt.Name("B"), dt.Const(2)))
			}
			if tag != dt.TagEnumerationType {
				other = func() *dt.DIE { return dt.N(tag, dt.Name("s"), dt.Size(16)) }
			}
			all, s := dies(false)
			want := types(dt.File{Units: []*dt.Unit{dt.CU(other(), all, dt.N(dt.TagTypedef, dt.Name("t"), dt.Type(s)))}})
			all, s = dies(true)
			got := types(dt.File{Units: []*dt.Unit{
				dt.CU(other(), dt.N(dt.TagTypedef, dt.Name("t"), dt.Attr{At: dt.AtType, Form: dt.FormRefSig8, Val: dt.Signature})),
				{Type: typeUnit, TypeDIE: s, Root: dt.N(0x41, dt.Language(0x1d)).Add(all)}}})
			if !slices.Equal(got, want) {
				t.Errorf("tag %#x, %d DIEs between: (-want +got)\n%s", tag, between, cmp.Diff(want, got))
			}
		}
	}
}

// TestTypeUnitImported: a DIE that stands for a type of a type unit is not a type, also in a partial unit (dwz),
// which is read in the place of its import and once more. Another definition of the name, so that the
// deduplication does not find the type by it.
func TestTypeUnitImported(t *testing.T) {
	const typeUnit, partialUnit, atSignature = 2, 3, 0x69
	opt := encode.Options{Features: encode.DefaultFeatures}
	path := filepath.Join(t.TempDir(), "file")
	types := func(units ...*dt.Unit) []string {
		testfile.Write(t, path, (&dt.File{Units: units}).Bytes())
		text, _ := format(t, mustRun(t, []string{path}, opt))
		return typesOf(text)
	}
	for _, tag := range []int{dt.TagStructureType, dt.TagClassType, dt.TagUnionType, dt.TagEnumerationType} {
		for _, named := range []bool{false, true} {
			define := func(size int) *dt.DIE {
				d := dt.N(tag, dt.Name("s"), dt.Size(size))
				if tag == dt.TagEnumerationType {
					d.Add(dt.N(dt.TagEnumerator, dt.Name("A"), dt.Const(size)))
				}
				return d
			}
			s := define(8)
			want := types(dt.CU(s, dt.N(dt.TagPointerType, dt.Type(s))), dt.CU(define(4)))
			stub, s := dt.N(tag, dt.Declaration(), dt.Attr{At: atSignature, Form: dt.FormRefSig8, Val: dt.Signature}), define(8)
			if named {
				stub.Add(dt.Name("s"))
			}
			root := dt.N(dt.TagPartialUnit, stub, dt.N(dt.TagPointerType, dt.Type(stub)))
			partial := &dt.Unit{Type: partialUnit, Root: root}
			got := types(partial, dt.CU(dt.N(dt.TagImportedUnit, dt.Attr{At: dt.AtImport, Form: dt.FormRefAddr, Val: root})), dt.CU(define(4)),
				&dt.Unit{Type: typeUnit, TypeDIE: s, Root: dt.N(0x41, dt.Language(0x1d), s)})
			if !slices.Equal(got, want) {
				t.Errorf("tag %#x, with a name %v: (-want +got)\n%s", tag, named, cmp.Diff(want, got))
			}
		}
	}
}
