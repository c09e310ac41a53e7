package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSuite: what people see of the events of a run.
func TestSuite(t *testing.T) {
	const events = `{"Time":"2026-01-02T00:00:00Z","Action":"start","Package":"github.com/btflite/btflite/a"}
{"Time":"2026-01-02T00:00:00Z","Action":"run","Package":"github.com/btflite/btflite/a","Test":"TestGood"}
{"Time":"2026-01-02T00:00:01Z","Action":"output","Package":"github.com/btflite/btflite/a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Time":"2026-01-02T00:00:21Z","Action":"output","Package":"github.com/btflite/btflite/a","Test":"TestGood","Output":"    a_test.go:3: said\n"}
{"Time":"2026-01-02T00:00:22Z","Action":"pass","Package":"github.com/btflite/btflite/a","Test":"TestGood","Elapsed":22}
{"Time":"2026-01-02T00:00:22Z","Action":"run","Package":"github.com/btflite/btflite/a","Test":"TestTool"}
{"Time":"2026-01-02T00:00:22Z","Action":"output","Package":"github.com/btflite/btflite/a","Test":"TestTool","Output":"    a_test.go:9: exec: \"clang-99\": executable file not found in $PATH\n"}
{"Time":"2026-01-02T00:00:22Z","Action":"output","Package":"github.com/btflite/btflite/a","Test":"TestTool","Output":"--- SKIP: TestTool (0.00s)\n"}
{"Time":"2026-01-02T00:00:22Z","Action":"skip","Package":"github.com/btflite/btflite/a","Test":"TestTool","Elapsed":0}
{"Time":"2026-01-02T00:00:22Z","Action":"output","Package":"github.com/btflite/btflite/a","Test":"TestOther","Output":"    a_test.go:12: no clang-99 in PATH\n"}
{"Time":"2026-01-02T00:00:22Z","Action":"skip","Package":"github.com/btflite/btflite/a","Test":"TestOther","Elapsed":0}
{"Time":"2026-01-02T00:00:22Z","Action":"output","Package":"github.com/btflite/btflite/a","Output":"PASS\n"}
{"Time":"2026-01-02T00:00:22Z","Action":"pass","Package":"github.com/btflite/btflite/a","Elapsed":22.5}
{"ImportPath":"github.com/btflite/btflite/b","Action":"build-output","Output":"b.go:1:1: no\n"}
{"ImportPath":"github.com/btflite/btflite/b","Action":"build-fail"}
{"Time":"2026-01-02T00:00:23Z","Action":"start","Package":"github.com/btflite/btflite/b"}
{"Time":"2026-01-02T00:00:23Z","Action":"output","Package":"github.com/btflite/btflite/b","Output":"FAIL\tb [build failed]\n"}
{"Time":"2026-01-02T00:00:23Z","Action":"fail","Package":"github.com/btflite/btflite/b","Elapsed":0,"FailedBuild":"b"}
{"Time":"2026-01-02T00:00:24Z","Action":"output","Package":"github.com/btflite/btflite","Test":"TestBad","Output":"    c_test.go:1: wrong\n"}
{"Time":"2026-01-02T00:00:24Z","Action":"fail","Package":"github.com/btflite/btflite","Test":"TestBad","Elapsed":3}
{"Time":"2026-01-02T00:00:24Z","Action":"skip","Package":"github.com/btflite/btflite","Test":"TestBare","Elapsed":0}
{"Time":"2026-01-02T00:00:24Z","Action":"output","Package":"github.com/btflite/btflite","Output":"FAIL\n"}
{"Time":"2026-01-02T00:00:24Z","Action":"fail","Package":"github.com/btflite/btflite","Elapsed":3}
not an event
`
	const want = `     … a.TestGood 21s
ok   a                               22.5s     1 tests, 2 skipped
b.go:1:1: no
FAIL	b [build failed]
    c_test.go:1: wrong
FAIL
FAIL btflite                          3.0s     1 tests, 1 skipped
not an event

slowest:
   22.0s a.TestGood

skipped:
    2  clang-99 is not installed: a.TestTool, …
    1  without a reason: btflite.TestBare

failed: b, btflite
`
	var out strings.Builder
	s := newSuite(&out, 1)
	if err := s.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	s.summary()
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
