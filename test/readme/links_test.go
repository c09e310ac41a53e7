package readme

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// slug is the anchor of a heading, as GitHub and others make it.
func slug(heading string) string {
	return strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// badLinks lists the links of a document in dir that lead nowhere. Addresses in
// the net are not looked at.
func badLinks(dir, name, text string) []string {
	var bad []string
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		file, anchor, _ := strings.Cut(m[1], "#")
		if file == "" {
			file = name
		}
		target, err := os.ReadFile(filepath.Join(dir, file))
		found := err == nil && anchor == ""
		for _, h := range heading.FindAllStringSubmatch(string(target), -1) {
			found = found || slug(h[1]) == anchor
		}
		if !found {
			bad = append(bad, m[1])
		}
	}
	return bad
}

func TestLinks(t *testing.T) {
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	roots, err := filepath.Glob("../../*.md")
	if err != nil {
		t.Fatal(err)
	}
	recipes, err := filepath.Glob("../../contrib/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, path := range append(append(roots, docs...), append(recipes, "../../contrib/README.md")...) {
		text := testfile.Read(t, path)
		links += len(link.FindAllString(string(text), -1))
		for _, l := range badLinks(filepath.Dir(path), filepath.Base(path), string(text)) {
			t.Errorf("%s: the link to %s leads nowhere", path, l)
		}
	}
	if links < 20 {
		t.Errorf("only %d links found", links)
	}
	bad := badLinks("../..", "README.md", "[a](docs/none.md) [b](README.md#none) [c](#get-it) [d](docs/usage.md#kernel-builds) [e](https://example.org/x)")
	if len(bad) != 2 || bad[0] != "docs/none.md" || bad[1] != "README.md#none" {
		t.Errorf("bad links: %q", bad)
	}
}
