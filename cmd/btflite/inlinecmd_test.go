package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// inlineInput is a file with add(a, b) inlined in f at two places.
func inlineInput(t *testing.T) string {
	return inlineFile(t, dt.File{}, dt.Func("f", dt.TextAddr+0x10))
}

// inlineFile is such a file with these symbols.
func inlineFile(t *testing.T, file dt.File, symbols ...dt.Symbol) string {
	t.Helper()
	i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	a := dt.N(dt.TagFormalParameter, dt.Name("a"), dt.Type(i))
	b := dt.N(dt.TagFormalParameter, dt.Name("b"), dt.Type(i))
	add := dt.N(dt.TagSubprogram, dt.Name("add"), dt.Inline(), dt.Type(i), a, b)
	f := dt.N(dt.TagSubprogram, dt.Name("f"), dt.LowPC(dt.TextAddr+0x10),
		dt.N(dt.TagInlinedSubroutine, dt.Origin(add), dt.LowPC(dt.TextAddr+0x14),
			dt.N(dt.TagFormalParameter, dt.Origin(a), dt.Location(0x55)), dt.N(dt.TagFormalParameter, dt.Origin(b), dt.Const(3))),
		dt.N(dt.TagInlinedSubroutine, dt.Origin(add), dt.LowPC(dt.TextAddr+0x18),
			dt.N(dt.TagFormalParameter, dt.Origin(a), dt.Location(0x77, 8))))
	file.Units, file.Symbols = []*dt.Unit{dt.CU(i, add, f)}, symbols
	return testfile.New(t, "in.elf", file.Bytes())
}

func TestInlineCommand(t *testing.T) {
	in := inlineInput(t)
	dir := t.TempDir()
	main, side := filepath.Join(dir, "main.btf"), filepath.Join(dir, "side.btf")
	btfliteRun(t, 0, "-J", "--btf_features=default", "--btf_encode_detached="+main, "--inline="+side, in)
	const (
		first  = "add at .text+0x14, 0x10014, in f+0x4\n\ta: reg5\n\tb: 0x3\n"
		second = "add at .text+0x18, 0x10018, in f+0x8\n\ta: *(reg7 + 0x8)\n\tb: missing: "
		reason = "not described at the site\n"
	)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"add", in}, first + second + reason},
		{[]string{"--at=0x10018", in}, second + reason},
		{[]string{"--at=.text+0x14", "add", in}, first},
		{[]string{"--at=f+0x4", in}, first},
		{[]string{"--btf_base=" + main, "--elf=" + in, "--at=f+8", side}, second + "not available\n"},
		{[]string{"--btf_base=" + main, "--elf=" + in, "add", side}, first + second + "not available\n"},
		{[]string{"--btf_base=" + main, "--at=.text+20", side}, "add at .text+0x14\n\ta: reg5\n\tb: 0x3\n"},
	} {
		if got, _ := btfliteRun(t, 0, append([]string{"inline"}, c.args...)...); got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.args, got, c.want)
		}
	}
	text, _ := btfliteRun(t, 0, "inline", "--json", "add", in)
	var got []listedSite
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got) != 2 || got[1].Symbol != "f+0x8" || got[0].Params[0] != (listedPlace{Name: "a", Place: "reg5", Size: 4}) ||
		got[1].Params[1].Missing != strings.TrimSpace(reason) {
		t.Errorf("%v: %s", err, text)
	}
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"sub", in}, "not inlined: sub", exitFailure},
		{[]string{"--at=0x10015", in}, "nothing that was asked for is inlined at 0x10015", exitFailure},
		{[]string{"--at=0x9000000", in}, "no section with code at 0x9000000", exitFailure},
		{[]string{"--at=0x10014", main}, "BTF has no addresses", exitFailure},
		{[]string{"add", main}, "there are no sites of inlined functions", exitFailure},
		{[]string{"--at=f+5", in}, "nothing that was asked for is inlined at f+5", exitFailure},
		{[]string{"--at=f+16", in}, "no section with code and no function has f+16", exitFailure},
		{[]string{"--at=g+0", in}, "no section with code and no function has g+0", exitFailure},
		{[]string{"--at=.text+x", in}, "'x' is not an offset", exitUsage},
		{[]string{"--at=text", in}, "neither an address nor SECTION+OFFSET", exitUsage},
		{[]string{in}, "inline takes names of functions", exitUsage},
		{[]string{"", in}, "empty name", exitUsage},
		{nil, "inline takes names of functions", exitUsage},
		{[]string{"--elf=" + main, "add", side}, "already BTF; give the file with DWARF", exitFailure},
		{[]string{"--elf=" + dir, "add", side}, "a folder; give files", exitFailure},
		{[]string{"add", in + ".not"}, "no such file", exitFailure},
	} {
		if _, stderr := btfliteRun(t, c.code, append([]string{"inline"}, c.args...)...); !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") > 3 {
			t.Errorf("%q: %q, want %q", c.args, stderr, c.want)
		}
	}
}

// TestInlineThumb: symbols of functions in Thumb code have bit 0 set.
func TestInlineThumb(t *testing.T) {
	in := inlineFile(t, dt.File{Machine: dt.MachineARM, Class32: true}, dt.Func("f", dt.TextAddr+0x11))
	if got, _ := btfliteRun(t, 0, "inline", "--at=f+0x4", in); !strings.HasPrefix(got, "add at .text+0x14, 0x10014, in f+0x4\n") {
		t.Error(got)
	}
}

// TestInlineTwoFunctions: sections distinguish functions of one name.
func TestInlineTwoFunctions(t *testing.T) {
	in := inlineFile(t, dt.File{}, dt.Func("f", dt.TextAddr+0x10), dt.Func("g", dt.TextAddr+0x10), dt.Func("f", dt.TextAddr))
	if _, stderr := btfliteRun(t, exitFailure, "inline", "--at=f+0x4", in); !strings.Contains(stderr, "2 functions have f+0x4; give --at=SECTION+OFFSET") {
		t.Error(stderr)
	}
	if got, _ := btfliteRun(t, 0, "inline", "--at=g+0x4", in); !strings.Contains(got, "add at .text+0x14, 0x10014, in ") {
		t.Error(got)
	}
}

// TestInlineSeveralFiles: which file an offset would be in, nothing says.
func TestInlineSeveralFiles(t *testing.T) {
	in, dir := inlineInput(t), t.TempDir()
	out := filepath.Join(dir, "out.btf")
	for _, option := range []string{"--btf_features=default,inline", "--inline=" + filepath.Join(dir, "side.btf")} {
		_, stderr := btfliteRun(t, exitUsage, "-J", "--btf_encode_detached="+out, option, in, in)
		if !strings.Contains(stderr, "inline with several files: sites are offsets in the sections of one file; give one FILE, or leave inline out") {
			t.Errorf("%s: %q", option, stderr)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s leaves %v", option, left)
		}
	}
}
