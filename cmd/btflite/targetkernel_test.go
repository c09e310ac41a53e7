package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/verify"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

const langCpp14 = 0x21

// namedFile is an ELF file in a language with a type of each kind that has names: a struct with a
// member, an enumeration of eight bytes, a float, an array without elements, and a function.
func namedFile(name string, language, offset int) []byte {
	i := dt.N(dt.TagBaseType, dt.Size(4), dt.Encoding(5), dt.Name("int"))
	f := dt.N(dt.TagBaseType, dt.Size(8), dt.Encoding(4), dt.Name("double"))
	none := dt.N(dt.TagArrayType, dt.Type(f), dt.N(dt.TagSubrangeType, dt.Type(i), dt.Count(0)))
	s := dt.N(dt.TagStructureType, dt.Name(name), dt.Size(8),
		dt.N(dt.TagMember, dt.Name("m"), dt.Type(i), dt.MemberAt(offset)), dt.N(dt.TagMember, dt.Name("none"), dt.Type(none), dt.MemberAt(8)))
	e := dt.N(dt.TagEnumerationType, dt.Name("e"), dt.Size(8), dt.N(dt.TagEnumerator, dt.Name("E_"+name), dt.Const(int64(1)<<40)))
	u := &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name("t"), dt.Language(language), i, f, none, s, e)}
	file := dt.File{Units: []*dt.Unit{u}}
	return file.Bytes()
}

// kfuncFile is a module with a kernel function whose parameter is in an arena: its type has an
// attribute, which Linux takes since 6.15.
func kfuncFile() []byte {
	const ids, code = 0x50000, 0x401000
	words := make([]byte, 16)
	for i, v := range []uint32{1, 1, 0, 1 << 14} {
		binary.LittleEndian.PutUint32(words[4*i:], v)
	}
	set := dt.Object("__BTF_ID__set8__kfuncs", ".BTF_ids", ids)
	set.Size = 16
	i := dt.N(dt.TagBaseType, dt.Size(4), dt.Encoding(5), dt.Name("int"))
	p := dt.N(dt.TagPointerType, dt.Size(8), dt.Type(i))
	fn := dt.N(dt.TagSubprogram, dt.Name("f"), dt.External(), dt.LowPC(code), dt.Type(p),
		dt.N(dt.TagFormalParameter, dt.Name("a"), dt.Type(p), dt.Location(0x55)))
	f := dt.File{Units: []*dt.Unit{dt.CU(i, p, fn)}, Sections: []dt.Section{{Name: ".BTF_ids", Flags: 2, Addr: ids, Data: words}},
		Symbols: []dt.Symbol{set, dt.Object("__BTF_ID__func__f__42", ".BTF_ids", ids+8), dt.Func("f", code)}}
	return f.Bytes()
}

// targetInputs are files in all languages, with all kinds of types, and with names that some or all
// kernels refuse.
func targetInputs(t *testing.T) (inputs map[string][]byte) {
	t.Helper()
	inputs = map[string][]byte{}
	for _, name := range []string{"x86-gcc5.elf", "x86-clang5.elf", "x86-g++5.elf", "x86-clang++5.elf", "x86-mixture.elf", "x86-tags.elf", "x86-fields.elf"} {
		inputs[name] = testfile.Read(t, "../../encode/testdata/golden/"+name)
	}
	for _, language := range []int{langC11, langCpp14, langRust} {
		for what, name := range map[string]string{"plain": "plain", "generic": "Option<u8>", "operator": "operator()", "dotted": "a.b", "long": strings.Repeat("n", 200), "too long": strings.Repeat("n", 600)} {
			inputs[fmt.Sprintf("%s in %#x", what, language)] = namedFile(name, language, 4)
		}
		inputs[fmt.Sprintf("reordered in %#x", language)] = namedFile("r", language, 6)
	}
	inputs["kfunc"] = kfuncFile()
	return inputs
}

// targets are the releases before and after each that has learnt something.
func targets() (names []string) {
	all := verify.Releases()
	for i, name := range all {
		r, _ := verify.ParseRelease(name)
		since := slices.ContainsFunc(verify.Features(), func(f verify.Feature) bool {
			return f.Since.Compare(r) == 0 || i+1 < len(all) && f.Since.String() == all[i+1]
		})
		if since || i == 0 || i == len(all)-1 {
			names = append(names, name)
		}
	}
	return names
}

// TestTargetIsObeyed: what is written for a kernel passes verify for that kernel, in every language
// and by every way to write it. What cannot be made so is not written at all: the status is 1, and
// one line says why.
func TestTargetIsObeyed(t *testing.T) {
	inputs, written, refused := targetInputs(t), map[string]int{}, map[string]int{}
	base := filepath.Join(t.TempDir(), "base")
	testfile.Write(t, base, btftest.Build(t, nil, func(b *btftest.Builder) { b.Int("char", 1); b.Struct("s", 1, b.Member("c", 1, 0)) }).Encode())
	for _, target := range targets() {
		for name, image := range inputs {
			for _, way := range []string{"detached", "in place", "split", "distilled", "modules"} {
				dir := t.TempDir()
				in, out, extra := filepath.Join(dir, "in.ko"), filepath.Join(dir, "out"), filepath.Join(dir, "extra")
				testfile.Write(t, in, image)
				words, results := []string{"-J", "-q"}, [][]string{{out}, {"--btf_base=" + out, extra}}
				switch way {
				case "detached":
					words = append(words, "--btf_features=default,layout,attributes", "--btf_encode_detached="+out, "--extra_vars="+extra, in)
				case "in place":
					words, results = append(words, "--btf_features=all", in), [][]string{{in}}
				case "split":
					words, results = append(words, "--btf_features=all", "--btf_base="+base, "--btf_encode_detached="+out, in), [][]string{{"--btf_base=" + base, out}}
				case "distilled":
					words, results = append(words, "--btf_features=all,distilled_base", "--btf_base="+base, in), [][]string{{in}}
				case "modules":
					words, results = []string{"modules", "-q", "--btf_features=all", "--btf_base=" + base, in}, [][]string{{"--btf_base=" + base, in}}
				}
				c, _, errs := testCLI(t)
				status := c.run(append(words, "--target_kernel="+target))
				what := fmt.Sprintf("%s, %s, for %s", name, way, target)
				now := testfile.Read(t, in)
				switch status {
				case exitOK:
					written[way]++
				case exitFailure:
					refused[way]++
					if name == "kfunc" || strings.HasPrefix(name, "plain") {
						t.Errorf("%s: can be lowered, but: %s", what, errs)
					}
					if _, err := os.Stat(out); err == nil || !bytes.Equal(now, image) {
						t.Errorf("%s: status 1, and there is output", what)
					}
					if text := errs.String(); strings.Count(text, "nothing written") != 1 {
						t.Errorf("%s: %q", what, text)
					}
					continue
				default:
					if status == exitUsage && strings.Contains(errs.String(), " with --target_kernel: Linux takes ") {
						continue // no split BTF, or no distilled base
					}
					t.Errorf("%s: status %d: %s", what, status, errs)
				}
				for _, words := range results {
					if path := words[len(words)-1]; path == in && bytes.Equal(now, image) || path == extra && !isThere(extra) {
						continue // there was nothing to write
					}
					v, vout, verrs := testCLI(t)
					if got := v.run(append([]string{"verify", "-q", "--kernel=" + target}, words...)); got != exitOK {
						t.Errorf("%s: status 0, but verify says %d: %s%s", what, got, vout, verrs)
					}
				}
			}
		}
	}
	for _, way := range []string{"detached", "in place", "split", "distilled", "modules"} {
		if written[way] < 20 || refused[way] < 20 {
			t.Errorf("%s: %d written, %d refused", way, written[way], refused[way])
		}
	}
}

func isThere(path string) bool { _, err := os.Stat(path); return err == nil }
