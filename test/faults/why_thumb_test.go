package faults

import (
	"testing"
)

// TestWhyThumb: why found no symbol for the code of a Thumb function, and funcs --addr no
// function at its first byte, because the values of such symbols are odd. Mended in
// dc11dac.
//
// Input: a golden object for ARM. Both must find the function.
func TestWhyThumb(t *testing.T) {
	const file = "../../encode/testdata/golden/arm-gcc4.elf"
	got, _ := btflite(t, 0, "why", "not_inlined", file)
	const want = `not_inlined: not in BTF: inconsistet prototype
    functions of this name have different prototypes
    the first difference: the types of parameter 1 differ
    symbol not_inlined at 0x101ac, 20 bytes
        defined in funcs.c:39, unit funcs.c, code at 0x101ac
        parameter 1, node: at first in register r0
    described in other.c:8, unit other.c, without code
    attach to it by kprobe:not_inlined
`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got, _ := btflite(t, 0, "funcs", "--addr=0x10270", file); got != "bpf_kfunc bpf_fastcall int fast_function(int n);\n" {
		t.Errorf("the first byte of a function: %q", got)
	}
}
