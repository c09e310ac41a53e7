package main

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

func TestWhy(t *testing.T) {
	got, _ := btfliteRun(t, exitOK, "why", "sum_point", "walk", smallFile)
	const want = `sum_point: not in BTF: optimized parameters
    the compiler has removed a parameter, so a tracer would take others for it
    symbol sum_point.constprop.0 at 0x401090, 13 bytes
        defined in small.c:143, unit small.c, code at 0x401090
        parameter 1, unused: nowhere: always the same value
        parameter 2, p: nowhere: always the same value
    attach to it by kprobe:sum_point.constprop.0
walk: in BTF, [99]: s64 walk(struct node * * nodes, int n, bool_t deep, u8 a, u16 b, u32 c, u64 d, point_t on_stack);
    symbol walk at 0x401150, 113 bytes
        defined in small.c:167, unit small.c, code at 0x401150
        parameter 1, nodes: at first in register rdi
        parameter 2, n: at first in register rsi
        parameter 3, deep: at first in register rdx
        parameter 4, a: at first in register rcx
        parameter 5, b: at first in register r8
        parameter 6, c: in register r9
        parameter 7, d: on the stack
        parameter 8, on_stack: at first on the stack
    attach to it by fentry:walk, fexit:walk or kprobe:walk
`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, file := range []string{"x86.upper.o", "s390x.upper.o"} {
		got, _ := btfliteRun(t, exitOK, "why", "upper_label", splitDir+file)
		if !strings.Contains(got, "upper_label: not in BTF: unexpected register usage for parameter\n") || !strings.Contains(got, "defined in upper.c:") || !strings.Contains(got, "parameter 3, scale: in register ") {
			t.Errorf("%s: %s", file, got)
		}
	}
}

func TestWhyErrors(t *testing.T) {
	btfliteRun(t, exitUsage, "why", "", smallFile)
	for args, want := range map[string]string{
		"wakl " + smallFile:                    `no function and no symbol "wakl"; did you mean walk?`,
		smallFile:                              "why takes names of functions and a file",
		"walk none":                            "none: cannot open",
		"walk " + smallFile + ".btf":           "already BTF",
		"upper " + splitDir + "x86.base-btf.o": "no DWARF",
	} {
		c, _, stderr := testCLI(t)
		if status := c.run(append([]string{"why"}, strings.Fields(args)...)); status == exitOK || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: status %d, %s", args, status, stderr)
		}
	}
}

// TestWhyNoCode: functions that all callers have taken in, and one that another unit
// describes otherwise.
func TestWhyNoCode(t *testing.T) {
	got, _ := btfliteRun(t, exitOK, "why", "shared_inline", "not_inlined", "../../encode/testdata/golden/x86-gcc5.elf")
	const want = `shared_inline: not in BTF: it has no symbol
    described in shared.h:24, unit funcs.c and 1 other unit, without code: it is inlined into its callers
    there is nothing to attach to: its code is in its callers
not_inlined: not in BTF: inconsistet prototype
    functions of this name have different prototypes
    the first difference: the types of parameter 1 differ
    symbol not_inlined at 0x400210, 18 bytes
        defined in funcs.c:39, unit funcs.c, code at 0x400210
        parameter 1, node: in register rdi
    described in other.c:8, unit other.c, without code
    attach to it by kprobe:not_inlined
`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestReportDefinitions: --report says where left-out functions are defined.
func TestReportDefinitions(t *testing.T) {
	dir := t.TempDir()
	report := filepath.Join(dir, "report")
	btfliteRun(t, exitOK, "-J", "--btf_features=default", "--btf_encode_detached="+filepath.Join(dir, "out"), "--report="+report, smallFile)
	data := testfile.Read(t, report)
	var r struct {
		Functions []skippedFunction `json:"left_out_functions"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	want := skippedFunction{"sum_point", "optimized parameters", []reportedDefinition{{"small.c", "small.c", 143, "sum_point.constprop.0", "0x401090", ""}},
		reportedAdvice{Attach: []string{"kprobe:sum_point.constprop.0"}}}
	if len(r.Functions) != 2 || !reflect.DeepEqual(r.Functions[1], want) {
		t.Errorf("%+v, want %+v", r.Functions, want)
	}
}
