package main

import (
	"bufio"
	"errors"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/diff"
	"github.com/btflite/btflite/btf/page"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/message"
)

// diffWriter prints a report. Its errors are errors of writing.
type diffWriter interface {
	difference(*diff.Difference) error
	end(counts diff.Summary) error
}

// writer makes the writer for the format, and begins the output.
func (d *diffCommand) writer(w *lineWriter, a, b string, blobs [2]*btf.Blob) diffWriter {
	switch {
	case d.format == "html":
		return &diffPage{w: w.b, names: [2]string{a, b}, blobs: blobs, differ: map[[2]string]bool{}}
	case d.json || d.format == "json":
		w.line(`{"version":1,"a":` + message.JSON(a) + `,"b":` + message.JSON(b) + `,`)
		if !d.summaryOnly {
			w.text(`"differences":[`)
		}
		return &diffJSON{cfg: d, w: w}
	case d.format == "markdown":
		return &diffMarkdown{cfg: d, w: w, a: a, b: b}
	}
	return &diffText{cfg: d, w: w}
}

// diffText prints text for people. If there is no difference, it prints nothing.
type diffText struct {
	cfg *diffCommand
	w   *lineWriter
}

func (t *diffText) difference(d *diff.Difference) error {
	for _, l := range d.Lines() {
		t.w.line(message.OneLine(l))
	}
	return t.w.err
}

func (t *diffText) end(counts diff.Summary) error {
	indent := ""
	if !t.cfg.summaryOnly && counts.Total() > 0 && !t.cfg.noSummary {
		t.w.line("\n" + countOf(counts.Total(), "difference") + ":")
		indent = "    "
	}
	if !t.cfg.noSummary {
		for _, l := range counts.Lines() {
			t.w.line(indent + l)
		}
	}
	return t.w.flush()
}

// diffMarkdown prints a document for web pages. If there is no difference, it prints
// nothing.
type diffMarkdown struct {
	cfg     *diffCommand
	w       *lineWriter
	a, b    string
	begun   bool
	heading string
}

// title begins the document.
func (m *diffMarkdown) title() {
	if !m.begun {
		m.w.line("# BTF of " + diff.MarkdownCode(message.OneLine(m.a)) + " and " + diff.MarkdownCode(message.OneLine(m.b)))
	}
	m.begun = true
}

func (m *diffMarkdown) difference(d *diff.Difference) error {
	m.title()
	if h := d.Heading(); h != m.heading {
		m.heading = h
		m.w.line("\n## " + h + "\n")
	}
	for _, l := range d.Markdown() {
		m.w.line(message.OneLine(l))
	}
	return m.w.err
}

func (m *diffMarkdown) end(counts diff.Summary) error {
	if table := counts.Markdown(); len(table) > 0 && !m.cfg.noSummary {
		m.title()
		m.w.line("\n## Summary\n\n" + countOf(counts.Total(), "difference") + "\n")
		for _, l := range table {
			m.w.line(l)
		}
	}
	return m.w.flush()
}

// diffJSON prints one JSON object, with a line for each difference.
type diffJSON struct {
	cfg *diffCommand
	w   *lineWriter
	n   int // differences
}

func (j *diffJSON) difference(d *diff.Difference) error {
	if j.n > 0 {
		j.w.text(",")
	}
	j.n++
	j.w.text("\n" + message.JSON(d))
	return j.w.err
}

func (j *diffJSON) end(counts diff.Summary) error {
	if !j.cfg.summaryOnly {
		j.w.line("],")
	}
	if !j.cfg.noSummary {
		j.w.text(`"summary":` + message.JSON(counts) + `,`)
	}
	j.w.line(`"same":` + message.JSON(counts.Total() == 0) + `}`)
	return j.w.flush()
}

// diffPage draws the layouts of structs and unions that differ, side by side, on a page
// for a browser. It does not show other differences.
type diffPage struct {
	w      *bufio.Writer
	names  [2]string
	blobs  [2]*btf.Blob
	differ map[[2]string]bool // by part and name
}

func (p *diffPage) difference(d *diff.Difference) error {
	if d.Part == "struct" || d.Part == "union" {
		p.differ[[2]string{d.Part, d.Name}] = true
	}
	return nil
}

func (p *diffPage) end(diff.Summary) error {
	_, err := page.Compare(p.w, view.New(p.blobs[0]), view.New(p.blobs[1]), p.names, page.Options{
		Only: func(part, name string) bool { return p.differ[[2]string{part, name}] },
	})
	return errors.Join(err, p.w.Flush())
}
