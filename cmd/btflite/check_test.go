package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/internal/elfwrite"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/test/testfile"
)

// structFile is an ELF file with one struct of an int, in some language.
func structFile(name string, language, offset int) []byte {
	i := dt.N(dt.TagBaseType, dt.Size(4), dt.Encoding(5), dt.Name("int"))
	s := dt.N(dt.TagStructureType, dt.Name(name), dt.Size(8),
		dt.N(dt.TagMember, dt.Name("m"), dt.Type(i), dt.MemberAt(offset)))
	u := &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name("t"), dt.Language(language), i, s)}
	f := dt.File{Units: []*dt.Unit{u}}
	return f.Bytes()
}

const (
	langC11  = 0x1d
	langRust = 0x1c
)

// TestRefusedBTF: BTF that a kernel refuses is not written anywhere, unless it comes from
// another language: then there is a warning.
func TestRefusedBTF(t *testing.T) {
	for _, c := range []struct {
		name     string
		language int
		offset   int
		status   int
		stderr   string
	}{
		{"fine", langC11, 4, 0, ""},
		{"a b", langC11, 4, 1, `btflite: IN: nothing written: a kernel would refuse the BTF type [2] STRUCT "a b": name is not a C identifier; --verify=warn writes it all the same` + "\n"},
		{"past", langC11, 5, 1, `btflite: IN: nothing written: a kernel would refuse the BTF type [2] STRUCT "past": member 0 "m": ends at bit 72, behind its 8 bytes; --verify=warn writes it all the same` + "\n"},
		{"Option<u8>", langRust, 4, 0, `btflite: IN: warning: a kernel refuses the BTF type [2] STRUCT "Option<u8>": name is not a C identifier; try --lang_exclude=rust` + "\n"},
		{"Reordered", langRust, 6, 0, `btflite: IN: warning: a kernel refuses the BTF type [2] STRUCT "Reordered": member 0 "m": ends at bit 80, behind its 8 bytes; try --lang_exclude=rust` + "\n"},
	} {
		for _, args := range [][]string{{"-J"}, {"-J", "--dedup=exact"}, {"--btf_encode_detached=OUT"}, {"--btf_encode_detached=OUT", "-j2"}} {
			dir := t.TempDir()
			in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
			image := structFile(c.name, c.language, c.offset)
			testfile.Write(t, in, image)
			detached := false
			args := append(args[:len(args):len(args)], in)
			for i := range args {
				detached = detached || strings.Contains(args[i], "OUT")
				args[i] = strings.ReplaceAll(args[i], "OUT", out)
			}
			var stderr bytes.Buffer
			status := newCLI(&bytes.Buffer{}, &stderr, os.LookupEnv).run(args)
			if got := strings.ReplaceAll(stderr.String(), in, "IN"); status != c.status || got != c.stderr {
				t.Errorf("%s, %q: status %d, stderr %q", c.name, args, status, got)
			}
			now := testfile.Read(t, in)
			if changed := !bytes.Equal(now, image); changed != (!detached && status == 0) {
				t.Errorf("%s, %q: input changed: %v", c.name, args, changed)
			}
			if _, err := os.Stat(out); (err == nil) != (detached && status == 0) {
				t.Errorf("%s, %q: output: %v", c.name, args, err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".*")); left != nil {
				t.Errorf("%s, %q left %q", c.name, args, left)
			}
		}
	}
}

// TestForeignLanguages: the warning about a refused type says how to leave out all languages that
// the type may come from, in an option that is taken, and that helps. The first of them is not
// always the one.
func TestForeignLanguages(t *testing.T) {
	const cpp14, cpp17, zig = 0x21, 0x2a, 0x27 // the last two have no name
	unit := func(language int, name string) *dt.Unit {
		i := dt.N(dt.TagBaseType, dt.Size(4), dt.Encoding(5), dt.Name("int"))
		return &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name("t"), dt.Language(language), i,
			dt.N(dt.TagStructureType, dt.Name(name), dt.Size(4), dt.N(dt.TagMember, dt.Name("m"), dt.Type(i), dt.MemberAt(0))))}
	}
	for _, x := range []struct {
		units []*dt.Unit
		want  string // the option; "" for none
		left  bool   // a warning remains
	}{
		{[]*dt.Unit{unit(cpp14, "fine"), unit(langC11, "c"), unit(langRust, "a<b>"), unit(cpp14, "also")}, "--lang_exclude=c++14,rust", false},
		{[]*dt.Unit{unit(langC11, "c"), unit(langRust, "fine"), unit(cpp14, "a<b>")}, "--lang_exclude=rust,c++14", false},
		{[]*dt.Unit{unit(zig, "fine"), unit(langRust, "a<b>")}, "--lang_exclude=rust", false},
		{[]*dt.Unit{unit(langC11, "c"), unit(cpp17, "a<b>")}, "", true},
	} {
		in := testfile.New(t, "in", (&dt.File{Units: x.units}).Bytes())
		_, first := btfliteRun(t, exitOK, "-J", "--btf_encode_detached="+filepath.Join(t.TempDir(), "out"), in)
		_, option, _ := strings.Cut(first, "; try ")
		if option = strings.TrimSpace(option); option != x.want || !strings.Contains(first, "a<b>") {
			t.Errorf("want %q: %s", x.want, first)
		}
		args := []string{"-J", "--btf_encode_detached=" + filepath.Join(t.TempDir(), "out"), in}
		if option != "" {
			args = append(args, option)
		}
		if _, second := btfliteRun(t, exitOK, args...); (second != "") != x.left {
			t.Errorf("%s: %s", option, second)
		}
	}
}

// TestKernelNeverSilent: of a kernel or module whose BTF kernels refuse, --quiet hides
// nothing.
func TestKernelNeverSilent(t *testing.T) {
	for _, section := range []string{"", ".BTF_ids", ".modinfo"} {
		dir := t.TempDir()
		in := filepath.Join(dir, "in")
		testfile.Write(t, in, structFile("Option<u8>", langRust, 4))
		if section != "" {
			if err := elfwrite.Set(in, nil, nil, bytesSection(section, make([]byte, 8))); err != nil {
				t.Fatal(err)
			}
		}
		want := ""
		if section != "" {
			want = "btflite: " + in + `: warning: a kernel refuses the BTF type [2] STRUCT "Option<u8>": name is not a C identifier; try --lang_exclude=rust` + "\n"
		}
		for _, args := range [][]string{{"-J"}, {"--btf_encode_detached=" + filepath.Join(dir, "out")}} {
			if _, stderr := btfliteRun(t, exitOK, append(args, "-q", in)...); stderr != want {
				t.Errorf("%s, %q: %q, want %q", section, args, stderr, want)
			}
		}
	}
}

// TestHasSymbol: a kernel that lists no BTF ids has linux_banner.
func TestHasSymbol(t *testing.T) {
	for name, want := range map[string]bool{"print": true, "_start": true, "prin": false, "linux_banner": false} {
		if got := hasSymbol(smallFile, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// overlappingFile is a file with two variables in one place.
func overlappingFile() []byte {
	i := dt.N(dt.TagBaseType, dt.Size(4), dt.Encoding(5), dt.Name("int"))
	variable := func(name string) *dt.DIE {
		return dt.N(dt.TagVariable, dt.Name(name), dt.Type(i), dt.External(), dt.Location(3, 0, 0, dt.PercpuAddr>>16, 0, 0, 0, 0, 0))
	}
	f := dt.File{Units: []*dt.Unit{dt.CU(i, variable("v"), variable("alias"))}, Sections: []dt.Section{dt.Percpu()},
		Symbols: []dt.Symbol{dt.Object("v", ".data..percpu", dt.PercpuAddr), dt.Object("alias", ".data..percpu", dt.PercpuAddr)}}
	return f.Bytes()
}

// TestVerifyOption: a refusal names the ways out, and --verify=warn is one.
func TestVerifyOption(t *testing.T) {
	out, overlapping := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "in")
	testfile.Write(t, overlapping, overlappingFile())
	overlap := `BTF type [4] DATASEC ".data..percpu": entry 1 "alias": offset 0 overlaps the entry before it, "v", which ends at 4`
	for _, tt := range []struct {
		args   string
		status int
		stderr string
	}{
		{"--btf_features=default", 1, "nothing written: a kernel would refuse the " + overlap + "; --verify=warn writes it all the same"},
		{"--btf_features=default --verify=refuse", 1, "nothing written: a kernel would refuse the " + overlap + "; --verify=warn writes it all the same"},
		{"--btf_features=all", 1, "nothing written: a kernel would refuse the " + overlap +
			"; --extra_vars in place of the feature global_var gives all variables, and valid BTF; --verify=warn writes it all the same"},
		{"--btf_features=default --verify=warn", 0, "warning: a kernel refuses the " + overlap},
		{"--btf_features=all --verify=refuse --verify=warn", 0, "warning: a kernel refuses the " + overlap},
	} {
		os.Remove(out)
		_, stderr := btfliteRun(t, tt.status, append(strings.Fields(tt.args), "--btf_encode_detached="+out, overlapping)...)
		if want := "btflite: " + overlapping + ": " + tt.stderr + "\n"; stderr != want {
			t.Errorf("%s: %q, want %q", tt.args, stderr, want)
		}
		if _, err := os.Stat(out); (err == nil) != (tt.status == 0) {
			t.Errorf("%s: output: %v", tt.args, err)
		}
		if tt.status == 0 { // the judge has not changed
			btfliteRun(t, exitFailure, "verify", out)
		}
	}
	_, stderr := btfliteRun(t, exitUsage, "-J", "--verify=off", overlapping)
	if !strings.Contains(stderr, "use refuse or warn") {
		t.Errorf("%q", stderr)
	}
	// Modules: the same, for one of them.
	m := testfile.New(t, "m.ko", structFile("a b", langC11, 4))
	args := []string{"modules", "--btf_base=" + splitFiles + "x86.base.btf", m}
	if _, stderr := btfliteRun(t, exitFailure, args...); !strings.Contains(stderr, "name is not a C identifier; --verify=warn writes it all the same\n") {
		t.Errorf("%q", stderr)
	}
	if _, stderr := btfliteRun(t, exitOK, append(args, "--verify=warn")...); !strings.Contains(stderr, ": warning: a kernel refuses the BTF type ") {
		t.Errorf("%q", stderr)
	}
	if len(elftest.Contents(t, m, loadbtf.SectionBTF)) == 0 {
		t.Error("nothing written")
	}
}

// TestRefusedMerge: sort and dedup write what kernels refuse with --verify=warn only, and
// then say so. The message is about the input that has it.
func TestRefusedMerge(t *testing.T) {
	dir := t.TempDir()
	file := func(name, structName string) string {
		b := btftest.New()
		b.Int("int", 4)
		b.Struct(structName, 0)
		path := filepath.Join(dir, name)
		testfile.Write(t, path, b.Encode(false))
		return path
	}
	good, odd, out := file("good", "a"), file("odd", "a b"), filepath.Join(dir, "out")
	const rule = `BTF type [2] STRUCT "a b": name is not a C identifier`
	for _, args := range []string{"sort " + odd + " " + out, "dedup -o " + out + " " + good + " " + odd, "dedup --dedup=exact -o " + out + " " + odd} {
		_, stderr := btfliteRun(t, exitFailure, strings.Fields(args)...)
		if want := "btflite: " + odd + ": nothing written: a kernel would refuse the input's " + rule + "; --verify=warn writes it all the same\n"; stderr != want {
			t.Errorf("%s: %q, want %q", args, stderr, want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: there is an output", args)
		}
		_, stderr = btfliteRun(t, exitOK, append(strings.Fields(args), "--verify=warn")...)
		if want := "btflite: " + odd + ": warning: a kernel refuses the " + rule + "\n"; stderr != want {
			t.Errorf("%s: %q, want %q", args, stderr, want)
		}
		btfliteRun(t, exitFailure, "verify", out)
		os.Remove(out)
	}
}
