package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/stats"
)

func TestStatsCommand(t *testing.T) {
	base, module := splitDir+"x86.base.btf", splitDir+"x86.module.btf"
	text, _ := btfliteRun(t, exitOK, "stats", "--top=3", "--btf_base="+base, module)
	golden(t, "stats-module.txt", text)
	out, _ := btfliteRun(t, exitOK, "stats", "--top=3", "--json", "--btf_base="+base, module)
	var r stats.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Base == nil || len(r.Largest) != 3 {
		t.Errorf("%v: %s", err, out)
	}
	if text, _ := btfliteRun(t, exitOK, "stats", smallFile); !strings.Contains(text, "STRUCT node") || strings.Contains(text, "The base") {
		t.Error(text)
	}
	if svg, _ := btfliteRun(t, exitOK, "stats", "--format=svg", smallFile); !strings.HasPrefix(svg, "<svg ") || !strings.HasSuffix(svg, "</svg>\n") {
		t.Error(svg)
	}
	if again, _ := btfliteRun(t, exitOK, "stats", "--top=3", "--format=json", "--btf_base="+base, module); again != out {
		t.Errorf("%s", again)
	}
	for _, args := range [][]string{{"--format=svg", "--json", module}, {"--format=png", module}, {"--top=-1", module}, {"--top=x", module}, {base, module}} {
		btfliteRun(t, exitUsage, append([]string{"stats"}, args...)...)
	}
}
