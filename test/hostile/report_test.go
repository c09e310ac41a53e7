package hostile

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

var update = flag.Bool("update", false, "write docs/results/hostile.md again")

const reportFile = "../../docs/results/hostile.md"

// report is docs/results/hostile.md: each file with what a good encoder does
// and what btflite does. TestHostileFiles holds the rows.
func report() string {
	var b, table strings.Builder
	files := hostileFiles()
	fmt.Fprintf(&b, "# Hostile files\n\n`go test ./test/hostile -run TestHostileFiles` builds %d files that are made to harm an encoder, and encodes each "+
		"into another file and in place,\nwith 5 s of CPU time and 512 MiB. It compares the result with this table, and checks every output with package verify and "+
		"the running kernel.\n`go test ./test/hostile -run TestReport -update` writes the table.\n\n"+
		"*Wanted* is what a good encoder does: `ok` encodes, `error` refuses, `either` may do one or the other, `none` may succeed without output. *btflite* is the\n"+
		"outcome: `same` are the bytes of an undamaged file, `valid` is other BTF, `nothing` is status 0 without output, anything else is a part of the error.\n\n", len(files))
	table.WriteString("| case | wanted | btflite |\n|---|---|---|\n")
	b.WriteString("btflite decides otherwise on purpose in these cases:\n\n")
	for _, f := range files {
		if f.disagree != "" {
			fmt.Fprintf(&b, "- `%s`: %s\n", f.name, f.disagree)
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", f.name, f.want, strings.ReplaceAll(f.outcome, "|", `\|`))
	}
	return b.String() + "\n" + table.String()
}

// TestReport: the report has the cases of the tests.
func TestReport(t *testing.T) {
	if *update {
		testfile.Write(t, reportFile, report())
	}
	data := testfile.Read(t, reportFile)
	if string(data) != report() {
		t.Errorf("%s is not what the tests hold: go test ./test/hostile -run TestReport -update", reportFile)
	}
}
