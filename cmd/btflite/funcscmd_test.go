package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

const smallFile = "../../testdata/small/small"

// TestFuncs: the texts come from pfunct 1.32, except for our own options.
func TestFuncs(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"", "walk\ntotal\nprint\nlink_node\nchoose\nby_value\n_start\n"},
		{"-P", `s64 walk(struct node * * nodes, int n, bool_t deep, u8 a, u16 b, u32 c, u64 d, point_t on_stack);
u64 total(const struct flexible  * f, reg_t mask);
int print(const char  * fmt, ...);
void link_node(struct node * restrict  node, fixed_node_t parent);
compare_fn choose(enum color color, u32 flags);
int by_value(const void  * a, const void  * b);
void _start(void);
`},
		{"-A --no_parm_names", `void _start(void);
int by_value(const void *, const void *);
compare_fn choose(enum color, u32);
void link_node(struct node * restrict, fixed_node_t);
int print(const char *, ...);
u64 total(const struct flexible *, reg_t);
s64 walk(struct node * *, int, bool_t, u8, u16, u32, u64, point_t);
`},
		{"-V -f print", "int print(const char  * fmt, ...);\n"},
		{"-f [lt]*", "void link_node(struct node * restrict  node, fixed_node_t parent);\nu64 total(const struct flexible  * f, reg_t mask);\n"},
		{"-N", "walk: 4\ntotal: 5\nprint: 5\nlink_node: 9\nchoose: 6\nby_value: 8\n_start: 6\n"},
		{"-N -p", "walk: 8\ntotal: 2\nprint: 1\nlink_node: 2\nchoose: 2\nby_value: 2\n_start: 0\n"},
		{"-c node", ""},
		{"--takes=node", "link_node\nwalk\n"},
		{"-E", ""},
		{"--params -f choose", `compare_fn choose(enum color color, u32 flags);
	enum color                 color;                /*      0     4 */
	u32                        flags;                /*      1     4 */
	compare_fn                 ;                     /* result     8 */

`},
	} {
		got, _ := btfliteRun(t, exitOK, append([]string{"funcs"}, append(strings.Fields(tt.args), smallFile+".btf")...)...)
		if got != tt.want {
			t.Errorf("funcs %s: %s\nwant %s", tt.args, got, tt.want)
		}
	}
}

// TestFuncsOfSymbols: addresses and sizes come from the symbols of an ELF file, here one
// with DWARF only. scale, whose parameters are optimized, is not in the BTF.
func TestFuncsOfSymbols(t *testing.T) {
	for args, want := range map[string]string{
		"-a 0x4010d8":          "void link_node(struct node * restrict  node, fixed_node_t parent);\n",
		"-a 4198416 -f _start": "compare_fn choose(enum color color, u32 flags);\nvoid _start(void);\n",
		"-s":                   "scale: 28\nwalk: 113\ntotal: 78\nprint: 89\nlink_node: 51\nchoose: 19\nby_value: 5\n_start: 80\n",
	} {
		if got, _ := btfliteRun(t, exitOK, append([]string{"funcs"}, append(strings.Fields(args), smallFile)...)...); got != want {
			t.Errorf("funcs %s: %s\nwant %s", args, got, want)
		}
	}
}

// TestFuncsOfClass: of functions that take a class, pfunct lists names, with --all too, and with
// --verbose prototypes.
func TestFuncsOfClass(t *testing.T) {
	file := splitDir + "x86.base.btf"
	const proto = "int base_function(struct thing * t, struct flags * f, union word w, enum narrow n);\n"
	for args, want := range map[string]string{
		"-c thing": "base_function\n", "-c thing -A": "base_function\n", "-c thing -p": "base_function\n", "-A": proto,
		"-c thing -V": proto, "-c thing -A -V": proto, "-c thing -p -V": proto, "--takes=thing -A": proto,
	} {
		if got, _ := btfliteRun(t, exitOK, append([]string{"funcs"}, append(strings.Fields(args), file)...)...); got != want {
			t.Errorf("funcs %s: %q, want %q", args, got, want)
		}
	}
}

func TestFuncsOverBase(t *testing.T) {
	base, module := "--btf_base="+splitDir+"x86.base.btf", splitDir+"x86.module.btf"
	own, _ := btfliteRun(t, exitOK, "funcs", "-A", base, module)
	all, _ := btfliteRun(t, exitOK, "funcs", "-A", "--with_base", base, module)
	const low = "int base_function(struct thing * t, struct flags * f, union word w, enum narrow n);\n"
	const want = "const char  * module_label(struct thing * t, struct hidden * h, volatile long  * stamp);\nstruct  * module_part(struct mine * m);\n"
	if own != want || all != low+want {
		t.Errorf("own:\n%s\nall:\n%s", own, all)
	}
	if got, _ := btfliteRun(t, exitOK, "funcs", base, "-f", "base_function", module); got != low {
		t.Errorf("of the base: %s", got)
	}
}

func TestFuncsJSON(t *testing.T) {
	text, _ := btfliteRun(t, exitOK, "funcs", "--json", smallFile+".btf")
	var got struct {
		Version   int
		Functions []funcJSON
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Version != 1 || len(got.Functions) != 7 {
		t.Fatalf("%v: %s", err, text)
	}
	f := got.Functions[4]
	if f.Name != "print" || !f.Variadic || len(f.Params) != 1 || f.Params[0].Name != "fmt" || f.Params[0].Size != 8 || f.Result.Type != "int" || f.Linkage != "static" {
		t.Errorf("%+v", f)
	}
}

func TestFuncsErrors(t *testing.T) {
	small := smallFile + ".btf"
	for args, want := range map[string]string{
		"-f wakl":      "btflite: " + small + `: no function "wakl"; did you mean walk?` + "\n",
		"-f w[":        "'w[' is not a valid pattern: a bracket is open, or nothing follows a backslash",
		"-a 0x401000":  "btflite: " + small,
		"-a x":         "'x' is not an address; use 0x...",
		"-s":           "btflite: " + small,
		"-f=":          "",
		"other":        "other: no such file; a name is the argument of --function: btflite funcs --function=other " + small,
		small:          "funcs takes one file",
		"-c lits_head": "btflite: " + small + ": no struct lits_head; did you mean list_head?\n",
		"-c u8":        "btflite: " + small + ": no struct u8; --takes=u8 finds functions that take another type\n",
		"--takes=u9":   "btflite: " + small + ": no type u9; did you mean u8?\n",
	} {
		status := exitFailure
		if !strings.HasPrefix(want, "btflite: ") {
			status = exitUsage
		}
		c, stdout, stderr := testCLI(t)
		if got := c.run(append([]string{"funcs"}, append(strings.Fields(args), small)...)); got != status && args != "-f=" || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("funcs %s: status %d, %s", args, got, stderr)
		}
	}
}

// TestFuncsHostileNames: names cannot do anything to a terminal.
func TestFuncsHostileNames(t *testing.T) {
	b := btftest.New()
	proto := b.Add("", btf.Info(btf.KindFuncProto, 0, false), 0)
	b.Add("\x1b[2J\xff\u202eé", btf.Info(btf.KindFunc, 0, false), proto)
	b.Add(strings.Repeat("n", 60_000), btf.Info(btf.KindFunc, 0, false), proto)
	file := testfile.New(t, "f.btf", b.Blob(t).Encode())
	got, _ := btfliteRun(t, exitOK, "funcs", "-A", file)
	if want := `void \x1b[2J\xff\u202eé(void);` + "\nvoid " + strings.Repeat("n", 60_000) + "(void);\n"; got != want {
		t.Errorf("%.100q", got)
	}
}

// TestFuncsCompile: --compile gives C that compiles without a warning, and has the
// functions; --expand_types has their prototypes.
func TestFuncsCompile(t *testing.T) {
	file := "../../encode/testdata/golden/x86-gcc5.default.btf"
	one, _ := btfliteRun(t, exitOK, "funcs", "--compile=conflict", file)
	none, _ := btfliteRun(t, exitOK, "funcs", "-b", "-f", "user_of_own", file)
	all, _ := btfliteRun(t, exitOK, "funcs", "--compile", file)
	if !strings.Contains(none, "\nint user_of_own(struct own *own);\n") || !strings.Contains(none, "struct own {") || strings.Contains(none, "for (;;)") {
		t.Errorf("%s", none)
	}
	if strings.Contains(one, "user_of_own") || strings.Count(one, "for (;;)") > 1 {
		t.Errorf("%s", one)
	}
	if names, _ := btfliteRun(t, exitOK, "funcs", file); strings.Count(all, "for (;;)") < strings.Count(names, "\n")/2 {
		t.Errorf("%d of %d functions", strings.Count(all, "for (;;)"), strings.Count(names, "\n"))
	}
	for _, cc := range []string{"gcc", "clang"} {
		if _, err := exec.LookPath(cc); err != nil {
			t.Logf("left out: no %s", cc)
			continue
		}
		for _, text := range []string{one, none, all} {
			cmd := exec.Command(cc, "-Wall", "-Wextra", "-Werror", "-xc", "-c", "-o", os.DevNull, "-")
			cmd.Stdin = strings.NewReader(text)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %.1000s", cc, err, out)
			}
		}
	}
	btfliteRun(t, exitUsage, "funcs", "--compile", "--json", file)
}
