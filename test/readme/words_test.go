package readme

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// maxWords is how many words the documents may have that people write by hand.
const maxWords = 18_000

// uncounted are documents that programs write, and the changelog, which grows with each release.
var uncounted = []string{"BENCHMARKS.md", "CHANGELOG.md", "docs/kernels.md"}

var (
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
	aWord   = regexp.MustCompile(`[\pL\pN]`)
)

// countWords counts what has a letter or a digit in it and stands between blanks: without blocks
// of code, whose commands are tested, without comments, and without the bars of tables.
func countWords(text string) (n int) {
	text = comment.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
	for _, w := range strings.Fields(text) {
		if aWord.MatchString(w) {
			n++
		}
	}
	return n
}

// TestWords: the documents stay short enough to be read. Reports below docs/results and the
// options in docs/man do not count.
func TestWords(t *testing.T) {
	sum := 0
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range names {
			name, _ := filepath.Rel(root, path)
			if slices.Contains(uncounted, filepath.ToSlash(name)) {
				continue
			}
			n := countWords(string(testfile.Read(t, path)))
			t.Logf("%6d %s", n, name)
			sum += n
		}
	}
	if sum > maxWords || sum < maxWords/2 {
		t.Errorf("%d words, at most %d are allowed: say things once, where a reader looks for them, and link to that", sum, maxWords)
	}
}

// TestCountWords: a word is not a bar, a comment or code.
func TestCountWords(t *testing.T) {
	const text = "# A title\n\n| a | `b c` |\n|---|--:|\n<!-- run in: work -->\n```sh\nbtflite -J vmlinux\n```\n\n1. a step\n\n   ```\n   cmp a b\n   ```\n\n– ends\n"
	if n := countWords(text); n != 9 {
		t.Errorf("%d words", n)
	}
}
