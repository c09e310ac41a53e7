// Command site writes the documents of the repository as a static site: the same Markdown, with links
// between pages in place of links between files, and the page of a kernel's structs as an example.
//
//	go run . [-root ../..] [-example FILE] -o FOLDER
//
// It is a module of its own, so that the program does not depend on what only the site needs.
package main

import (
	"bytes"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

//go:embed page.html
var pageText string

//go:embed style.css
var style string

var page = template.Must(template.New("page").Parse(pageText))

// example is the page of the site that shows structs of a kernel.
const example = "example.html"

func main() {
	root := flag.String("root", "../..", "the repository")
	out := flag.String("o", "", "the folder for the site")
	from := flag.String("example", "", "a page that btflite show --format=html wrote")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	n, err := write(*root, *out, *from)
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Printf("site: %d pages in %s\n", n, *out)
}

// A site is the documents of a repository, by the name of their files.
type site struct {
	root, out string
	documents map[string]*document
	example   bool
}

// A document is one Markdown file.
type document struct {
	file, title string
	text        []byte
}

// patterns are the Markdown files that become pages, in the order of the menu.
var patterns = []string{"README.md", "docs/*.md", "*.md", "docs/results/*.md", "contrib/*.md", "contrib/*/*.md"}

// write writes the site and returns the number of its pages. from is the file of the example, or "".
func write(root, out, from string) (int, error) {
	s := &site{root: root, out: out, documents: make(map[string]*document), example: from != ""}
	var menu []*document
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return 0, err
		}
		for _, file := range found {
			name, err := filepath.Rel(root, file)
			if err != nil {
				return 0, err
			}
			if name = filepath.ToSlash(name); s.documents[name] != nil {
				continue
			}
			d := &document{file: name, title: name}
			if d.text, err = os.ReadFile(file); err != nil {
				return 0, err
			}
			if m := heading.FindSubmatch(d.text); m != nil {
				d.title = strings.ReplaceAll(string(m[1]), "`", "")
			}
			s.documents[name] = d
			menu = append(menu, d)
		}
	}
	for _, d := range menu {
		if err := s.page(d, menu); err != nil {
			return 0, fmt.Errorf("%s: %w", d.file, err)
		}
	}
	if err := s.put("style.css", []byte(style)); err != nil || from == "" {
		return len(menu), err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return 0, err
	}
	return len(menu) + 1, s.put(example, data)
}

// heading is the title of a document.
var heading = regexp.MustCompile(`(?m)^# (.+)$`)

// address is the page of a document, from the top of the site.
func address(file string) string {
	if dir, name := path.Split(file); name == "README.md" {
		return dir + "index.html"
	}
	return strings.TrimSuffix(file, ".md") + ".html"
}

// relative is the way from one page to another.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

// put writes a file of the site.
func (s *site) put(name string, data []byte) error {
	to := filepath.Join(s.out, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// page writes the page of a document.
func (s *site) page(d *document, menu []*document) error {
	links := &linker{site: s, from: d.file}
	md := goldmark.New(goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(links, 1000))))
	var body bytes.Buffer
	if err := md.Convert(d.text, &body, parser.WithContext(parser.NewContext(parser.WithIDs(anchors{})))); err != nil {
		return err
	}
	if links.err != nil {
		return links.err
	}
	type entry struct{ Address, Title string }
	here := address(d.file)
	data := struct {
		Title, Style, Home, Example string
		Menu                        []entry
		Body                        template.HTML
	}{Title: d.title, Style: relative(here, "style.css"), Home: relative(here, "index.html"), Body: template.HTML(body.String())}
	if s.example {
		data.Example = relative(here, example)
	}
	for _, other := range menu {
		data.Menu = append(data.Menu, entry{relative(here, address(other.file)), other.title})
	}
	var html bytes.Buffer
	if err := page.Execute(&html, data); err != nil {
		return err
	}
	return s.put(here, html.Bytes())
}

// A linker turns links to files into links to pages. Files that do not become pages are copied.
type linker struct {
	site *site
	from string
	err  error
}

// Transform implements parser.ASTTransformer.
func (l *linker) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		var err error
		switch n := n.(type) {
		case *ast.Link:
			if entering {
				n.Destination, err = l.destination(n.Destination)
			}
		case *ast.Image:
			if entering {
				n.Destination, err = l.destination(n.Destination)
			}
		}
		return ast.WalkContinue, err
	})
	l.err = errors.Join(l.err, err)
}

// destination is where a link leads on the site. A link to nothing is an error.
func (l *linker) destination(link []byte) ([]byte, error) {
	file, anchor, hasAnchor := strings.Cut(string(link), "#")
	if file == "" || strings.Contains(file, ":") {
		return link, nil
	}
	file = path.Join(path.Dir(l.from), file)
	to := file
	if d := l.site.documents[file]; d != nil {
		to = address(file)
	} else {
		data, err := os.ReadFile(filepath.Join(l.site.root, file))
		if err != nil {
			return nil, fmt.Errorf("a link leads to %s, which is not there", link)
		}
		if err := l.site.put(file, data); err != nil {
			return nil, err
		}
	}
	if hasAnchor {
		to += "#" + anchor
	}
	return []byte(relative(address(l.from), to)), nil
}

// anchors are the names of headings, as GitHub makes them: links in the documents rely on them.
type anchors map[string]int

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// Generate implements parser.IDs.
func (a anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	name := strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(string(value)), ""), " ", "-")
	n := a[name]
	a[name]++
	if n > 0 {
		name = fmt.Sprintf("%s-%d", name, n)
	}
	return []byte(name)
}

// Put implements parser.IDs.
func (a anchors) Put(value []byte) { a[string(value)]++ }
