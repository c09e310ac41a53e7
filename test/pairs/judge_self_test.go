package pairs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestFinds: programs that err are found out, and the case is made small.
func TestFinds(t *testing.T) {
	right, real := program, pahole
	defer func() { program, pahole = right, real }()
	const text = "tree/encode/testdata/golden/x86-gcc4.elf tree/testdata/small/small -- --btf_features=default,float --kabi_prefix=g" +
		" --btf_base=tree/testdata/inputs/abc -j3 --btf_sort --report --btf_compat=libbpf-1.7"
	for _, c := range []struct {
		name, script string // what a program does that is called with the arguments of the right one
		wrong        *string
		rule         string
	}{
		{"pahole", `"%s" "$@" && for a; do case $a in --btf_encode_detached=*) echo >> "${a#*=}";; esac; done`, &pahole, "bytes"},
		{"a leftover", `touch left; exec "%s" "$@"`, &program, "leftover"},
		{"status", `"%s" "$@"; exit 2`, &program, "crash"},
		{"in place", `case "$*" in *detached*) ;; -J*) exit 0;; esac; exec "%s" "$@"`, &program, "in place"},
		{"a batch", `case $1 in modules) exit 0;; esac; exec "%s" "$@"`, &program, "batch"},
		{"verify", `case $1 in verify) exit 1;; esac; exec "%s" "$@"`, &program, "verify"},
		{"report", `"%s" "$@"; status=$?; if [ -f report.json ]; then echo "{}" > report.json; fi; exit $status`, &program, "stats"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(scratch, "wrong")
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+fmt.Sprintf(c.script, right)+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			program, pahole = right, ""
			tr, err := parseTrial(text)
			if err != nil {
				t.Fatal(err)
			}
			if found, err := judgeTrial(tr); err != nil || len(found) > 0 {
				t.Fatalf("without a fault: %v, %v", found, err)
			}
			*c.wrong = path
			found, err := judgeTrial(tr)
			if err != nil || len(found) == 0 || found[0].rule != c.rule {
				t.Fatalf("found %v, %v; want %s", found, err, c.rule)
			}
			if c.rule != "bytes" { // shrinking is the same for all
				return
			}
			small, _ := shrink(tr, found)
			if len(small.files) != 1 || len(small.opts)+len(small.ours)+len(small.bases) > 1 {
				t.Errorf("shrunk to %s", small)
			}
		})
	}
}
