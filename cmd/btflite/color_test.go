package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestPaint: colours are added and nothing else is changed, wherever the text is cut.
func TestPaint(t *testing.T) {
	file := shownFiles + "plain.btf"
	plain, _ := btfliteRun(t, exitOK, "show", file)
	painted, _ := btfliteRun(t, exitOK, "show", "--color=always", file)
	for _, want := range []string{sgrKeyword + "struct" + sgrNone + " s1 {", sgrHole + "/* XXX 3 bytes hole, try to pack */" + sgrNone + "\n",
		sgrLine + "/* --- cacheline 1 boundary (64 bytes) --- */" + sgrNone, sgrComment + "/*     0     1 */" + sgrNone} {
		if !strings.Contains(painted, want) {
			t.Errorf("no %q", want)
		}
	}
	if strip(painted) != plain {
		t.Error("the text is another one without its colours")
	}
	for _, step := range []int{1, 7, 1000} {
		var out bytes.Buffer
		p := painter{to: &out, line: (*painter).paintC}
		for at := 0; at < len(plain); at += step {
			p.Write([]byte(plain[at:min(at+step, len(plain))]))
		}
		p.Flush()
		if out.String() != painted {
			t.Errorf("in steps of %d the colours are others", step)
		}
	}
	never, _ := btfliteRun(t, exitOK, "show", "--color=never", file)
	auto, _ := btfliteRun(t, exitOK, "show", "--color=auto", file)
	if never != plain || auto != plain {
		t.Error("colours go into a pipe")
	}
}

func strip(text string) string {
	return strings.NewReplacer(sgrNone, "", sgrComment, "", sgrHole, "", sgrLine, "", sgrKeyword, "").Replace(text)
}
