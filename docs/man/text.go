package man

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Plain is a page as text of that width in columns, as man shows it: for terminals
// where there is no man. With styled, bold text and placeholders are marked by
// sequences of ECMA-48. It knows the requests that these pages have, and no others.
func Plain(page []byte, width int, styled bool) []byte {
	r := renderer{width: max(width, narrowest), styled: styled}
	for line := range strings.Lines(string(page)) {
		r.line(strings.TrimSuffix(line, "\n"))
	}
	r.paragraph()
	r.edges(r.footer)
	return r.out
}

const (
	narrowest = 20 // columns
	indented  = 7  // columns of text, and more of the text of an option
)

// styles are the escapes for bold and italic text, which \fB and \fI begin.
var styles = map[byte]string{'B': "\x1b[1m", 'I': "\x1b[4m"}

const styleEnd = "\x1b[m"

// renderer is the state of one Plain.
type renderer struct {
	width  int
	styled bool
	out    []byte
	words  []string // of the paragraph that is not written yet
	indent int
	tag    bool // the next line is the tag of a paragraph
	hang   bool // the first word is a tag, left of the others
	as     bool // lines are taken as they are
	gap    bool // an empty line goes before the next text
	fresh  bool // nothing has been written since the heading
	open   bool // a style has begun and not ended
	style  byte // of the text: B, I, or 0
	footer [3]string
}

func (r *renderer) line(line string) {
	request, rest, _ := strings.Cut(line, " ")
	switch request {
	case ".TH":
		r.title(rest)
	case ".SH", ".SS":
		r.paragraph()
		r.indent, r.gap = 0, !r.fresh
		if request == ".SS" {
			r.indent = 3
		}
		r.words = r.split(`\fB` + rest + `\fP`)
		r.paragraph()
		r.indent, r.fresh = indented, true
	case ".PP":
		r.paragraph()
		r.indent, r.gap = indented, !r.fresh
	case ".TP":
		r.paragraph()
		r.indent, r.gap, r.tag = indented, !r.fresh, true
	case ".EX", ".EE":
		r.paragraph()
		r.as, r.gap = request == ".EX", !r.fresh
		r.indent = indented
	case ".nh":
	default:
		r.text(line)
	}
}

// text takes a line that is not a request.
func (r *renderer) text(line string) {
	switch {
	case r.as:
		r.begin()
		r.out = append(r.out, strings.Repeat(" ", r.indent)...)
		r.out = append(append(r.out, strings.Join(r.split(strings.ReplaceAll(line, " ", "\x00")), "")...), '\n')
	case r.tag:
		r.words = r.split(line)
		r.tag = false
		tag := strings.Join(r.words, " ")
		if short := width(tag) < indented; !short {
			r.paragraph()
		} else { // the text goes on in the same line
			r.words = []string{tag + strings.Repeat(" ", indented-1-width(tag))}
			r.hang = true
		}
		r.indent = 2 * indented
	default:
		r.words = append(r.words, r.split(line)...)
	}
}

// title takes what follows .TH.
func (r *renderer) title(text string) {
	var parts [5]string // name, section, date, source, manual
	for i, p := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, `"`), `"`), `" "`) {
		if i < len(parts) {
			parts[i] = strings.Join(r.split(p), " ")
		}
	}
	name := fmt.Sprintf("%s(%s)", parts[0], parts[1])
	r.footer = [3]string{parts[3], parts[2], name}
	r.edges([3]string{name, parts[4], name})
	r.gap = true
}

// edges writes the first or last line. Where all does not fit, it leaves out the middle.
func (r *renderer) edges(parts [3]string) {
	if len(r.out) > 0 {
		r.out = append(r.out, '\n')
	}
	if width(parts[0])+1+width(parts[1])+1+width(parts[2]) > r.width {
		parts[1] = ""
	}
	if width(parts[0])+1+width(parts[2]) > r.width {
		parts[2] = ""
	}
	blanks := r.width - width(parts[0]) - width(parts[1]) - width(parts[2])
	left := max(min((r.width-width(parts[1]))/2-width(parts[0]), blanks-1), 1)
	right := max(blanks-left, 1)
	r.out = append(r.out, strings.TrimRight(parts[0]+strings.Repeat(" ", left)+parts[1]+strings.Repeat(" ", right)+parts[2], " ")+"\n"...)
}

// begin writes the empty line that is due.
func (r *renderer) begin() {
	if r.gap && len(r.out) > 0 {
		r.out = append(r.out, '\n')
	}
	r.gap, r.fresh = false, false
}

// paragraph writes the words as lines.
func (r *renderer) paragraph() {
	if len(r.words) == 0 {
		return
	}
	r.begin()
	column := 0
	for i, w := range r.words {
		switch {
		case i == 0:
			if column = r.indent; r.hang {
				column -= indented
			}
			r.out = append(r.out, strings.Repeat(" ", column)...)
		case column+1+width(w) > r.width && column > r.indent:
			column = r.indent
			r.out = append(append(r.out, '\n'), strings.Repeat(" ", column)...)
		default:
			column++
			r.out = append(r.out, ' ')
		}
		r.out = append(r.out, w...)
		column += width(w)
	}
	r.out = append(r.out, '\n')
	r.words, r.hang = nil, false
}

// split divides a line into words, without what troff takes for itself. Each word has
// its styles to itself.
func (r *renderer) split(line string) (words []string) {
	for _, word := range strings.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == '\t' }) {
		var b strings.Builder
		r.set(&b, r.style)
		for i := 0; i < len(word); i++ {
			switch {
			case word[i] == 0:
				b.WriteByte(' ')
			case word[i] != '\\' || i+1 == len(word):
				b.WriteByte(word[i])
			case word[i+1] == 'f' && i+2 < len(word):
				r.set(&b, 0)
				if r.style = word[i+2]; styles[r.style] == "" {
					r.style = 0
				}
				r.set(&b, r.style)
				i += 2
			case word[i+1] == '&':
				i++
			case word[i+1] == 'e':
				b.WriteByte('\\')
				i++
			default: // \- and the like
				b.WriteByte(word[i+1])
				i++
			}
		}
		r.set(&b, 0)
		words = append(words, b.String())
	}
	return words
}

// set begins or, with 0, ends a style.
func (r *renderer) set(b *strings.Builder, style byte) {
	switch {
	case !r.styled:
	case style != 0:
		b.WriteString(styles[style])
		r.open = true
	case r.open:
		b.WriteString(styleEnd)
		r.open = false
	}
}

// width is how many columns text takes on a terminal.
func width(text string) int {
	for _, s := range []string{styles['B'], styles['I'], styleEnd} {
		text = strings.ReplaceAll(text, s, "")
	}
	return utf8.RuneCountInString(text)
}
