package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// TestListsAreCheckedFirst: where a command takes a list, and one thing of the list is missing, it
// prints nothing about the others, in whatever form and order. One line names what is missing. With
// all of it there, the command prints something.
func TestListsAreCheckedFirst(t *testing.T) {
	dir := t.TempDir()
	btf, elf := splitFiles+"x86.base.btf", "../../encode/testdata/golden/x86-gcc5.elf"
	names, data := filepath.Join(dir, "names"), filepath.Join(dir, "data")
	testfile.Write(t, data, make([]byte, 4096))
	type row struct{ words, good, other string }
	var rows []row
	for _, form := range strings.Split(",-s,-n,-N,-E,-R,-R -S,-u,-p,--compile,--sort,-I,-P,-a,-a -A,-l,-r,--hex,--format=html,--structs,--with_base,-q,--color=always", ",") {
		rows = append(rows, row{"show " + form + " -C LIST " + btf, "thing", "hidden"})
	}
	rows = append(rows,
		row{"show LIST " + btf, "thing", "hidden"},
		row{"show -C file://NAMES " + btf, "thing", "hidden"},
		row{"show -i LIST " + btf, "wide", "hidden"},
		row{"show -d -i LIST " + btf, "wide", "hidden"},
		row{"show -V -i LIST " + btf, "wide", "hidden"},
		row{"show -f LIST " + btf, "thing", "hidden"},
		row{"show --prettify=" + data + " -C LIST " + btf, "thing", "hidden"},
		row{"why EACH " + elf, "many", "floating"},
		row{"inline EACH " + inlineInput(t), "add", "add"},
		row{"inline --json EACH " + inlineInput(t), "add", "add"},
		row{"dump IDS " + btf, "1", "2"},
		row{"dump --format=c IDS " + btf, "1", "2"},
		row{"dump -j IDS " + btf, "1", "2"},
	)
	for _, r := range rows {
		const missing = "424242"
		run := func(list ...string) (status int, stdout, stderr string) {
			testfile.Write(t, names, []byte(strings.Join(list, "\n")+"\n"))
			words := strings.NewReplacer("LIST", strings.Join(list, ","), "EACH", strings.Join(list, " "), "NAMES", names,
				"IDS", "--id="+strings.Join(list, " --id=")).Replace(r.words)
			c, out, errs := testCLI(t)
			status = c.run(strings.Fields(words))
			return status, out.String(), errs.String()
		}
		if status, out, errs := run(r.good, r.other); status != exitOK || out == "" {
			t.Errorf("%s: %s and %s: status %d, %s", r.words, r.good, r.other, status, errs)
		}
		for _, list := range [][]string{{r.good, missing}, {missing, r.good}, {r.good, missing, r.other}} {
			if status, out, errs := run(list...); status == exitOK || out != "" || !strings.Contains(errs, missing) || strings.Count(errs, "\n") != 1 && status != exitUsage {
				t.Errorf("%s: %q: status %d, %d bytes printed, %q", r.words, list, status, len(out), errs)
			}
		}
	}
}
