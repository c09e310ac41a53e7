package unitrecord_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/ccobject"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/unitrecord"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/testfile"
)

// recordSets are the features with which BTF from records is compared with BTF from DWARF.
var recordSets = map[string]encode.Features{
	"none": 0, "default": encode.DefaultFeatures, "all": encode.AllFeatures &^ encode.Layout,
	"without tags": encode.DefaultFeatures &^ (encode.TypeTag | encode.DeclTag),
}

// sameAsDWARF converts an object and compares the BTF of both. It returns the converted object, nil
// if records cannot describe it.
func sameAsDWARF(t *testing.T, path string) []byte {
	t.Helper()
	dwarf := testfile.Read(t, path)
	records, err := ccobject.Convert(mmapelf.Source{Path: path}, "test", nil)
	if err != nil {
		t.Logf("%s: %v", filepath.Base(path), err)
		return nil
	}
	for name, features := range recordSets {
		if want, got := withFeatures(t, dwarf, features), withFeatures(t, records, features); !bytes.Equal(got, want) {
			t.Errorf("%s, features %s: %d bytes of BTF from records, %d others from DWARF", filepath.Base(path), name, len(got), len(want))
		}
	}
	return records
}

// sums describes the records of an object: how many there are, the sizes and the checksums of their
// columns before they are compressed, and of the section with their nodes.
func sums(t *testing.T, object []byte) string {
	t.Helper()
	order := binary.ByteOrder(binary.LittleEndian)
	if object[elf.EI_DATA] == byte(elf.ELFDATA2MSB) {
		order = binary.BigEndian
	}
	size := 4 * int(object[elf.EI_CLASS])
	mark := append([]byte{unitrecord.Format, unitrecord.Dictionary, 4}, "test"+dwarf.RecordMark...)
	columns, n := []byte(nil), 0
	for at := 0; ; n++ {
		next := bytes.Index(object[at:], mark)
		if next < 0 {
			break
		}
		at += next
		end := at + int(order.Uint32(object[at-4:]))
		columns = append(columns, unitrecord.Columns(object[at:end], size)...)
		at = end
	}
	s := section(t, object, ".debug_abbrev")
	nodes := object[s.Offset:][:s.Size]
	return fmt.Sprintf("%d records, columns %d bytes %08x, nodes %d bytes %08x", n, len(columns), crc32.ChecksumIEEE(columns), len(nodes), crc32.ChecksumIEEE(nodes))
}

// TestRecordsOfCompilers: records of the objects of all compilers give the BTF of the DWARF, and
// their bytes are as in testdata/records.txt, with the keys of chunks and runs: kernels link
// objects that several versions of btflite have converted. -update writes the file again.
func TestRecordsOfCompilers(t *testing.T) {
	objects, err := filepath.Glob("../../encode/testdata/golden/*.elf")
	if err != nil || len(objects) < 30 {
		t.Fatalf("%d objects, %v", len(objects), err)
	}
	var text strings.Builder
	for _, path := range objects {
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if f.Type != elf.ET_REL {
			continue
		}
		if records := sameAsDWARF(t, path); records != nil {
			fmt.Fprintf(&text, "%s: %s\n", filepath.Base(path), sums(t, records))
		}
	}
	const golden = "testdata/records.txt"
	if unitrecord.Updating() {
		testfile.Write(t, golden, text.String())
		return
	}
	want := testfile.Read(t, golden)
	for line := range strings.Lines(text.String()) {
		if !strings.Contains(string(want), line) {
			t.Errorf("%s lacks %s", golden, line)
		}
	}
	if len(want) != text.Len() {
		t.Errorf("%s has %d bytes, want %d", golden, len(want), text.Len())
	}
}

// TestLargeUnit: a unit with so many types and names that their numbers take all the forms there
// are gives the BTF of its DWARF.
func TestLargeUnit(t *testing.T) {
	var text strings.Builder
	text.WriteString("struct common { int first_of_all; }; typedef struct common *common_t; typedef int (*call_t)(common_t);\n")
	const n = 5500 // each takes four nodes and six names
	for i := range n {
		fmt.Fprintf(&text, "struct s%d { common_t c%d; struct s%d *p%d; call_t f%d; int b%d:%d; char a%d[%d]; }; typedef struct s%d t%d[%d];\n",
			i, i, max(i-1, 0), i, i, i, 1+i%31, i, 1+i, i, i, 1+i%7)
	}
	text.WriteString("struct again {") // the names of the last types again, by large numbers
	for i := range n {
		fmt.Fprintf(&text, " int f%d;", i)
	}
	text.WriteString(" };\n")
	text.WriteString("enum values { MINUS = -1, ZERO, FAR = 1000, LEAST = -2147483647 - 1, MOST = 2147483647 };\n")
	fmt.Fprintf(&text, "int uses(t0 *a, t%d *b, common_t c, call_t d, enum values e) { return c->first_of_all + (*b)[0].b%d; }\n", n-1, n-1)
	fmt.Fprintf(&text, "int all[] = { 0")
	for i := range n {
		fmt.Fprintf(&text, ", sizeof(t%d)", i)
	}
	text.WriteString("};\n")
	source := testfile.New(t, "large.c", text.String())
	for _, format := range []string{"-gdwarf-4", "-gdwarf-5"} {
		if sameAsDWARF(t, compiled(t, source, format, "-fno-eliminate-unused-debug-types")) == nil {
			t.Errorf("%s: it is not converted", format)
		}
	}
}

// tagged has tags of types and, with D, of declarations. Two units inline a function, which a third one
// defines: the function has the tags of the first one.
const tagged = `
#ifdef TYPES_ONLY
#define D(x)
#else
#define D(x) __attribute__((btf_decl_tag(#x)))
#endif
#define T(x) __attribute__((btf_type_tag(#x)))
struct s { int T(user) *a D(member); int T(user) T(rcu) *b; int plain; } D(whole);
typedef int T(user) *user_t D(named);
int NAME(variable) D(of_variable) = 3;
#ifdef INLINED
#define SHARED static inline __attribute__((always_inline))
#else
#define SHARED
#endif
SHARED int D(of_shared) shared(int a) { return a + 1; }
SHARED int D(one) D(two) shared2(int a D(argument)) { return a + 2; }
SHARED int shared3(int a, int T(rcu) *p D(argument)) { return a + *p; }
SHARED int shared4(int T(rcu) *p) { return *p; }
int T(percpu) * D(of_function) NAME(f)(struct s *p, user_t q D(argument), int T(user) * T(rcu) *r) { return shared3(p->plain, *r) + shared(1) + shared2(2) + shared4(*r) ? p->a : q; }
int D(alone) NAME(g)(int x D(first), int y) { return x + y; }
struct late { long x; struct late *next; union of { short s; char c[3]; } u; };
char *NAME(h)(struct late *p, union of *u, short s) { return p->next == p ? u->c : &p->u.c[s]; }
`

// TestTags: tags of declarations and types, which few compilers write, come out of records as out of
// DWARF, of one unit and of several. Units with tags of types only are apart: a reader that wants no
// tags can leave out types of other units only if it has all nodes.
func TestTags(t *testing.T) {
	source, done := filepath.Join(t.TempDir(), "tags.c"), 0
	testfile.Write(t, source, tagged)
	for _, cc := range []string{"clang", "gcc-16", "gcc"} {
		for _, tags := range []struct{ define, tag string }{{"-DALL_TAGS", "of_function"}, {"-DTYPES_ONLY", "user"}} {
			dwarf, records := taggedUnits(t, cc, source, tags.define, tags.tag)
			if records == nil {
				t.Logf("left out: %s %s", cc, tags.define)
				continue
			}
			d, r := linked(t, dwarf...), linked(t, records...)
			for name, features := range recordSets {
				if want, got := withFeatures(t, d, features), withFeatures(t, r, features); !bytes.Equal(got, want) {
					t.Errorf("%s %s, linked, features %s: %d bytes of BTF from records, %d others from DWARF", cc, tags.define, name, len(got), len(want))
				}
			}
			done++
		}
	}
	if done == 0 {
		t.Skip("no compiler writes tags")
	}
}

// TestUnwantedTagsOfKnownTypes: functions of several units have parameters of the same types. If a reader does not
// want tags of types, and a unit has some, it reads all nodes of the unit. It even reads types that other
// units had, because each reference to a tag has to lead to the type behind the tag.
func TestUnwantedTagsOfKnownTypes(t *testing.T) {
	var text strings.Builder
	text.WriteString("#define T(x) __attribute__((btf_type_tag(#x)))\n")
	for i := range 200 {
		fmt.Fprintf(&text, "struct s%d { const char *a; struct s%d *b; int T(of_function) *c%d; long d%d[%d]; };\nint NAME(f%d)(struct s%d *p, int T(of_function) *q) { return 1; }\n",
			i, (i+7)%200, i%5, i, 1+i%9, i, i)
		if i%20 == 0 { // the types around it are not known
			fmt.Fprintf(&text, "struct NAME(own%d) { struct s%d T(of_function) *s; }; int NAME(g%d)(struct NAME(own%d) *p, struct s%d T(of_function) *q) { return 1; }\n", i, i, i, i, i)
		}
	}
	source := testfile.New(t, "tags.c", text.String())
	dwarf, records := taggedUnits(t, "clang", source, "-DTYPES_ONLY", "of_function")
	if records == nil {
		t.Skip("clang writes no tags")
	}
	d, r := linked(t, dwarf...), linked(t, records...)
	for name, features := range recordSets {
		if want, got := withFeatures(t, d, features), withFeatures(t, r, features); !bytes.Equal(got, want) {
			t.Errorf("features %s: %d bytes of BTF from records, %d others from DWARF", name, len(got), len(want))
		}
	}
}

// taggedUnits compiles the source as three units. It returns the objects with DWARF and the same with
// records; nil if the compiler does not write the tag.
func taggedUnits(t *testing.T, cc, source, define, tag string) (dwarf, records [][]byte) {
	t.Helper()
	for _, words := range [][]string{{"-DNAME(x)=a_##x", "-DINLINED"}, {"-DNAME(x)=b_##x", "-DINLINED"}, {"-DNAME(x)=c_##x"}} {
		path := filepath.Join(t.TempDir(), "tags.o")
		if exec.Command(cc, append(words, define, "-g", "-O2", "-w", "-c", "-o", path, source)...).Run() != nil {
			return nil, nil
		}
		record := sameAsDWARF(t, path)
		if record == nil || !bytes.Contains(withFeatures(t, record, encode.AllFeatures&^encode.Layout), []byte("\x00"+tag+"\x00")) {
			return nil, nil
		}
		data := testfile.Read(t, path)
		dwarf, records = append(dwarf, data), append(records, record)
	}
	return dwarf, records
}
