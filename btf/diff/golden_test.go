package diff

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/test/testfile"
)

// TestGolden: the reports of all pairs, in the forms that they have in the golden
// files of cmd/btflite; `go test ./cmd/btflite -run Diff -update` writes those.
func TestGolden(t *testing.T) {
	for name, p := range pairs(t) {
		read := func(file string) string {
			return string(testfile.Read(t, filepath.Join("../../testdata/diff", name, file)))
		}
		r := reportOf(t, p[0], p[1], Options{})
		// What surrounds the differences is not of this package.
		want := read("diff.txt")
		if text, rest, _ := strings.Cut(want, "\n\n"); want != "" && (r.text != text+"\n" || !strings.HasSuffix(rest, r.lines)) {
			t.Errorf("%s: (-want +got)\n%s", name, cmp.Diff(want, r.text+r.lines))
		}
		if abi, _, _ := strings.Cut(read("abi.txt"), "\n\n"); linesOf(t, p[0], p[1], Options{ABI: true}) != abi {
			t.Errorf("%s, ABI:\n%s", name, linesOf(t, p[0], p[1], Options{ABI: true}))
		}
		list := strings.Join(slices.DeleteFunc(strings.Split(read("diff.md"), "\n"), func(l string) bool {
			return !strings.HasPrefix(strings.TrimLeft(l, " "), "- ")
		}), "\n")
		if strings.TrimSuffix(r.markdown, "\n") != list || !strings.HasSuffix(read("diff.md"), r.table) {
			t.Errorf("%s: (-want +got)\n%s", name, cmp.Diff(read("diff.md"), r.markdown+r.table))
		}
		_, want, _ = strings.Cut(read("diff.json"), `"differences":[`)
		want, summary, _ := strings.Cut(want, "],\n")
		if r.json != want {
			t.Errorf("%s: (-want +got)\n%s", name, cmp.Diff(want, r.json))
		}
		if !strings.HasPrefix(summary, `"summary":`+r.summary+",") {
			t.Errorf("%s: summary %s, want %s", name, r.summary, summary)
		}
	}
}

// report is the result of Compare, in each form.
type report struct {
	text, json, markdown  string
	lines, table, summary string // of the summary
}

func reportOf(t *testing.T, a, b *btf.Blob, o Options) (r report) {
	t.Helper()
	counts := Summary{}
	n := 0
	_, err := Compare(a, b, o, func(d *Difference) error {
		counts.Add(d)
		r.text += strings.Join(d.Lines(), "\n") + "\n"
		r.markdown += strings.Join(d.Markdown(), "\n") + "\n"
		line, err := json.Marshal(d)
		if n > 0 {
			r.json += ","
		}
		r.json += "\n" + string(line)
		n++
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if counts.Total() != n {
		t.Errorf("%d of %d differences counted", counts.Total(), n)
	}
	for _, l := range counts.Lines() {
		r.lines += "    " + l + "\n"
	}
	for _, l := range counts.Markdown() {
		r.table += l + "\n"
	}
	data, err := json.Marshal(counts)
	if err != nil {
		t.Fatal(err)
	}
	r.summary = string(data)
	return r
}
