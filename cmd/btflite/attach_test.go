package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// attachFile has functions with symbols of all kinds of names.
func attachFile(t *testing.T, f dt.File, bit uint64) string {
	t.Helper()
	integer := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	at := uint64(dt.TextAddr)
	unit := []any{dt.Name("a.c"), dt.Language(12), integer}
	for _, symbol := range []string{"plain", "renamed.isra.0", "cloned", "wrapped.part.0", "hot.cold"} {
		at += 16
		name, _, _ := strings.Cut(symbol, ".")
		unit = append(unit, dt.N(dt.TagSubprogram, dt.Name(name), dt.External(), dt.Type(integer), dt.LowPC(at)))
		f.Symbols = append(f.Symbols, dt.Func(symbol, at+bit))
	}
	f.Symbols = append(f.Symbols, dt.Func("cloned.constprop.0", at+16+bit))
	f.Units = []*dt.Unit{dt.CU(unit...)}
	return testfile.New(t, "functions", f.Bytes())
}

// attachTargets are machines whose symbols say where code is in ways of their own.
func attachTargets(t *testing.T, run func(t *testing.T, file string)) {
	for name, target := range map[string]struct {
		file dt.File
		bit  uint64
	}{
		"x86-64": {},
		"thumb":  {dt.File{Machine: dt.MachineARM, Class32: true}, 1},
	} {
		t.Run(name, func(t *testing.T) { run(t, attachFile(t, target.file, target.bit)) })
	}
}

// TestAttachWhy: btflite why advises what the kernel accepts: fentry takes only a symbol
// of exactly the function's name.
func TestAttachWhy(t *testing.T) {
	attachTargets(t, func(t *testing.T, file string) {
		for name, want := range map[string][]string{
			"plain":   {"attach to it by fentry:plain, fexit:plain or kprobe:plain"},
			"renamed": {"attach to it by kprobe:renamed.isra.0", "no fentry or fexit: they need a symbol of exactly this name"},
			"cloned": {"attach to it by kprobe:cloned", // two addresses leave it out of the BTF
				"attach to its variants, which take some calls, by kprobe:cloned.constprop.0"},
			"wrapped": {"attach to a part of it, which the rest calls, by kprobe:wrapped.part.0"},
			"hot":     {"there is nothing to attach to: its code is in its callers"},
		} {
			got, _ := btfliteRun(t, exitOK, "why", name, file)
			if !strings.HasSuffix(got, "\n    "+strings.Join(want, "\n    ")+"\n") {
				t.Errorf("%s:\n%s\nwant at the end %s", name, got, strings.Join(want, "\n    "))
			}
			if (name == "plain" || name == "renamed") && !strings.Contains(got, "\n        defined in ") {
				t.Errorf("%s: the symbol is not joined with the definition:\n%s", name, got)
			}
		}
	})
}

// TestAttachAddress: funcs --addr finds the function for a symbol of another name, and
// says how to attach to it.
func TestAttachAddress(t *testing.T) {
	attachTargets(t, func(t *testing.T, file string) {
		const first = uint64(dt.TextAddr + 16)
		for i, tt := range []struct{ want, note string }{
			{"int plain(void);\n", ""},
			{"int renamed(void);\n", "renamed: the symbol there is renamed.isra.0: attach to it by kprobe:renamed.isra.0; no fentry or fexit: they need a symbol of exactly this name\n"},
		} {
			got, stderr := btfliteRun(t, exitOK, "funcs", "--addr="+fmt.Sprintf("%#x", first+uint64(i)*16+3), file)
			if got != tt.want || !strings.HasSuffix(stderr, tt.note) || (stderr == "") != (tt.note == "") {
				t.Errorf("%q, %q, want %q, %q", got, stderr, tt.want, tt.note)
			}
		}
	})
}

// TestAttachReport: --report has the same advice for functions that are left out, and for
// functions without a symbol of their name.
func TestAttachReport(t *testing.T) {
	attachTargets(t, func(t *testing.T, file string) {
		report := filepath.Join(t.TempDir(), "report")
		btfliteRun(t, exitOK, "-J", "--btf_features=default", "--btf_encode_detached="+report+".btf", "--report="+report, file)
		data := testfile.Read(t, report)
		var r struct {
			Renamed []renamedFunction `json:"functions_without_own_symbol"`
		}
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		want := []renamedFunction{{"renamed", reportedAdvice{[]string{"kprobe:renamed.isra.0"}, []string{"no fentry or fexit: they need a symbol of exactly this name"}}}}
		if diff := cmp.Diff(want, r.Renamed, cmp.AllowUnexported(renamedFunction{})); diff != "" {
			t.Error(diff)
		}
	})
}
