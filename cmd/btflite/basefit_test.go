package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/distill"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/test/testfile"
)

// fitFolder is a folder with modules that are split from "right", and with a different
// kernel "vmlinux" above them: it names another release, or has other types.
type fitFolder struct{ dir, right, wrong, plain, debug, raw string }

// newFitFolder makes one. byRelease has the other kernel differ in its release only, so
// that the BTF of modules can be read over it.
func newFitFolder(t *testing.T, byRelease bool) (f fitFolder) {
	t.Helper()
	f.dir = t.TempDir()
	put := func(name string, data []byte) string {
		path := filepath.Join(f.dir, name)
		testfile.Write(t, path, data)
		return path
	}
	kernel := func(release string, small bool) []byte {
		b := btftest.Build(t, nil, func(b *btftest.Builder) {
			b.Int("int", 4)
			b.Struct("module", 64, b.Member("state", 1, 0))
			for _, name := range []string{"one", "two", "three"} {
				if !small {
					b.Struct(name, 4, b.Member("x", 1, 0))
				}
			}
		})
		e := dt.File{Sections: []dt.Section{{Name: ".BTF", Data: b.Encode()},
			{Name: ".rodata", Flags: 2, Data: []byte("Linux version " + release + " (a@b) \x00")}}}
		return e.Bytes()
	}
	f.right = put("elsewhere/right", kernel("6.12.1", false))
	release := "6.12.1"
	if byRelease {
		release = "7.2.0"
	}
	f.wrong = put("vmlinux", kernel(release, !byRelease))
	base, err := btfFiles.Load(f.right, nil)
	if err != nil {
		t.Fatal(err)
	}
	split := btftest.Build(t, base, func(b *btftest.Builder) {
		b.Struct("own", 4, b.Member("x", 1, 0))
		b.Add("run", 12<<24, b.Add("", 13<<24, 0))
		b.Struct("last", 4, b.Member("of", 5, 0))
	}).Encode()
	own := dt.N(dt.TagStructureType, dt.Name("own_of_dwarf"), dt.Size(4))
	module := func(dwarf bool) []byte {
		e := dt.File{Type: 1, NoDebug: !dwarf, Sections: []dt.Section{{Name: ".BTF", Data: split},
			{Name: ".modinfo", Data: []byte("name=m\x00vermagic=6.12.1 SMP \x00")}},
			Units: []*dt.Unit{dt.CU(own, dt.N(dt.TagVariable, dt.Name("v"), dt.Type(own)))}}
		return e.Bytes()
	}
	f.plain, f.debug = put("mods/plain.ko", module(false)), put("mods/debug.ko", module(true))
	f.raw = put("mods/raw.btf", split)
	return f
}

// readersOfBases are all commands that read split BTF and look for its base by
// themselves, with what they print of it.
var readersOfBases = map[string][]string{
	"show": {"show"}, "show one": {"show", "own"}, "show html": {"show", "--format=html"},
	"dump": {"dump"}, "dump c": {"dump", "--format=c"}, "dump json": {"dump", "--json"},
	"funcs": {"funcs"}, "stats": {"stats"}, "as pahole": {"-F", "btf"},
}

// readersOfGiven take a base by --btf_base only.
var readersOfGiven = map[string][]string{
	"sort": {"sort"}, "lower": {"lower", "--kernel=6.1"}, "dedup": {"dedup", "-o", "OUT"}, "diff": {"diff"},
}

// readersOfNone have no base, or read DWARF alone, whatever lies beside.
var readersOfNone = strings.Fields("doctor archive cc inline why fullcircle modules completion manual version help")

// TestBaseFits: a base that was found by itself has to fit. If it does not, the next one
// is taken, or the DWARF of the file, or there is an error that names it.
func TestBaseFits(t *testing.T) {
	for name, byRelease := range map[string]bool{"another release": true, "other types": false} {
		t.Run(name, func(t *testing.T) {
			f := newFitFolder(t, byRelease)
			for name, args := range readersOfBases {
				if byRelease {
					stdout, stderr := btfliteRun(t, exitFailure, append(args, f.plain)...)
					if stdout != "" || !strings.Contains(stderr, "it does not fit: built for 6.12.1, but the base "+f.wrong+" is of 7.2.0: give --btf_base=VMLINUX") {
						t.Errorf("%s: %q, %q", name, stdout, stderr)
					}
				} else {
					for _, file := range []string{f.plain, f.raw} {
						stdout, stderr := btfliteRun(t, exitFailure, append(args, file)...)
						if stdout != "" || !strings.Contains(stderr, "it does not fit the base "+f.wrong+": give --btf_base=VMLINUX") || strings.Count(stderr, "\n") != 1 {
							t.Errorf("%s %s: %q, %q", name, file, stdout, stderr)
						}
					}
				}
				if name != "as pahole" && name != "show one" && name != "funcs" {
					stdout, stderr := btfliteRun(t, exitOK, append(args, f.debug)...)
					if !strings.Contains(stderr, "note: its BTF is split from a base, and ") || !strings.Contains(stderr, f.wrong) ||
						!strings.Contains(stderr, "the types come from its DWARF") || name != "stats" && !strings.Contains(stdout, "own_of_dwarf") {
						t.Errorf("%s, with DWARF: %q, %q", name, stdout, stderr)
					}
				}
				// The right one, given or among the inputs, has no rival.
				stdout, stderr := btfliteRun(t, exitOK, append(args, "--btf_base="+f.right, f.plain)...)
				if stdout == "" || stderr != "" {
					t.Errorf("%s over the right base: %q, %q", name, stdout, stderr)
				}
				if stdout, stderr = btfliteRun(t, statusOver(byRelease), append(args, "--btf_base="+f.wrong, f.plain)...); !strings.Contains(stderr, f.wrong) {
					t.Errorf("%s over the wrong base: %q, %q", name, stdout, stderr)
				}
			}
			// Nearer to the module there is the right one.
			near := filepath.Join(f.dir, "mods", "vmlinux.btf")
			data, err := os.ReadFile(f.right)
			if err == nil {
				err = os.WriteFile(near, data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			for name, args := range readersOfBases {
				stdout, stderr := btfliteRun(t, exitOK, append(args, f.plain)...)
				if stdout == "" || stderr != "btflite: "+f.plain+": note: its base is "+near+"\n" {
					t.Errorf("%s with two bases: %q, %q", name, stdout, stderr)
				}
			}
			got, _ := btfliteRun(t, exitOK, "verify", f.plain)
			if !strings.Contains(got, " bytes, over "+near+";") {
				t.Errorf("verify: %s", got)
			}
		})
	}
}

// statusOver is the status of a reader over a wrong base: BTF that can be read is read,
// with a warning.
func statusOver(readable bool) int {
	if readable {
		return exitOK
	}
	return exitFailure
}

// TestPaddedBase: the section of a linked kernel may have the same types as the base and
// longer strings, where an encoding in place has padded them. It is another base.
func TestPaddedBase(t *testing.T) {
	f := newFitFolder(t, false)
	base, err := btfFiles.Load(f.right, nil)
	if err != nil {
		t.Fatal(err)
	}
	base.Strings = append(slices.Clone(base.Strings), make([]byte, 50)...)
	e := dt.File{Sections: []dt.Section{{Name: ".BTF", Data: base.Encode()}}}
	testfile.Write(t, f.wrong, e.Bytes())
	_, stderr := btfliteRun(t, exitFailure, "show", "own", f.plain)
	if !strings.Contains(stderr, "is between the strings of the base: this was split from other BTF: it does not fit the base "+f.wrong) {
		t.Errorf("%q", stderr)
	}
	near := filepath.Join(f.dir, "vmlinux.btf")
	testfile.Write(t, near, testfile.Read(t, f.right))
	stdout, stderr := btfliteRun(t, exitOK, "show", "own", f.plain)
	if !strings.HasPrefix(stdout, "struct own {") || !strings.Contains(stderr, "note: its base is "+near) {
		t.Errorf("%q, %q", stdout, stderr)
	}
}

// TestVerifyMisfit: verify names the base that it has found, and says that it does not fit.
func TestVerifyMisfit(t *testing.T) {
	f := newFitFolder(t, false)
	for _, args := range [][]string{{"verify", f.plain}, {"verify", "--btf_base=" + f.wrong, f.plain}, {"verify", f.raw}} {
		if got, _ := btfliteRun(t, exitFailure, args...); !strings.Contains(got, "it does not fit the base "+f.wrong) {
			t.Errorf("%q: %s", args, got)
		}
	}
}

// TestGivenBaseMisfits: the error for a wrong base that was given names it.
func TestGivenBaseMisfits(t *testing.T) {
	f := newFitFolder(t, false)
	for name, args := range readersOfGiven {
		out := filepath.Join(t.TempDir(), "out")
		args = append([]string{}, args...)
		for i := range args {
			args[i] = strings.Replace(args[i], "OUT", out, 1)
		}
		args = append(args, "--btf_base="+f.wrong, f.plain)
		if name == "sort" || name == "lower" {
			args = append(args, out)
		}
		if name == "diff" {
			args = append(args, f.plain)
		}
		c, _, stderr := testCLI(t)
		if c.run(args) == exitOK || !strings.Contains(stderr.String(), "it does not fit the base "+f.wrong) {
			t.Errorf("%s: %q", name, stderr)
		}
	}
}

// TestGivenBaseForDistilled: a base that is given takes the place of the distilled one in the file, as
// it does when a kernel loads the module, and has to fit.
func TestGivenBaseForDistilled(t *testing.T) {
	right, wrong := splitFiles+"x86.base.btf", splitFiles+"s390x.base.btf"
	module := objectWith(t, 62, elftest.Section{Name: loadbtf.SectionBTF, Data: testfile.Read(t, splitFiles+"x86.distilled.btf")},
		elftest.Section{Name: loadbtf.SectionBTFBase, Data: testfile.Read(t, splitFiles+"x86.distilled.base.btf")})
	base := btftest.Read(t, right, nil)
	empty := testfile.New(t, "empty.btf", btftest.New().Blob(t).Encode())
	own, err := distill.NewRelocator(base).Relocate(btftest.Read(t, splitFiles+"x86.distilled.btf", btftest.Read(t, splitFiles+"x86.distilled.base.btf", nil)))
	if err != nil {
		t.Fatal(err)
	}
	relocated := testfile.New(t, "own.btf", own.Encode())
	written := func(in string, words ...string) []byte {
		out := filepath.Join(t.TempDir(), "out")
		for i, w := range words {
			words[i] = strings.NewReplacer("OUT", out, "IN", in).Replace(w)
		}
		btfliteRun(t, exitOK, words...)
		return testfile.Read(t, out)
	}
	for _, line := range []string{"sort IN OUT", "sort --btf_sort=name IN OUT", "lower --kernel=6.1 IN OUT", "dedup -o OUT IN", "dedup --dedup=exact -o OUT IN",
		"-J --btf_base=IN --btf_encode_detached=OUT " + splitFiles + "x86.module.o"} {
		words := strings.Fields(line)
		words = append([]string{words[0], "--btf_base=" + right}, words[1:]...)
		if got, want := written(module, slices.Clone(words)...), written(relocated, words...); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes differ from what the relocated types give, %d bytes", line, len(got), len(want))
		}
		for _, other := range []string{wrong, empty} {
			words[1] = "--btf_base=" + other
			out := filepath.Join(t.TempDir(), "out")
			if _, stderr := btfliteRun(t, exitFailure, strings.Fields(strings.NewReplacer("OUT", out, "IN", module).Replace(strings.Join(words, " ")))...); !strings.Contains(stderr, "the base "+other) {
				t.Errorf("%s over %s: %s", line, other, stderr)
			}
		}
	}
	if _, stderr := btfliteRun(t, exitFailure, "lower", "--kernel=6.12", "--btf_base="+right, module, module); !strings.Contains(stderr, "leave that out, or write to another file") {
		t.Error(stderr)
	}
	for _, words := range [][]string{{"dump"}, {"dump", "--format=c"}, {"dump", "-j"}, {"show"}, {"funcs", "--all"}, {"stats"}, {"-F", "btf"}, {"verify"}, {"diff", module}, {"doctor"}} {
		got, stderr := btfliteRun(t, exitOK, append(words, "--btf_base="+right, module)...)
		if stderr != "" {
			t.Errorf("%s: %s", words, stderr)
		}
		if words[0] != "verify" && words[0] != "diff" && words[0] != "doctor" {
			if want, _ := btfliteRun(t, exitOK, append(words, "--btf_base="+right, relocated)...); got != want || want == "" {
				t.Errorf("%s: %.500s, want %.500s", words, got, want)
			}
		}
		for _, other := range []string{wrong, empty} {
			c, stdout, stderr := testCLI(t)
			if status := c.run(append(words, "--btf_base="+other, module)); status == exitOK || status == exitUsage || strings.Count(stdout.String()+stderr.String(), "the base "+other) == 0 {
				t.Errorf("%s over %s: status %d, %s%s", words, other, status, stdout, stderr)
			}
		}
	}
}

// TestUnusableBases: a given base that cannot be one, or not of this file, is an error that says what to give,
// whatever the command.
func TestUnusableBases(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	module := filepath.Join(t.TempDir(), "m.ko")
	copyFile(t, "x86.module.o", module)
	own := splitFiles + "x86.module.btf"
	distilled := objectWith(t, 62, elftest.Section{Name: loadbtf.SectionBTF, Data: testfile.Read(t, splitFiles+"x86.distilled.btf")},
		elftest.Section{Name: loadbtf.SectionBTFBase, Data: testfile.Read(t, splitFiles+"x86.distilled.base.btf")})
	before := testfile.Read(t, module)
	for base, want := range map[string]string{
		splitFiles + "s390x.base.btf": "byte order differs from the base's", own: "BTF of a module needs --btf_base", distilled: "give the BTF of its kernel as the base",
	} {
		for _, words := range [][]string{{"-J", module}, {"-J", "--btf_features=default,distilled_base", module}, {"-J", "--btf_encode_detached=" + out, module}, {"modules", module},
			{"dump", own}, {"show", own}, {"stats", own}, {"funcs", own}, {"verify", own}, {"diff", own, own}, {"sort", own, out}, {"lower", "--kernel=6.12", own, out}, {"dedup", "-o", out, own}, {"doctor", own}} {
			c, stdout, stderr := testCLI(t)
			status := c.run(append([]string{words[0], "--btf_base=" + base}, words[1:]...))
			said := stdout.String() + stderr.String()
			if status == exitOK || status == exitUsage || !strings.Contains(said, want) || strings.HasPrefix(want, "byte order") && !strings.Contains(said, "give the kernel that it was built with") &&
				words[0] != "verify" && words[0] != "doctor" {
				t.Errorf("%s over %s: status %d, %s", words, base, status, said)
			}
		}
	}
	if _, err := os.Stat(out); err == nil || !bytes.Equal(testfile.Read(t, module), before) {
		t.Error("something was written")
	}
}

// TestBaseCommands: no command is forgotten above.
func TestBaseCommands(t *testing.T) {
	known := map[string]bool{"verify": true, "btf": true, "min": true, "flatten": true} // the two latter: testdata/script
	for _, args := range readersOfBases {
		known[args[0]] = true
	}
	for _, args := range readersOfGiven {
		known[args[0]] = true
	}
	for _, name := range readersOfNone {
		known[name] = true
	}
	for _, c := range commands() {
		if !known[c.name] {
			t.Errorf("%s: does it look for bases?", c.name)
		}
	}
}
