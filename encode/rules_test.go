package encode_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// rule is one rule of the encoding, with the smallest input that shows it. The expected
// types come from pahole 1.32. With BTFLITE_PAHOLE set to the path of that program,
// TestRulesAgainstPahole runs it on the same files.
type rule struct {
	name     string
	files    []dt.File
	features encode.Features // 0 is DefaultFeatures
	lang     []uint16
	exclude  []uint16
	prefix   string // Options.CUExclude
	plain    bool   // Options.WholeBitfields
	want     string // btftest.Text; "" if there is no BTF
	err      string // part of the error, instead of want
	// strings is the whole string section, joined with spaces, if not "".
	strings string
	// differs says why pahole is not asked.
	differs string
	// bug says what is known to be wrong; the rule is skipped.
	bug string
}

// one is a file of one unit.
func one(parts ...any) []dt.File { return []dt.File{{Units: []*dt.Unit{dt.CU(parts...)}}} }

// many is a file of some units.
func many(us ...*dt.Unit) []dt.File { return []dt.File{{Units: us}} }

// with is a file of one unit with symbols.
func with(syms []dt.Symbol, parts ...any) []dt.File {
	return []dt.File{{Units: []*dt.Unit{dt.CU(parts...)}, Symbols: syms}}
}

// Encodings (DW_ATE_).
const (
	ateBool         = 2
	ateComplexFloat = 3
	ateFloat        = 4
	ateSigned       = 5
	ateSignedChar   = 6
	ateUnsigned     = 7
	ateUnsignedChar = 8
)

func base(name string, size, enc int) *dt.DIE {
	return dt.N(dt.TagBaseType, dt.Size(size), dt.Encoding(enc), dt.Name(name))
}
func intType() *dt.DIE { return base("int", 4, ateSigned) }

// ref is a DIE that is a name and a type: nil is void.
func ref(tag int, name string, t *dt.DIE, parts ...any) *dt.DIE {
	d := dt.N(tag)
	if name != "" {
		d.Add(dt.Name(name))
	}
	if t != nil {
		d.Add(dt.Type(t))
	}
	return d.Add(parts...)
}
func ptr(t *dt.DIE, parts ...any) *dt.DIE { return ref(dt.TagPointerType, "", t, parts...) }
func typedef(name string, t *dt.DIE, parts ...any) *dt.DIE {
	return ref(dt.TagTypedef, name, t, parts...)
}
func member(name string, t *dt.DIE, off int, parts ...any) *dt.DIE {
	return ref(dt.TagMember, name, t, dt.MemberAt(off)).Add(parts...)
}
func composite(tag int, name string, size int, parts ...any) *dt.DIE {
	return ref(tag, name, nil, dt.Size(size)).Add(parts...)
}
func structure(name string, size int, parts ...any) *dt.DIE {
	return composite(dt.TagStructureType, name, size, parts...)
}
func forward(tag int, name string) *dt.DIE { return ref(tag, name, nil, dt.Declaration()) }
func array(t *dt.DIE, counts ...int) *dt.DIE {
	d := ref(dt.TagArrayType, "", t)
	for _, n := range counts {
		d.Add(dt.N(dt.TagSubrangeType, dt.Upper(n-1)))
	}
	return d
}
func enum(name string, size int, parts ...any) *dt.DIE {
	return composite(dt.TagEnumerationType, name, size, parts...)
}
func value(name string, v int64) *dt.DIE { return dt.N(dt.TagEnumerator, dt.Name(name), dt.Const(v)) }

// function is a subprogram with an address; addr 0 is none.
func function(name string, addr uint64, t *dt.DIE, parts ...any) *dt.DIE {
	d := ref(dt.TagSubprogram, name, t, dt.External())
	if addr != 0 {
		d.Add(dt.LowPC(addr))
	}
	return d.Add(parts...)
}

// param is a parameter in DWARF register reg; -1 stands for no location.
func param(name string, t *dt.DIE, reg int) *dt.DIE {
	d := ref(dt.TagFormalParameter, name, t)
	if reg >= 0 {
		d.Add(dt.Location(0x50 + byte(reg)))
	}
	return d
}

// variable is a variable at an address.
func variable(name string, t *dt.DIE, addr uint64, parts ...any) *dt.DIE {
	return ref(dt.TagVariable, name, t, dt.External(), dt.Location(at(addr)...)).Add(parts...)
}

// at is DW_OP_addr for a 64-bit little-endian file.
func at(addr uint64) []byte {
	b := []byte{3}
	for i := range 8 {
		b = append(b, byte(addr>>(8*i)))
	}
	return b
}

const fn1, fn2, fn3 = dt.TextAddr + 0x10, dt.TextAddr + 0x20, dt.TextAddr + 0x30

func (r *rule) options(jobs int) encode.Options {
	f := r.features
	if f == 0 {
		f = encode.DefaultFeatures
	}
	f &^= encode.Layout // it belongs to libbpf 1.8, which changes no rule here
	return encode.Options{Features: f, Jobs: jobs, Lang: r.lang, LangExclude: r.exclude, CUExclude: r.prefix, WholeBitfields: r.plain}
}

// write puts the files of the rule into a folder.
func (r *rule) write(t *testing.T, dir string) (paths []string) {
	for i := range r.files {
		p := filepath.Join(dir, string(rune('a'+i))+".elf")
		testfile.Write(t, p, r.files[i].Bytes())
		paths = append(paths, p)
	}
	return paths
}

// runFiles encodes files and gives the BTF; nil if there is nothing to encode.
func runFiles(paths []string, opt encode.Options) ([]byte, error) {
	out, err := encode.Run(paths, opt)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	if len(out.Bytes()) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	if err := out.Write(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// mustRun is runFiles for files that can be encoded.
func mustRun(t testing.TB, paths []string, opt encode.Options) []byte {
	t.Helper()
	data, err := runFiles(paths, opt)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sameForJobs returns the BTF that one worker makes of a file. It is an error if four
// workers make another one.
func sameForJobs(t *testing.T, path string, features encode.Features) []byte {
	t.Helper()
	var out [2][]byte
	for i, jobs := range []int{1, 4} {
		var err error
		if out[i], err = runFiles([]string{path}, encode.Options{Features: features, Jobs: jobs}); err != nil {
			t.Fatalf("%s, jobs=%d: %v", path, jobs, err)
		}
	}
	if !bytes.Equal(out[0], out[1]) {
		t.Errorf("%s: four workers give other bytes than one", path)
	}
	return out[0]
}

// format is the text of BTF data.
func format(t *testing.T, data []byte) (text, strs string) {
	if len(data) == 0 {
		return "", ""
	}
	b := btftest.Parse(t, data, nil)
	return btftest.Text(b), strings.ReplaceAll(strings.Trim(string(b.Strings), "\x00"), "\x00", " ")
}

// tidy takes the indentation of a literal away.
func tidy(s string) string {
	var out []string
	for _, l := range strings.Split(s, "\n") {
		l = strings.TrimSpace(l)
		if l == "" {
			continue
		}
		if !strings.HasPrefix(l, "[") {
			l = "\t" + l
		}
		out = append(out, l+"\n")
	}
	return strings.Join(out, "")
}

// textInt is the type that most rules have first, as text.
const textInt = "[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n"

// textFunc is a prototype and the static function that it is for, as text: the id of
// the prototype, the type that is returned, and a name and a type for each parameter.
func textFunc(id, returned int, name string, params ...string) string {
	text := fmt.Sprintf("\n[%d] FUNC_PROTO '(anon)' ret_type_id=%d vlen=%d\n", id, returned, len(params))
	for _, p := range params {
		param, typ, _ := strings.Cut(p, " ")
		text += fmt.Sprintf("'%s' type_id=%s\n", param, typ)
	}
	return text + fmt.Sprintf("[%d] FUNC '%s' type_id=%d linkage=static\n", id+1, name, id)
}

func allRules() []rule {
	var all []rule
	for _, r := range [][]rule{typeRules(), compositeRules(), tagRules(), functionRules(), kfuncRules(), variableRules(), nameRules(), unitRules(), mergeRules(), unencodableRules()} {
		all = append(all, r...)
	}
	return all
}

func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range allRules() {
		if seen[r.name] {
			t.Fatalf("two rules are called %q", r.name)
		}
		seen[r.name] = true
		t.Run(r.name, func(t *testing.T) {
			if r.bug != "" {
				t.Skip(r.bug)
			}
			paths := r.write(t, t.TempDir())
			for _, jobs := range []int{1, 3} {
				data, err := runFiles(paths, r.options(jobs))
				if r.err != "" {
					if err == nil || !strings.Contains(err.Error(), r.err) {
						t.Errorf("jobs=%d: error %v, want %q in it", jobs, err, r.err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("jobs=%d: %v", jobs, err)
				}
				text, strs := format(t, data)
				if want := tidy(r.want); text != want {
					t.Errorf("jobs=%d: (-want +got)\n%s", jobs, cmp.Diff(want, text))
				}
				if r.strings != "" && strs != r.strings {
					t.Errorf("jobs=%d: strings %q, want %q", jobs, strs, r.strings)
				}
			}
		})
	}
}

// featureNames are the option's names, by bit.
var featureNames = []string{"encode_force", "var", "float", "decl_tag", "type_tag", "enum64", "optimized_func", "consistent_func",
	"decl_tag_kfuncs", "reproducible_build", "distilled_base", "global_var", "attributes", "true_signature", "layout", "force_cu_merging"}

// paholeArgs are the options of pahole for the rule, without the output.
func (r *rule) paholeArgs() []string {
	var on []string
	for i, n := range featureNames {
		if r.options(1).Features>>i&1 != 0 {
			on = append(on, n)
		}
	}
	args := []string{"-J", "-j1", "--btf_features=" + strings.Join(on, ",")}
	names := func(ls []uint16) string {
		m := map[uint16]string{0x1c: "rust", 0x1d: "c11", 0x8001: "asm"}
		var s []string
		for _, l := range ls {
			s = append(s, m[l])
		}
		return strings.Join(s, ",")
	}
	if r.lang != nil {
		args = append(args, "--lang="+names(r.lang))
	}
	if r.exclude != nil {
		args = append(args, "--lang_exclude="+names(r.exclude))
	}
	if r.prefix != "" {
		args = append(args, "--cu_exclude="+r.prefix)
	}
	if r.plain {
		args = append(args, "--fixup_silly_bitfields")
	}
	return args
}

// TestRulesAgainstPahole runs pahole itself on the files.
func TestRulesAgainstPahole(t *testing.T) {
	pahole := corpus.Pahole()
	if pahole == "" {
		t.Skip("no pahole 1.32 (BTFLITE_PAHOLE)")
	}
	for _, r := range allRules() {
		t.Run(r.name, func(t *testing.T) {
			if r.differs != "" {
				t.Skip(r.differs)
			}
			dir := t.TempDir()
			paths := r.write(t, dir)
			out := filepath.Join(dir, "out.btf")
			args := append(r.paholeArgs(), "--btf_encode_detached="+out)
			log, err := exec.Command(pahole, append(args, paths...)...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, log)
			}
			want, err := os.ReadFile(out)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if r.bug != "" {
				t.Skip(r.bug)
			}
			got, err := runFiles(paths, r.options(1))
			if r.err != "" {
				if len(want) > 0 {
					text, _ := format(t, want)
					t.Errorf("pahole made BTF:\n%s%s", text, log)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				a, as := format(t, got)
				b, bs := format(t, want)
				t.Errorf("got\n%s%q\npahole\n%s%q\n%s", a, as, b, bs, log)
			}
		})
	}
}
