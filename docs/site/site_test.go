package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/browser"
)

const root = "../.."

// built is the folder of the whole site, with a small page as the example.
func built(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	if err := os.WriteFile(page, []byte("<!doctype html><title>structs</title>"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "site")
	n, err := write(root, out, page)
	if err != nil {
		t.Fatal(err)
	}
	if n < 40 {
		t.Errorf("only %d pages", n)
	}
	return out
}

// pages are the HTML files of a site, by name.
func pages(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".html" {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(file)
		all[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var reference = regexp.MustCompile(`(?:href|src)="([^"]+)"`)

// TestLinks: every link of every page leads to a file of the site, and to a heading that is there.
func TestLinks(t *testing.T) {
	dir := built(t)
	all := pages(t, dir)
	links := 0
	for name, text := range all {
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(filepath.Join(dir, to)); err != nil {
				t.Errorf("%s links to %s, which is not in the site", name, m[1])
			}
			if anchor != "" && path.Ext(to) == ".html" && !strings.Contains(all[to], `id="`+anchor+`"`) {
				t.Errorf("%s links to %s, and %s has no such heading", name, m[1], to)
			}
		}
		if strings.Contains(text, "raw HTML omitted") && strings.Contains(text, "&lt;!--") {
			t.Errorf("%s shows a comment", name)
		}
	}
	if links < 1000 {
		t.Errorf("only %d links", links)
	}
}

// TestBadLink: a link to nothing ends the run, and names the document and the link.
func TestBadLink(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("# a\n\n[b](c.md)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := write(dir, t.TempDir(), ""); err == nil || err.Error() != "README.md: a link leads to c.md, which is not there" {
		t.Errorf("%v", err)
	}
}

// TestAnchors: headings have the names that GitHub gives them.
func TestAnchors(t *testing.T) {
	a := anchors{}
	for _, c := range [][2]string{{"Get it", "get-it"}, {"`btflite doctor --json`", "btflite-doctor---json"}, {"Get it", "get-it-1"}, {"a_b, c", "a_b-c"}} {
		if got := string(a.Generate([]byte(c[0]), 0)); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
}

// TestInBrowser: no page is wider than a telephone, in light and dark, and text stands out from its
// background.
func TestInBrowser(t *testing.T) {
	b := browser.Start(t)
	dir := built(t)
	for name := range pages(t, dir) {
		if name == example {
			continue // btf/page tests it
		}
		for _, scheme := range []string{"light", "dark"} {
			if scheme == "dark" && strings.Count(name, "/") > 0 {
				continue // the same style sheet
			}
			b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": true}, nil)
			b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]any{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
			b.Open("file://" + filepath.Join(dir, name))
			b.Check(name+": its width", `document.documentElement.scrollWidth`, "360")
			b.Check(name+": "+scheme, `(c => { const [t, k] = [c.color, c.backgroundColor].map(x => x.match(/\d+/g).slice(0, 3).reduce((a, n) => a + Number(n), 0));
				return t > k ? "dark" : "light" })(getComputedStyle(document.body))`, scheme)
			if name == "index.html" || name == "docs/usage.html" || name == "BENCHMARKS.html" {
				b.Screenshot(strings.ReplaceAll(strings.TrimSuffix(name, ".html"), "/", "-") + "-" + scheme)
			}
		}
	}
	if len(b.Faults) > 0 {
		t.Errorf("the console: %q", b.Faults)
	}
}
